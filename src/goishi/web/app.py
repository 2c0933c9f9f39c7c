"""The site: static pages, what is on offer, and one websocket a game.

    GET /api/catalogue   the games, their sizes and opponents: `Catalogue.as_json`
    websocket /play      a game; JSON text messages, as `room.py` takes and gives them
        to us    {"type": "open", "game", "opponent", "begins": "you" | "opponent", "moves": [...], "hints": bool}
                 {"type": "play", "action"}   {"type": "undo"}   {"type": "new"}   {"type": "hints", "on": bool}
        from us  "opened" (what stays), "state" (what a move changes), "hints", "error" (one sentence in `text`)

A game lives as long as its socket; a page that lost it opens another with the moves played so far.
"""

import asyncio
import contextlib
import errno
import json
import mimetypes
import os
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import GoishiError, UsageError
from goishi.networks import store
from goishi.players.player import Decision, Maker, Player, maker
from goishi.players.searcher import SearchPlayer
from goishi.search.search import Limit
from goishi.web.catalogue import Catalogue
from goishi.web.room import Room, Task

STATIC = Path(__file__).parent / "static"
LARGEST_MESSAGE = 64 * 1024
"""Characters; the longest game's moves are far shorter."""
LARGEST_LINES = 4 << 20
"""Bytes of a message to a program that speaks lines."""
MOST_ROOMS = 256
MOST_A_SECOND = 40
"""Messages of one socket; one more is answered late, by a complaint."""
LATE_SECONDS = 0.5
REST_SECONDS = 300.0
"""A room where nothing happens for so long frees its trees; the game stays."""
STOP_SECONDS = 0.1
"""How soon a search that nobody waits for any more ends, at the latest."""
MAKERS = 32
"""Kinds of player kept with their networks; the one not asked for longest goes."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
HEADERS = {
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class Makers:
    """Players for all rooms; those of one kind share a network, and their positions one batch."""

    def __init__(self, threads: int):
        self._threads = threads
        self._lock = threading.Lock()
        self._makers: OrderedDict[tuple[str, str], Maker] = OrderedDict()
        self._made = 0

    def __call__(self, spec: str, game: Game) -> Player:
        """A new player. Takes seconds where a network is to be loaded first."""
        kind, visits = without_visits(spec)
        with self._lock:
            key = (kind, game.spec)
            if key not in self._makers:
                self._makers[key] = maker(kind, game, threads=self._threads)
            self._makers.move_to_end(key)
            while len(self._makers) > MAKERS:
                self._makers.popitem(last=False)
            self._made += 1
            player = self._makers[key](self._made)
        if visits is not None and isinstance(player, SearchPlayer):
            player.name, player.limit = spec, Limit(visits=visits)
        return player


def without_visits(spec: str) -> tuple[str, int | None]:
    """`net:connect4` and 50 of `net:connect4,visits=50`: the levels of a network are one kind of player."""
    model, mark, visits = spec.rpartition(",visits=")
    if model.startswith("net:") and mark and visits.isdecimal():
        return model, int(visits)
    return spec, None


class Table:
    """One socket and its room: a reader, and a thinker that runs the room's tasks in a thread."""

    def __init__(self, socket: WebSocket, room: Room, limiter: anyio.CapacityLimiter):
        self._socket, self.room, self._limiter = socket, room, limiter
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()  # one at a time uses the room, and its messages go out in this order
        self._recent: list[float] = []

    async def run(self) -> None:
        """Until the page goes away."""
        try:
            async with asyncio.TaskGroup() as group:  # neither goes on without the other
                group.create_task(self._think())
                try:
                    await self._listen()
                finally:
                    self.room.leave()
                    self._wake.set()
        finally:
            self.room.close()

    async def _listen(self) -> None:
        while (message := await self._socket.receive())["type"] != "websocket.disconnect":
            async with self._turn:
                await self._send(await self._answer(message.get("text")))
                self.room.stop_outdated()
            self._wake.set()

    async def _answer(self, text: str | None) -> list[dict[str, Any]]:
        """The answers to one message; None stands for one that is no text."""
        now = time.monotonic()
        self._recent = [*(moment for moment in self._recent if now - moment < 1), now]
        try:
            if len(self._recent) > MOST_A_SECOND:
                await asyncio.sleep(LATE_SECONDS)
                raise UsageError("Too many messages at once; slow down.")
            if text is None or len(text) > LARGEST_MESSAGE:
                raise UsageError("A message is a short JSON text.")
            return await anyio.to_thread.run_sync(self.room.handle, json.loads(text))
        except (ValueError, RecursionError):
            return [Room.error(UsageError('A message is a JSON object such as {"type": "undo"}.'))]
        except GoishiError as error:
            return [Room.error(error)]

    async def _think(self) -> None:
        while not self.room.left:
            self._wake.clear()  # before the look, so that nothing after it goes unseen
            async with self._turn:
                task = self.room.task()
            if task is None:
                try:
                    await asyncio.wait_for(self._wake.wait(), REST_SECONDS)
                except TimeoutError:
                    self.room.rest()
                continue
            outcome = await self._run(task)
            async with self._turn:
                await self._send(self.room.finish(task, outcome))

    async def _run(self, task: Task) -> Decision | GoishiError:
        """The task's outcome. A cancelled table waits for its thread too: nobody else may use the players till then."""
        thought = asyncio.ensure_future(anyio.to_thread.run_sync(task.run, limiter=self._limiter))
        cancelled = None
        while not thought.done():
            try:
                await asyncio.wait({thought}, timeout=STOP_SECONDS)
            except asyncio.CancelledError as error:
                cancelled = error
                self.room.leave()
            self.room.stop_outdated()  # again and again: a search that had not begun yet did not hear it
        if cancelled:
            raise cancelled
        try:
            return thought.result()
        except GoishiError as error:
            return error
        except Exception as error:  # a player's own fault must not end the table
            return GoishiError(f"it failed with {type(error).__name__}: {error}")

    async def _send(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if self._socket.application_state != WebSocketState.CONNECTED or self.room.left:
                return
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the page went away meanwhile
                await self._socket.send_text(json.dumps(message))


class Guard:
    """Answers only to its own name: a page elsewhere must not reach a site that listens for this machine alone.

    `hosts` None allows any name, for a site that is open to others. A websocket must come from a page of this site.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] | None):
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        try:
            foreign = self._hosts is not None and urlsplit(f"//{host}").hostname not in self._hosts
            strange = origin is not None and urlsplit(origin).netloc != host
        except ValueError:  # such as `[`
            foreign = strange = True
        if scope["type"] == "websocket":
            if foreign or strange:
                return await send({"type": "websocket.close", "code": 1008, "reason": "another site's page"})
            return await self._app(scope, receive, send)
        if foreign:
            answer = PlainTextResponse("This site answers only to its own name; open http://127.0.0.1.", 421)
            return await answer(scope, receive, send)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered.update(HEADERS)
                answered.setdefault("cache-control", "no-cache")  # asks whether a new version has come
            await send(message)

        return await self._app(scope, receive, send_guarded)


def create_app(catalogue: Catalogue, hosts: tuple[str, ...] | None = None) -> Starlette:
    """The site as an ASGI application; its `state.rooms` counts the games that are open."""
    for ending, kind in KINDS.items():
        mimetypes.add_type(kind, ending)  # Windows may have been told otherwise
    threads = max(2, os.cpu_count() or 2)
    makers = Makers(threads)

    def show_catalogue(request: Request) -> JSONResponse:
        return JSONResponse(catalogue.as_json(), headers={"cache-control": "no-store"})

    async def play(socket: WebSocket) -> None:
        await socket.accept()
        state = socket.app.state
        if state.rooms >= MOST_ROOMS:
            await socket.send_json(Room.error(GoishiError("All tables are taken; try again in a while.")))
            await socket.close(1013)
            return
        if state.limiter is None:
            state.limiter = anyio.CapacityLimiter(threads)
        state.rooms += 1
        try:
            await Table(socket, Room(catalogue, makers), state.limiter).run()
        finally:
            state.rooms -= 1

    def missing(request: Request) -> PlainTextResponse:
        return PlainTextResponse("The page is not built; run `npm ci && npm run build` in frontend.", 503)

    built = (STATIC / "index.html").is_file()
    rest = Mount("/", StaticFiles(directory=STATIC, html=True)) if built else Route("/", missing)
    routes = [Route("/api/catalogue", show_catalogue), WebSocketRoute("/play", play), rest]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, hosts=hosts)])
    app.state.rooms = 0
    app.state.limiter = None
    return app


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises GoishiError when the port is taken or the address is not this machine's."""
    if not 0 <= port <= 65535:
        raise UsageError(f"There is no port {port}; ports go from 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # at once: until then another may bind to the port too
    except (OSError, UnicodeError, TypeError) as error:  # the latter two of a name that cannot be one
        listener.close()
        reason = getattr(error, "errno", None)
        if reason == errno.EADDRINUSE:
            other = port + 1 if port < 65535 else 8080
            raise GoishiError(f"Port {port} is in use; try another, as in --port {other}.") from None
        if reason == errno.EACCES:
            raise GoishiError(f"Port {port} needs more rights; try --port 8080.") from None
        raise GoishiError(f"This machine has no address {host}; try --host 127.0.0.1.") from None
    listener.set_inheritable(True)
    return listener


def serve(
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    say: Callable[[str], None] | None = None,
    games: Sequence[str] = (),
    players: Sequence[str] = (),
) -> None:
    """Serves the site until Ctrl-C. Port 0 takes a free one. Raises GoishiError when it cannot listen.

    `say` takes the sentence with the site's address; it is printed otherwise. `games` and `players` are specs, paths of
    game files and of models among them, that the page offers besides those that come with Goishi.
    """
    catalogue = Catalogue(players, games, store.shipped())
    listener = listen(host, port)
    own = host in LOOPBACK or host.startswith("127.")
    app = create_app(catalogue, (*LOOPBACK, host) if own else None)
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # an address that a browser can open
    address = f"http://[{shown}]" if ":" in shown else f"http://{shown}"
    address = f"{address}:{listener.getsockname()[1]}"
    text = f"Goishi is at {address}; Ctrl-C ends it."
    if not own:
        text = f"Goishi is at {address}; other machines can reach it too; Ctrl-C ends it."
    say(text) if say else print(text, flush=True)  # a program that started us may wait for it
    if open_browser and has_screen():
        timer = threading.Timer(0.5, partial(webbrowser.open, address))
        timer.daemon = True
        timer.start()
    words = [sys.executable, "-c", f"from {__name__} import warm_up; warm_up()"]
    warmer = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        server(app).run(sockets=[listener])
    finally:
        warmer.kill()
        warmer.wait()
        listener.close()


def warm_up() -> None:
    """Plays a move of each game on the page, in its order, so that visitors need not wait for the compiler.

    It is for a process of its own: the code stays on disk, and a compiler that runs in a thread can't be ended.
    """
    if hasattr(os, "nice"):
        os.nice(10)  # who plays already goes first
    catalogue = Catalogue(models=store.shipped())
    usual: dict[str, Game] = {}
    for game in catalogue.games:
        usual.setdefault(game.name, game)
    for game in usual.values():
        offer = catalogue.opponents(game)[0]
        with contextlib.suppress(GoishiError):  # the page will tell whoever asks for it
            player = maker(offer["levels"][offer["usual"]]["spec"], game)(0)
            player.choose(Position.start(game), Limit(visits=50))


class Lines(Protocol):
    """A program that answers lines of text from many clients; each is known by the function that takes its answers."""

    def hear(self, text: str, say: Callable[[str], None]) -> None:
        """A message of a client: one line or several. Any thread may call `say`."""

    def leave(self, say: Callable[[str], None]) -> None:
        """A client has gone."""

    def run(self) -> None:
        """Answers them all, in the thread that calls it, until the process ends."""


def create_lines_app(lines: Lines, hosts: tuple[str, ...] | None = None) -> Starlette:
    """A program that speaks lines as an ASGI application: a websocket on every path, an answer a message."""

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        loop, answers = asyncio.get_running_loop(), asyncio.Queue[str]()

        def say(text: str) -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(answers.put_nowait, text)

        async def send() -> None:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the client went away meanwhile
                while True:
                    await socket.send_text(await answers.get())

        sender = asyncio.create_task(send())
        try:
            while (message := await socket.receive())["type"] != "websocket.disconnect":
                text, data = message.get("text"), message.get("bytes")
                lines.hear(text if text is not None else (data or b"").decode("utf-8", "replace"), say)
        finally:
            lines.leave(say)
            sender.cancel()

    routes = [WebSocketRoute("/{path:path}", talk)]
    return Starlette(routes=routes, middleware=[Middleware(Guard, hosts=hosts)])


def serve_lines(host: str, port: int, load: Callable[[], Lines]) -> None:
    """Serves a program that speaks lines until Ctrl-C. Port 0 takes a free one; the address is told on stderr.

    `load` makes the program, for which whoever connects already waits. Raises GoishiError when it cannot listen.
    """
    listener = listen(host, port)
    own = host in LOOPBACK or host.startswith("127.")
    shown = f"[{host}]" if ":" in host else host
    try:
        lines = load()
        threading.Thread(target=lines.run, name="lines", daemon=True).start()
        print(f"Ready at ws://{shown}:{listener.getsockname()[1]}; Ctrl-C ends it.", file=sys.stderr, flush=True)
        server(create_lines_app(lines, (*LOOPBACK, host) if own else None), LARGEST_LINES).run(sockets=[listener])
    finally:
        listener.close()


def server(app: Starlette, largest: int = LARGEST_MESSAGE * 2) -> uvicorn.Server:
    """A server of the site, as quiet and as careful as it should be; largest: bytes of a message."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws_max_size=largest,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def has_screen() -> bool:
    """Is there a desktop on which a browser can open, and a person who called from it?"""
    desktop = sys.platform in ("win32", "darwin") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return desktop and sys.stdout.isatty()
