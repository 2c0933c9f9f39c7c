"""Small networks with weights that leave nothing at zero, so that every layer counts."""

from collections.abc import Callable

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.game import Game

torch = pytest.importorskip("torch", reason="needs torch: pip install 'goishi[train]'")


@pytest.fixture(autouse=True)
def own_cache_folder(tmp_path, monkeypatch):
    """No test reads or writes the user's cache folder."""
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))


def make_lively(architecture: dict, game: Game):
    """A network with random weights everywhere, normalizations included, in evaluation mode."""
    from goishi.networks import network

    torch.manual_seed(7)
    module = network.build(architecture, game).eval()
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(part.weight, 0.5, 1.0)
            torch.nn.init.uniform_(part.running_var, 0.5, 1.5)
            torch.nn.init.normal_(part.running_mean, std=0.2)
            torch.nn.init.normal_(part.bias, std=0.2)
    tanh = module.value_head == "tanh"
    for head in (module.policy_out, module.value_out) if tanh else (module.policy.out, module.value.out):
        torch.nn.init.normal_(head.weight, std=2 / head.weight[0].numel() ** 0.5)
        torch.nn.init.normal_(head.bias, std=0.2)
    if module.owners is not None:
        for head in (module.owners.out, module.owners.score_out):
            torch.nn.init.normal_(head.weight, std=1 / head.weight[0].numel() ** 0.5)
    return module


@pytest.fixture(scope="session")
def lively() -> Callable[..., "torch.nn.Module"]:
    """A network with random weights everywhere, for an architecture and a game."""
    return make_lively


@pytest.fixture(scope="session")
def make_model() -> Callable[..., bytes]:
    """A model's bytes for a game's spec."""
    from goishi.networks import network

    def make(spec: str, architecture: dict | None = None, **metadata: object) -> bytes:
        game = registry.find(spec)
        return network.to_onnx(make_lively(architecture or network.PRESETS["tiny"], game), game, metadata)

    return make


@pytest.fixture(scope="session")
def played() -> Callable[..., np.ndarray]:
    """State[count]: positions of random games, none of them over."""

    def play(game: Game, count: int, seed: int = 1) -> np.ndarray:
        rng = np.random.default_rng(seed)
        kernels = game.kernels()
        found: list[np.ndarray] = []
        state = game.start()
        players, over = np.zeros(1, np.int8), np.zeros(1, np.bool_)
        values, masks = np.zeros(1, np.float32), np.zeros((1, game.actions), np.bool_)
        zero = np.zeros(1, np.int32)
        while len(found) < count:
            kernels.look(state, zero, players, over, values, masks)
            if over[0]:
                state = game.start()
                continue
            found.append(state.copy())
            kernels.play(state, zero, np.array([rng.choice(np.flatnonzero(masks[0]))], np.int32), zero)
        return np.concatenate(found)

    return play
