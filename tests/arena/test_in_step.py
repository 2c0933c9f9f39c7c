"""Many games in step, and their figures."""

import numpy as np

from goishi.arena.in_step import Played, RandomSide, figures, paired, play_in_step, random_openings
from goishi.core import registry
from goishi.core.position import Position

GAME = registry.find("connect4")


def test_every_game_is_played_by_the_rules_to_its_end():
    sides = RandomSide(np.random.default_rng(0)), RandomSide(np.random.default_rng(1))
    openings, first = paired(random_openings(GAME, 20, 2, np.random.default_rng(2)))
    for game, opening in zip(play_in_step(GAME, sides, openings, first), openings, strict=True):
        position = Position.after(GAME, game.actions)
        assert position.over
        assert position.score == game.score
        assert game.actions[: len(opening)] == tuple(opening)


def test_the_figures_are_those_of_side_0_whoever_began():
    played = [
        Played((0, 1), 1.0, 0),  # side 0 began and won
        Played((0, 2), -1.0, 1),  # side 1 began and lost
        Played((3, 1), 0.0, 0),
        Played((3, 1), 1.0, 1),  # side 1 began and won
    ]
    told = figures(played)
    assert (told["wins"], told["draws"], told["losses"]) == (2, 1, 1)
    assert told["score"] == 0.625  # pairs of 1 and 0.25
    assert told["elo_low"] < told["elo"] < told["elo_high"]
    assert told["distinct_games"] == 4
