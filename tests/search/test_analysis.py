"""Candidates with bounds and lines, averaged ownership, barred actions, and searches that report while they go on."""

import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

from goishi import players
from goishi.core import registry
from goishi.core.position import Position
from goishi.search.analysis import analyze, lower_bound
from goishi.search.measure import Hashed
from goishi.search.search import Limit, Search, SearchSettings

GAME = registry.find("gomoku:size=5,row=4")


def searched(visits, evaluator=None, game=GAME, **settings):
    search = Search(game, evaluator or Hashed(game), SearchSettings(**settings))
    return search, search.run(game.start(), Limit(visits=visits), to_the_end=True)[0]


@pytest.mark.parametrize(
    ("visits", "value", "variance", "bound"),
    [(100, 0.10, 0.04, 0.0), (60, 0.16, 0.01, 0.0954), (10, 0.50, 0.09, 0.0235)],
)
def test_the_bound_of_the_worked_example(visits, value, variance, bound):
    assert lower_bound(visits, value, variance + value**2) == pytest.approx(bound, abs=1e-4)


def test_an_unvisited_action_has_the_lowest_bound():
    assert lower_bound(0, 0.3, 0.0) == -10


def test_candidates_tell_what_the_result_tells_and_best_first():
    search, result = searched(400)
    found = analyze(search)
    assert found.candidates[0].action == result.best
    assert found.visits == 400
    assert found.value == result.value
    assert {c.action: c.visits for c in found.candidates} == {a: n for a, n in enumerate(result.visits) if n}
    assert [c.visits for c in found.candidates] == sorted((c.visits for c in found.candidates), reverse=True)
    for candidate in found.candidates:
        assert candidate.value == pytest.approx(result.values[candidate.action])
        assert candidate.prior == pytest.approx(result.priors[candidate.action])
        assert candidate.bound < candidate.value


def test_the_squares_are_those_of_the_values_below():
    """A value of .5 everywhere, as the first player sees it, has no variance: the bounds are as narrow as they get."""

    class Same:
        def __call__(self, states):
            return np.zeros((len(states), GAME.actions), np.float32), 0.5 * states["player"].astype(np.float32)

    search, _ = searched(300, Same(), solver=False)
    for candidate in analyze(search).candidates:
        assert candidate.bound == pytest.approx(lower_bound(candidate.visits, 0.5, 0.25), abs=1e-6)


def test_lines_are_legal_and_their_visits_fall():
    search, _ = searched(600)
    for candidate in analyze(search).candidates:
        position = Position.start(GAME)
        for action in candidate.line:
            position = position.play(action)
        assert candidate.line[0] == candidate.action
        assert candidate.line_visits[0] == candidate.visits
        assert len(candidate.line_visits) == len(candidate.line)
        assert candidate.line_visits == sorted(candidate.line_visits, reverse=True)


def test_a_root_with_one_visit_offers_the_likeliest_actions_when_asked():
    search, result = searched(1)
    (visited,) = analyze(search).candidates
    likeliest = np.argsort(-result.priors, kind="stable").tolist()
    likeliest.remove(visited.action)
    offered = analyze(search, least=3).candidates
    assert [c.action for c in offered] == [visited.action, *likeliest[:2]]
    assert [c.visits for c in offered] == [1, 0, 0]
    assert offered[1].value == result.value


class Outlook(NamedTuple):
    ownership: np.ndarray
    score: np.ndarray


class Territorial(Hashed):
    """Expects the board to stay as it is, and the first player as many points ahead as there are stones."""

    def outlook(self, states):
        moves = np.count_nonzero(states["board"].reshape(len(states), -1), axis=1)
        sides = states["player"].astype(np.float32)
        return Outlook(sides[:, None] * states["board"].reshape(len(states), -1), sides * moves)


