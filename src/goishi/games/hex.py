"""Hex on a rhombus: the first player joins top and bottom, the second left and right. There are no draws.

Every stone knows which of its owner's two edges its chain touches, so a win shows the moment it is made.
"""

import numpy as np

from goishi.core.board import Board
from goishi.errors import UsageError

NEIGHBORS = ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1))
NEAR, FAR = 1, 2  # the top and bottom edge for the first player, left and right for the second


def setup(size=11):
    global State, actions, planes, board, SIZE
    if not 2 <= size <= 25:
        raise UsageError(f"size goes from 2 to 25, but {size} was asked for.")
    SIZE = size
    State = [("board", "i1", (size, size)), ("edges", "i1", (size, size)), ("player", "i1"), ("winner", "i1")]
    actions = size * size
    planes = (3, size, size)
    board = Board(size, size, "hex")


def start(state):
    state.board[:] = 0
    state.edges[:] = 0
    state.player = 1
    state.winner = 0


def legal(state, mask):
    for row in range(SIZE):
        for column in range(SIZE):
            mask[row * SIZE + column] = state.board[row, column] == 0


def play(state, action):
    row, column = action // SIZE, action % SIZE
    state.board[row, column] = state.player
    along = row if state.player == 1 else column
    edges = NEAR * (along == 0) + FAR * (along == SIZE - 1)
    for down, right in NEIGHBORS:
        r, c = row + down, column + right
        if 0 <= r < SIZE and 0 <= c < SIZE and state.board[r, c] == state.player:
            edges |= state.edges[r, c]
    if edges:
        spread(state, row, column, edges)
    if edges == NEAR | FAR:
        state.winner = state.player
    state.player = -state.player


def spread(state, row, column, edges):
    """Tells the stone and its whole chain the edges that it touches; a stone is told twice in a game at most."""
    todo = np.empty(SIZE * SIZE, np.int16)
    todo[0] = row * SIZE + column
    state.edges[row, column] = edges
    count = 1
    while count > 0:
        count -= 1
        row, column = todo[count] // SIZE, todo[count] % SIZE
        for down, right in NEIGHBORS:
            r, c = row + down, column + right
            if not (0 <= r < SIZE and 0 <= c < SIZE) or state.board[r, c] != state.player:
                continue
            if state.edges[r, c] != edges:
                state.edges[r, c] = edges
                todo[count] = r * SIZE + c
                count += 1


def over(state):
    return state.winner != 0


def score(state):
    return state.winner


def encode(state, planes):
    for row in range(SIZE):
        for column in range(SIZE):
            stone = state.board[row, column] * state.player
            planes[0, row, column] = stone == 1
            planes[1, row, column] = stone == -1
            planes[2, row, column] = state.player == 1  # who joins top and bottom
