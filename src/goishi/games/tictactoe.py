"""Tic-tac-toe: three in a row on 3x3. The smallest game here; read it first."""

from goishi.core.board import Board

State = [("board", "i1", (3, 3)), ("player", "i1"), ("stones", "i1"), ("winner", "i1")]
actions = 9
planes = (2, 3, 3)
board = Board(3, 3, "cells")


def start(state):
    state.board[:] = 0
    state.player = 1
    state.stones = 0
    state.winner = 0


def legal(state, mask):
    for action in range(9):
        mask[action] = state.board[action // 3, action % 3] == 0


def play(state, action):
    row, column = action // 3, action % 3
    state.board[row, column] = state.player
    state.stones += 1
    if three_through(state.board, row, column):
        state.winner = state.player
    state.player = -state.player


def three_through(board, row, column):
    """Is there a line of three equal pieces through the piece just placed?"""
    piece = board[row, column]
    in_row = in_column = falling = rising = 0
    for i in range(3):
        in_row += board[row, i] == piece
        in_column += board[i, column] == piece
        falling += board[i, i] == piece
        rising += board[i, 2 - i] == piece
    return in_row == 3 or in_column == 3 or (row == column and falling == 3) or (row + column == 2 and rising == 3)


def over(state):
    return state.winner != 0 or state.stones == 9


def score(state):
    return state.winner


def encode(state, planes):
    for row in range(3):
        for column in range(3):
            piece = state.board[row, column] * state.player
            planes[0, row, column] = piece == 1
            planes[1, row, column] = piece == -1
