"""The network learns."""

import sys

import numpy as np
import pytest

from goishi.core import registry
from goishi.training.replay import Replay
from goishi.training.selfplay import PlayedGame
from goishi.training.settings import Learning, preset_of
from goishi.training.trainer import Trainer, first_module, learning_rate

QUICK = Learning(batch=32, window=64)


@pytest.fixture
def made():
    game = registry.find("tictactoe")
    states = game.start(64)
    states["board"][:, 0, 0] = np.arange(64) % 3 - 1
    policies = np.zeros((64, 9), np.float16)
    policies[:, 2] = 1
    results = np.ones(64, np.float32)
    replay = Replay(game, 64)
    replay.add(PlayedGame((), 1.0, 0, False, False, False, states, policies, results, results))
    return game, Trainer(game, first_module(game, preset_of("tiny", game)), QUICK, 0), replay


def test_losses_fall_on_samples_that_repeat(made):
    _, trainer, replay = made
    first = trainer.learn(replay, 1, 64, 0.01)
    last = [trainer.learn(replay, 20, 64, 0.01) for _ in range(3)][-1]
    assert last.policy < first.policy
    assert last.value < first.value


def test_symmetries_reach_the_batch_and_turn_planes_and_policy_alike(made):
    game, trainer, replay = made
    planes, policy, outcome, owners, _ = trainer.batch(replay, np.arange(64))
    assert owners.shape == (64, 0)
    corners = {int(np.argmax(row)) for row in policy.numpy()}
    assert corners == {0, 2, 6, 8}  # the policy's corner, turned
    plain = np.zeros((64, *game.planes), np.float32)
    game.kernels().encode(replay.states, plain)
    for row, target, before in zip(planes.numpy(), policy.numpy(), plain, strict=True):
        turned = [s for s in range(8) if np.argmax(target) == np.flatnonzero(game.symmetries[s] == 2)[0]]
        moved = [before.reshape(2, 9)[:, game.point_symmetries[s]] for s in turned]
        assert any(np.array_equal(row.reshape(2, 9), each) for each in moved)
    assert np.allclose(outcome.numpy().sum(1), 1)


def test_results_and_root_values_are_mixed_as_distributions(made):
    _, trainer, replay = made
    replay.results[:3], replay.values[:3] = (1, 0, -1), (0.5, 0.0, -1.0)
    outcome = trainer.batch(replay, np.arange(3)).outcome
    assert np.allclose(outcome.numpy(), [[0.925, 0, 0.075], [0.15, 0.7, 0.15], [0, 0, 1]], atol=1e-6)


def test_what_is_saved_goes_on_exactly(made):
    game, trainer, replay = made
    trainer.learn(replay, 3, 64, 0.01)
    other = Trainer(game, first_module(game, preset_of("tiny", game)), QUICK, 5)
    assert other.restore(trainer.save({"generation": 7})) == {"generation": 7}
    assert trainer.learn(replay, 2, 64, 0.01) == other.learn(replay, 2, 64, 0.01)
    assert trainer.export({}) == other.export({})


def test_the_average_follows_the_weights(made):
    _, trainer, replay = made
    before = {name: tensor.clone() for name, tensor in trainer.average.items()}
    trainer.learn(replay, 5, 64, 0.01)
    weights = trainer.module.state_dict()
    name = "policy.out.weight"
    assert not before[name].equal(trainer.average[name])
    assert not weights[name].equal(trainer.average[name])


def test_learning_leaves_this_process_its_small_numbers(made):
    _, trainer, replay = made
    trainer.learn(replay, 1, 64, 0.01)
    assert np.float64(sys.float_info.min) / 4 > 0


def test_the_rate_stays_and_then_falls():
    settings = Learning(rate=0.01, final_rate=0.001)
    assert learning_rate(settings, 0.0) == learning_rate(settings, 0.5) == pytest.approx(0.01)
    assert learning_rate(settings, 0.75) == pytest.approx(0.0055)
    assert learning_rate(settings, 1.0) == pytest.approx(0.001)


@pytest.fixture
def made_of_go():
    """Positions with one stone of the player to move, who will own its point and three more beside the top edge."""
    game = registry.find("go:size=5")
    states = game.start(64)
    states["board"][:32, 0, 1] = 1
    states["board"][32:, 0, 1] = states["player"][32:] = -1
    policies = np.zeros((64, 26), np.float16)
    policies[:, 2] = 1
    results = np.ones(64, np.float32)
    owners = np.zeros(25, np.int8)
    owners[:4] = 1
    replay = Replay(game, 128)
    for begin, sign in ((0, 1), (32, -1)):
        part = slice(begin, begin + 32)
        replay.add(
            PlayedGame(
                (), 1.0, 0, False, False, False, states[part], policies[part], results[:32], results[:32],
                owners=sign * owners, lead=sign * 4.0,
            )
        )  # fmt: skip
    return game, Trainer(game, first_module(game, preset_of("tiny", game)), QUICK, 0), replay


def test_symmetries_turn_ownership_with_the_planes(made_of_go):
    game, trainer, replay = made_of_go
    batch = trainer.batch(replay, np.arange(64))
    assert set(batch.leads.tolist()) == {4.0}
    assert len({tuple(row) for row in batch.owners.numpy()}) == 8
    own = batch.planes.numpy()[:, 0].reshape(64, 25)
    assert (own.sum(1) == 1).all()
    for planes, owners, policy in zip(own, batch.owners.numpy(), batch.policy.numpy(), strict=True):
        turns = [s for s in range(8) if np.array_equal(owners, np.isin(game.point_symmetries[s], range(4)))]
        assert any(game.point_symmetries[s][planes.argmax()] == 1 for s in turns)
        assert any(game.point_symmetries[s][policy.argmax()] == 2 for s in turns)


def test_ownership_and_score_are_learned_from_games_that_ended_by_the_rules_alone(made_of_go):
    _, trainer, replay = made_of_go
    losses = [trainer.learn(replay, 10, 64, 0.005) for _ in range(4)]
    assert losses[-1].ownership < 0.7 * losses[0].ownership
    assert losses[-1].score < 0.7 * losses[0].score
    replay.leads[:], replay.owners[:] = np.nan, 0
    before = {name: p.detach().clone() for name, p in trainer.module.owners.named_parameters()}
    untouched = trainer.learn(replay, 1, 64, 0.0)
    assert untouched.ownership == untouched.score == 0
    assert all(p.grad is None or not p.grad.any() for p in trainer.module.owners.parameters())
    assert all(np.isfinite(p.detach().numpy()).all() for p in trainer.module.parameters())
    assert all(p.equal(before[name]) for name, p in trainer.module.owners.named_parameters())
