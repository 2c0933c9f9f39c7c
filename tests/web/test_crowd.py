"""Many people at once at a real server, tabs that close in the middle of a thought, and pages of strangers."""

import asyncio
import gc
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from urllib.request import Request, urlopen

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import goishi.web.app as web
from goishi.core import registry
from goishi.errors import GoishiError
from goishi.players.player import Decision
from goishi.web.catalogue import Catalogue


class Site:
    """A server in a thread of its own."""

    def __init__(self, hosts=web.LOOPBACK):
        self.app = web.create_app(Catalogue(), hosts)
        self._listener = web.listen("127.0.0.1", 0)
        self.port = self._listener.getsockname()[1]
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_level="error", timeout_graceful_shutdown=2))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)

    def __enter__(self):
        self._thread.start()
        wait_until(lambda: self._server.started)
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(20)
        self._listener.close()
        assert not self._thread.is_alive()

    def table(self, **more):
        return connect(f"ws://127.0.0.1:{self.port}/play", open_timeout=30, close_timeout=1, **more)

    @property
    def rooms(self):
        return self.app.state.rooms


def wait_until(true, seconds=20.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


async def say(table, **message):
    await table.send(json.dumps(message))


async def hear(table, kind):
    while True:
        message = json.loads(await asyncio.wait_for(table.recv(), 60))
        if message["type"] == kind:
            return message
        assert message["type"] != "error", message


async def play_a_game(site, seed):
    """One person who plays any moves, asks for hints now and then, and takes one move back."""
    rng = random.Random(seed)
    game, opponent = rng.choice([("tictactoe", "random"), ("connect4", "rollout:visits=100"), ("tictactoe", "perfect")])
    async with site.table() as table:
        begins = rng.choice(["you", "opponent"])
        await say(table, type="open", game=game, opponent=opponent, begins=begins, hints=seed % 3 == 0)
        undone = False
        while True:
            state = await hear(table, "state")
            if state["over"]:
                return state["result"]
            if state["yours"]:
                undo = state["undo"] and not undone
                undone = undone or undo
                await say(
                    table, **{"type": "undo"} if undo else {"type": "play", "action": rng.choice(state["actions"])}
                )


def test_thirty_people_play_at_once_and_leave_nothing_behind():
    for game in ("tictactoe", "connect4"):
        registry.find(game).start()  # compiled before the clock of `hear` runs

    async def everybody(site):
        return await asyncio.gather(*(play_a_game(site, seed) for seed in range(30)))

    with Site() as site:
        results = asyncio.run(everybody(site))
        assert all(result.endswith(".") for result in results)
        wait_until(lambda: site.rooms == 0)


class Dreamer:
    """Thinks until it is stopped."""

    name = "dreamer"

    def __init__(self):
        self.thinks, self.stopped, self.closed = threading.Event(), threading.Event(), False

    def choose(self, position, limit=None):
        self.thinks.set()
        self.stopped.wait(30)
        return Decision(position.actions[0])

    def stop(self):
        self.stopped.set()

    def close(self):
        self.closed = True


def test_a_closed_tab_ends_its_search_and_frees_its_players(monkeypatch):
    made = []

    def maker(spec, game, threads):
        def make(seed):
            made.append(Dreamer())
            return made[-1]

        return make

    monkeypatch.setattr(web, "maker", maker)

    async def leave_in_the_middle(site):
        async with site.table() as table:
            await say(table, type="open", game="tictactoe", opponent="random", begins="opponent")
            assert (await hear(table, "state"))["thinking"]
            while not (made and made[0].thinks.is_set()):
                await asyncio.sleep(0.01)
            assert site.rooms == 1

    with Site() as site:
        asyncio.run(leave_in_the_middle(site))
        wait_until(lambda: site.rooms == 0, 5)
        assert made[0].closed
        kept = weakref.ref(made.pop())
        gc.collect()
        assert kept() is None


def test_players_of_one_kind_share_one_maker(monkeypatch):
    calls = []

    def maker(spec, game, threads):
        calls.append((spec, game.spec))
        return lambda seed: Dreamer()

    monkeypatch.setattr(web, "maker", maker)
    makers = web.Makers(threads=2)
    game = registry.find("tictactoe")
    players = [makers("random", game) for _ in range(5)]
    assert len({id(player) for player in players}) == 5
    assert calls == [("random", "tictactoe")]
    for number in range(2 * web.MAKERS):
        makers(f"rollout:visits={number + 1}", game)
    assert len(makers._makers) == web.MAKERS


def test_a_full_house_says_so(monkeypatch):
    monkeypatch.setattr(web, "MOST_ROOMS", 1)

    async def two(site):
        async with site.table() as first, site.table() as second:
            await say(first, type="open", game="tictactoe", opponent="human")
            await hear(first, "state")
            message = json.loads(await second.recv())
            assert message == {"type": "error", "text": "All tables are taken; try again in a while."}

    with Site() as site:
        asyncio.run(two(site))
        wait_until(lambda: site.rooms == 0)


def test_broken_messages_get_an_error_and_the_connection_stays():
    async def talk(site):
        async with site.table() as table:
            for broken in (
                "",
                "{",
                "[1",
                "\x00",
                b"\xff\xfe",
                '{"type":' * 5000,
                "x" * (web.LARGEST_MESSAGE + 1),
                "NaN",
            ):
                await table.send(broken)
                message = json.loads(await table.recv())
                assert message["type"] == "error", broken[:20]
                assert len(message["text"]) < 200
            await say(table, type="open", game="tictactoe", opponent="human")
            assert (await hear(table, "state"))["yours"]

    with Site() as site:
        asyncio.run(talk(site))


def test_a_flood_is_slowed_down_and_survived():
    async def flood(site):
        async with site.table() as table:
            for _ in range(3 * web.MOST_A_SECOND):
                await say(table, type="undo")
            texts = {json.loads(await table.recv())["text"] for _ in range(web.MOST_A_SECOND + 1)}
            assert any("slow down" in text for text in texts)

    with Site() as site:
        asyncio.run(flood(site))
        wait_until(lambda: site.rooms == 0)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_strangers_page_opens_no_game(origin):
    async def knock(site):
        with pytest.raises(InvalidStatus):
            await site.table(additional_headers={"Origin": origin})

    with Site() as site:
        asyncio.run(knock(site))


def test_a_site_for_this_machine_answers_to_no_other_name():
    async def knock(site):
        with pytest.raises(InvalidStatus):
            await connect(f"ws://evil.example:{site.port}/play", host="127.0.0.1", port=site.port)

    with Site() as site:
        with urlopen(f"http://127.0.0.1:{site.port}/api/catalogue", timeout=20) as answer:
            assert json.load(answer)["games"]
        with pytest.raises(OSError, match="421"):
            urlopen(Request(f"http://127.0.0.1:{site.port}/", headers={"Host": "evil.example"}), timeout=20)
        asyncio.run(knock(site))


def test_a_port_in_use_is_told_in_one_sentence_with_another():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(GoishiError, match=rf"Port {port} is in use; try another, as in --port \d+\."):
            web.serve("127.0.0.1", port, open_browser=False)


def test_an_address_of_no_machine_is_told():
    with pytest.raises(GoishiError, match=r"no address 192\.0\.2\.1"):
        web.listen("192.0.2.1", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal to a group there")
def test_ctrl_c_ends_the_site_without_a_traceback():
    command = [sys.executable, "-u", "-m", "goishi", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert server.stdout
    with server.stdout:
        line = server.stdout.readline()
        assert "http://127.0.0.1:" in line, line
        wait_until(lambda: _answers(line))
        server.send_signal(signal.SIGINT)
        rest = server.stdout.read()
    assert server.wait(10) in (0, 130)
    assert "Traceback" not in rest


def _answers(line):
    address = line.split()[3].rstrip(";")
    try:
        with urlopen(address + "/api/catalogue", timeout=20) as answer:
            return answer.status == 200
    except OSError:
        return False
