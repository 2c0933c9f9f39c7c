"""The words of a GTP line: ids, colors, numbers, truths; and how a method becomes a command."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from goishi.errors import GoishiError

COLORS = {"b": 1, "black": 1, "w": -1, "white": -1}
LARGEST_ID = 2**31 - 1
TRUTHS = {"true": True, "false": False}

Say = Callable[[str], object]
Stream = Callable[[Say], object]
"""Says lines, one after the other while it goes on."""
Reply = str | Stream
"""What a command answers."""


class Failure(GoishiError):
    """What is answered after `?`."""


class Entry(NamedTuple):
    """What the table of commands says of a method."""

    names: tuple[str, ...]
    go: bool | None
    """For Go alone, or for other games alone."""
    listed: bool
    """Does list_commands tell of it?"""


class Attention:
    """Which line is being answered, and which were heard since: what may stop hears of them.

    Lines are heard in another thread than the one that answers; what stops a search is called there.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._heard = self._answered = self._cut = 0
        self._stop: Callable[[], None] | None = None
        self._at_any_line = False

    def hear(self, line: str) -> None:
        """There is a line. The comment `# interrupt` ends a move, too, that was asked for before it."""
        with self._changed:
            self._heard += 1
            if line.split() in (["#", "interrupt"], ["#interrupt"]):
                self._cut = self._heard
            ends = self._stop is not None and self.ends
            self._changed.notify_all()
        if ends:
            threading.Thread(target=self._insist, name="stop", daemon=True).start()

    def turn(self) -> None:
        """The next line is answered from now on."""
        with self._changed:
            self._answered += 1
            self._heard = max(self._heard, self._answered)

    def _insist(self) -> None:
        """Stops what goes on until it has: a stop that comes just before a search begins is lost."""
        while True:
            with self._changed:
                if self._stop is None or not self.ends:
                    return
                self._stop()
            time.sleep(0.01)

    @property
    def ends(self) -> bool:
        """Must what goes on now end?"""
        return self._cut > self._answered or (self._at_any_line and self._heard > self._answered)

    @property
    def waits(self) -> bool:
        """Is there another line, or was this one cut short?"""
        return self._cut > self._answered or self._heard > self._answered

    def wait(self) -> None:
        """Until what goes on must end."""
        with self._changed:
            self._changed.wait_for(lambda: self.ends)

    @contextmanager
    def while_it(self, stop: Callable[[], None], at_any_line: bool = True) -> Iterator[None]:
        """Calls `stop` when what goes on meanwhile must end: at any line, or only where it is cut short."""
        with self._changed:
            self._stop, self._at_any_line = stop, at_any_line
        try:
            yield
        finally:
            with self._changed:
                self._stop, self._at_any_line = None, False


def command(*names: str, go: bool | None = None, listed: bool = True) -> Callable[[Any], Any]:
    """Marks a method as what answers the commands of these names; it gets the words after the name."""

    def mark(method: Any) -> Any:
        method.gtp = Entry(names, go, listed)
        return method

    return mark


def commands_of(engine: Any, go: bool) -> dict[str, tuple[Callable[[list[str]], Reply], bool]]:
    """By name, in order: the methods that answer, and whether list_commands tells of them."""
    found: dict[str, tuple[Callable[[list[str]], Reply], bool]] = {}
    for attribute in dir(type(engine)):
        entry: Entry | None = getattr(getattr(type(engine), attribute), "gtp", None)
        if entry is not None and entry.go in (None, go):
            found |= {name: (getattr(engine, attribute), entry.listed) for name in entry.names}
    return dict(sorted(found.items()))


def split_line(line: str) -> list[str]:
    """The words of a line without its comment and what can't be seen."""
    text = line.replace("\t", " ").partition("#")[0]
    return "".join(letter for letter in text if letter >= " " and letter != "\x7f").split()


def split_id(word: str) -> tuple[str, str]:
    """`14name` as `14`, `name`; an id is a number up to 2^31 - 1."""
    digits = len(word) - len(word.lstrip("0123456789"))
    number = word[:digits]
    if not number or len(number) > 100 or int(number) > LARGEST_ID:
        return "", word
    return str(int(number)), word[digits:]


def framed(text: str) -> str:
    """A reply's text as it may stand: no empty line in it, which would end it."""
    rows = [row.rstrip() for row in text.split("\n")]
    return "\n".join(row for place, row in enumerate(rows) if row or place == 0)


def color_name(player: int) -> str:
    return "black" if player > 0 else "white"


def color_of(words: list[str]) -> int:
    """The player whom the first word names. Raises Failure."""
    try:
        return COLORS[words[0].lower()]
    except (IndexError, KeyError):
        raise Failure("invalid color") from None


def whole(word: str, otherwise: str) -> int:
    """A whole number. Raises Failure with the text `otherwise`."""
    try:
        return int(word[:400])
    except ValueError:
        raise Failure(otherwise) from None


def number(word: str, otherwise: str) -> float:
    """A finite number. Raises Failure with the text `otherwise`."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Failure(otherwise)
    return value


def truth(word: str, otherwise: str) -> bool:
    """`true` or `false`. Raises Failure with the text `otherwise`."""
    try:
        return TRUTHS[word.lower()]
    except KeyError:
        raise Failure(otherwise) from None
