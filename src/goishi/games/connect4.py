"""Connect Four: pieces fall to the bottom of a column; four in line win. Any size, any length of line."""

from goishi.core.board import Board
from goishi.errors import UsageError
from goishi.games.lines import longest_run


def setup(columns=7, rows=6, row=4):
    global State, actions, planes, board, ROWS, COLUMNS, ROW
    if not (2 <= columns <= 25 and 2 <= rows <= 25):
        raise UsageError(f"columns and rows go from 2 to 25, but {columns}x{rows} was asked for.")
    if not 2 <= row <= max(columns, rows):
        raise UsageError(f"row goes from 2 to {max(columns, rows)} on a {columns}x{rows} board, but it is {row}.")
    ROWS, COLUMNS, ROW = rows, columns, row
    State = [("board", "i1", (rows, columns)), ("player", "i1"), ("winner", "i1"), ("stones", "i2")]
    actions = columns
    planes = (2, rows, columns)
    board = Board(rows, columns, "drop")


def start(state):
    state.board[:] = 0
    state.player = 1
    state.winner = 0
    state.stones = 0


def legal(state, mask):
    for column in range(COLUMNS):
        mask[column] = state.board[0, column] == 0


def play(state, action):
    row = ROWS - 1
    while state.board[row, action] != 0:
        row -= 1
    state.board[row, action] = state.player
    state.stones += 1
    if longest_run(state.board, row, action, ROW) == ROW:
        state.winner = state.player
    state.player = -state.player


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
