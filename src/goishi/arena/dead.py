"""Which stones of a finished game of Go are dead, judged by random games from there.

Shapes: B random games, R C rows and columns.
"""

import numpy as np

from goishi.core.game import Game
from goishi.errors import UsageError

PLAYOUTS = 512
"""Random games of an estimate: about a quarter of a second on 19x19."""


def ownership(game: Game, state: np.record, playouts: int = PLAYOUTS, seed: int = 0) -> np.ndarray:
    """float32[R, C] in [-1, 1]: whose each point was at the end of random games, +1 the first player's on average.

    In every other game the other side begins. Raises UsageError where the game does not know owners.
    """
    kernels = game.kernels()
    if kernels.owners is None or not hasattr(game.module, "resume"):
        raise UsageError(f"{game.spec} has no territory; ownership is for Go.")
    states = np.zeros(playouts, game.State)
    states[:] = state
    for player in (1, -1):
        game.module.resume(first := states[(1 - player) // 2], player)
        states[(1 - player) // 2 :: 2] = first
    seeds = np.random.default_rng(seed).integers(1, 2**63, playouts).astype(np.uint64)
    kernels.finish(states, seeds, np.zeros(playouts, np.int32))
    owners = np.zeros((playouts, game.planes[1] * game.planes[2]), np.int8)
    kernels.owners(states, owners)
    return owners.mean(axis=0, dtype=np.float32).reshape(game.planes[1:])


def dead_stones(game: Game, state: np.record, owners: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
    """bool[R, C]: the stones whose point the other side owns, a chain as one; none under rules by which all live.

    owners: an estimate such as a network's, float[R, C] as the first player sees it; else random games make one.
    """
    stones = game.stones(state)
    dead = np.zeros(stones.shape, np.bool_)
    if state.rules & game.module.ALL_ALIVE:
        return dead
    if owners is None:
        owners = ownership(game, state, seed=seed)
    chain, _, _ = game.module.chains(stones.ravel())
    for number in range(chain.max() + 1):
        points = chain.reshape(stones.shape) == number
        dead[points] = (owners * stones)[points].mean() < 0
    return dead
