"""Small games solved by trying everything have the values that are known."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.game import Game
from goishi.core.measure import expand
from goishi.core.position import Position

VALUES = {
    "gomoku:columns=3,rows=3,row=3": 0,
    "tictactoe": 0,
    "gomoku:columns=4,rows=3,row=3": 1,
    "gomoku:columns=3,rows=4,row=3": 1,
    "gomoku:columns=4,rows=4,row=3": 1,
    "connect4:columns=4,rows=4": 0,
    "othello:size=4": -1,
    "hex:size=2": 1,
    "hex:size=3": 1,
}


def solve(game: Game, states: np.ndarray, known: dict[bytes, int] | None = None) -> int:
    """The value of State[1] under best play, for the player who began: +1, 0 or -1."""
    kernels, known = game.kernels(), {} if known is None else known
    players, over, values = np.zeros(1, np.int8), np.zeros(1, np.bool_), np.zeros(1, np.float32)
    masks, rows = np.zeros((1, game.actions), np.bool_), np.zeros(1, np.int32)

    def value(state: np.ndarray) -> int:
        key = state.tobytes()
        if key not in known:
            player = int(state["player"][0])
            children = expand(kernels, state, game.actions)
            if len(children) == 0:
                kernels.look(state, rows, players, over, values, masks)
                known[key] = int(values[0]) * player
            else:
                best = -player
                for i in range(len(children)):
                    found = value(children[i : i + 1])
                    best = found if found * player > best * player else best
                    if best == player:
                        break
                known[key] = best
        return known[key]

    return value(states)


@pytest.mark.parametrize("spec", VALUES)
def test_the_value_of_the_first_position(spec):
    game = registry.find(spec)
    assert solve(game, game.start()) == VALUES[spec]


@pytest.mark.slow
def test_the_second_player_wins_connect4_of_6_columns_and_4_rows():
    game = registry.find("connect4:columns=6,rows=4")
    assert solve(game, game.start()) == -1


@pytest.mark.parametrize(
    ("size", "winning"),
    [(2, "b1 a2"), (3, "c1 a2 b2 c2 a3"), pytest.param(4, "d1 c2 b3 a4", marks=pytest.mark.slow)],
    ids=["2x2", "3x3", "4x4"],
)
def test_the_winning_first_moves_of_hex(size, winning):
    game = registry.find(f"hex:size={size}")
    start, known = Position.start(game), {}
    won = [start.name(action) for action in start.actions if solve(game, start.play(action).states, known) == 1]
    assert won == winning.split()


def test_the_second_player_wins_othello_4x4_by_11_to_3():
    game = registry.find("othello:size=4")
    margins: dict[bytes, int] = {}

    def margin(position):
        key = position.states.tobytes()
        if key not in margins:
            if position.over:
                margins[key] = int(position.stones.sum())
            else:
                best = max if position.player == 1 else min
                margins[key] = best(margin(position.play(action)) for action in position.actions)
        return margins[key]

    assert margin(Position.start(game)) == 3 - 11
