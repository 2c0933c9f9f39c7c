"""Traditional Monte Carlo tree search: positions judged by one random playout each.

Shapes: B positions, A actions, P points, N random games.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from goishi.core.game import Game
from goishi.networks.evaluator import Evaluator, Outlook
from goishi.search.search import SearchSettings

ROLLOUT_SETTINGS = SearchSettings(mode="uct", exploration=1.0, leaves=64)
"""UCT with batches large enough for two threads; a small number of visits has smaller ones."""

LEAST = 8
"""Playouts below which a second thread costs more than it brings."""


PLAYOUTS, LEAST_PLAYOUTS = 512, 4
"""Random games of an outlook, shared by its positions: about a quarter of a second on 19x19; and the least of each."""


class Rollouts:
    """Logits of zero, and as the value the result of one playout by random legal moves.

    The i-th playout since the beginning has the seed i, mixed with `seed`: the answers do not depend on the threads.
    """

    def __init__(self, game: Game, seed: int, threads: int):
        self._rollout = game.kernels().rollout
        self._actions = game.actions
        self._game, self._seed = game, seed
        self._first = mixed(np.array([seed], np.uint64) ^ np.uint64(0xD1B54A32D192ED03))[0]
        self._count = 0
        self._pool = ThreadPoolExecutor(threads - 1, "rollout") if threads > 1 else None
        self._threads = threads

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(states)
        seeds = mixed(self._first + np.arange(self._count, self._count + count, dtype=np.uint64))
        self._count += count
        values = np.zeros(count, np.float32)
        parts = max(1, min(self._threads, count // LEAST))
        edges = [count * i // parts for i in range(parts + 1)]
        others = [
            self._pool.submit(self._rollout, states[begin:end], seeds[begin:end], values[begin:end])
            for begin, end in pairwise(edges[1:])
            if self._pool is not None
        ]
        self._rollout(states[: edges[1]], seeds[: edges[1]], values[: edges[1]])
        for other in others:
            other.result()
        return np.zeros((count, self._actions), np.float32), values

    def outlook(self, states: np.ndarray) -> Outlook | None:
        """Ownership and score of State[B] by random games from each; None where the game does not know owners.

        The same positions have the same outlook, whatever was asked before.
        """
        return random_outlook(self._game, states, self._seed)


def random_outlook(game: Game, states: np.ndarray, seed: int = 0) -> Outlook | None:
    """How random games from State[B] end on average, some from each; None where the game does not know owners."""
    if game.kernels().owners is None:
        return None
    each = max(LEAST_PLAYOUTS, PLAYOUTS // max(1, len(states)))
    owners, leads = play_out(game, np.repeat(states, each), seed)
    signs = states["player"].astype(np.float32)
    ownership = owners.reshape(len(states), each, owners.shape[1]).mean(axis=1, dtype=np.float32)
    return Outlook(ownership * signs[:, None], leads.reshape(len(states), each).mean(axis=1) * signs)


def play_out(game: Game, states: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of random games, one from each of State[N], which is changed, in a game that knows owners.

    int8[N, P] whose each point is, +1 the first player's, and float32[N] by how many points that player is ahead.
    """
    kernels, count = game.kernels(), len(states)
    assert kernels.owners is not None
    assert kernels.leads is not None
    seeds = np.random.default_rng(seed).integers(1, 2**63, count).astype(np.uint64)
    kernels.finish(states, seeds, np.zeros(count, np.int32))
    owners, leads = np.zeros((count, game.planes[1] * game.planes[2]), np.int8), np.zeros(count, np.float32)
    kernels.owners(states, owners)
    kernels.leads(states, leads)
    return owners, leads


def rollouts(game: Game, seed: int = 0, threads: int = 2) -> Evaluator:
    """An evaluator by random playouts on several threads; a seed gives the same answers whatever the threads."""
    return Rollouts(game, seed, max(1, threads))


def mixed(counts: np.ndarray) -> np.ndarray:
    """uint64[B]: counts made random bits (SplitMix64, Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        z = counts * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
