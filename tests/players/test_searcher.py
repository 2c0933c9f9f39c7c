"""Players that search, and those that play a network's policy."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.networks.evaluator import uniform
from goishi.players import find
from goishi.players.searcher import PolicyPlayer, SearchPlayer, draw, masked_softmax, visit_policy
from goishi.search.search import Limit, SearchSettings

TICTACTOE = registry.find("tictactoe")
CONNECT4 = registry.find("connect4")
MATE = [0, 3, 1, 4]  # 2 wins
VISITS = np.array([20, 10, 5, 0])


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (1.0, [0.5714, 0.2857, 0.1429, 0]),
        (0.5, [0.7619, 0.1905, 0.0476, 0]),
        (2.0, [0.4531, 0.3204, 0.2265, 0]),
        (1e-3, [1, 0, 0, 0]),
    ],
)
def test_moves_are_drawn_by_the_visits_to_the_power_of_one_over_the_temperature(temperature, expected):
    assert visit_policy(VISITS, temperature) == pytest.approx(expected, abs=1e-4)


def test_a_masked_softmax_gives_illegal_actions_nothing():
    policy = masked_softmax(np.array([1000.0, 0.0, 0.0], np.float32), np.array([False, True, True]))
    assert policy.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("spec", ["uniform:visits=100", "rollout:visits=100", "uniform:visits=50,mode=gumbel"])
def test_a_search_takes_the_win_at_once(spec):
    player = find(spec, TICTACTOE)
    assert player.choose(Position.after(TICTACTOE, MATE)).action == 2
    player.close()


def test_temperature_varies_the_moves_but_not_a_proven_win():
    start = Position.start(CONNECT4)
    player = find("uniform:visits=50,temperature=1", CONNECT4, seed=3)
    assert len({player.choose(start).action for _ in range(20)}) > 2
    sure = find("uniform:visits=200,temperature=1", TICTACTOE)
    assert {sure.choose(Position.after(TICTACTOE, MATE)).action for _ in range(10)} == {2}


def test_the_same_seed_gives_the_same_moves():
    def moves(seed):
        player = find("rollout:visits=60,temperature=1", CONNECT4, seed)
        position = Position.start(CONNECT4)
        for _ in range(8):
            position = position.play(player.choose(position).action)
        return position.history

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


class Counting:
    """An evaluator that counts positions."""

    def __init__(self, game):
        self.count = 0
        self._inner = uniform(game)

    def __call__(self, states):
        self.count += len(states)
        return self._inner(states)


def test_the_tree_is_kept_when_the_game_goes_on_and_dropped_when_it_does_not():
    evaluator = Counting(CONNECT4)
    player = SearchPlayer(CONNECT4, evaluator, SearchSettings(leaves=1, early_stop=False), Limit(visits=300))
    first = player.choose(Position.start(CONNECT4))
    begun = evaluator.count
    going_on = Position.start(CONNECT4).play(first.action).play(3)
    player.choose(going_on)
    kept = evaluator.count - begun
    begun = evaluator.count
    player.choose(Position.after(CONNECT4, [0, 1]))
    fresh = evaluator.count - begun
    assert kept < fresh


def test_a_set_up_position_that_only_looks_like_the_next_one_starts_a_new_tree():
    player = SearchPlayer(TICTACTOE, uniform(TICTACTOE), limit=Limit(visits=60))
    player.choose(Position.after(TICTACTOE, [0, 3]))
    other = Position(TICTACTOE, Position.after(TICTACTOE, [8, 3, 7, 4]).states, (0, 3, 1, 4))
    assert player.choose(other).action == 6


def test_many_positions_in_step_are_decided_as_one_by_one():
    positions = [Position.after(CONNECT4, moves) for moves in ([], [3], [3, 3], [0, 1, 2], [6, 6, 6])]
    settings = SearchSettings(leaves=1)
    player = SearchPlayer(CONNECT4, uniform(CONNECT4), settings, Limit(visits=100))
    together = [decision.action for decision in player.choose_many(positions)]
    assert together == [player.choose(position).action for position in positions]


def test_a_player_resigns_only_after_three_lost_turns_in_a_row_and_not_early():
    class Hopeless(Counting):
        def __call__(self, states):
            logits, _ = super().__call__(states)
            own = np.where(states["player"] == 1, -1.0, 1.0)  # the first player is lost everywhere
            return logits, (0.99 * own).astype(np.float32)

    settings, limit = SearchSettings(solver=False), Limit(visits=30)
    player = SearchPlayer(CONNECT4, Hopeless(CONNECT4), settings, limit, resign=-0.9)
    proud = SearchPlayer(CONNECT4, Hopeless(CONNECT4), settings, limit)
    positions = [Position.after(CONNECT4, [0, 0, 0, 0, 6, 6][:plies]) for plies in (0, 2, 4, 6)]
    assert [player.choose(position).resigns for position in positions] == [False, False, True, True]
    assert not any(proud.choose(position).resigns for position in positions)


def test_the_policy_player_plays_the_best_legal_move_or_draws():
    def favors_the_taken_point(states):
        logits = np.tile(np.array([9, 0, 5, 0, 0, 0, 0, 0, 0], np.float32), (len(states), 1))
        return logits, np.zeros(len(states), np.float32)

    position = Position.after(TICTACTOE, [0])
    assert PolicyPlayer(TICTACTOE, favors_the_taken_point).choose(position).action == 2
    drawn = PolicyPlayer(TICTACTOE, favors_the_taken_point, temperature=5.0, seed=1)
    chosen = {drawn.choose(position).action for _ in range(100)}
    assert len(chosen) > 3
    assert 0 not in chosen


def test_a_search_that_visited_nothing_plays_its_best():
    class Empty:
        visits, best, proven = np.zeros(9, np.int32), 4, None

    assert draw(Empty, 1.0, np.random.default_rng(0)) == 4
