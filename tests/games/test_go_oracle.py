"""Our boards against sgfmill's, an implementation of its own, over random games."""

import numpy as np
import pytest

from goishi.core import registry

boards = pytest.importorskip("sgfmill.boards", reason="needs sgfmill")
COLORS = {1: "b", -1: "w"}


def compare(size, games, rng):
    """Plays random games in step; after every move both have the same stones, and in the end the same score."""
    game = registry.find(f"go:size={size}")
    kernels, states, theirs = game.kernels(), game.start(games), [boards.Board(size) for _ in range(games)]
    rows, scores = np.arange(games, dtype=np.int32), {}
    players, over, values = np.zeros(games, np.int8), np.zeros(games, np.bool_), np.zeros(games, np.float32)
    masks, moves = np.zeros((games, game.actions), np.bool_), 0
    while len(rows):
        kernels.look(states, rows, players[: len(rows)], over, values, masks)
        for i in np.flatnonzero(over[: len(rows)]):
            scores[rows[i]] = game.module.margin(states[rows[i]]) + 7.5
        going = ~over[: len(rows)]
        rows, legal = rows[going], masks[: len(going)][going]
        chances = rng.random(legal.shape) * legal
        chances[:, -1] *= 0.02 if moves < 3 * size * size else 1.0  # they pass in the end
        actions = chances.argmax(axis=1).astype(np.int32)
        for row, action in zip(rows, actions, strict=True):
            if action < size * size:
                up, column = size - 1 - action // size, action % size
                ko = theirs[row].play(int(up), int(column), COLORS[int(states[row]["player"])])
                told = -1 if ko is None else (size - 1 - ko[0]) * size + ko[1]
            kernels.play(states, np.array([row], np.int32), np.array([action], np.int32), np.array([row], np.int32))
            if action < size * size:
                assert states[row]["ko"] == told
                stones = states[row]["board"]
                shown = {(size - 1 - r, c): COLORS[int(stones[r, c])] for r, c in np.argwhere(stones)}
                assert {point: color for color, point in theirs[row].list_occupied_points()} == shown
        moves += 1
    assert scores == {row: theirs[row].area_score() for row in range(games)}


def test_random_games_have_the_boards_that_sgfmill_has():
    compare(5, 100, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "games"), [(2, 1000), (5, 5000), (9, 4000)])
def test_ten_thousand_random_games_have_the_boards_that_sgfmill_has(size, games):
    compare(size, games, np.random.default_rng(size))
