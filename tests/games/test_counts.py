"""Move sequences and positions, counted; the numbers are those of independent programs."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.measure import distinct, expand, perft

PERFT = {
    "tictactoe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect4": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216],
    "othello:size=6": [4, 12, 56, 244, 1364, 7604, 47740, 308716],
    "othello:size=4": [4, 12, 44, 128, 424, 1256, 3624],
    "gomoku:size=5,row=4": [25, 600, 13800, 303600],
    "hex:size=3": [9, 72, 504, 3024, 15120],
}


@pytest.mark.parametrize("spec", PERFT)
def test_perft_of_the_compiled_rules(spec):
    assert perft(registry.find(spec), len(PERFT[spec])) == PERFT[spec]


@pytest.mark.parametrize("spec", PERFT)
def test_perft_of_the_plain_rules(spec):
    depth = sum(count <= 2000 for count in PERFT[spec])
    assert perft(registry.find(spec), depth, compiled=False) == PERFT[spec][:depth]


def test_tictactoe_has_255168_games_of_which_x_wins_131184_and_o_77904():
    game = registry.find("tictactoe")
    kernels, states, results = game.kernels(), game.start(), np.zeros(3, int)
    while len(states):
        count = len(states)
        players, over, values = np.zeros(count, np.int8), np.zeros(count, np.bool_), np.zeros(count, np.float32)
        masks = np.zeros((count, game.actions), np.bool_)
        kernels.look(states, np.arange(count, dtype=np.int32), players, over, values, masks)
        for score in (-1, 0, 1):
            results[score + 1] += np.sum(over & (values * players == score))
        states = expand(kernels, states, game.actions)
    assert results.tolist() == [77904, 46080, 131184]
    assert results.sum() == 255168


def test_tictactoe_has_5478_positions_in_765_classes():
    game = registry.find("tictactoe")
    assert sum(distinct(game, 9)) == 5478
    kernels, states, classes = game.kernels(), game.start(), 0
    for _ in range(10):
        boards = states["board"].reshape(len(states), 9)
        turned = [boards[:, points].tolist() for points in game.point_symmetries]
        classes += len({min(map(tuple, boards)) for boards in zip(*turned, strict=True)})
        states = expand(kernels, states, game.actions)
    assert classes == 765


def test_positions_of_connect4_by_ply():
    assert distinct(registry.find("connect4"), 8) == [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]


def test_four_games_of_othello_4x4_end_within_seven_plies():
    # 9116 counts each of these four as one sequence of eight; perft gives finished games no next move.
    game = registry.find("othello:size=4")
    kernels, states, ended = game.kernels(), game.start(), 0
    for _ in range(8):
        ended += int(np.sum(states["turn"] == game.module.OVER))
        states = expand(kernels, states, game.actions)
    assert (ended, len(states)) == (4, 9116 - 4)
