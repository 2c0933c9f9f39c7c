"""Is a game's file right? Random games show whether its rules keep the promises that everything else builds on.

`check` tries a game in this process. `check_file` does it in a process of its own, so that an endless loop or a crash
in the rules ends that process and becomes a sentence. What is timed is one step of the game: neither the start of that
process nor numba's work counts.

Shapes: M positions of a random game, S symmetries, A actions, C H W planes, P = H * W points.
"""

import faulthandler
import json
import os
import re
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goishi.core import registry
from goishi.core.game import EXTRAS, RULES, Game, Kernels, compile_rules
from goishi.core.position import Position
from goishi.errors import BadGame, IllegalMove, UnknownGame

GAMES = 10
MOST_MOVES = 10_000
BUDGET_SECONDS = 2.0  # what one claim spends at most on examples beyond its first
COMPILE_SECONDS = 600.0  # what numba may take for one kernel, however slow the machine is
LOCKED_SECONDS = 5.0  # added to a step's limit where Python's lock is held all the time
LOADS, COMPILES = "the file is a game", "the rules compile"

Beat = Callable[..., None]
"""Called before each step, so that a watcher knows a slow game from an endless rule; a number of seconds given to it
is what this one step may take."""
Frame = tuple[str, int, str]  # file, line, function


class Claim(NamedTuple):
    """One promise of a game, and whether it is kept."""

    claim: str
    ok: bool
    detail: str = ""  # where it is broken, for a person


class Report(NamedTuple):
    """What was found out about one game; claims after a fatal one are missing."""

    spec: str
    claims: list[Claim]

    @property
    def ok(self) -> bool:
        """Are all promises kept?"""
        return all(claim.ok for claim in self.claims)


class Broken(Exception):
    """A promise that is not kept; the text says where."""


class Walk(NamedTuple):
    """A random game by the plain rules."""

    history: list[int]
    states: np.ndarray  # State[M]
    masks: np.ndarray  # bool[M, A]
    ended: bool


class Trial:
    """A game under test, and random games of it."""

    def __init__(self, game: Game, seed: int, beat: Beat):
        self.game = game
        self.rng = np.random.default_rng(seed)
        self.beat = beat
        self.start, self.legal, self.play, self.over, self.score, self.encode = (
            getattr(game.module, rule) for rule in RULES
        )
        self.walks: list[Walk] = []
        self.deadline = 0.0

    def walk(self) -> Walk:
        """One random game, to its end or the most moves."""
        states, masks = [np.zeros(1, self.game.State)], list[np.ndarray]()
        history, ended = list[int](), False
        self.start(states[0][0])
        while len(history) < MOST_MOVES:
            self.beat()
            ended = bool(self.over(states[-1].copy()[0]))
            masks.append(np.zeros(self.game.actions, np.bool_) if ended else self.mask(states[-1].copy()))
            legal = np.flatnonzero(masks[-1])
            if len(legal) == 0:
                break
            history.append(int(self.rng.choice(legal)))
            states.append(self.after(states[-1], history[-1]))
        return Walk(history, np.concatenate(states[: len(masks)]), np.array(masks), ended)

    def after(self, states: np.ndarray, action: int) -> np.ndarray:
        """State[1] after an action in State[1]."""
        child = states.copy()
        self.play(child[0], np.int32(action))
        return child

    def mask(self, states: np.ndarray) -> np.ndarray:
        """bool[A], the legal actions in State[1]."""
        mask = np.zeros(self.game.actions, np.bool_)
        self.legal(states[0], mask)
        return mask

    def planes(self, states: np.ndarray) -> np.ndarray:
        """float32[C, P] of State[1]."""
        planes = np.zeros(self.game.planes, np.float32)
        self.encode(states[0], planes)
        return planes.reshape(len(planes), -1)

    def result(self, states: np.ndarray) -> tuple[bool, float]:
        """Is State[1] over, and its score if so."""
        over = bool(self.over(states[0]))
        return over, float(self.score(states[0])) if over else 0.0

    def told(self, walk: Walk, move: int) -> str:
        """The moves that lead to a position of a walk, as a person names them."""
        names = [self.game.board.name(action) if self.game.board else str(action) for action in walk.history[:move]]
        if len(names) > 12:
            return f"after {len(names)} moves ending in {' '.join(names[-6:])}"
        return f"after {' '.join(names)}" if names else "in the first position"

    def time_left(self) -> bool:
        """May this claim look at more examples?"""
        self.beat()
        return time.monotonic() < self.deadline


