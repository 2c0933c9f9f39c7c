"""Games of a network against itself."""

from dataclasses import replace

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.networks.evaluator import uniform
from goishi.training.selfplay import SelfPlay
from goishi.training.settings import Games, LearningSearch


def play(spec, count=30, search=None, games=None, at_once=8, seed=0, evaluator=None):
    game = registry.find(spec)
    search, games = search or LearningSearch(visits=16), games or Games()
    selfplay = SelfPlay(game, evaluator or uniform(game), search, games, at_once, np.random.default_rng(seed))
    finished = []
    while len(finished) < count:
        finished += selfplay.step()
    return game, finished


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "othello:size=4", "hex:size=3", "gomoku:size=5,row=4"])
def test_every_game_replays_legally_to_its_result(spec):
    game, finished = play(spec)
    for one in finished:
        position = Position.after(game, one.actions)
        assert position.over
        assert position.score == one.score


@pytest.mark.parametrize("spec", ["tictactoe", "othello:size=4"])
def test_every_row_is_a_position_of_its_game_with_the_result_as_its_player_sees_it(spec):
    game, finished = play(spec)
    for one in finished:
        positions = {}
        position = Position.start(game)
        for action in one.actions:
            positions[position.states.tobytes()] = position
            position = position.play(action)
        assert len(one.results) == len(one.actions) - one.opening
        for state, policy, result in zip(one.states, one.policies, one.results, strict=True):
            position = positions[state.tobytes()]
            assert result == one.score * position.player
            assert policy[~position.mask].sum() == 0
            assert policy.sum() == pytest.approx(1, abs=0.01)


def test_the_same_seed_plays_the_same_games():
    assert [g.actions for g in play("connect4", seed=3)[1]] == [g.actions for g in play("connect4", seed=3)[1]]
    assert [g.actions for g in play("connect4", seed=3)[1]] != [g.actions for g in play("connect4", seed=4)[1]]


def test_cheap_moves_are_not_learned():
    _, finished = play("connect4", search=LearningSearch(visits=16, cheap_visits=4, cheap_share=0.75))
    rows = sum(len(g.results) for g in finished)
    moves = sum(len(g.actions) - g.opening for g in finished)
    assert 0.15 < rows / moves < 0.36


def test_random_openings_are_random_and_not_learned():
    _, finished = play("connect4", games=Games(random_share=1.0, random_plies=6))
    assert all(1 <= g.opening <= 6 for g in finished)
    assert len({g.actions[:2] for g in finished}) > 10


def test_policy_openings_are_as_long_as_asked_on_average():
    _, finished = play("connect4", count=200, games=Games(random_share=0, policy_plies=0.1), at_once=64)
    assert 2.5 < np.mean([g.opening for g in finished]) < 5  # exponential with mean 4.2, rounded down


@pytest.mark.parametrize("keep", [False, True])
def test_puct_with_noise_plays_too(keep):
    search = LearningSearch(mode="puct", gumbel_noise=False, dirichlet_share=0.25, visits=16, keep_tree=keep)
    game, finished = play("tictactoe", search=search)
    assert all(Position.after(game, g.actions).over for g in finished)
    assert len({g.actions for g in finished}) > 20


class Judge:
    """The player to move is always lost."""

    def __init__(self, game):
        self.actions = game.actions

    def __call__(self, states):
        return np.zeros((len(states), self.actions), np.float32), np.full(len(states), -0.99, np.float32)


class Turned(Judge):
    """The first player is always lost."""

    def __call__(self, states):
        logits, values = super().__call__(states)
        return logits, np.where(states["player"] == 1, values, -values)


def test_lost_sides_resign_and_some_play_on_to_measure_the_mistakes():
    game = registry.find("connect4")
    # Seen by its parent, a child of a lost player is won; so only a search of one visit stays with the judge's word.
    search = LearningSearch(visits=2)
    games = Games(random_share=0, policy_plies=0, resign=0.3, resign_turns=1, play_on=0.5)

    _, finished = play("connect4", count=60, search=search, games=games, evaluator=Turned(game))
    resigned = [g for g in finished if g.resigned]
    assert resigned
    assert all(g.score == -1.0 for g in resigned)  # it is the first player who gives up
    calibration = [g for g in finished if g.wrong or g.right]
    assert calibration
    assert all(g.wrong == (g.score >= 0) for g in calibration)


