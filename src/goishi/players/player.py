"""Who chooses a move: the role, and the players that a spec such as `net:connect4,visits=400` names.

A spec is `kind:argument,key=value,...`:
    random                        any legal move
    perfect                       best play in games small enough to be solved in memory
    uniform:visits=800            search without a network
    rollout:visits=1000           search that judges positions by random games: traditional Monte Carlo tree search
    net:PATH_OR_NAME,visits=400   search with a network; level=1 to level=10 plays weaker, like a person
    policy:PATH_OR_NAME           a network's first thought, no search
    gtp:COMMAND LINE              an outside engine; its keys stand before the colon: gtp,timeout=600:katago gtp
and the name of a model that ships with Goishi alone means `net:NAME`. In Go, the keys pass, resign_margin and
resign_after say when a player of any kind passes and gives up; see the module `ending`.
"""

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import UsageError

if TYPE_CHECKING:
    from goishi.search.search import Limit, Result

VISITS = {"uniform": 800, "rollout": 1000, "net": 400}
"""A search's visits where a spec says neither visits nor seconds."""

ENDING = ("pass", "resign_margin", "resign_after")
COMMON = ("visits", "seconds", "leaves", "temperature", "resign", "mode", "threads", *ENDING)
KEYS: dict[str, tuple[str, ...]] = {
    "random": (),
    "perfect": (),
    "uniform": COMMON,
    "rollout": COMMON,
    "net": (*COMMON, "level", "runtime", "precision", "symmetry"),
    "policy": ("temperature", "runtime", "precision", "symmetry", *ENDING),
    "gtp": ("timeout", "seconds", *ENDING),
}
TAKES_MODEL = ("net", "policy")
OUTSIDE = ("gtp", "gomocup")

RANGES: dict[str, tuple[type, float, float]] = {
    "visits": (int, 1, 100_000_000),
    "seconds": (float, 0.001, 1_000_000),
    "leaves": (int, 1, 1024),
    "temperature": (float, 0, 100),
    "resign": (float, -1, -0.01),
    "threads": (int, 1, 1024),
    "level": (int, 1, 10),
    "timeout": (float, 0.1, 1_000_000),
    "resign_margin": (float, 0.5, 1_000_000),
    "resign_after": (int, 0, 1_000_000),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "mode": ("puct", "gumbel", "uct"),
    "runtime": ("auto", "openvino", "onnxruntime", "torch"),
    "symmetry": ("none", "random", "average"),
    "pass": ("own", "opponent"),
}


class Decision(NamedTuple):
    """What a player chose."""

    action: int
    result: "Result | None" = None
    """What the search found, where there was one."""
    resigns: bool = False
    """The player gives up instead of playing `action`."""


class Player(Protocol):
    """Chooses moves in one game. Nothing but `choose` calls changes it, and it serves one thread at a time."""

    name: str

    def choose(self, position: Position, limit: "Limit | None" = None) -> Decision:
        """A move for a position that is not over; `limit` goes before the player's own."""

    def close(self) -> None:
        """Frees what it holds. It may be called twice."""


Maker = Callable[[int], Player]
"""Makes a player from a seed; the players of one maker share what is costly, such as a network."""


class Spec(NamedTuple):
    """A spec's parts, checked."""

    kind: str
    argument: str
    options: dict[str, int | float | str]


def find(spec: str, game: Game, seed: int = 0) -> Player:
    """The player of a spec, for this game.

    Raises UsageError for an unknown kind or key, BadModel for a model that can't play the game.
    """
    return maker(spec, game)(seed)


def maker(spec: str, game: Game, threads: int = 1) -> Maker:
    """As `find`, for several players of which `threads` think at the same time and share one evaluator's batches.

    Everything wrong with the spec is raised here, not when a player is made.
    """
    parts = parse(spec)
    name = spec.strip()
    make = _maker(name, parts, game, threads)
    if not set(ENDING) & set(parts.options):
        return make
    from goishi.players import ending

    return ending.maker(parts.options, make, game)


def _maker(name: str, spec: Spec, game: Game, threads: int) -> Maker:
    """As `maker`, without what ends a game early."""
    from goishi.players import simple

    if spec.kind == "random":
        return lambda seed: simple.RandomPlayer(seed, name)
    if spec.kind == "perfect":
        solution = simple.solve(game)
        return lambda seed: simple.PerfectPlayer(game, seed, name, solution)
    if spec.kind == "gtp":
        from goishi.players import engine

        return engine.maker(name, spec, game)
    from goishi.players import searcher

    return searcher.maker(name, spec, game, threads)


def parse(spec: str) -> Spec:
    """A spec's parts. Raises UsageError that names the nearest kind or key."""
    head, _, text = spec.strip().partition(":")
    kind, *keys = (part.strip() for part in head.split(","))
    kind = kind.lower()
    if kind == "gtp":
        return Spec(kind, text.strip(), dict(_option(kind, part) for part in keys))
    kind = head.lower()
    if kind in OUTSIDE:
        raise UsageError(
            f"{kind}: players (Gomocup brains) are no part of this version of Goishi yet; there are {', '.join(KEYS)}."
        )
    if kind not in KEYS:
        kind, text = "net", _as_model(spec.strip())
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    argument = ""
    if kind in TAKES_MODEL:
        if not parts or parts[0].partition("=")[0] in KEYS[kind]:
            raise UsageError(f"{kind} needs a model first: {kind}:PATH or {kind}:NAME, as `goishi models` lists them.")
        argument = parts.pop(0)
    return Spec(kind, argument, dict(_option(kind, part) for part in parts))


def _as_model(spec: str) -> str:
    """`NAME,visits=400` or `NAME:visits=400` of a shipped model as the text after `net:`. Raises UsageError."""
    from goishi.networks import store

    shipped = [model.name for model in store.shipped()]
    for mark in (",", ":"):
        name, found, rest = spec.partition(mark)
        if name in shipped:
            return f"{name},{rest}" if found else name
    name = spec.partition(":")[0].partition(",")[0]
    if name.endswith(".onnx") or "/" in name:
        raise UsageError(f"A model's path is no player; write net:{name} or policy:{name}.")
    near = difflib.get_close_matches(name.lower(), [*KEYS, *shipped, *OUTSIDE], 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join([*KEYS, *shipped])}."
    raise UsageError(f"There is no player {name!r}; {hint}")


def _option(kind: str, part: str) -> tuple[str, int | float | str]:
    """`visits=400` checked. Raises UsageError."""
    key, equals, text = (piece.strip() for piece in part.partition("="))
    if key not in KEYS[kind]:
        near = difflib.get_close_matches(key, KEYS[kind], 1)
        takes = f"it takes {', '.join(KEYS[kind])}" if KEYS[kind] else "it takes none"
        raise UsageError(f"The player {kind} has no key {key!r}; {f'did you mean {near[0]}?' if near else takes + '.'}")
    if key in CHOICES:
        if text not in CHOICES[key]:
            raise UsageError(f"{kind}: {key} is one of {', '.join(CHOICES[key])}, but {text!r} was given.")
        return key, text
    if key not in RANGES:
        return key, text
    type_, low, high = RANGES[key]
    try:
        value = type_(text)
    except ValueError:
        value = None
    if not equals or value is None or not low <= value <= high:
        what = "a whole number" if type_ is int else "a number"
        raise UsageError(f"{kind}: {key} is {what} from {low:,g} to {high:,g}, but {text!r} was given.")
    return key, value
