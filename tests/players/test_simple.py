"""The random player and the perfect one."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import UsageError
from goishi.players.simple import PerfectPlayer, RandomPlayer, seen_before, solve


def test_the_random_player_plays_every_legal_move_and_no_other():
    game = registry.find("tictactoe")
    position = Position.after(game, [4, 0])
    player = RandomPlayer(seed=1)
    assert {player.choose(position).action for _ in range(200)} == set(position.actions)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("tictactoe", 0),
        ("connect4:columns=4,rows=4", 0),
        ("gomoku:columns=4,rows=3,row=3", 1),
        ("othello:size=4", -1),
        ("hex:size=2", 1),
        ("hex:size=3", 1),
    ],
)
def test_small_games_have_their_known_values(spec, value):
    game = registry.find(spec)
    assert PerfectPlayer(game).value(Position.start(game)) == value


def test_tic_tac_toe_has_5478_reachable_positions():
    assert len(solve(registry.find("tictactoe")).keys) == 5478


def test_hex_3x3_is_won_by_the_five_known_openings():
    game = registry.find("hex:size=3")
    values = PerfectPlayer(game).values(Position.start(game))
    assert {game.board.name(action) for action in np.flatnonzero(values == 1)} == {"c1", "a2", "b2", "c2", "a3"}


def test_perfect_takes_the_shortest_win_and_delays_a_loss():
    game = registry.find("tictactoe")
    player = PerfectPlayer(game)
    assert player.choose(Position.after(game, [0, 3, 1, 4])).action == 2  # not the block at 5, which also wins later
    lost = Position.after(game, [0, 1, 3])  # b1 loses; only a block lasts longer
    assert player.value(lost) == -1
    assert player.choose(lost).action == 6


def test_values_are_those_after_each_action_and_zero_where_none_may_be_played():
    game = registry.find("tictactoe")
    position = Position.after(game, [0, 1])
    player = PerfectPlayer(game)
    values = player.values(position)
    for action in range(9):
        expected = -player.value(position.play(action)) if position.mask[action] else 0
        assert values[action] == expected


def test_perfect_knows_passes_where_a_player_moves_twice():
    game = registry.find("othello:size=4")
    player = PerfectPlayer(game)
    rng = np.random.default_rng(5)
    passes = 0
    for _ in range(60):
        position = Position.start(game)
        while not position.over:
            passes += position.actions == [game.actions - 1]
            best = max(position.actions, key=lambda action: player.ranks(position)[action])
            child = position.play(best)
            after = child.value if child.over else player.value(child)
            assert player.value(position) == (after if child.player == position.player else -after)
            position = position.play(int(rng.choice(position.actions)))
    assert passes > 0


def test_ranks_come_one_ply_nearer_to_a_draw_and_keep_the_sign_of_the_same_player():
    ranks = np.array([29_990, 0, -29_990], np.int16)
    assert seen_before(ranks, np.array([True] * 3)).tolist() == [29_989, 0, -29_989]
    assert seen_before(ranks, np.array([False] * 3)).tolist() == [-29_989, 0, 29_989]


def test_a_large_game_is_refused_in_a_sentence():
    with pytest.raises(UsageError, match="perfect plays small games"):
        PerfectPlayer(registry.find("connect4"))


def test_an_unreachable_position_is_refused():
    game = registry.find("tictactoe")
    states = game.start()
    states["board"][0, 0] = 1, 1, 1
    with pytest.raises(UsageError, match="can be reached"):
        PerfectPlayer(game).value(Position(game, states))
