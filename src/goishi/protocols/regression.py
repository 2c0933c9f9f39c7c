"""Regression suites of Go engines (`.tst`, as GoGui's and GNU Go's): GTP commands, and the answers that are right.

    loadsgf games/test.sgf 34
    10 reg_genmove black
    #? [D4|E5]*

A line `#? [REGEX]` belongs to the command before it: the whole answer must match, or must not where the regular
expression begins with `!`. A star behind the brackets says that the suite's own engine is known to fail there.
"""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from goishi.arena.record import numbered_lines
from goishi.errors import BadRecord
from goishi.protocols.gtp import Gtp

EXPECTED = re.compile(r"#\?\s*\[(!?)(.*?)\]?(\*?)\s*")
FRESH = ("loadsgf", "clear_board", "boardsize")
"""Commands after which nothing of what was before counts."""


class Check(NamedTuple):
    """An answer that was judged."""

    line: int
    command: str
    answer: str
    expected: str
    right: bool | None  # None where the engine does not know a command that it depends on
    known_to_fail: bool


def run(path: Path, engine: Gtp) -> Iterator[Check]:
    """Gives a suite's commands to an engine and judges its answers, one after the other.

    Raises BadRecord for a suite that can't be read or an expectation that is no regular expression.
    """
    number, command, reply, lost = 0, "", "", False
    for line_number, line in _lines(path):
        found = EXPECTED.fullmatch(line)
        if found:
            if not command:
                raise BadRecord(f"{path}, line {line_number}: there is no command before this expectation.")
            right = (
                None if lost or reply == "? unknown command" else _matches(found, reply, f"{path}, line {line_number}")
            )
            yield Check(number, command, reply[2:], line[2:].strip(), right, bool(found[3]))
            command = ""
            continue
        lost |= bool(command) and reply == "? unknown command"  # it may have changed the position
        number, command = line_number, _without_id(line)
        name, _, rest = command.partition(" ")
        if name in FRESH:
            lost = False
        if name == "loadsgf":
            rest = str(path.parent / rest.strip())
        reply = (engine.answer(f"{name} {rest}") or "").strip()
        lost |= name == "loadsgf" and reply.startswith("?")


def score(
    path: Path, player: str, game: str = "go", progress: Callable[[str, int, int], None] | None = None
) -> dict[str, Any]:
    """Runs a suite, or those of a folder, with a player; the figures that `goishi puzzles --json` prints.

    `unjudged` counts the answers that depend on commands which our engine does not know, `known_to_fail` the right ones
    among those that the suite's own engine is known to miss. Raises BadRecord, and UsageError for an unknown player.
    """
    engine = Gtp(game, player, resign=None)
    suites = sorted(path.glob("*.tst")) if path.is_dir() else [path]
    total = sum(bool(EXPECTED.fullmatch(line)) for suite in suites for _, line in _lines(suite))
    begun, by_set, done = time.perf_counter(), {}, 0
    for suite in suites:
        checks = []
        for check in run(suite, engine):
            checks.append(check)
            done += 1
            if progress:
                progress("judged", done, total)
        by_set[suite.stem] = checks
    engine.close()
    figures = {"file": str(path), "player": player, **_share([check for checks in by_set.values() for check in checks])}
    figures["seconds"] = round(time.perf_counter() - begun, 3)
    if path.is_dir():
        figures["by_set"] = {name: _share(checks) for name, checks in by_set.items()}
    return figures


def is_suite(path: Path) -> bool:
    """Is this a suite, or a folder of suites?"""
    return path.suffix == ".tst" or (path.is_dir() and any(path.glob("*.tst")))


def _lines(path: Path) -> list[tuple[int, str]]:
    """The commands and expectations of a file, comments left out."""
    return [(n, line) for n, line in numbered_lines(path) if not line.startswith("#") or line.startswith("#?")]


def _without_id(line: str) -> str:
    first, _, rest = line.partition(" ")
    return rest.strip() if first.isdigit() else line


def _matches(found: re.Match[str], reply: str, where: str) -> bool:
    """Is this answer right?"""
    try:
        matches = re.fullmatch(found[2], " ".join(reply[2:].split())) is not None
    except re.error as error:
        raise BadRecord(f"{where}: {found[2]!r} is no regular expression ({error}).") from None
    return reply.startswith("=") and matches != bool(found[1])


def _share(checks: list[Check]) -> dict[str, Any]:
    judged = [check for check in checks if check.right is not None]
    right = sum(bool(check.right) for check in judged)
    return {
        "positions": len(checks),
        "right": right,
        "share": right / len(judged) if judged else None,
        "unjudged": len(checks) - len(judged),
        "known_to_fail": sum(bool(check.right) and check.known_to_fail for check in judged),
    }
