"""KataGo's JSON analysis protocol: queries come in as lines, answers go out as they are found, in any order.

`Analyst` is pure but for its own state: `hear` takes a line, `work` does a bit of what is to be done, and both answer
through the function that came with the line. `serve` gives it the standard streams, `Hall` any number of clients.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import goishi
from goishi.core import registry
from goishi.core.game import Game
from goishi.errors import GoishiError, UsageError
from goishi.protocols.analysis_answer import answer, final_without
from goishi.protocols.analysis_engine import Engine, Job
from goishi.protocols.analysis_query import Query, Refused, Settings, cut, overridden, read_query
from goishi.protocols.stdio import Gone, complain, private_stdout
from goishi.search.analysis import Analysis

SIZES = 4
"""Board sizes that stay loaded."""
LONGEST_LINE = 4 << 20
"""Letters of a query."""
WAIT_SECONDS = 0.02
"""For a board that is loading, before the next look at what else is to be done."""
READY = "Started, ready to begin handling requests"
KNOWN_ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")
ONE_OF_ACTIONS = "'action' field must be " + " or ".join(f"'{action}'" for action in KNOWN_ACTIONS)

Say = Callable[[str], None]
"""Takes an answer to one client, a JSON object without its line's end; it stands for the client, too."""


@dataclass
class Arrived:
    """A query whose board is still loading."""

    query: Query
    say: Say
    stopped: set[int]  # turns that were terminated meanwhile


