"""Names of points and symmetries of boards."""

import numpy as np
import pytest

from goishi.core.board import Board, column_letters
from goishi.errors import IllegalMove

BOARDS = [
    Board(19, 19),
    Board(5, 7),
    Board(25, 25),
    Board(8, 8, "cells", passes=True),
    Board(6, 7, "drop"),
    Board(11, 11, "hex"),
    Board(30, 30, "cells"),
]


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_every_action_has_a_name_that_leads_back_to_it_in_any_case(board):
    for action in range(board.actions):
        assert board.action(board.name(action)) == action
        assert board.action(f" {board.name(action).swapcase()} ") == action


def test_stones_have_letters_without_i_and_rows_from_the_bottom():
    board = Board(19, 19)
    assert [board.name(action) for action in (0, 18, 342, 360)] == ["A19", "T19", "A1", "T1"]
    assert [board.name(action)[0] for action in (7, 8)] == ["H", "J"]
    with pytest.raises(IllegalMove):
        board.action("I5")


def test_pieces_have_letters_with_i_and_rows_from_the_top():
    board = Board(9, 9, "cells")
    assert [board.name(action) for action in (0, 8, 72)] == ["a1", "i1", "a9"]


def test_columns_beyond_the_alphabet_count_as_in_spreadsheets():
    assert [column_letters(column, "ABC") for column in range(13)] == [
        "A",
        "B",
        "C",
        "AA",
        "AB",
        "AC",
        "BA",
        "BB",
        "BC",
        "CA",
        "CB",
        "CC",
        "AAA",
    ]


@pytest.mark.parametrize("name", ["", "Z99", "T20", "T0", "nonsense", "4", "pass", "A 1"])
def test_a_name_of_no_point_is_told_with_two_that_are(name):
    with pytest.raises(IllegalMove, match="A19"):
        Board(19, 19).action(name)


@pytest.mark.parametrize(
    ("board", "count"),
    [(Board(9, 9), 8), (Board(5, 7), 4), (Board(6, 7, "drop"), 2), (Board(6, 6, "drop"), 2), (Board(5, 5, "hex"), 2)],
    ids=str,
)
def test_the_symmetries_are_different_permutations_that_close_under_composition(board, count):
    moves = board.point_symmetries()
    assert (moves[0] == np.arange(board.rows * board.columns)).all()
    group = {tuple(row) for row in moves}
    assert len(group) == len(moves) == count
    assert {tuple(first[second]) for first in moves for second in moves} == group


def test_a_pass_stays_a_pass_and_a_column_a_column():
    assert (Board(8, 8, "cells", passes=True).symmetries()[:, -1] == 64).all()
    assert Board(6, 7, "drop").symmetries().tolist() == [list(range(7)), list(range(6, -1, -1))]
