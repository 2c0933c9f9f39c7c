"""One tree grown by several threads in turn."""

import threading
import time

import numpy as np
import pytest
from handmade import Hashed, check_tree

from goishi.core import registry
from goishi.core.position import Position
from goishi.networks import evaluator as evaluators
from goishi.search.search import Limit, Search, SearchSettings

GAME = registry.find("gomoku:size=7,row=4")
OPEN = SearchSettings(leaves=8, early_stop=False, solver=False)


class Beside:
    """An evaluator that can be asked by two threads at once, each as slow as `delay` says."""

    def __init__(self, delay=lambda lane, call: 0.0, game=GAME):
        self.judge, self.delay = Hashed(game), delay
        self.calls, self.together, self._inside = [0, 0], 0, 0
        self._lock = threading.Lock()

    def __call__(self, states):
        return self.judge(states)

    def beside(self, count):
        return [lambda states, lane=lane: self._ask(lane, states) for lane in range(count)]

    def _ask(self, lane, states):
        with self._lock:
            self._inside += 1
            self.together = max(self.together, self._inside)
            self.calls[lane] += 1
        time.sleep(self.delay(lane, self.calls[lane]))
        with self._lock:
            self._inside -= 1
        return self.judge(states)


def grown(evaluator, visits=400, settings=OPEN, game=GAME):
    search = Search(game, evaluator, settings)
    return search, search.run(game.start(1), Limit(visits=visits))[0]


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "othello:size=6", "gomoku:size=7,row=4"])
@pytest.mark.parametrize("solver", [True, False])
def test_visits_values_and_priors_add_up_at_every_node(spec, solver):
    game = registry.find(spec)
    search, result = grown(Beside(game=game), 500, SearchSettings(leaves=16, early_stop=False, solver=solver), game)
    assert result.visits.sum() == 500 or result.proven is not None
    check_tree(search, Hashed(game))


def test_two_threads_judge_at_the_same_time():
    evaluator = Beside(lambda lane, call: 0.002)
    grown(evaluator)
    assert evaluator.together == 2
    assert abs(evaluator.calls[0] - evaluator.calls[1]) <= 1


def test_the_tree_does_not_depend_on_how_fast_each_thread_is():
    slow = [Beside(lambda lane, call, lag=lag: (lag >> (call + lane) % 8 & 1) * 0.003) for lag in (0, 0b10010110, 0b01)]
    trees = [grown(evaluator)[1] for evaluator in slow]
    assert all(tree.visits.tolist() == trees[0].visits.tolist() for tree in trees)
    assert all(tree.value == trees[0].value for tree in trees)


def test_few_leaves_are_left_to_one_thread():
    evaluator = Beside()
    grown(evaluator, settings=SearchSettings(leaves=3, early_stop=False))
    assert evaluator.calls == [0, 0]


def test_many_searches_with_tree_reuse_stay_whole():
    search = Search(GAME, Beside(), SearchSettings(leaves=16))
    position = Position.start(GAME)
    while not position.over:
        result = search.run(position.states, Limit(visits=300))[0]
        check_tree(search)
        position = position.play(result.best)
        search.advance(0, result.best)
    assert len(search.pool.nodes) < 16 * 300


def test_early_stop_never_changes_the_most_visited_move():
    for seed in range(5):
        state = Position.start(GAME).play(seed * 9).states
        best = [
            Search(GAME, Beside(), SearchSettings(leaves=16, early_stop=early)).run(state, Limit(visits=600))[0].best
            for early in (True, False)
        ]
        assert best[0] == best[1]


@pytest.mark.parametrize("lane", [0, 1])
def test_an_error_in_one_thread_ends_all_and_the_search_can_be_used_again(lane):
    broken = True

    def delay(at, call):
        if broken and at == lane and call == 5:
            raise RuntimeError("the network is gone")
        return 0.001

    search = Search(GAME, Beside(delay), OPEN)
    with pytest.raises(RuntimeError, match="the network is gone"):
        search.run(GAME.start(1), Limit(visits=400))
    broken = False
    assert search.run(GAME.start(1), Limit(visits=400))[0].visits.sum() == 400
    check_tree(search)


def test_seconds_and_stop_end_it_with_nothing_in_flight():
    search = Search(GAME, Beside(lambda lane, call: 0.004), OPEN)
    began = time.monotonic()
    search.run(GAME.start(1), Limit(seconds=0.3))
    assert 0.15 < time.monotonic() - began < 0.35
    check_tree(search)
    timer = threading.Timer(0.1, search.stop)
    timer.start()
    result = search.run(GAME.start(1), Limit(visits=10**6))[0]
    timer.join()
    assert result.visits.sum() < 10**5
    check_tree(search)


def test_a_real_network_gives_the_values_of_one_thread():
    game = registry.find("tictactoe")
    network = evaluators.load("tictactoe", game, "openvino", "f32")
    lanes = network.beside(2)
    states = np.concatenate([Position.start(game).play(action).states for action in range(9)])
    for lane in lanes:
        assert np.allclose(lane(states)[0], network(states)[0], atol=1e-4)
        assert np.allclose(lane(states)[1], network(states)[1], atol=1e-4)
    assert network.beside(2) is lanes
