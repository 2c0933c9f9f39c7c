"""What a game is: one file of plain functions on a record, and the same rules over many records at once.

A game's file defines `State` (a list of NumPy fields with at least `player`), `actions`, `planes`, `board`, and
    start(state)            sets every field of the first position; +1 moves first, -1 second
    legal(state, mask)      sets mask[a] = True where a may be played; mask comes all False
    play(state, action)     changes the record into the next position
    over(state)             is the game finished?
    score(state)            of a finished game, for the player who moved first: +1 won, 0 drawn, -1 lost
    encode(state, planes)   sets what a network sees; planes comes all zero
and may define `setup(**parameters)`, which sets the names above for the parameters of a spec.
`score` may be asked of a position that is not over; what it answers there is not used.
`shown` may name the parameters of `setup` that a network sees in its planes: it may play with others than it learned.

A file may define more, which the games without it do without:
    draw(state, random)     a random legal action of a game that is not over; random is 64 random bits. Random games
                            are played by it instead of by any legal action: faster, or not quite senseless
    owners(state, owners)   sets whose each point is, +1, -1 or 0, as the board stands; owners is int8[P]
    lead(state)             by how many points the first player is ahead as the board stands; goes with owners
    vary(state, rng)        gives a first position other rules, as some games of self-play have them; rng is a NumPy
                            Generator, and this is never compiled
    key(state)              what names a position that the rules forbid to recur, as uint64; 0 for one that may recur
    forbid(state, action)   hears that an action would lead to a position that was there before, and notes it in the
                            record, where `legal` heeds it and `play` forgets it. Position calls it: it knows the whole
                            game, where a record remembers a few positions at most

Shapes: B positions at once, N records, A actions, C H W planes.
"""

import contextlib
import importlib.util
import inspect
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goishi.core.board import Board
from goishi.core.compiled import identity, inner, kernel
from goishi.errors import BadGame

RULES = ("start", "legal", "play", "over", "score", "encode")
EXTRAS = ("draw", "owners", "lead", "key")


class Kernels(NamedTuple):
    """A game's rules, each over many records at once. Arguments are arrays; answers are written into the last ones."""

    start: Callable[[np.ndarray], None]
    """(states[B]): the first position into each; never compiled."""
    play: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
    """(states[N], parents int32[B], actions int32[B], children int32[B]): each parent played on."""
    look: Callable[..., None]
    """(states[N], rows int32[B], players int8[B], over bool[B], values float32[B], masks bool[B, A]): who moves; is it
    over; its result as the player to move sees it, or 0; the legal actions, none when it is over."""
    encode: Callable[[np.ndarray, np.ndarray], None]
    """(states[B], planes float32[B, C, H, W]): what a network sees."""
    rollout: Callable[[np.ndarray, np.ndarray, np.ndarray], None]
    """(states[B], seeds uint64[B], values float32[B]): each played out by random legal moves; its result as the player
    to move in `states` sees it. The states stay as they are."""
    finish: Callable[[np.ndarray, np.ndarray, np.ndarray], None]
    """(states[B], seeds uint64[B], moves int32[B]): the same, but each state stays as its game ended; its moves."""
    owners: Callable[[np.ndarray, np.ndarray], None] | None = None
    """(states[B], owners int8[B, P]): whose each point is; None where the game's file does not tell."""
    leads: Callable[[np.ndarray, np.ndarray], None] | None = None
    """(states[B], leads float32[B]): the first player's points less the second's; None where owners is."""
    keys: Callable[[np.ndarray, np.ndarray], None] | None = None
    """(states[B], keys uint64[B]): what may not recur; None where everything may."""


def split(spec: str) -> tuple[str, str]:
    """A game's name or path, and the text of its parameters; a path on Windows has a colon of its own."""
    path, end, text = spec.rpartition(".py")
    if end and (not text or text.startswith(":")):
        return (path + end).strip(), text[1:]
    name, _, text = spec.partition(":")
    return name.strip(), text