def check(game: Game, seed: int = 0) -> Report:
    """Tries every claim on random games. Does not return when a rule does not return; see `check_file`."""
    return Report(game.spec, list(examine(game, seed)))


def examine(
    game: Game, seed: int = 0, enter: Callable[[str], None] | None = None, beat: Beat | None = None
) -> Iterator[Claim]:
    """The claims one by one; ends after one without which the rest means nothing.

    `enter` hears each claim before it is tried; `beat` is called all the time meanwhile.
    """
    trial = Trial(game, seed, beat or (lambda *seconds: None))
    for claim, try_it, fatal in CLAIMS:
        if enter:
            enter(claim)
        trial.deadline = time.monotonic() + BUDGET_SECONDS
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # an int8 that overflows is a broken rule
                detail = try_it(trial) or ""
        except Exception as error:  # whatever the rules raise is the answer
            yield Claim(claim, False, _explain(error, game))
            if fatal:
                return
        else:
            yield Claim(claim, True, detail)


# ------------------------------------------------------------------ the claims


def _run(trial: Trial) -> str | None:
    while len(trial.walks) < GAMES and (not trial.walks or trial.time_left()):
        trial.walks.append(trial.walk())
    moves = [len(walk.history) for walk in trial.walks]
    return f"{len(moves)} random games of {min(moves)} to {max(moves)} moves"


def _start(trial: Trial) -> None:
    clean, dirty = np.zeros(1, trial.game.State), np.zeros(1, trial.game.State)
    dirty.view(np.uint8)[:] = 0x55
    trial.start(clean[0])
    trial.start(dirty[0])
    for field in trial.game.State.names or ():
        if clean[field].tobytes() != dirty[field].tobytes():
            raise Broken(f"start leaves {field} as it was, or part of it.")


def _players(trial: Trial) -> None:
    for walk in trial.walks:
        wrong = np.flatnonzero(np.abs(walk.states["player"].astype(int)) != 1)
        if len(wrong):
            where = trial.told(walk, wrong[0])
            raise Broken(f"state.player is {walk.states['player'][wrong[0]]} {where}; it must be +1 or -1.")


def _moves(trial: Trial) -> None:
    for walk in trial.walks:
        if not walk.ended and not walk.masks[-1].any():
            where = trial.told(walk, len(walk.history))
            raise Broken(
                f"legal allows nothing and over says False {where}; a player who can't move passes or has lost."
            )


def _ends(trial: Trial) -> None:
    for walk in trial.walks:
        if len(walk.history) >= MOST_MOVES:
            raise Broken(f"a random game went on for {MOST_MOVES:,} moves; over must become True at some point.")


def _scores(trial: Trial) -> str | None:
    scores = []
    for walk in trial.walks:
        if walk.ended:
            scores.append(float(trial.score(walk.states[-1])))
            if scores[-1] not in (-1.0, 0.0, 1.0):
                where = trial.told(walk, len(walk.history))
                raise Broken(f"score is {scores[-1]:g} {where}; it must be +1, 0 or -1.")
    return f"{scores.count(1.0)} won by the first player, {scores.count(0.0)} drawn, {scores.count(-1.0)} lost"


def _pure(trial: Trial) -> None:
    for walk in trial.walks:
        for move in range(len(walk.states)):
            states = walk.states[move : move + 1].copy()
            looks: dict[str, Callable[[np.ndarray], Any]] = {"over or score": trial.result, "encode": trial.planes}
            if walk.masks[move].any():
                looks["legal"] = trial.mask
            for name, look in looks.items():
                answer = look(states)
                if states.tobytes() != walk.states[move].tobytes():
                    raise Broken(f"{name} changes the record {trial.told(walk, move)}; only play may.")
                if not np.array_equal(answer, look(states)):
                    raise Broken(f"{name} gives two answers for one record {trial.told(walk, move)}.")
            if move + 1 < len(walk.states):
                again = trial.after(states, walk.history[move])
                if again.tobytes() != walk.states[move + 1].tobytes():
                    where = trial.told(walk, move + 1)
                    raise Broken(f"play gives two results for one record and action {where}.")
            if move and not trial.time_left():
                return


def _finite(trial: Trial) -> None:
    for walk in trial.walks:
        for move in range(len(walk.states)):
            if not np.isfinite(trial.planes(walk.states[move : move + 1])).all():
                raise Broken(f"encode writes what is no number {trial.told(walk, move)}.")
            if move and not trial.time_left():
                return


