"""Which stones of a finished game of Go are dead, judged by random games from there or by a network's ownership.

Shapes: R C rows and columns.
"""

import numpy as np

from goishi.core.game import Game
from goishi.errors import UsageError
from goishi.networks.evaluator import Evaluator, outlook
from goishi.search.rollout import Rollouts, play_out

PLAYOUTS = 256
"""Random games of a first look: about half a second on 19x19."""
MORE_PLAYOUTS = 768
"""Further random games where a chain's fate is close."""
CLOSE = 0.3
"""A chain owned less than this by either side, on average, is looked at again."""
OPEN = 0.2
"""A point owned less than this by either side in random games is open."""
DOUBT = 0.1
"""A chain that the other side owns by less than this lives: who says it is dead has to show it."""
SAFE = 0.4
"""A chain of the other side that meets a dead one must be owned by its side by more, or the fight is not decided."""


def ownership(game: Game, state: np.record, playouts: int = PLAYOUTS, seed: int = 0) -> np.ndarray:
    """float32[R, C] in [-1, 1]: whose each point was at the end of random games, +1 the first player's on average.

    In every other game the other side begins. Players answer an attack on a chain and leave a seki alone. Raises
    UsageError where the game does not know owners.
    """
    states = _resumed(game, state)
    states["rules"] |= game.module.CAREFUL
    owners, _ = play_out(game, np.resize(states, playouts), seed)
    return owners.mean(axis=0, dtype=np.float32).reshape(game.planes[1:])


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
    """bool[R, C]: the stones that the other side will take, a chain as one; none under rules by which all live.

    owners: an estimate such as a network's, float[R, C] as the first player sees it; else random games make one.
    """
    if state.rules & game.module.ALL_ALIVE:
        return np.zeros(game.planes[1:], np.bool_)
    return hopeless(game, state, estimate(game, state, seed) if owners is None else owners)


def estimate(game: Game, state: np.record, seed: int = 0, evaluator: Evaluator | None = None) -> np.ndarray:
    """As `ownership`, with more random games where a chain's fate is close.

    Where these leave a point open, an evaluator that knows owners by itself, such as a network with this head, has half
    of the say.
    """
    owners = ownership(game, state, PLAYOUTS, seed)
    chain, count = _chains(game, state)
    if count and (np.abs(_fates(game, state, owners, chain, count)) < CLOSE).any():
        more = ownership(game, state, MORE_PLAYOUTS, seed + 1)
        owners = (PLAYOUTS * owners + MORE_PLAYOUTS * more) / (PLAYOUTS + MORE_PLAYOUTS)
    if evaluator is None or isinstance(evaluator, Rollouts):
        return owners
    judged = judged_ownership(game, state, evaluator)
    return owners if judged is None else np.where(np.abs(owners) < OPEN, (owners + judged) / 2, owners)


def hopeless(game: Game, state: np.record, owners: np.ndarray) -> np.ndarray:
    """bool[R, C]: as `dead_stones`, whatever the rules say about dead stones.

    A chain is dead when its points are the other side's, and a chain of the other side that meets it, or the empty
    points around it, is safe. Where neither is, each lives if it moves first, or both do: a seki.
    """
    stones = game.stones(state)
    chain, count = _chains(game, state)
    dead = np.zeros(stones.size, np.bool_)
    if count == 0:
        return dead.reshape(stones.shape)
    fates, sides = _fates(game, state, owners, chain, count), np.zeros(count, np.int8)
    sides[chain[chain >= 0]] = stones.ravel()[chain >= 0]
    rivals = _rivals(game, stones.ravel(), chain, sides)
    for one in range(count):
        captors = [fates[other] for other in rivals[one]]
        dead[chain == one] = fates[one] < -DOUBT and max(captors, default=-1.0) > SAFE
    return dead.reshape(stones.shape)


def _chains(game: Game, state: np.record) -> tuple[np.ndarray, int]:
    """int16[R * C]: each stone's chain, -1 elsewhere; and how many there are."""
    chain, _, _ = game.module.chains(game.stones(state).ravel())
    return chain, int(chain.max()) + 1


def _fates(game: Game, state: np.record, owners: np.ndarray, chain: np.ndarray, count: int) -> np.ndarray:
    """float[count]: how much of each chain is its own side's in the end, 1 all of it, -1 the other's."""
    stones, there = game.stones(state).ravel(), chain >= 0
    own = np.bincount(chain[there], (owners.ravel() * stones)[there], minlength=count)
    return own / np.bincount(chain[there], minlength=count)


def _rivals(game: Game, cells: np.ndarray, chain: np.ndarray, sides: np.ndarray) -> list[set[int]]:
    """By chain: the other side's chains that it touches, or that touch the same empty points."""
    near = game.module.NEIGHBOURS
    rivals: list[set[int]] = [set() for _ in sides]
    seen = np.zeros(len(cells), np.bool_)
    around: list[set[int]] = []
    for first in np.flatnonzero(cells == 0).tolist():
        if seen[first]:
            continue
        seen[first] = True
        region, meets = [first], set()
        for point in region:  # it grows
            for beside in near[point][near[point] >= 0]:
                if chain[beside] >= 0:
                    meets.add(int(chain[beside]))
                elif not seen[beside]:
                    seen[beside] = True
                    region.append(int(beside))
        around.append(meets)
    for point in np.flatnonzero(cells).tolist():
        beside = near[point][near[point] >= 0]
        around.append({int(chain[point]), *(int(other) for other in chain[beside] if other >= 0)})
    for meets in around:
        for one in meets:
            rivals[one] |= {other for other in meets if sides[other] != sides[one]}
    return rivals
