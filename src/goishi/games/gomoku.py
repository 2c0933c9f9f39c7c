"""Gomoku, and k in a row on any board. `freestyle`: k or more win; `exact`: a longer line neither wins nor loses."""

from goishi.core.board import Board
from goishi.errors import UsageError
from goishi.games.lines import any_run_of, longest_run


def setup(size=15, columns=0, rows=0, row=5, rule="freestyle"):
    """A square of `size`, unless both `columns` and `rows` are given."""
    global State, actions, planes, board, ROWS, COLUMNS, ROW, EXACT
    if (columns == 0) != (rows == 0):
        raise UsageError("columns and rows go together, as in columns=7,rows=6; for a square give size alone.")
    columns, rows = columns or size, rows or size
    if not (2 <= columns <= 25 and 2 <= rows <= 25):
        raise UsageError(f"size, columns and rows go from 2 to 25, but {columns}x{rows} was asked for.")
    if not 2 <= row <= max(columns, rows):
        raise UsageError(f"row goes from 2 to {max(columns, rows)} on a {columns}x{rows} board, but it is {row}.")
    if rule not in ("freestyle", "exact"):
        raise UsageError(f"rule is freestyle or exact, but {rule} was asked for.")
    ROWS, COLUMNS, ROW, EXACT = rows, columns, row, rule == "exact"
    State = [("board", "i1", (rows, columns)), ("player", "i1"), ("winner", "i1"), ("stones", "i2")]
    actions = rows * columns
    planes = (2, rows, columns)
    board = Board(rows, columns, "points")


def start(state):
    state.board[:] = 0
    state.player = 1
    state.winner = 0
    state.stones = 0


def legal(state, mask):
    for row in range(ROWS):
        for column in range(COLUMNS):
            mask[row * COLUMNS + column] = state.board[row, column] == 0


def play(state, action):
    row, column = action // COLUMNS, action % COLUMNS
    state.board[row, column] = state.player
    state.stones += 1
    if wins(state.board, row, column):
        state.winner = state.player
    state.player = -state.player


def wins(board, row, column):
    """Does the stone just placed win? Only the four lines through it can have changed."""
    if EXACT:
        return any_run_of(board, row, column, ROW)
    return longest_run(board, row, column, ROW) == ROW


def over(state):
    return state.winner != 0 or state.stones == ROWS * COLUMNS


def score(state):
    return state.winner


def encode(state, planes):
    for row in range(ROWS):
        for column in range(COLUMNS):
            piece = state.board[row, column] * state.player
            planes[0, row, column] = piece == 1
            planes[1, row, column] = piece == -1