class Game:
    """The rules of one game with its parameters fixed. Two games of one `spec` are the same game."""

    def __init__(self, module: types.ModuleType, spec: str):
        self.spec = spec
        self.name = split(spec)[0]
        self.module = module
        try:
            self.State: np.dtype = np.dtype((np.record, module.State))
            self.actions = int(module.actions)
            self.planes: tuple[int, int, int] = tuple(int(n) for n in module.planes)  # type: ignore[assignment]
            self.board: Board | None = module.board
            for rule in (*RULES, *(extra for extra in (*EXTRAS, "forbid") if hasattr(module, extra))):
                if not inspect.isfunction(getattr(module, rule)):
                    raise BadGame(f"{self.name}: {rule} must be a function; see docs/new-game.md.")
            if hasattr(module, "key") != hasattr(module, "forbid"):
                raise BadGame(f"{self.name}: key and forbid go together; see docs/new-game.md.")
            if hasattr(module, "owners") != hasattr(module, "lead"):
                raise BadGame(f"{self.name}: owners and lead go together; see docs/new-game.md.")
        except AttributeError as error:
            raise BadGame(f"{self.name}: the game's file lacks {error.name!r}; see docs/new-game.md.") from None
        except (TypeError, ValueError) as error:
            raise BadGame(
                f"{self.name}: State, actions or planes cannot be used ({error}); see docs/new-game.md."
            ) from None
        if "player" not in (self.State.names or ()):
            raise BadGame(f"{self.name}: State needs a field `player` (+1 or -1).")
        points = self.planes[1] * self.planes[2]
        if (
            self.board is not None
            and (self.board.rows, self.board.columns) == self.planes[1:]
            and self.board.actions == self.actions
        ):
            self.symmetries = self.board.symmetries()
            self.point_symmetries = self.board.point_symmetries()
        else:
            self.symmetries = np.arange(self.actions, dtype=np.int32)[None]
            self.point_symmetries = np.arange(points, dtype=np.int32)[None]
        if not getattr(module, "symmetric", True):
            self.symmetries, self.point_symmetries = self.symmetries[:1], self.point_symmetries[:1]
        self._kernels: dict[bool, Kernels] = {}

    def __repr__(self) -> str:
        return f"Game({self.spec!r})"

    def kernels(self, compiled: bool = True) -> Kernels:
        """The rules over many records: compiled and kept on disk, or the file's own functions for a debugger."""
        if compiled not in self._kernels:
            first = np.zeros(1, self.State)
            try:
                self.module.start(first[0])
            except Exception as error:
                raise BadGame(f"{self.name}: start fails ({type(error).__name__}: {error}).") from None

            def start(states: np.ndarray) -> None:
                states[:] = first

            rest = compiled_kernels(self.module) if compiled else make_kernels(vars(self.module), self.actions, None)
            self._kernels[compiled] = Kernels(start, *rest)
        return self._kernels[compiled]

    def start(self, count: int = 1) -> np.ndarray:
        """State[count]: first positions."""
        states = np.zeros(count, self.State)
        self.kernels().start(states)
        return states

    def stones(self, state: np.record) -> np.ndarray:
        """int8[rows, columns] for a person's eye: +1 the first player's, -1 the second's, 0 empty."""
        show = getattr(self.module, "show", None)
        return np.array(show(state) if show else state["board"], np.int8)


def load_module(path: Path) -> types.ModuleType:
    """Runs a game's file in a module of its own, so that each spec has its own constants.

    Raises BadGame when the file does not run.
    """
    name = f"goishi.games.{path.stem}"
    loader = importlib.util.spec_from_file_location(name, path)
    if loader is None or loader.loader is None or not path.is_file():
        raise BadGame(f"{path} is no Python file; a game is one .py file (see docs/new-game.md).")
    module = importlib.util.module_from_spec(loader)
    try:
        loader.loader.exec_module(module)
    except SyntaxError as error:
        raise BadGame(f"{path}, line {error.lineno}: {error.msg}.") from None
    except Exception as error:
        raise BadGame(f"{path} does not run: {type(error).__name__}: {error}.") from None
    return module


COMPILED: dict[str, tuple[Any, ...]] = {}
"""By identity: games that differ in their first position alone, as Go with another komi does, share their code."""


def compiled_kernels(module: types.ModuleType) -> tuple[Any, ...]:
    """As `make_kernels`; made once for all games of one identity."""
    key = identity_of(module)
    if key not in COMPILED:
        COMPILED[key] = make_kernels(compile_rules(module), int(module.actions), key)
    return COMPILED[key]


def identity_of(module: types.ModuleType) -> str:
    """A hash of all that compiled rules depend on: the files that their functions are from, and the constants that
    these read. It changes when compiled code would; `start` is no part of it."""
    parts: dict[str, bytes] = {"State": repr([module.State, module.actions, module.planes]).encode()}

    def visit(function: types.FunctionType) -> None:
        file = function.__code__.co_filename
        if (name := f"{file}:{function.__name__}") in parts:
            return
        parts[name] = b""
        if file not in parts:
            with contextlib.suppress(OSError):  # a function that was made at run time has no file
                parts[file] = Path(file).read_bytes()
        read = {used: function.__globals__[used] for used in _names(function.__code__) if used in function.__globals__}
        read |= inspect.getclosurevars(function).nonlocals
        for used, value in read.items():
            if inspect.isfunction(value):
                visit(value)
            elif isinstance(value, np.ndarray):
                parts[f"{name}:{used}"] = repr((value.dtype, value.shape)).encode() + value.tobytes()
            elif not inspect.ismodule(value):
                parts[f"{name}:{used}"] = repr(value).encode()

    for rule in (*RULES, *EXTRAS):
        if rule != "start" and hasattr(module, rule):
            visit(getattr(module, rule))
    return identity(part for name in sorted(parts) for part in (name.encode(), parts[name]))