def test_ownership_and_score_are_averaged_over_the_tree_as_the_root_sees_them():
    search, _ = searched(60, Territorial(GAME))
    found = analyze(search, territory=True)
    expected, total = np.zeros(25), 0.0

    def walk(node):  # each position has the share of the visits that ended there
        nonlocal total
        nodes, edges = search.pool.nodes, search.pool.edges
        state = search.states[node]
        first, count = nodes.first[node], max(0, nodes.count[node])
        below = [edges.child[e] for e in range(first, first + count) if edges.child[e] >= 0]
        own = nodes.visits[node] - sum(nodes.visits[child] for child in below)
        expected[:] += own * state["board"].ravel()
        total += own * np.count_nonzero(state["board"])
        for child in below:
            walk(child)

    walk(search.desk.roots[0])
    assert np.allclose(found.ownership, expected / 61, atol=1e-5)
    assert found.score == pytest.approx(total / 61)
    for candidate in found.candidates:
        assert candidate.ownership[candidate.action] == 1.0, "its own stone stands there in every position below"


def test_an_evaluator_without_outlook_knows_no_territory():
    search, _ = searched(50)
    found = analyze(search, territory=True)
    assert (found.score, found.ownership, found.candidates[0].ownership) == (None, None, None)


def test_barred_actions_are_left_out_as_deep_as_asked():
    search = Search(GAME, Hashed(GAME), SearchSettings(leaves=4))
    bars = np.zeros((2, GAME.actions), np.int32)
    bars[0, :20] = 1  # the first player's first move
    bars[1, 24] = 4  # the second player's first two moves
    search.bar(0, bars)
    search.run(GAME.start(), Limit(visits=500), to_the_end=True)
    found = analyze(search)
    assert {c.action for c in found.candidates} == {20, 21, 22, 23, 24}
    nodes, edges = search.pool.nodes, search.pool.edges
    for node in range(search.pool.used[0]):
        depth = np.count_nonzero(search.states[node]["board"])
        actions = edges.action[nodes.first[node] : nodes.first[node] + max(0, nodes.count[node])]
        if depth in (1, 3):
            assert 24 not in actions
        if depth == 2 and nodes.count[node] > 0:
            assert (actions < 20).any()


def test_a_position_where_all_is_barred_is_searched_as_if_nothing_were():
    search = Search(GAME, Hashed(GAME), SearchSettings())
    search.bar(0, np.ones((2, GAME.actions), np.int32))
    search.run(GAME.start(), Limit(visits=100), to_the_end=True)
    assert len(analyze(search, least=25).candidates) == 25


def test_a_player_reports_while_it_searches_and_goes_on_until_it_is_stopped():
    player = players.find("uniform:visits=100", GAME)
    reports = []

    def report(found):
        reports.append(found)
        if len(reports) == 3:
            player.stop()

    found = player.analyze(Position.start(GAME), report=report, every=0.02)
    assert len(reports) == 3
    visits = [each.visits for each in [*reports, found]]
    assert visits == sorted(visits)
    assert visits[0] > 1


def test_another_thread_ends_an_analysis_within_50_ms():
    player = players.find("uniform:visits=100", GAME)
    player.analyze(Position.start(GAME), Limit(visits=50))
    ended = []

    def analyze_on():
        player.analyze(Position.start(GAME), every=0.01, report=lambda found: None)
        ended.append(time.monotonic())

    thread = threading.Thread(target=analyze_on)
    thread.start()
    time.sleep(0.2)
    stopped = time.monotonic()
    player.stop()
    thread.join(10)
    assert ended[0] - stopped < 0.5, "fifty milliseconds on an idle machine"


def test_a_player_that_left_actions_out_chooses_among_all_again():
    player = players.find("uniform:visits=200", GAME)
    bars = np.ones((2, GAME.actions), np.int32)
    bars[:, 0] = 0
    found = player.analyze(Position.start(GAME), Limit(visits=50), bars=bars)
    assert [c.action for c in found.candidates] == [0]
    assert (player.choose(Position.start(GAME)).result.visits > 0).sum() > 1