def test_nobody_resigns_unless_asked_to():
    game = registry.find("connect4")
    _, finished = play("connect4", games=replace(Games(), resign=0.0), evaluator=Judge(game))
    assert not any(g.resigned or g.wrong or g.right for g in finished)


def end_of(game, one):
    """The last position of a game that began by the spec's rules."""
    return Position.after(game, one.actions)


def test_games_of_go_tell_their_owners_and_score_at_the_end():
    game, finished = play("go:size=5", games=Games(varied_share=0))
    for one in finished:
        last = end_of(game, one)
        assert last.over
        assert one.lead == game.module.margin(last.state)
        assert np.sign(one.lead) == one.score
        owners = game.module.territory(last.stones, np.zeros((5, 5), np.bool_))
        assert np.array_equal(one.owners, owners.ravel())
    assert not any(one.varied for one in finished)


def test_resigned_games_do_not_tell_whose_the_points_would_have_been():
    game = registry.find("go:size=5")
    games = Games(resign=0.3, resign_turns=1, play_on=0.5, varied_share=0)
    _, finished = play("go:size=5", games=games, search=LearningSearch(visits=4), evaluator=Turned(game))
    assert any(one.resigned for one in finished)
    assert all((one.owners is None) == (one.lead is None) == one.resigned for one in finished)


def test_some_games_of_go_have_other_komi_and_rules():
    _, finished = play("go:size=5", count=40, games=Games(varied_share=0.5))
    varied = [one for one in finished if one.varied]
    assert 8 < len(varied) < 32
    assert all(set(one.states["komi"].tolist()) == {15} for one in finished if not one.varied)
    assert len({int(one.states["komi"][0]) for one in varied if len(one.states)}) > 5
    assert len({int(one.states["rules"][0]) for one in varied if len(one.states)}) > 3


class Passer:
    """Nothing is better than a pass."""

    def __init__(self, game):
        self.actions = game.actions

    def __call__(self, states):
        logits = np.zeros((len(states), self.actions), np.float32)
        logits[:, -1] = 20
        return logits, np.zeros(len(states), np.float32)


def test_nobody_passes_early_except_to_win():
    game = registry.find("go:size=5")
    games = Games(varied_share=0, random_share=0.3, first_pass=0.5)
    _, finished = play("go:size=5", count=40, games=games, search=LearningSearch(visits=4), evaluator=Passer(game))
    for one in finished:
        early = [ply for ply, action in enumerate(one.actions[:12]) if action == 25]
        assert all(ply == len(one.actions) - 1 for ply in early)
    _, free = play("go:size=5", count=40, games=replace(games, first_pass=0), evaluator=Passer(game))
    assert any(len(one.actions) < 12 for one in free)


def test_decided_games_go_on_with_cheap_moves():
    game = registry.find("go:size=5")

    class Sure(Judge):
        def __call__(self, states):
            logits, _ = super().__call__(states)
            return logits, 0.99 * states["player"].astype(np.float32)

    games = Games(varied_share=0, random_share=0, policy_plies=0)
    sure = play("go:size=5", games=games, search=LearningSearch(visits=4, clear=0.9), evaluator=Sure(game))[1]
    plain = play("go:size=5", games=games, search=LearningSearch(visits=4), evaluator=Sure(game))[1]
    assert all(len(one.results) == len(one.actions) for one in plain)
    late = sum(len(one.actions) - 4 for one in sure)
    assert sum(len(one.results) - 4 for one in sure) < 0.25 * late


def test_who_has_clearly_lost_passes_when_the_opponent_has():
    game = registry.find("go:size=5")

    class Hopeless(Turned):
        """The first player is lost and would rather play on; the second passes."""

        def __call__(self, states):
            logits, values = super().__call__(states)
            logits[:, -1] = np.where(states["player"] == 1, -20, 20)
            return logits, values

    games = Games(varied_share=0, random_share=0, policy_plies=0, first_pass=0)
    for clear, share in ((0.9, 1.0), (1.0, 0.0)):
        search = LearningSearch(visits=2, clear=clear)
        _, finished = play("go:size=5", games=games, search=search, evaluator=Hopeless(game))
        short = [one.actions[-2:] == (25, 25) and len(one.actions) <= 3 for one in finished]
        assert np.mean(short) == pytest.approx(share, abs=0.2)
