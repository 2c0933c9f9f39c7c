"""Othello: a disc turns the rows of the opponent's discs that it encloses; who can't must pass; most discs win."""

from goishi.core.board import Board
from goishi.errors import UsageError

DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
FREE, MUST_PASS, OVER = 0, 1, 2


def setup(size=8):
    global State, actions, planes, board, SIZE
    if size % 2 or not 4 <= size <= 24:
        raise UsageError(f"size is an even number from 4 to 24, but {size} was asked for.")
    SIZE = size
    State = [("board", "i1", (size, size)), ("player", "i1"), ("turn", "i1")]  # turn: FREE, MUST_PASS or OVER
    actions = size * size + 1  # the last is the pass
    planes = (2, size, size)
    board = Board(size, size, "cells", passes=True)


def start(state):
    low, high = SIZE // 2 - 1, SIZE // 2
    state.board[:] = 0
    state.board[low, high] = state.board[high, low] = 1
    state.board[low, low] = state.board[high, high] = -1
    state.player = 1
    state.turn = FREE


def legal(state, mask):
    if state.turn == MUST_PASS:
        mask[SIZE * SIZE] = True
        return
    for row in range(SIZE):
        for column in range(SIZE):
            if state.board[row, column] == state.player:
                for down, right in DIRECTIONS:
                    action = placement(state.board, state.player, row, column, down, right)
                    if action >= 0:
                        mask[action] = True


def play(state, action):
    if action < SIZE * SIZE:
        row, column = action // SIZE, action % SIZE
        for down, right in DIRECTIONS:
            for distance in range(1, enclosed(state.board, state.player, row, column, down, right) + 1):
                state.board[row + distance * down, column + distance * right] = state.player
        state.board[row, column] = state.player
    state.player = -state.player
    if may_move(state.board, state.player):
        state.turn = FREE
    elif may_move(state.board, -state.player):
        state.turn = MUST_PASS
    else:
        state.turn = OVER


def enclosed(board, player, row, column, down, right):
    """How many of the opponent's discs a disc placed here would turn along one direction."""
    r, c = row + down, column + right
    count = 0
    while 0 <= r < SIZE and 0 <= c < SIZE and board[r, c] == -player:
        count += 1
        r += down
        c += right
    return count if 0 <= r < SIZE and 0 <= c < SIZE and board[r, c] == player else 0


def placement(board, player, row, column, down, right):
    """The action that would enclose discs between it and this disc of the player's, along one direction, or -1."""
    r, c = row + down, column + right
    count = 0
    while 0 <= r < SIZE and 0 <= c < SIZE and board[r, c] == -player:
        count += 1
        r += down
        c += right
    return r * SIZE + c if count > 0 and 0 <= r < SIZE and 0 <= c < SIZE and board[r, c] == 0 else -1


def may_move(board, player):
    for row in range(SIZE):
        for column in range(SIZE):
            if board[row, column] == player:
                for down, right in DIRECTIONS:
                    if placement(board, player, row, column, down, right) >= 0:
                        return True
    return False


def over(state):
    return state.turn == OVER


def score(state):
    discs = state.board.sum()
    return int(discs > 0) - int(discs < 0)


def encode(state, planes):
    for row in range(SIZE):
        for column in range(SIZE):
            disc = state.board[row, column] * state.player
            planes[0, row, column] = disc == 1
            planes[1, row, column] = disc == -1
