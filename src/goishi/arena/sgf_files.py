"""Many record files at once: what is in them, what is wrong with them, and clean copies of them."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goishi.arena import sgf, sgf_game, sgf_import
from goishi.arena.sgf import Tree
from goishi.arena.sgf_game import SgfGame
from goishi.errors import BadRecord, UsageError

MOST_EXAMPLES = 3  # files that are named for each remark


@dataclass
class Report:
    """What was found in some files."""

    files: int = 0
    games: int = 0
    moves: int = 0
    odd: int = 0
    """Games that were read with remarks."""
    broken: list[str] = field(default_factory=list)
    """A sentence for each file that can't be read, and for each game that can't be or is against the rules."""
    written: int = 0
    """Clean copies."""
    remarks: Counter[str] = field(default_factory=Counter)
    """In how many games each remark was made."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """Where, for the first few of each: the file and the details."""
    bytes: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """For programs, and for a table."""
        rows = [{"remark": what, "games": count, "where": self.examples[what]} for what, count in self.sorted_remarks()]
        return {
            "files": self.files,
            "games": self.games,
            "moves": self.moves,
            "odd": self.odd,
            "broken": self.broken,
            "written": self.written,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "remarks": rows,
        }

    def sorted_remarks(self) -> list[tuple[str, int]]:
        """The most frequent first."""
        return sorted(self.remarks.items(), key=lambda item: (-item[1], item[0]))


def find(paths: Sequence[Path]) -> list[Path]:
    """The files of these paths: files as they are, and all record files in folders. Raises UsageError."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inner: list[Path] = []
            for folder, folders, names in os.walk(path):
                folders.sort()
                inner += [Path(folder, name) for name in names if name.lower().endswith(sgf_import.SUFFIXES)]
            if not inner:
                raise UsageError(f"There is no record ({', '.join(sgf_import.SUFFIXES)}) in {path}.")
            found += sorted(inner)
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"There is no file or folder {path}.")
    return found


def read(files: Sequence[Path], broken: list[str]) -> Iterator[SgfGame]:
    """The games of the files, one at a time; `broken` grows by a sentence for each that can't be read.

    Raises BadRecord instead where there is one file only.
    """
    for path in files:
        try:
            for tree in sgf_import.read_file(path):
                yield sgf_game.understand(tree)
        except BadRecord as error:
            if len(files) == 1:
                raise
            broken.append(str(error))


def check(
    files: Iterable[Path],
    *,
    game: str = "",
    out: Path | None = None,
    root: Path | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Report:
    """Reads every game of the files, and tells what was found.

    game      the rules by which the moves are played, such as `go`; empty: the moves are not tried
    out       a folder for clean copies, one game a file; files below the folder `root` keep their place in it
    progress  hears how many files are done
    Raises UsageError where a copy would replace a file that is read, or can't be written.
    """
    report, begun = Report(), time.perf_counter()
    copies = _Copies(out, root) if out else None
    for done, path in enumerate(files, start=1):
        report.files += 1
        try:
            report.bytes += path.stat().st_size if path.exists() else 0
            for number, tree in enumerate(sgf_import.read_file(path), start=1):
                _check_game(report, path, tree, game, number, copies)
        except BadRecord as error:
            report.broken.append(str(error))
        progress(done)
    report.seconds = time.perf_counter() - begun
    return report


def _check_game(report: Report, path: Path, tree: Tree, game: str, number: int, copies: "_Copies | None") -> None:
    report.games += 1
    try:
        record = sgf_game.understand(tree)
        report.moves += len(record.moves)
        report.odd += bool(record.remarks)
        for remark in {remark.what: remark for remark in record.remarks}.values():
            report.remarks[remark.what] += 1
            examples = report.examples.setdefault(remark.what, [])
            if len(examples) < MOST_EXAMPLES:
                examples.append(f"{path}, line {tree.line}" + (f": {remark.where}" if remark.where else ""))
        rules = sgf_game.find_game(record, game) if game else None
        if rules is not None:
            problem = sgf_game.replay(record, rules).problem
            if problem:
                report.broken.append(f"{path}, line {tree.line}: {problem}")
        if copies:
            copies.write(path, tree, record, number)
            report.written += 1
    except BadRecord as error:
        report.broken.append(str(error))


class _Copies:
    """A folder of clean records, each whole from the moment it has its name."""

    def __init__(self, out: Path, root: Path | None):
        self._out, self._root = out, root
        self._taken: set[Path] = set()

    def write(self, path: Path, tree: Tree, record: SgfGame, number: int) -> None:
        """Writes one game of a file."""
        folder = path.parent.relative_to(self._root) if self._root and self._root in path.parents else Path()
        name = path.stem + (f"-{number}" if number > 1 else "")
        target = self._out / folder / f"{name}.sgf"
        copy = 1
        while target in self._taken:  # a.gib beside a.sgf
            copy += 1
            target = self._out / folder / f"{name}.{copy}.sgf"
        self._taken.add(target)
        if target.exists() and target.resolve() == path.resolve():
            raise UsageError(f"The clean record would replace {path}; choose another folder.")
        write_file(target, sgf.write(sgf_game.cleaned(tree, record)))


def write_file(path: Path, text: str) -> None:
    """Writes a whole file in UTF-8 or none: under another name first. Raises UsageError where it can't be written."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(text.encode("utf-8", "replace"))
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path} can't be written: {error.strerror or error}.") from None