def _symmetric(trial: Trial) -> str | None:
    game = trial.game
    if len(game.symmetries) == 1:
        return "it has none"
    hint = "if the game has no such symmetry, write `symmetric = False` in its file."
    first = np.zeros(1, game.State)
    trial.start(first[0])
    planes = trial.planes(first)
    for s, (actions, points) in enumerate(zip(game.symmetries, game.point_symmetries, strict=True)):
        moved = np.argsort(actions)  # int[A], where symmetry s takes each action
        # A game whose first position looks the same afterwards is played again; else the record itself is moved.
        replays = np.array_equal(planes[:, points], planes)
        for walk in trial.walks[:3]:
            image = first.copy()
            for move in range(min(len(walk.states), 400)):
                states = walk.states[move : move + 1]
                if not replays:
                    image = _moved(states, points, game.planes[1:])
                where = f"under symmetry {s} {trial.told(walk, move)}; {hint}"
                if trial.result(image) != trial.result(states):
                    raise Broken(f"the result differs {where}")
                if not trial.result(states)[0] and not np.array_equal(trial.mask(image), walk.masks[move][actions]):
                    raise Broken(f"the legal actions differ {where}")
                if not np.array_equal(trial.planes(image), trial.planes(states)[:, points]):
                    raise Broken(f"the planes differ {where}")
                if move < len(walk.history):
                    image = trial.after(image, moved[walk.history[move]])
                trial.beat()
            if not trial.time_left():
                break
    return f"{len(game.symmetries)} symmetries"


