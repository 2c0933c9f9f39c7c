"""Finds games: `gomoku:size=9,row=5` by entry point (group `goishi.games`), `./mygame.py` by path."""

import difflib
import importlib.util
import inspect
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path

from goishi.core.game import Game, load_module, split
from goishi.errors import BadGame, UnknownGame, UsageError

GROUP = "goishi.games"


def names() -> list[str]:
    """The games that are installed, by name."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


@lru_cache(maxsize=64)
def find(spec: str) -> Game:
    """The game of a spec: a name or a path to a .py file, then `:key=value,...`.

    Raises UnknownGame for an unknown name or parameter, BadGame for a file that is no game.
    """
    name, text = split(spec.strip())
    path = _path(name)
    module = load_module(path)
    setup = getattr(module, "setup", None)
    known = dict(inspect.signature(setup).parameters) if setup else {}
    given = _parameters(name, text, {key: parameter.default for key, parameter in known.items()})
    if setup:
        try:
            setup(**given)
        except UsageError as error:
            raise UnknownGame(f"{name}: {error}") from None
        except Exception as error:
            raise BadGame(f"{name}: setup failed: {type(error).__name__}: {error}.") from None
    inner = ",".join(f"{key}={given[key]}" for key in known if key in given)  # one order, so one spec for one game
    label = name if name.endswith(".py") else name.lower()
    return Game(module, f"{label}:{inner}" if inner else label)


def _path(name: str) -> Path:
    if name.endswith(".py"):
        path = Path(name)
        if not path.is_file():
            raise UnknownGame(f"There is no file {name}.")
        return path
    for entry in entry_points(group=GROUP):
        if entry.name == name.lower():
            found = importlib.util.find_spec(entry.value)
            if found is None or found.origin is None:
                raise BadGame(f"The game {name} is registered as {entry.value}, which is not installed.")
            return Path(found.origin)
    near = difflib.get_close_matches(name, names(), 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}, or give the path of a .py file."
    raise UnknownGame(f"There is no game {name!r}; {hint}")


def _parameters(name: str, text: str, defaults: dict[str, object]) -> dict[str, object]:
    """`size=9,row=5` with each value read as its default's type."""
    given: dict[str, object] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in defaults:
            near = difflib.get_close_matches(key, defaults, 1)
            takes = f"it takes {', '.join(defaults)}" if defaults else "it takes none"
            raise UnknownGame(f"{name} has no parameter {key!r}; {f'did you mean {near[0]}?' if near else takes + '.'}")
        kind = type(defaults[key])
        try:
            if not equals or kind not in (int, float, str):
                raise ValueError
            given[key] = kind(value)
        except ValueError:
            what = {int: "a whole number", float: "a number"}.get(kind, "a value")
            raise UnknownGame(f"{name}: {key} needs {what}, as in {key}={defaults[key]}.") from None
    return given
