"""GTP's commands about game records: loadsgf and printsgf."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from goishi.arena import sgf, sgf_game, sgf_import
from goishi.arena.record import RULES
from goishi.arena.sgf import Node
from goishi.arena.sgf_files import write_file
from goishi.core.position import Position
from goishi.errors import BadRecord, GoishiError, IllegalMove
from goishi.protocols.gtp_board import BoardCommands
from goishi.protocols.gtp_words import Failure, command, whole

Points = Sequence[int]


class RecordCommands(BoardCommands):
    """A board that is read from files and written into them."""

    @command("loadsgf")
    def loadsgf(self, words: list[str]) -> str:
        """The position before a move, counted from 1, or the last; all stays where the file can't be read."""
        last = None
        if len(words) > 1 and words[-1].isdigit():
            last, words = whole(words[-1], "") - 1, words[:-1]
        file = " ".join(words)
        try:
            record = sgf_game.understand(next(iter(sgf_import.read_file(Path(file)))))
        except (BadRecord, OSError, ValueError, StopIteration):
            raise Failure(f"cannot open or parse '{file}'") from None
        before = self._game, self._rules, self._half_komi, self._started
        try:
            self._load_record(record, len(record.moves) if last is None else last)
        except (GoishiError, IllegalMove) as error:
            if self._game is not before[0]:
                self._set_game(before[0])
            _, self._rules, self._half_komi, self._started = before
            raise Failure(f"cannot open or parse '{file}'") from error
        return ""

    @command("printsgf")
    def printsgf(self, words: list[str]) -> str:
        text = sgf.write(self._as_sgf())
        if not words:
            return text
        file = " ".join(words)
        try:
            if not Path(file).parent.is_dir():
                raise OSError
            write_file(Path(file), text)
        except (GoishiError, OSError, ValueError):
            raise Failure(f"cannot open '{file}'") from None
        return ""

    def _load_record(self, record: sgf_game.SgfGame, count: int) -> None:
        """Plays the first moves of a record. Raises Failure or IllegalMove in the middle of it."""
        if (record.kind == sgf_game.GO) != self._is_go:
            raise Failure("another game")
        if (record.columns, record.rows) != self._size:
            self._resize(record.columns, record.rows)
        self._begin(None)
        if self._is_go:
            if record.komi is not None:
                self._half_komi = self._module.half_points(record.komi)
            if record.rules:
                self._rules = self._module.preset(record.rules)
        if record.black or record.white:
            self._put(record.black, record.white, (), record.player, record.handicap)
        setups = list(record.setups)
        for place, move in enumerate(record.moves[: max(0, count)]):
            while setups and setups[0].after <= place:
                self._put(*setups.pop(0)[1:], move.player, record.handicap)
            if move.action > self._passing or move.action >= self._game.actions:
                raise Failure("a pass in a game without passes")
            self._extend(move.player, move.action, strict=not self._is_go)
        for setup in setups:
            if setup.after <= count:
                self._put(*setup[1:], self._position.player, record.handicap)

    def _put(self, black: Points, white: Points, empty: Points, player: int, handicap: int) -> None:
        """A new beginning with stones put on the board and taken off it."""
        if not self._is_go:
            raise Failure("stones that nobody played")
        stones = self._position.stones.ravel().copy()
        for color, points in ((1, black), (-1, white), (0, empty)):
            stones[list(points)] = color
        self._arrange(stones, player, handicap)

    def _as_sgf(self) -> Node:
        """The line as a record."""
        columns, rows = self._size
        if max(columns, rows) > sgf_game.LARGEST or self._game.board is None or self._game.board.style != "points":
            raise Failure("SGF has no such board")
        first = self._line[0]
        root = Node(sgf_game.head(sgf_game.GO if self._is_go else sgf_game.GOMOKU, columns, rows))
        if self._is_go:
            komi = self._half_komi / 2
            root.properties["KM"] = [f"{komi:.15g}" + (".0" if komi == int(komi) else "")]
            root.properties["RU"] = [self._rules_name()]
            if first.state.handicap >= 2:
                root.properties["HA"] = [str(int(first.state.handicap))]
        for name, player in (("AB", 1), ("AW", -1)):
            stones = np.argwhere(first.stones == player)
            if len(stones):
                root.properties[name] = [sgf.point(int(column), int(row)) for row, column in stones]
        if first.stones.any():
            root.properties["PL"] = ["B" if first.player > 0 else "W"]
        node = root
        for before, after in pairwise(self._line):
            node.children = [Node({"B" if before.player > 0 else "W": [self._sgf_point(before, after)]})]
            node = node.children[0]
        return root

    def _sgf_point(self, before: Position, after: Position) -> str:
        action = after.history[-1]
        if action == self._passing:
            return ""
        row, column = divmod(action, self._size[0])
        return sgf.point(column, row)

    def _rules_name(self) -> str:
        for name, rules in self._module.PRESETS.items():
            if tuple(rules) == tuple(self._rules):
                return RULES.get(name, name.partition("-")[0].title())
        return "Custom"