def _moved(states: np.ndarray, points: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """State[1] with every field of the board's shape moved by a symmetry, the others as they are."""
    image = states.copy()
    for field in states.dtype.names or ():
        if states[field].shape[1:] == grid:
            image[field] = states[field].reshape(1, -1)[:, points].reshape(states[field].shape)
    return image


def _shown(trial: Trial) -> None:
    game = trial.game
    if game.board is not None:
        if game.board.actions != game.actions:
            raise Broken(f"actions is {game.actions}, but the board has {game.board.actions} (a pass counts).")
        names = [game.board.name(action).lower() for action in range(game.actions)]
        if len(set(names)) < len(names) or [game.board.action(name) for name in names] != list(range(game.actions)):
            raise Broken("two actions have one name.")
    if not hasattr(game.module, "show") and "board" not in (game.State.names or ()):
        raise Broken("State has no field `board`; write show(state), which gives an array of +1, -1 and 0.")
    stones = game.stones(trial.walks[0].states[-1])
    shape = (game.board.rows, game.board.columns) if game.board else stones.shape
    if stones.shape != shape or np.abs(stones).max() > 1:
        raise Broken(
            "the field `board` is not a grid of +1, -1 and 0 of the board's size; write show(state), which gives one."
        )


def _compiles(trial: Trial) -> None:
    states, actions = trial.walks[0].states[:1].copy(), trial.game.actions
    try:
        kernels = trial.game.kernels()
        for kernel in (  # without a position nothing runs, so that only numba's work is waited for
            lambda: _look(kernels, states[:0], actions),
            lambda: kernels.encode(states[:0], np.zeros((0, *trial.game.planes), np.float32)),
            lambda: _play(kernels, states, np.zeros(0, np.int32)),
            lambda: kernels.rollout(states[:0], np.zeros(0, np.uint64), np.zeros(0, np.float32)),
        ):
            trial.beat(COMPILE_SECONDS)
            kernel()
    except Exception as error:
        rules = compile_rules(trial.game.module)
        state, action = states[0], np.int32(np.argmax(trial.walks[0].masks[0]))
        arguments: dict[str, tuple[Any, ...]] = {
            "legal": (state, np.zeros(trial.game.actions, np.bool_)),
            "over": (state,),
            "score": (state,),
            "encode": (state, np.zeros(trial.game.planes, np.float32)),
            "play": (state, action),
        }
        for rule, given in arguments.items():
            trial.beat(COMPILE_SECONDS)
            try:
                rules[rule](*given)
            except Exception as found:
                raise Broken(f"{rule}: {_numba_sentence(found)}") from None
        raise Broken(_numba_sentence(error)) from None


def _agree(trial: Trial) -> str | None:
    game, kernels, compared = trial.game, trial.game.kernels(), 0
    for walk in trial.walks:
        for move in range(len(walk.states)):
            states, where = walk.states[move : move + 1], trial.told(walk, move)
            players, over, values, masks = _look(kernels, states, game.actions)
            if players[0] != states["player"][0] or (bool(over[0]), values[0] * players[0]) != trial.result(states):
                raise Broken(f"compiled and plain over or score differ {where}.")
            if not np.array_equal(masks[0], walk.masks[move]):
                raise Broken(f"compiled and plain legal differ {where}.")
            planes = np.zeros((1, *game.planes), np.float32)
            kernels.encode(states, planes)
            if not np.array_equal(planes[0].reshape(len(planes[0]), -1), trial.planes(states)):
                raise Broken(f"compiled and plain encode differ {where}.")
            legal = np.flatnonzero(walk.masks[move]).astype(np.int32)
            if len(legal) > 16:
                legal = np.unique(np.append(trial.rng.choice(legal, 16), walk.history[move : move + 1])).astype(
                    np.int32
                )
            children = _play(kernels, states, legal)
            for action, child in zip(legal, children, strict=True):
                name = game.board.name(int(action)) if game.board else action
                _same("play", child[None], trial.after(states, int(action)), f"{where}, then {name}")
            compared += len(legal)
            if move and not trial.time_left():
                return f"{compared:,} moves compared"
    return f"{compared:,} moves compared"


def _same(rule: str, compiled: np.ndarray, plain: np.ndarray, where: str) -> None:
    for field in compiled.dtype.names or ():
        if compiled[field].tobytes() != plain[field].tobytes():
            raise Broken(f"compiled and plain {rule} differ in {field} {where}.")


def _refuses(trial: Trial) -> None:
    for walk in trial.walks:
        position = Position(trial.game, walk.states[-1:].copy())
        positions = [
            position,
            Position.start(trial.game),
            Position(trial.game, walk.states[len(walk.history) // 2 :][:1].copy()),
        ]
        for position in positions:
            for action in (-1, trial.game.actions, *np.flatnonzero(~position.mask)[:5].tolist()):
                try:
                    position.play(action)
                except IllegalMove:
                    continue
                raise Broken(f"action {action} was accepted where legal does not allow it.")
        if not trial.time_left():
            return


def _extras(trial: Trial) -> str | None:
    """What a game's file may define besides; see core/game.py."""
    module, kernels = trial.game.module, trial.game.kernels()
    points = trial.game.planes[1] * trial.game.planes[2]
    for walk in trial.walks:
        for move in range(len(walk.states)):
            states, where = walk.states[move : move + 1].copy(), trial.told(walk, move)
            if hasattr(module, "draw") and walk.masks[move].any():
                drawn = int(module.draw(states[0], np.uint64(trial.rng.integers(0, 2**63))))
                if not 0 <= drawn < trial.game.actions or not walk.masks[move][drawn]:
                    raise Broken(f"draw gives what is not legal, {drawn}, {where}.")
                _unchanged("draw", states, walk.states[move], where)
            if kernels.owners and kernels.leads:
                plain, compiled = np.zeros((1, points), np.int8), np.zeros((1, points), np.int8)
                module.owners(states[0], plain[0])
                _unchanged("owners", states, walk.states[move], where)
                kernels.owners(states, compiled)
                lead, plain_lead = np.zeros(1, np.float32), float(module.lead(states[0]))
                _unchanged("lead", states, walk.states[move], where)
                kernels.leads(states, lead)
                if not np.isfinite(lead[0]) or lead[0] != np.float32(plain_lead):
                    raise Broken(f"lead is no number of points, or differs when compiled, {where}.")
                if np.abs(plain).max() > 1 or not np.array_equal(plain, compiled):
                    raise Broken(f"owners gives what is not +1, 0 or -1, or differs when compiled, {where}.")
            if kernels.keys:
                keys = np.zeros(1, np.uint64)
                kernels.keys(states, keys)
                if keys[0] != np.uint64(module.key(states[0])):
                    raise Broken(f"compiled and plain key differ {where}.")
                _unchanged("key", states, walk.states[move], where)
            if move and not trial.time_left():
                break
    return ", ".join(extra for extra in (*EXTRAS, "forbid") if hasattr(module, extra)) or "it has none"


def _unchanged(rule: str, states: np.ndarray, before: np.void, where: str) -> None:
    if states.tobytes() != before.tobytes():
        raise Broken(f"{rule} changes the record {where}; only play may.")


def _playouts(trial: Trial) -> None:
    states = trial.game.start(100)
    seeds = trial.rng.integers(1, 2**63, 100).astype(np.uint64)
    values = np.full(100, np.nan, np.float32)
    trial.game.kernels().rollout(states, seeds, values)
    if not np.isin(values, (-1, 0, 1)).all():
        raise Broken("a random playout of the compiled rules ended with a score that is not +1, 0 or -1.")


CLAIMS: tuple[tuple[str, Callable[[Trial], str | None], bool], ...] = (
    ("the rules run as plain Python", _run, True),
    ("start sets every field", _start, False),
    ("the player to move is +1 or -1", _players, True),
    ("there is a legal action until the game is over", _moves, True),
    ("random games end", _ends, True),
    ("the score of a finished game is +1, 0 or -1", _scores, True),
    ("the same record and action give the same position; only play changes a record", _pure, False),
    ("encode writes finite numbers", _finite, False),
    ("symmetries permute planes, legal actions and results", _symmetric, False),
    ("every action has a name and every position a picture", _shown, False),
    (COMPILES, _compiles, True),
    ("compiled and plain rules agree", _agree, False),
    ("what is not legal is refused", _refuses, False),
    ("the optional rules keep their promises", _extras, False),
    ("random playouts of the compiled rules end", _playouts, False),
)


def _look(kernels: Kernels, states: np.ndarray, actions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """int8[B] players, bool[B] over, float32[B] values, bool[B, A] masks."""
    count = len(states)
    players, over = np.zeros(count, np.int8), np.zeros(count, np.bool_)
    values, masks = np.zeros(count, np.float32), np.zeros((count, actions), np.bool_)
    kernels.look(states, np.arange(count, dtype=np.int32), players, over, values, masks)
    return players, over, values, masks


def _play(kernels: Kernels, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """State[B], the positions after int32[B] actions in State[1]."""
    pool = np.zeros(len(actions) + 1, states.dtype)
    pool[0] = states[0]
    kernels.play(pool, np.zeros(len(actions), np.int32), actions, np.arange(1, len(pool), dtype=np.int32))
    return pool[1:]


# ------------------------------------------------------------------ telling what went wrong


def _explain(error: Exception, game: Game) -> str:
    """One sentence, with the line of the game's file that an exception came from."""
    if isinstance(error, Broken):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == game.module.__file__] or frames
    text = f"{type(error).__name__}: {error}".rstrip(".")
    return f"{Path(own[-1].filename).name}, line {own[-1].lineno}, in {own[-1].name}: {text}."


def _numba_sentence(error: Exception) -> str:
    """The cause that numba gives, and the innermost line of source that it names."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in ")]
    cause = lines[0] if lines else type(error).__name__
    if cause.endswith(":") and len(lines) > 1:
        cause = f"{cause[:-1]} {lines[1].removeprefix('>>> ')}"
    if isinstance(error, KeyError):
        cause = f"there is no field or key {cause}"
    place = re.search(r'File "([^"]+)", line (\d+)|at (\S+) \((\d+)\)', text)
    at = f" ({Path(place[1] or place[3]).name}, line {place[2] or place[4]})" if place else ""
    return f"numba can't compile this: {cause.rstrip('.')}{at}."


# ------------------------------------------------------------------ in a process of its own


def check_file(spec: str, seconds: float = 60.0, seed: int = 0) -> Report:
    """Checks a game in a process of its own, which is ended when one step of it takes longer than `seconds`.

    Raises UnknownGame for a game or a parameter that there is not.
    """
    command = [sys.executable, "-c", "from goishi.core.check import _child; _child()", spec, str(seconds), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
    name = Path(spec.split(".py", 1)[0] + ".py" if ".py" in spec else f"{spec.split(':', 1)[0]}.py").name
    claims: list[Claim] = []
    entered, label, stuck = LOADS, spec, None
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if "unknown" in message:
            raise UnknownGame(message["unknown"])
        entered = message.get("enter", entered)
        label = message.get("spec", label)
        stuck = message.get("stuck", stuck)
        claims += [Claim(*claim) for claim in message.get("claims", ())]
    if done.returncode != 0:
        told = re.findall(r'File "([^"]+)", line (\d+) in (\S+)', done.stderr)  # by Python's fault handler
        if stuck is None and "Timeout (" in done.stderr:
            stuck = told
        frames = [(Path(file).name, int(line), function) for file, line, function in stuck or told]
        own = [frame for frame in frames if frame[0] == name]
        detail = _crashed(own, entered, done.returncode) if stuck is None else _endless(own, entered, seconds)
        claims.append(Claim(entered, False, detail))
    return Report(label, claims)


def _child() -> None:
    """Checks the game named in `sys.argv`, telling each step on stdout as JSON, one object a line."""
    spec, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    out, sys.stdout = sys.stdout, sys.stderr  # rules that print do not disturb the report

    def tell(**message: Any) -> None:
        print(json.dumps(message), file=out, flush=True)

    def end(frames: list[Frame]) -> None:
        tell(stuck=frames)
        os._exit(1)

    registry.names()  # what the first look-up of any game costs is not this game's
    faulthandler.enable()
    watch = Watch(seconds, end)

    def enter(claim: str) -> None:
        tell(enter=claim)
        watch.beat()

    enter(LOADS)
    try:
        game = registry.find(spec)
    except UnknownGame as error:
        return tell(unknown=str(error))
    except BadGame as error:
        return tell(claims=[Claim(LOADS, False, str(error))])
    tell(spec=game.spec, claims=[Claim(LOADS, True)])
    for claim in examine(game, seed, enter, watch.beat):
        tell(claims=[claim])
    faulthandler.cancel_dump_traceback_later()
    return None


class Watch:
    """Tells where the main thread is when one of its steps takes too long.

    Python's fault handler could do so by itself, but it reads the frames of a thread that runs on meanwhile: what it
    tells may be cut short. So it stands in only where code holds Python's lock all the time and the frames stand still.
    """

    def __init__(self, seconds: float, late: Callable[[list[Frame]], None]):
        """late hears, in a thread of its own, where the step is that takes longer than so many seconds."""
        self._seconds = seconds
        self._late = late
        self._main = threading.get_ident()
        self._step = (time.monotonic(), seconds)  # begun, allowed
        self._armed = (0.0, 0.0)
        self.beat()
        threading.Thread(target=self._run, daemon=True).start()

    def beat(self, seconds: float | None = None) -> None:
        """The next step begins."""
        now, allowed = time.monotonic(), seconds or self._seconds
        self._step = (now, allowed)
        begun, armed = self._armed
        if now - begun > 0.2 or armed != allowed:
            self._armed = (now, allowed)
            faulthandler.dump_traceback_later(allowed + LOCKED_SECONDS, exit=True)

    def _run(self) -> None:
        while True:
            time.sleep(0.05)
            step = begun, allowed = self._step
            frame = sys._current_frames().get(self._main)
            if frame is None:
                return
            if time.monotonic() - begun > allowed and step is self._step:
                walked = traceback.walk_stack(frame)  # innermost first
                self._late([(f.f_code.co_filename, line, f.f_code.co_name) for f, line in walked])
                return


def _endless(own: list[Frame], claim: str, seconds: float) -> str:
    """Where a step did not end; `own` are its frames in the game's file, innermost first."""
    late = f"did not return within {seconds:g} s"
    if own:
        rule = next((function for _, _, function in reversed(own) if function in RULES), own[-1][2])
        rule = "the file" if rule == "<module>" else rule
        name, line, function = own[0]
        inside = f", in {function}" if function not in (rule, "<module>") else ""
        return f"{rule} {late}: look for an endless loop at {name}, line {line}{inside}."
    if claim == COMPILES:
        return f"numba did not compile the rules within {COMPILE_SECONDS:g} s: make them simpler."
    if _runs_compiled(claim):
        return (
            f"the compiled rules {late}, where the plain ones did: look for a wrong type or an index outside an array."
        )
    return f"a step outside the game's file {late}: allow more with --seconds {2 * seconds:g}."


def _crashed(own: list[Frame], claim: str, status: int) -> str:
    """Where Python crashed; `own` are its frames in the game's file, innermost first."""
    if own:
        return f"Python crashed (status {status}) at {own[0][0]}, line {own[0][1]}, in {own[0][2]}."
    if _runs_compiled(claim):
        return f"the compiled rules crashed (status {status}): look for a wrong type or an index outside an array."
    return f"Python crashed (status {status}) outside the game's file."


def _runs_compiled(claim: str) -> bool:
    """Do compiled rules run for this claim?"""
    names = [each for each, _, _ in CLAIMS]
    return claim in names[names.index(COMPILES) + 1 :]
