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
    planes, policy, outcome = trainer.batch(replay, np.arange(64))
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
    _, _, outcome = trainer.batch(replay, np.arange(3))
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