class Analyst:
    """Answers queries of any number of clients. Not for several threads at once."""

    def __init__(self, spec: str, player: str, settings: Settings | None = None, version: str = ""):
        """Loads the board of the spec, which takes seconds. Raises GoishiError where that can't be."""
        self._spec, self._player = spec, player
        self._settings = settings or Settings()
        self._version = version or goishi.__version__
        self._loader = ThreadPoolExecutor(1, "load")
        self._arrived: list[Arrived] = []
        self._count = 0
        game = registry.find(spec)
        if game.board is None:
            raise UsageError(f"{game.spec} has no board; its moves have no names that a client could send.")
        loaded: Future[Engine] = Future()
        loaded.set_result(Engine(game, player))
        self._engines: OrderedDict[str, Future[Engine]] = OrderedDict({self._key(game): loaded})

    def hear(self, line: str, say: Say) -> None:
        """One query or action. What is wrong with it is answered at once, and so are actions."""
        text = line.strip()
        if not text:
            return
        try:
            fields = self._object(text)
            name = fields.get("id")
            if not isinstance(name, str):
                raise Refused('Request must have a string "id" field')
        except Refused as refused:
            return self._tell(say, {"error": refused.text})
        try:
            if "action" in fields:
                return self._act(fields, say)
            query = read_query(fields, self._spec, self._settings)
        except Refused as refused:
            told = {"error": refused.text}
            if refused.field is not None:
                told |= {"field": refused.field, "id": name}
            return self._tell(say, told)
        for where, warning in query.warnings:
            self._tell(say, {"field": where, "id": name, "warning": warning})
        self._arrived.append(Arrived(query, say, set()))
        self._load(query.game)

    def work(self) -> bool:
        """A bit of what is to be done: a batch for each board size. False when nothing is left."""
        self._let_in()
        engines = self._loaded()
        busy = [engine for engine in engines if engine.is_busy]
        for engine in busy:
            self._work(engine)
        if self._arrived and not busy:
            wait([self._engines[self._key(a.query.game)] for a in self._arrived], WAIT_SECONDS, FIRST_COMPLETED)
        return bool(self._arrived) or any(engine.is_busy for engine in engines)

    def leave(self, say: Say) -> None:
        """A client has gone; nobody waits for its answers any more."""
        self._arrived = [arrived for arrived in self._arrived if arrived.say != say]
        for engine in self._loaded():
            engine.remove(lambda job: job.say == say)

    # ---------------------------------------------------------------- actions

    def _object(self, text: str) -> dict[str, Any]:
        if len(text) > LONGEST_LINE:
            raise Refused("parse error: the line is too long")
        try:
            found = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            why = str(error) if isinstance(error, ValueError) else "too deep"
            raise Refused(f"parse error: {why} - could not parse input line as json request: {cut(text)}") from None
        if not isinstance(found, dict):
            raise Refused(f"Request line was valid json but was not an object, ignoring: {cut(text)}")
        return found

    def _act(self, fields: dict[str, Any], say: Say) -> None:
        action = fields["action"]
        if action not in KNOWN_ACTIONS:
            raise Refused(ONE_OF_ACTIONS)
        if action == "query_version":
            self._tell(say, {**fields, "version": self._version, "git_hash": "goishi"})
        elif action == "query_models":
            self._tell(say, {**fields, "models": [self._model()]})
        elif action == "clear_cache":
            for engine in self._loaded():
                engine.clear()
            self._tell(say, fields)
        else:
            self._terminate(fields, say)

    def _terminate(self, fields: dict[str, Any], say: Say) -> None:
        everything = fields["action"] == "terminate_all"
        wanted, turns = fields.get("terminateId"), fields.get("turnNumbers")
        if not everything and not isinstance(wanted, str):
            raise Refused('Requests for a terminate action must have a string "terminateId" field', "terminateId")
        if turns is not None and not (isinstance(turns, list) and all(type(turn) is int for turn in turns)):
            raise Refused("If provided, must be an array of integers indicating turns to terminate", "turnNumbers")
        self._tell(say, fields)
        for arrived in self._arrived:
            if arrived.say == say and (everything or arrived.query.id == wanted):
                arrived.stopped.update(arrived.query.turns if turns is None else turns)
        for engine in self._loaded():
            for job in engine.jobs():
                if job.say == say and (everything or job.query.id == wanted) and (turns is None or job.turn in turns):
                    job.stopped = True

    def _model(self) -> dict[str, Any]:
        return {
            "internalName": self._player,
            "maxBatchSize": 64,
            "name": self._player,
            "usesHumanSLProfile": False,
            "usingFP16": "auto",
            "version": 0,
        }

    # ---------------------------------------------------------------- boards and searches

    def _key(self, game: Game) -> str:
        assert game.board is not None
        return f"{game.board.columns} {game.board.rows}"

    def _load(self, game: Game) -> None:
        """Begins to load a board that is not there, in place of the one that was not used for longest."""
        key = self._key(game)
        if key not in self._engines:
            self._engines[key] = self._loader.submit(Engine, game, self._player)
        self._engines.move_to_end(key)
        needed = {self._key(arrived.query.game) for arrived in self._arrived}
        for old, future in list(self._engines.items()):
            idle = future.done() and old not in needed and not (_is_loaded(future) and future.result().is_busy)
            if len(self._engines) > SIZES and idle:
                del self._engines[old]

    def _loaded(self) -> list[Engine]:
        return [future.result() for future in self._engines.values() if _is_loaded(future)]

    def _let_in(self) -> None:
        """Plays the moves of the queries whose boards are loaded, and puts their turns into the queue."""
        waiting, self._arrived = self._arrived, []
        for arrived in waiting:
            query, say = arrived.query, arrived.say
            future = self._engines[self._key(query.game)]
            if not future.done():
                self._arrived.append(arrived)
                continue
            try:
                engine, positions = future.result(), query.positions()
            except Refused as refused:
                self._tell(say, {"error": refused.text, "field": refused.field, "id": query.id})
                continue
            except Exception as error:  # such as a model that can't play on this board
                self._tell(say, {"error": _sentence(error), "field": "boardXSize", "id": query.id})
                continue
            for turn, priority, position in zip(query.turns, query.priorities, positions, strict=True):
                self._count += 1
                job = Job(query, turn, priority, self._count, position, say)
                job.stopped = turn in arrived.stopped
                engine.add(job)

    def _work(self, engine: Engine) -> None:
        def tell(job: Job, found: Analysis | None, during: bool) -> None:
            told = final_without(job) if found is None else answer(engine, job, found, during)
            self._tell(job.say, told)

        try:
            engine.work(tell)
        except Gone:
            raise
        except Exception as error:  # a player's own fault must not end the others' analyses
            complain(_sentence(error))
            for job in list(engine.jobs()):
                self._tell(job.say, {"error": _sentence(error), "id": job.query.id})
            engine.start_again()

    def _tell(self, say: Say, told: dict[str, Any]) -> None:
        say(json.dumps(told, separators=(",", ":"), sort_keys=True))


