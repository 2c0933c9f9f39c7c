"""Levels: drawn from the network's policy as the search corrects it; the search alone passes and ends games."""

import numpy as np
import pytest

from goishi import players
from goishi.arena import match
from goishi.core import registry
from goishi.errors import UsageError
from goishi.players.levels import LEVELS, Level, draw, weights
from goishi.search.result import Result


def found(priors, visits, values, best=0, proven=None):
    visits, values = np.array(visits, np.int32), np.array(values, np.float32)
    priors = np.array(priors, np.float32)
    return Result(visits, visits / max(1, visits.sum()), values, priors, 0.0, 0.0, best, proven, [best], 10)


def test_the_formula_by_hand():
    result = found([0.5, 0.3, 0.2, 0.0], [6, 3, 0, 0], [0.4, 0.0, 0.0, 0.0])
    expected = np.array([0.5**2 * np.exp(0.4 / 0.5), 0.3**2, 0.2**2 * np.exp(0.2 / 0.5), 0])  # unvisited: the mean, .2
    assert np.allclose(weights(result, Level(9, 0.5, 0.5), None), expected / expected.sum())


def test_a_wide_spread_plays_the_policy_and_a_narrow_one_what_the_search_likes():
    result = found([0.7, 0.2, 0.1], [5, 5, 5], [-0.5, 0.0, 0.5], best=2)
    assert np.allclose(weights(result, Level(15, 1e9, 1.0), None), [0.7, 0.2, 0.1])
    assert weights(result, Level(15, 0.01, 1.0), None)[2] > 0.999


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_passes_when_the_search_does_and_never_else(level):
    rng = np.random.default_rng(0)
    result = found([0.1, 0.2, 0.7], [1, 2, 7], [0.0, 0.0, 0.3], best=2)
    assert draw(result, level, 2, rng) == 2
    result = found([0.1, 0.2, 0.7], [7, 2, 1], [0.3, 0.0, 0.0], best=0)
    assert {draw(result, level, 2, rng) for _ in range(200)} <= {0, 1}


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_takes_a_proven_win(level):
    rng = np.random.default_rng(0)
    result = found([0.05, 0.95], [1, 9], [1.0, 0.0], best=0, proven=1)
    assert {draw(result, level, None, rng) for _ in range(50)} == {0}


def test_the_levels_of_a_network_play_whole_games():
    game = registry.find("tictactoe")
    seats = [players.find(f"net:tictactoe,level={level}", game, seed=level) for level in (1, 10)]
    turns = list(match.play(game, seats))
    assert [turn.error for turn in turns] == [None] * len(turns)
    assert turns[-1].position.play(turns[-1].decision.action).over


@pytest.mark.parametrize("spec", ["net:tictactoe,level=0", "net:tictactoe,level=11", "net:tictactoe,level=x"])
def test_there_are_ten_levels(spec):
    with pytest.raises(UsageError, match="level is a whole number from 1 to 10"):
        players.find(spec, registry.find("tictactoe"))
