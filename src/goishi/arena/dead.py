"""Which stones of a finished game of Go are dead, judged by random games from there.

Shapes: R C rows and columns.
"""

import numpy as np

from goishi.core.game import Game
from goishi.errors import UsageError
from goishi.networks.evaluator import Evaluator, outlook
from goishi.search.rollout import PLAYOUTS, random_ends


def ownership(game: Game, state: np.record, playouts: int = PLAYOUTS, seed: int = 0) -> np.ndarray:
    """float32[R, C] in [-1, 1]: whose each point was at the end of random games, +1 the first player's on average.

    In every other game the other side begins. Raises UsageError where the game does not know owners.
    """
    return random_ends(game, _resumed(game, state), playouts, seed)[0].reshape(game.planes[1:])


def judged_ownership(game: Game, state: np.record, evaluator: Evaluator) -> np.ndarray | None:
    """As `ownership`, told by an evaluator such as a network with this head; None by one that does not know.

    The mean of what it expects with either side to move. Raises UsageError as `ownership` does.
    """
    states = _resumed(game, state)
    expected = outlook(evaluator, states)
    if expected is None:
        return None
    return (expected.ownership * states["player"][:, None]).mean(axis=0, dtype=np.float32).reshape(game.planes[1:])


def _resumed(game: Game, state: np.record) -> np.ndarray:
    """State[2]: the game goes on, with the first player to move and with the second."""
    if game.kernels().owners is None or not hasattr(game.module, "resume"):
        raise UsageError(f"{game.spec} has no territory; ownership is for Go.")
    states = np.zeros(2, game.State)
    states[:] = state
    for one, player in zip(states, (1, -1), strict=True):
        game.module.resume(one, player)
    return states


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
