"""What a clock allows, and that nobody who keeps to it loses on time."""

from math import inf

import numpy as np
import pytest

from goishi.search.clock import Clock, late

LAG = 0.5

SYSTEMS = {
    "absolute": Clock("absolute", 300),
    "short absolute": Clock("absolute", 20),
    "fischer": Clock("fischer", 60, increment=5),
    "capped fischer": Clock("fischer", 60, increment=10, most_main=120, most_move=30),
    "fischer, nothing but increments": Clock("fischer", 3, increment=3),
    **{f"byo-yomi, {n} periods": Clock("byoyomi", 120, period=10, periods=n) for n in range(1, 11)},
    "byo-yomi from the start": Clock("byoyomi", 0, period=5, periods=3),
    "Canadian": Clock("canadian", 120, period=60, stones=15),
    "Canadian, one stone": Clock("canadian", 50, period=10, stones=1),
    "Canadian from the start": Clock("canadian", 0, period=30, stones=5),
    "a fixed time a move": Clock("canadian", 0, period=2, stones=1),
}


@pytest.mark.parametrize(
    ("clock", "area", "stones", "usual", "most"),
    [
        (Clock("absolute", 600), 361, 50, 2.828, 118.8),
        (Clock("absolute", 120), 81, 0, 1.455, 22.8),
        (Clock("absolute", 300), 225, 20, 1.798, 58.8),
        (Clock("fischer", 60, increment=5), 81, 20, 5.937, 14.8),
        (Clock("absolute", 1.5), 81, 60, 0.018, 0.075),
        (Clock("absolute", 0), 81, 0, 0, 0),
        (Clock("absolute", -3), 81, 0, 0, 0),
    ],
)
def test_budgets_of_known_cases(clock, area, stones, usual, most):
    budget = clock.budget(area, stones)
    assert budget.seconds == pytest.approx(usual, abs=6e-4)
    assert budget.most == pytest.approx(most, abs=6e-3)


@pytest.mark.parametrize(("seconds", "kept"), [(-2, -2), (0, 0), (1, 0.5), (1.99, 0.995), (2, 1), (10, 9)])
def test_a_late_message_is_allowed_for(seconds, kept):
    assert late(seconds) == kept


def test_without_a_clock_there_is_no_limit():
    assert Clock().budget(81, 0) == (inf, inf)
    assert Clock().after(1e9) == Clock()


@pytest.mark.parametrize("area", [81, 361])
@pytest.mark.parametrize("clock", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("share", [0.0, 1.0], ids=["usual moves", "hard moves"])
def test_a_player_who_keeps_to_the_budget_never_loses_on_time(clock, area, share):
    rng = np.random.default_rng(area)
    for _ in range(20):
        now = clock
        for stones in range(0, 2 * area, 2):
            budget = now.budget(area, min(stones, area))
            assert 0 <= budget.seconds <= budget.most
            took = budget.seconds + share * (budget.most - budget.seconds) + LAG * rng.random()
            now = now.after(took)
            assert now is not None, (stones, budget)
            if now.main < 1 and now.left is None and now.system == "absolute":
                break  # the lag alone eats up the rest


@pytest.mark.parametrize(
    ("clock", "seconds", "left"),
    [
        (Clock("absolute", 10), 4, (6, None, 1)),
        (Clock("fischer", 10, increment=5, most_main=12), 4, (11, None, 1)),
        (Clock("fischer", 10, increment=5, most_main=12), 1, (12, None, 1)),
        (Clock("byoyomi", 10, period=5, periods=3), 4, (6, None, 1)),
        (Clock("byoyomi", 10, period=5, periods=3), 12, (0, 5, 1)),
        (Clock("canadian", 10, period=5, stones=2), 12, (0, 3, 1)),
        (Clock("canadian", 0, period=5, stones=2, left=3, stones_left=1), 2, (0, 5, 2)),
    ],
)
def test_a_move_takes_its_time_off_the_clock(clock, seconds, left):
    now = clock.after(seconds)
    assert (now.main, now.left, now.stones_left) == left


@pytest.mark.parametrize(
    ("clock", "enough", "too_long"),
    [
        (Clock("absolute", 10), 9.9, 10),
        (Clock("fischer", 10, increment=5, most_move=4), 3.9, 4.1),
        (Clock("byoyomi", 10, period=5, periods=3), 24.9, 25),
        (Clock("canadian", 10, period=5, stones=2), 14.9, 15),
    ],
)
def test_a_clock_runs_out(clock, enough, too_long):
    assert clock.after(enough) is not None
    assert clock.after(too_long) is None


def test_a_used_period_is_gone():
    clock = Clock("byoyomi", 0, period=5, periods=3, left=5)
    assert clock.after(4.9).periods == 3
    assert clock.after(5).periods == 2
    assert clock.after(12).periods == 1


def test_many_periods_count_as_main_time():
    few, many = (Clock("byoyomi", 60, period=10, periods=n).budget(361, 0) for n in (5, 50))
    assert many.seconds > few.seconds
