"""Settings: frozen dataclasses, a TOML file over their defaults, then `key.sub=value` from the command line.

A setting is a field with a default; the string below it says what it does and in what unit:

    @dataclass(frozen=True)
    class Games:
        at_once: int = 128
        'Games played in step.'

A field may be bool, int, float, str, a Literal of strings, a tuple of one of these, any of them `| None` (written
`none`), or another such dataclass.
"""

import ast
import dataclasses
import difflib
import inspect
import itertools
import json
import math
import textwrap
import tomllib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union

from goishi.errors import UsageError

Settings = TypeVar("Settings")
SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class Setting(NamedTuple):
    """One key of a configuration, for documents and error messages."""

    key: str
    """`search.visits`"""
    kind: str
    """`whole number`, `one of puct, gumbel` ..."""
    default: Any
    text: str
    """What the string below the field says."""


def resolve(defaults: Settings, file: Path | None = None, sets: Iterable[str] = ()) -> Settings:
    """`defaults` with what the TOML file says, then with each `key.sub=value`.

    Raises UsageError for a file that cannot be read, an unknown key or a value of the wrong type.
    """
    known = [setting.key for setting in describe(defaults)]
    settings = defaults
    if file is not None:
        settings = _merge(settings, _read(file), "", known)
    for text in sets:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"A setting is key=value, as in {known[0]}=..., not {text!r}.")
        tree: Any = _parse(value.strip())
        for part in reversed(key.strip().split(".")):
            tree = {part: tree}
        settings = _merge(settings, tree, "", known)
    return settings


def describe(settings: Any) -> list[Setting]:
    """Every key of a settings instance or class, in the order of the fields."""
    return list(_describe(settings() if isinstance(settings, type) else settings, ""))


def dump(settings: Any) -> str:
    """TOML that `resolve` reads back into the same settings; each key under the sentence that explains it."""
    lines: list[str] = []
    _dump(settings, "", lines)
    return "\n".join(lines).strip() + "\n"


def _describe(settings: Any, prefix: str) -> Iterator[Setting]:
    texts = _texts(type(settings))
    for name, kind, value in _fields(settings):
        if dataclasses.is_dataclass(value):
            yield from _describe(value, f"{prefix}{name}.")
        else:
            yield Setting(prefix + name, _kind_name(kind), value, texts.get(name, ""))


def _dump(settings: Any, prefix: str, lines: list[str]) -> None:
    texts = _texts(type(settings))
    tables = []
    for name, _, value in _fields(settings):
        if dataclasses.is_dataclass(value):
            tables.append((name, value))
            continue
        lines.extend(f"# {line}" for line in textwrap.wrap(texts.get(name, ""), 110))
        lines.append(f"{name} = {_toml(value)}")
    for name, value in tables:
        lines.append(f"\n[{prefix}{name}]")
        _dump(value, f"{prefix}{name}.", lines)


def _fields(settings: Any) -> Iterator[tuple[str, Any, Any]]:
    """(name, type, value) of each field."""
    kinds = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        yield field.name, kinds[field.name], getattr(settings, field.name)


def _texts(cls: type) -> dict[str, str]:
    """The string below each field, by the field's name, of the class and those it inherits from."""
    texts: dict[str, str] = {}
    for owner in reversed(cls.__mro__[:-1]):
        try:
            body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0].body  # type: ignore[attr-defined]
        except (OSError, TypeError):  # made at run time: there is no source
            continue
        for field, below in itertools.pairwise(body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    texts[name] = " ".join(text.split())
    return texts


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"There is no settings file {file}.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is no TOML file: {error}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from None


def _parse(text: str) -> Any:
    """`200`, `0.5`, `true`, `[1, 2]` as TOML reads them; anything else is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _merge(settings: Any, tree: Mapping[str, Any], prefix: str, known: list[str]) -> Any:
    changes = {}
    fields = {name: (kind, value) for name, kind, value in _fields(settings)}
    for name, given in tree.items():
        key = prefix + name
        if name not in fields:
            while isinstance(given, dict) and given:  # the whole key as it was written
                inner, given = next(iter(given.items()))
                key += f".{inner}"
            raise UsageError(f"There is no setting {key!r}; {_nearest(key, known)}")
        kind, value = fields[name]
        if dataclasses.is_dataclass(value):
            if not isinstance(given, dict):
                raise UsageError(f"{key} is a group of settings; {_nearest(key + '.', known)}")
            changes[name] = _merge(value, given, key + ".", known)
        elif isinstance(given, dict):
            inner = next(iter(given), "")
            raise UsageError(f"There is no setting {key + '.' + inner!r}; did you mean {key}?")
        else:
            changes[name] = _convert(given, kind, key, value)
    try:
        return dataclasses.replace(settings, **changes)
    except ValueError as error:  # a __post_init__ that checks ranges
        raise UsageError(f"{prefix.rstrip('.') or 'settings'}: {error}") from None


def _nearest(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, 1, 0.5)
    if not near:  # the right name in the wrong group, or a bare name
        near = difflib.get_close_matches(key.rpartition(".")[2], [name.rpartition(".")[2] for name in known], 1, 0.8)
        near = [name for name in known if near and name.rpartition(".")[2] == near[0]]
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."


def _convert(given: Any, kind: Any, key: str, default: Any) -> Any:
    """`given` as `kind`. Raises UsageError."""
    try:
        return _convert_value(given, kind)
    except (TypeError, ValueError):
        example = _toml(default).strip('"') if default is not None else "none"
        raise UsageError(f"{key} needs {_kind_name(kind)}, as in {key}={example}, not {given!r}.") from None


def _convert_value(given: Any, kind: Any) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        if given is None or (isinstance(given, str) and given.lower() == "none"):
            return None
        return _convert_value(given, next(choice for choice in inner if choice is not type(None)))
    if origin is Literal:
        if given in inner:
            return given
    elif origin is tuple:
        items = given if isinstance(given, list) else [part for part in str(given).split(",") if part.strip()]
        return tuple(
            _convert_value(_parse(item.strip()) if isinstance(item, str) else item, inner[0]) for item in items
        )
    elif kind is bool:
        if isinstance(given, bool):
            return given
        if str(given).lower() in SWITCHES:
            return SWITCHES[str(given).lower()]
    elif kind is float:
        if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
            return float(given)
    elif kind is int:
        if isinstance(given, int) and not isinstance(given, bool):
            return given
    elif kind is str and isinstance(given, str | int | float) and not isinstance(given, bool):
        return str(given)
    raise ValueError


def _kind_name(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return f"{_kind_name(next(choice for choice in inner if choice is not type(None)))} or none"
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin is tuple:
        return f"a list, each {_kind_name(inner[0])}"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "text"}.get(kind, str(kind))


def _toml(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
