"""GTP's commands about the board: size, stones, moves and their undoing, handicap, komi and rules."""

from itertools import pairwise
from typing import Any

import numpy as np

from goishi.core import registry
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import IllegalMove, UsageError
from goishi.protocols import gtp_rules
from goishi.protocols.gtp_words import COLORS, Failure, color_name, color_of, command, whole

STYLES = ("points", "cells", "hex")
"""Boards whose actions are points with a letter and a number."""


class BoardCommands:
    """A game on a board, with all that led to its position."""

    def __init__(self, game: Game):
        self.handicap_by_moves = True
        """Do Black's first moves, if there are several, count as a handicap?"""
        self._rules: Any = None
        """A RuleSet, in Go."""
        self._half_komi = 0
        self._started: list[Position] | None = None
        self._set_game(game)
        if self._is_go:
            self._rules, self._half_komi = gtp_rules.of_game(game), int(self._module.HALF_KOMI)

    # ---------------------------------------------------------------- the board

    @command("boardsize", "rectangular_boardsize")
    def boardsize(self, words: list[str]) -> str:
        sizes = [whole(word, "boardsize not an integer") for word in words]
        if len(sizes) not in (1, 2):
            raise Failure("boardsize not an integer")
        columns, rows = sizes[0], sizes[-1]
        if (columns, rows) != self._size:
            self._resize(columns, rows)
        return self.clear_board([])

    @command("clear_board")
    def clear_board(self, words: list[str]) -> str:
        self._begin(None)
        return ""

    @command("query_boardsize")
    def query_boardsize(self, words: list[str]) -> str:
        columns, rows = self._size
        return str(columns) if columns == rows else f"{columns} {rows}"

    @command("play")
    def play(self, words: list[str]) -> str:
        color, action = self._move(words)
        self._play(color, action)
        return ""

    @command("undo")
    def undo(self, words: list[str]) -> str:
        return self.gg_undo(["1"])

    @command("gg-undo")
    def gg_undo(self, words: list[str]) -> str:
        count = whole(words[0], "cannot undo") if words else 1
        if not 0 <= count < len(self._line):
            raise Failure("cannot undo")
        del self._line[len(self._line) - count :]
        return ""

    @command("set_position", go=True)
    def set_position(self, words: list[str]) -> str:
        stones = np.zeros(self._position.stones.size, np.int8)
        for color, action in self._moves(words):
            if action == self._passing or stones[action]:
                raise Failure("invalid color or coordinate")
            stones[action] = color
        self._arrange(stones)
        return ""

    # ---------------------------------------------------------------- what stands there

    @command("last_move")
    def last_move(self, words: list[str]) -> str:
        if len(self._line) == 1:
            raise Failure("no previous move known")
        return f"{color_name(self._line[-2].player)} {self._vertex(self._position.history[-1])}"

    @command("move_history")
    def move_history(self, words: list[str]) -> str:
        return "\n".join(f"{color_name(player)} {self._vertex(action)}" for player, action in reversed(self._played()))

    @command("list_stones")
    def list_stones(self, words: list[str]) -> str:
        return self._vertices(self._position.stones.ravel() == color_of(words))

    @command("is_legal")
    def is_legal(self, words: list[str]) -> str:
        color, action = self._move(words)
        return str(int(self._mask(color)[action]))

    @command("all_legal")
    def all_legal(self, words: list[str]) -> str:
        return self._vertices(self._mask(color_of(words)))

    @command("captures", go=True)
    def captures(self, words: list[str]) -> str:
        """How many stones a color has taken."""
        return str(self._taken_by(color_of(words)))

    @command("findlib", go=True)
    def findlib(self, words: list[str]) -> str:
        """The liberties of the chain on a point."""
        point = self._point(words)
        chain, _, _ = self._module.chains(np.ascontiguousarray(self._position.stones.ravel()))
        if chain[point] < 0:
            raise Failure("vertex must not be empty")
        near = self._module.NEIGHBOURS[chain == chain[point]].ravel()
        near = np.unique(near[near >= 0])
        return " ".join(self._vertex(each) for each in near if chain[each] < 0)

    @command("countlib", go=True)
    def countlib(self, words: list[str]) -> str:
        return str(len(self.findlib(words).split()))

    @command("showboard")
    def showboard(self, words: list[str]) -> str:
        board, stones = self._game.board, self._position.stones
        assert board is not None
        letters = " ".join(board.name(column).rstrip("0123456789").upper() for column in range(board.columns))
        names = [board.name(row * board.columns).lstrip("ABCabc") for row in range(board.rows)]
        rows = [
            f"{name:>2} {' '.join('.XO'[stone] for stone in row)} {name}"
            for name, row in zip(names, stones, strict=True)
        ]
        last = f", last move {self._vertex(self._position.history[-1])}" if len(self._line) > 1 else ""
        told = [f"{color_name(self._position.player)} to move{last}"]
        if self._is_go:
            told.append(f"captures: black {self._taken_by(1)}, white {self._taken_by(-1)}")
        return "\n".join(["", f"   {letters}", *rows, f"   {letters}", *told])

    # ---------------------------------------------------------------- komi and rules

    @command("komi", go=True)
    def komi(self, words: list[str]) -> str:
        try:
            komi = float(words[0])
        except (IndexError, ValueError):
            raise Failure("komi not a float") from None
        try:
            half_komi = self._module.half_points(komi)
        except (UsageError, ValueError, OverflowError):
            raise Failure("unacceptable komi") from None
        self._change_rules(self._rules, half_komi)
        return ""

    @command("get_komi", go=True)
    def get_komi(self, words: list[str]) -> str:
        return f"{self._half_komi / 2:g}"

    @command("kata-get-rules", go=True)
    def kata_get_rules(self, words: list[str]) -> str:
        return gtp_rules.to_json(self._rules, self._module)

    @command("kata-set-rules", "kgs-rules", go=True)
    def kata_set_rules(self, words: list[str]) -> str:
        self._change_rules(gtp_rules.read(" ".join(words), self._module), self._half_komi)
        return ""

    @command("kata-set-rule", go=True)
    def kata_set_rule(self, words: list[str]) -> str:
        if len(words) != 2:
            raise Failure("a rule's name and its value are wanted")
        self._change_rules(gtp_rules.with_rule(self._rules, words[0], words[1], self._module), self._half_komi)
        return ""

    # ---------------------------------------------------------------- handicap

    @command("fixed_handicap", go=True)
    def fixed_handicap(self, words: list[str]) -> str:
        count = whole(words[0] if words else "", "invalid handicap")
        self._must_be_empty()
        columns, rows = self._size
        try:
            points = self._module.handicap_points(rows, columns, count)
        except UsageError:
            raise Failure("invalid handicap") from None
        return self._give_handicap(points)

    @command("place_free_handicap", go=True)
    def place_free_handicap(self, words: list[str]) -> str:
        """Exactly so many stones: the usual points, then what lies farthest from them."""
        count = whole(words[0] if words else "", "invalid handicap")
        self._must_be_empty()
        columns, rows = self._size
        if not 2 <= count <= rows * columns // 3:
            raise Failure("invalid handicap")
        points: list[int] = []
        for usual in range(min(count, 9), 1, -1):
            try:
                points = self._module.handicap_points(rows, columns, usual)
                break
            except UsageError:
                continue
        edge = min(2, (min(rows, columns) - 1) // 2)
        inside = [(row, column) for row in range(edge, rows - edge) for column in range(edge, columns - edge)]
        everywhere = [(row, column) for row in range(rows) for column in range(columns)]
        while len(points) < count:
            taken = [divmod(point, columns) for point in points]
            free = [each for each in inside if each not in taken] or [each for each in everywhere if each not in taken]
            row, column = max(
                free, key=lambda each: min((abs(each[0] - r) + abs(each[1] - c) for r, c in taken), default=0)
            )
            points.append(row * columns + column)
        return self._give_handicap(points)

    @command("set_free_handicap", go=True)
    def set_free_handicap(self, words: list[str]) -> str:
        self._must_be_empty()
        points = []
        for word in words:
            try:
                points.append(self._action(word))
            except IllegalMove:
                raise Failure("invalid coordinate") from None
        if len(points) < 2 or len(points) >= self._passing:
            raise Failure("invalid handicap")
        if self._passing in points:
            raise Failure("invalid coordinate")
        if len(set(points)) < len(points):
            raise Failure("repeated vertex")
        self._give_handicap(points)
        return ""

    @command("get_handicap", go=True)
    def get_handicap(self, words: list[str]) -> str:
        return str(int(self._position.state.handicap))

    def _must_be_empty(self) -> None:
        if len(self._line) > 1 or self._position.stones.any():
            raise Failure("board not empty")

    def _give_handicap(self, points: list[int]) -> str:
        if not points:
            raise Failure("invalid handicap")
        stones = np.zeros(self._position.stones.size, np.int8)
        stones[points] = 1
        self._arrange(stones, -1, len(points))
        return " ".join(self._vertex(point) for point in points)

    # ---------------------------------------------------------------- its own affairs

    @property
    def _line(self) -> list[Position]:
        """The position and those before it, back to the last that can be undone to; made when it is first needed."""
        if self._started is None:
            self._started = [self._given(Position.start(self._game))]
        return self._started

    @property
    def _position(self) -> Position:
        return self._line[-1]

    @property
    def _size(self) -> tuple[int, int]:
        assert self._game.board is not None
        return self._game.board.columns, self._game.board.rows

    @property
    def _module(self) -> Any:
        return self._game.module

    @property
    def _is_go(self) -> bool:
        return hasattr(self._game.module, "half_points")

    @property
    def _passing(self) -> int:
        """The action of a pass; one that can't be played where the game has none."""
        assert self._game.board is not None
        return self._game.actions - self._game.board.passes

    def _set_game(self, game: Game) -> None:
        """Another game, or the same on another board."""
        if game.board is None or game.board.style not in STYLES:
            raise UsageError(f"{game.spec} has no board with points such as D4; GTP can't name its moves.")
        if getattr(game.module, "HANDICAP", 0):
            raise UsageError("Programs that speak GTP give the handicap themselves; leave it out of the game.")
        self._game = game
        self._begin(None)

    def _resize(self, columns: int, rows: int) -> None:
        """The same game on another board; komi and rules stay."""
        name, text = self._game.spec.partition(":")[::2]
        kept = [part for part in text.split(",") if part and part.split("=")[0] not in ("size", "columns", "rows")]
        sizes = [f"size={columns}"] if columns == rows else [f"columns={columns}", f"rows={rows}"]
        try:
            self._set_game(registry.find(f"{name}:{','.join(sizes + kept)}"))
        except UsageError:
            raise Failure("unacceptable size") from None

    def _begin(self, states: np.ndarray | None) -> None:
        """A new game from these states, the usual ones for None."""
        self._started = None if states is None else [Position(self._game, states)]

    def _arrange(self, stones: np.ndarray, player: int = 1, handicap: int = 0) -> None:
        """A new game that begins with these stones. Raises Failure, and everything stays."""
        states = self._given(Position.start(self._game)).states.copy()
        try:
            self._module.arrange(states[0], stones.reshape(self._position.stones.shape), player, handicap)
        except UsageError as error:
            raise Failure(str(error)) from None
        self._begin(states)

    def _given(self, start: Position) -> Position:
        """A game's beginning under the komi and rules that were asked for."""
        if not self._is_go:
            return start
        flags = self._module.flags(self._rules)
        state = start.state
        if state.komi == self._half_komi and state.rules == flags:
            return start
        states = start.states.copy()
        states["komi"], states["rules"] = self._half_komi, flags
        self._module.begin(states[0], int(state.player), int(state.handicap))
        return Position(self._game, states)

    def _change_rules(self, rules: Any, half_komi: int) -> None:
        """Goes on under other rules: what was played is played again."""
        if (rules, half_komi) == (self._rules, self._half_komi):
            return
        self._rules, self._half_komi = rules, half_komi
        if self._started is None:
            return
        old = self._started
        self._started = [self._given(old[0])]
        for before, after in pairwise(old):
            self._extend(before.player, after.history[-1], strict=False)

    def _to_move(self, color: int) -> Position:
        """The position with this side to move; in Go, one that two passes have ended goes on.

        Raises Failure in a game where the other one must move.
        """
        position = self._position
        if not self._is_go:
            if position.player != color and not position.over:
                raise Failure("illegal move")
            return position
        if position.player == color and not position.over:
            return position
        states = position.states.copy()
        state = states[0]
        if position.over:
            passes = min(int(state.passes), 1)
            self._module.resume(state, color)
            state.passes = passes
        state.player = color
        return Position(self._game, states, position.history, position.earlier)

    def _play(self, color: int, action: int) -> None:
        try:
            self._extend(color, action)
        except IllegalMove:
            raise Failure("illegal move") from None

    def _extend(self, color: int, action: int, strict: bool = True) -> None:
        """One more move. Raises IllegalMove; if not strict, only where a stone stands already."""
        before = self._to_move(color)
        if self._is_go and self.handicap_by_moves and color < 0 and self._is_free_handicap():
            states = before.states.copy()
            states["handicap"] = len(self._line) - 1
            before = Position(self._game, states, before.history, before.earlier)
        if strict or before.mask[action]:
            after = before.play(action)
        elif action != self._passing and before.stones.flat[action]:
            raise IllegalMove(f"There is a stone on {self._vertex(action)}.")
        else:
            after = self._forced(before, action)
        self._line[-1] = before
        self._line.append(after)

    def _is_free_handicap(self) -> bool:
        """Has Black alone played so far, twice or more?"""
        moves = len(self._line) - 1
        if moves < 2 or self._line[0].state.handicap:
            return False
        return all(player > 0 and action != self._passing for player, action in self._played())

    def _forced(self, before: Position, action: int) -> Position:
        """The position after a move that the rules would forbid."""
        states = np.repeat(before.states, 2)
        one = np.ones(1, np.int32)
        self._game.kernels().play(states, 0 * one, action * one, one)
        return Position(self._game, states[1:], (*before.history, action), before.earlier)

    def _played(self) -> list[tuple[int, int]]:
        """The moves of the line: player and action."""
        return [(before.player, after.history[-1]) for before, after in pairwise(self._line)]

    def _taken_by(self, color: int) -> int:
        taken = 0
        for before, after in pairwise(self._line):
            taken += max(0, int((before.stones == -color).sum() - (after.stones == -color).sum()))
        return taken

    def _mask(self, color: int) -> np.ndarray:
        """bool[A]: what this side may play."""
        if not self._is_go and self._position.player != color:
            return np.zeros(self._game.actions, np.bool_)
        return self._to_move(color).mask

    def _moves(self, words: list[str]) -> list[tuple[int, int]]:
        """Pairs of color and vertex."""
        if len(words) % 2:
            raise Failure("invalid color or coordinate")
        return [self._move(words[place : place + 2]) for place in range(0, len(words), 2)]

    def _move(self, words: list[str]) -> tuple[int, int]:
        try:
            return COLORS[words[0].lower()], self._action(words[1])
        except (IndexError, KeyError, IllegalMove):
            raise Failure("invalid color or coordinate") from None

    def _point(self, words: list[str]) -> int:
        try:
            point = self._action(words[0] if words else "")
        except IllegalMove:
            raise Failure("invalid coordinate") from None
        if point >= self._passing:
            raise Failure("invalid coordinate")
        return point

    def _action(self, vertex: str) -> int:
        assert self._game.board is not None
        return self._game.board.action(vertex)

    def _vertex(self, action: Any) -> str:
        assert self._game.board is not None
        name = self._game.board.name(int(action))
        return name if name == "pass" else name.upper()

    def _vertices(self, mask: np.ndarray) -> str:
        return " ".join(self._vertex(action) for action in np.flatnonzero(mask))
