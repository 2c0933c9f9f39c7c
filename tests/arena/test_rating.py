"""Elo, intervals, tests and tables, against figures worked out by hand."""

import math

import numpy as np
import pytest

from goishi.arena.rating import bradley_terry, elo, expected, pair_elo, pair_error, pair_interval, sprt

PAIRS = [1.0] * 30 + [0.75] * 20 + [0.5] * 120 + [0.25] * 14 + [0.0] * 16


@pytest.mark.parametrize(("points", "score"), [(50, 0.5715), (100, 0.6401), (200, 0.7597), (400, 0.9091)])
def test_a_difference_in_elo_has_its_expected_score(points, score):
    assert expected(points) == pytest.approx(score, abs=5e-5)


@pytest.mark.parametrize(("score", "points"), [(0.55, 34.9), (0.6, 70.4), (0.75, 190.8), (0.9, 381.7)])
def test_a_score_has_its_difference_in_elo(score, points):
    assert elo(score) == pytest.approx(points, abs=0.05)
    assert elo(1 - score) == pytest.approx(-points, abs=0.05)


def test_a_clean_score_is_infinite():
    assert (elo(1.0), elo(0.0)) == (math.inf, -math.inf)


def test_pairs_of_games_have_their_interval():
    assert pair_interval(PAIRS).value == pytest.approx(0.5425)
    assert pair_error(PAIRS) == pytest.approx(0.01826, abs=5e-6)
    assert pair_elo(PAIRS) == pytest.approx((29.6, 4.7, 54.8), abs=0.05)


def test_pairs_that_are_all_alike_do_not_claim_certainty():
    few, many = pair_interval([1.0] * 5), pair_interval([1.0] * 50)
    assert few.value == few.high == 1
    assert 0.5 < few.low < many.low < 1
    assert pair_interval([0.5]).low < 0.2
    assert pair_interval([]) == (0.5, 0, 1)


def test_the_sequential_test_has_its_ratio_and_verdicts():
    assert sprt(PAIRS, 0, 20).ratio == pytest.approx(2.4385, abs=5e-5)
    assert sprt(PAIRS, 0, 20).verdict == "continue"
    assert sprt(PAIRS * 2, 0, 20).verdict == "stronger"
    assert sprt([1 - pair for pair in PAIRS] * 2, 0, 20).verdict == "not stronger"
    assert sprt([0.5] * 100, 0, 20).verdict == "continue"


def test_bradley_terry_has_the_figures_of_the_worked_example():
    points = np.array([[0, 7, 8], [3, 0, 6], [2, 4, 0]], float)
    assert bradley_terry(points, anchor=2, prior=0).elo == pytest.approx([231.4, 76.8, 0], abs=0.05)
    assert bradley_terry(points, anchor=2, prior=2).elo == pytest.approx([186.3, 62.0, 0], abs=0.05)


def test_a_player_that_won_every_game_stays_finite():
    ratings = bradley_terry(np.array([[0, 20], [0, 0]], float), anchor=1)
    assert ratings.elo == pytest.approx([528.9, 0], abs=0.05)
    assert 0 < ratings.errors[0] < 1000
    assert ratings.errors[1] == 0


def test_errors_shrink_with_the_root_of_the_games():
    points = np.array([[0, 60], [40, 0]], float)
    once, four_times = (bradley_terry(points * n, anchor=1, prior=0).errors[0] for n in (1, 4))
    assert once == pytest.approx(2 * four_times)
    # the standard error of a score s over n games, sqrt(s (1 - s) / n), through the slope of elo(s)
    assert once == pytest.approx(math.sqrt(0.24 / 100) * 400 / math.log(10) / 0.24)


def test_a_player_without_a_link_to_the_anchor_has_no_finite_error():
    points = np.zeros((4, 4))
    points[0, 1], points[1, 0], points[2, 3], points[3, 2] = 3, 2, 5, 1
    assert np.isfinite(bradley_terry(points).errors).tolist() == [True, True, False, False]