def _names(code: types.CodeType) -> Iterator[str]:
    """The globals (and attributes) that a function's code names, and the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def compile_rules(module: types.ModuleType) -> dict[str, Any]:
    """The module's functions as numba dispatchers, and those that they call, with its constants frozen in."""
    key = identity_of(module)
    done: dict[int, Any] = {}  # by id: a module's globals, and functions

    def namespace_of(original: dict[str, Any]) -> dict[str, Any]:
        if id(original) not in done:
            namespace = done[id(original)] = dict(original)
            for name, value in original.items():
                if inspect.isfunction(value) and name != "setup":
                    namespace[name] = compile_one(value)
        return done[id(original)]

    def compile_one(function: types.FunctionType) -> Any:
        namespace = namespace_of(function.__globals__)
        if id(function) not in done:
            name, defaults = function.__name__, function.__defaults__
            copy = types.FunctionType(function.__code__, namespace, name, defaults, function.__closure__)
            copy.__module__ = __name__  # numba imports it when it reads code from disk, and may not find a game's
            copy.__qualname__ = f"{name}_{key}"  # two games in one process share no symbol
            done[id(function)] = inner(copy)
        return done[id(function)]

    return {rule: compile_one(getattr(module, rule)) for rule in (*RULES, *EXTRAS) if hasattr(module, rule)}


def make_kernels(rules: dict[str, Any], actions: int, key: str | None) -> tuple[Any, ...]:
    """The kernels after `start`, in order, as closures over the rules; compiled and kept on disk under their key where
    one is given."""
    rule_legal, rule_play = rules["legal"], rules["play"]
    rule_over, rule_score, rule_encode = rules["over"], rules["score"], rules["encode"]
    rule_draw: Any = rules.get("draw")
    rule_owners: Any = rules.get("owners")
    rule_lead: Any = rules.get("lead")
    rule_key: Any = rules.get("key")

    def play(states, parents, played, children):
        for i in range(len(children)):
            states[children[i]] = states[parents[i]]
            rule_play(states[children[i]], played[i])

    def look(states, rows, players, over, values, masks):
        masks[: len(rows)] = False
        for i in range(len(rows)):
            state = states[rows[i]]
            players[i] = state.player
            over[i] = rule_over(state)
            values[i] = 0.0
            if over[i]:
                values[i] = rule_score(state) * state.player
            else:
                rule_legal(state, masks[i])

    def encode(states, planes):
        planes[: len(states)] = 0.0
        for i in range(len(states)):
            rule_encode(states[i], planes[i])

    def play_out(state, seed, mask):
        seed |= np.uint64(1)
        moves = 0
        while not rule_over(state):
            mask[:] = False
            rule_legal(state, mask)
            action = np.int64(-1)
            for _ in range(8 * actions):  # draw until legal; the scan below ends what bad luck would not
                seed ^= seed << np.uint64(13)
                seed ^= seed >> np.uint64(7)
                seed ^= seed << np.uint64(17)
                drawn = np.int64(((seed >> np.uint64(32)) * np.uint64(actions)) >> np.uint64(32))
                if mask[drawn]:
                    action = drawn
                    break
            if action < 0:
                action = np.int64(np.argmax(mask))
            rule_play(state, action)
            moves += 1
        return moves

    def play_out_by_draw(state, seed, mask):
        seed |= np.uint64(1)
        moves = 0
        while not rule_over(state):
            seed ^= seed << np.uint64(13)
            seed ^= seed >> np.uint64(7)
            seed ^= seed << np.uint64(17)
            rule_play(state, rule_draw(state, seed))
            moves += 1
        return moves

    run: Any = play_out_by_draw if rule_draw else play_out
    if key:
        run.__qualname__ = f"{run.__name__}_{key}"  # as in `compile_rules`
        run = inner(run)

    def rollout(states, seeds, values):
        board = states[:1].copy()
        mask = np.zeros(actions, np.bool_)
        for i in range(len(states)):
            board[0] = states[i]
            run(board[0], seeds[i], mask)
            values[i] = rule_score(board[0]) * states[i].player

    def finish(states, seeds, moves):
        mask = np.zeros(actions, np.bool_)
        for i in range(len(states)):
            moves[i] = run(states[i], seeds[i], mask)

    def owners(states, owners):
        for i in range(len(states)):
            rule_owners(states[i], owners[i])

    def leads(states, leads):
        for i in range(len(states)):
            leads[i] = rule_lead(states[i])

    def keys(states, keys):
        for i in range(len(states)):
            keys[i] = rule_key(states[i])

    functions: list[Any] = [play, look, encode, rollout, finish]
    functions += [owners if rule_owners else None, leads if rule_lead else None, keys if rule_key else None]
    return tuple(kernel(function, key) if key and function else function for function in functions)