class Hall:
    """An analyst who works in one thread and hears the clients of others."""

    def __init__(self, analyst: Analyst):
        self._analyst = analyst
        self._heard: queue.SimpleQueue[tuple[str | None, Say] | None] = queue.SimpleQueue()

    def hear(self, text: str, say: Say) -> None:
        """From any thread: a message of a client, one line or several. `say` is called by the thread that works."""
        for line in text.splitlines():
            self._heard.put((line, say))

    def leave(self, say: Say) -> None:
        """From any thread: a client has gone."""
        self._heard.put((None, say))

    def close(self) -> None:
        """From any thread: nothing more will come."""
        self._heard.put(None)

    def run(self, to_the_end: bool = True) -> None:
        """Works until `close`, and then, `to_the_end`, until everything is answered. Raises what `say` raises."""
        closed, busy = False, False
        while busy or not closed:
            try:
                while (heard := self._heard.get(block=not busy and not closed)) is not None:
                    line, say = heard
                    self._hear(line, say)
                    busy = True
                closed = True
                if not to_the_end:
                    return
            except queue.Empty:
                pass
            busy = self._analyst.work()

    def _hear(self, line: str | None, say: Say) -> None:
        try:
            self._analyst.leave(say) if line is None else self._analyst.hear(line, say)
        except Gone:
            raise
        except Exception as error:  # our own fault must not end the others' analyses
            complain(_sentence(error))
            say(json.dumps({"error": _sentence(error)}))


def serve(
    spec: str,
    player: str,
    settings: Settings | None = None,
    version: str = "",
    wait: bool = True,
    lines: BinaryIO | None = None,
    out: BinaryIO | None = None,
) -> None:
    """Speaks over the standard streams until the input ends and, if `wait`, everything is answered, or until nobody
    reads the answers. Raises GoishiError where game or player can't be."""
    source: BinaryIO = lines or sys.stdin.buffer
    sink: BinaryIO = out or private_stdout()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # at once, in the middle of a search too
    hall = Hall(Analyst(spec, player, settings, version))

    def say(text: str) -> None:
        try:
            sink.write(text.encode() + b"\n")
            sink.flush()
        except (OSError, ValueError):
            raise Gone from None

    def read() -> None:
        for line in source:
            hall.hear(line.decode("utf-8", "replace"), say)
        hall.close()

    threading.Thread(target=read, name="lines", daemon=True).start()
    print(READY, file=sys.stderr, flush=True)
    with contextlib.suppress(Gone):
        hall.run(wait)
    if out is None:
        with contextlib.suppress(OSError):
            sink.close()


def leave_process() -> NoReturn:
    """Ends the process at once, whatever is still loading."""
    sys.stderr.flush()
    os._exit(0)


def settings_of(overrides: list[str]) -> Settings:
    """The settings of KataGo's `-override-config k=v,...`; names that mean nothing here are passed over.

    Raises UsageError for a wrong value.
    """
    given: dict[str, Any] = {}
    for text in overrides:
        for part in text.split(","):
            name, _, value = part.partition("=")
            given[name.strip()] = value.strip()
    try:
        return overridden(Settings(), given)[0]
    except Refused as refused:
        raise UsageError(f"{refused.text}.") from None


def _is_loaded(future: "Future[Engine]") -> bool:
    return future.done() and future.exception() is None


def _sentence(error: BaseException) -> str:
    if isinstance(error, GoishiError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    return f"It failed, and this is Goishi's own fault: {type(error).__name__}: {error}"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
