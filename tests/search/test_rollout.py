"""Random playouts as an evaluator."""

import numpy as np
import pytest
from handmade import check_tree

from goishi.core import registry
from goishi.core.position import Position
from goishi.search.rollout import ROLLOUT_SETTINGS, rollouts
from goishi.search.search import Limit, Search


@pytest.mark.parametrize("count", [1, 7, 16, 100])
def test_the_same_seed_gives_the_same_playouts_whatever_the_threads(count):
    game = registry.find("connect4")
    states = np.repeat(game.start(), count)
    answers = [[rollouts(game, seed=3, threads=threads)(states)[1].tolist() for _ in range(3)] for threads in (1, 2, 3)]
    assert answers[0] == answers[1] == answers[2]
    evaluator = rollouts(game, seed=3)
    assert count < 16 or evaluator(states)[1].tolist() != evaluator(states)[1].tolist()  # each call draws anew
    assert count < 16 or rollouts(game, seed=4)(states)[1].tolist() != answers[0][0]


def test_a_playout_ends_with_a_result_and_leaves_the_position_alone():
    game = registry.find("tictactoe")
    states = np.repeat(game.start(), 2000)
    before = states.tobytes()
    logits, values = rollouts(game)(states)
    assert states.tobytes() == before
    assert not logits.any()
    assert set(np.unique(values)) == {-1.0, 0.0, 1.0}
    assert values.mean() == pytest.approx(
        0.585 - 0.288, abs=0.08
    )  # random play: the first player wins 58.5%, loses 28.8%


def test_the_value_is_the_movers():
    game = registry.find("tictactoe")
    won_by_the_first = Position.after(game, [0, 3, 1, 4, 8])  # the second to move, and both have two in line
    values = rollouts(game)(np.repeat(won_by_the_first.states, 500))[1]
    first = Position.after(game, [0, 3, 1, 8])  # the first to move with two in line
    assert rollouts(game)(np.repeat(first.states, 500))[1].mean() > values.mean()


def test_rollout_search_finds_a_win_and_a_defence():
    game = registry.find("connect4")
    for played, best in (((3, 2, 3, 2, 3, 2), 3), ((0, 3, 1, 3, 6, 3), 3)):
        search = Search(game, rollouts(game, seed=1), ROLLOUT_SETTINGS)
        result = search.run(Position.after(game, played).states, Limit(visits=2000))[0]
        assert result.best == best
        check_tree(search)


def test_the_outlook_tells_who_owns_what_as_the_player_to_move_sees_it():
    game = registry.find("go:size=9")
    states = np.repeat(game.start(), 2)
    for state, player in zip(states, (1, -1), strict=True):
        stones = np.zeros((9, 9), np.int8)
        stones[:, 4], stones[:, 5] = 1, -1  # Black has the larger part
        game.module.arrange(state, stones, player)
    ownership, score = rollouts(game).outlook(states)
    assert (ownership.shape, score.shape) == ((2, 81), (2,))
    assert ownership.dtype == score.dtype == np.float32
    left = ownership.reshape(2, 9, 9)[:, :, :4].mean((1, 2))
    assert left[0] > 0.2 > -0.2 > left[1]
    area = ownership.sum(1) + np.array([-7.5, 7.5])
    assert score == pytest.approx(area, abs=0.01)


def test_the_outlook_is_the_same_whatever_was_asked_before():
    game = registry.find("go:size=9")
    states = game.start()
    evaluator = rollouts(game, seed=3)
    first = evaluator.outlook(states)
    evaluator(np.repeat(states, 20))
    again = evaluator.outlook(states)
    assert np.array_equal(first.ownership, again.ownership)
    assert first.score[0] == again.score[0] != rollouts(game, seed=4).outlook(states).score[0]
    several = evaluator.outlook(np.repeat(states, 3))
    assert (several.ownership.shape, several.score.shape) == ((3, 81), (3,))
    assert evaluator.outlook(states[:0]).ownership.shape == (0, 81)


def test_a_game_without_owners_has_no_outlook():
    game = registry.find("tictactoe")
    assert rollouts(game).outlook(game.start()) is None
