"""How a game's actions look to a person: the grid, the names of its points, its symmetries.

Shapes: S symmetries, A actions, P = rows * columns points. Row 0 is the top row.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from goishi.errors import IllegalMove

Style = Literal["points", "cells", "drop", "hex"]
GO_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def column_letters(column: int, alphabet: str) -> str:
    """The name of a column: `A`..`Z`, then `AA`, `AB` ... as spreadsheets count."""
    size = len(alphabet)
    name = alphabet[column % size]
    while column >= size:
        column = column // size - 1
        name = alphabet[column % size] + name
    return name


@dataclass(frozen=True)
class Board:
    """A grid of `rows` x `columns`. Action `row * columns + column` is a point, except on a `drop` board.

    style   `points`: stones on line crossings, named as in Go (`D4`, no I, rows counted from the bottom);
            `cells`: pieces in squares, and `hex`: in a rhombus of hexagons, named `d4` from the top left;
            `drop`: an action is a column, named `1`, `2` ... from the left, and the piece falls.
    passes  the last action is a pass, named `pass`.
    """

    rows: int
    columns: int
    style: Style = "points"
    passes: bool = False

    @property
    def actions(self) -> int:
        """A, the number of actions."""
        return (self.columns if self.style == "drop" else self.rows * self.columns) + self.passes

    def name(self, action: int) -> str:
        """The point's name, such as `D4`; `pass` for the pass."""
        if self.passes and action == self.actions - 1:
            return "pass"
        if self.style == "drop":
            return str(action + 1)
        row, column = divmod(int(action), self.columns)
        if self.style == "points":
            return column_letters(column, GO_LETTERS) + str(self.rows - row)
        return column_letters(column, "abcdefghijklmnopqrstuvwxyz") + str(row + 1)

    def action(self, name: str) -> int:
        """The action of that name, in any letter case. Raises IllegalMove when there is none."""
        found = self._actions_by_name().get(name.strip().lower())
        if found is None:
            raise IllegalMove(
                f"{name.strip()!r} is no point of this board; try {self.name(0)} or {self.name(self.actions // 2)}."
            )
        return found

    def _actions_by_name(self) -> dict[str, int]:
        return {self.name(action).lower(): action for action in range(self.actions)}

    def point_symmetries(self) -> np.ndarray:
        """int32[S, P]: symmetry s moves what stands on point `[s, p]` to point p. Row 0 is the identity.

        8 for a square, 4 for a rectangle, 2 for a `drop` board (mirror) and for `hex` (half turn).
        """
        grid = np.arange(self.rows * self.columns, dtype=np.int32).reshape(self.rows, self.columns)
        if self.style == "drop":
            grids = [grid, grid[:, ::-1]]
        elif self.style == "hex":
            grids = [grid, grid[::-1, ::-1]]
        else:
            grids = [grid, grid[:, ::-1], grid[::-1], grid[::-1, ::-1]]
            if self.rows == self.columns:
                grids += [g.T for g in grids]
        return np.stack([g.ravel() for g in grids])

    def symmetries(self) -> np.ndarray:
        """int32[S, A]: as `point_symmetries`, for actions; a pass stays a pass."""
        points = self.point_symmetries()
        actions = points[:, : self.columns] if self.style == "drop" else points
        if self.passes:
            actions = np.hstack([actions, np.full((len(actions), 1), self.actions - 1, np.int32)])
        return np.ascontiguousarray(actions)


def fixed_handicap(columns: int, rows: int, count: int, ends: bool = False) -> tuple[int, ...]:
    """The usual points of a handicap, as GTP's fixed_handicap sets them; none where the board has not so many.

    ends  stones six and seven stand in the middle of the upper and lower side, not of the left and right one
    """
    short = min(columns, rows)
    middles = short > 7 and columns % 2 and rows % 2
    if not 2 <= count <= (0 if short < 7 else 9 if middles else 4):
        return ()
    edge = 2 if short < 13 else 3
    left, center, right = edge, columns // 2, columns - 1 - edge
    top, middle, bottom = edge, rows // 2, rows - 1 - edge
    points = [(right, top), (left, bottom), (left, top), (right, bottom)]
    sides, others = [(left, middle), (right, middle)], [(center, top), (center, bottom)]
    if count >= 6:
        points += others if ends else sides
    if count >= 8:
        points += sides if ends else others
    if count in (5, 7, 9):
        points.append((center, middle))
    return tuple(row * columns + column for column, row in points[:count])
