"""Counts and times the rules of games: perft, random playouts, moves.

Perft counts the sequences of d moves from a position; a finished game has no next move, a pass is a move.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from goishi.core import registry
from goishi.core.game import Game, Kernels

CHUNK = 1 << 14  # positions in memory at once, a ply


def expand(kernels: Kernels, states: np.ndarray, actions: int) -> np.ndarray:
    """State[K], the positions one legal move after State[B]: parents in order, then actions; none when over."""
    count = len(states)
    players, over, values = np.zeros(count, np.int8), np.zeros(count, np.bool_), np.zeros(count, np.float32)
    masks = np.zeros((count, actions), np.bool_)
    kernels.look(states, np.arange(count, dtype=np.int32), players, over, values, masks)
    parents, played = (indices.astype(np.int32) for indices in np.nonzero(masks))
    pool = np.zeros(count + len(parents), states.dtype)
    pool[:count] = states
    kernels.play(pool, parents, played, np.arange(count, len(pool), dtype=np.int32))
    return pool[count:]


def perft(game: Game, depth: int, compiled: bool = True, states: np.ndarray | None = None) -> list[int]:
    """The number of move sequences of 1 .. depth moves, from the first position or from State[B]."""
    kernels = game.kernels(compiled)
    counts = [0] * depth

    def count(states: np.ndarray, ply: int) -> None:
        for first in range(0, len(states), CHUNK):
            children = expand(kernels, states[first : first + CHUNK], game.actions)
            counts[ply] += len(children)
            if ply + 1 < depth and len(children):
                count(children, ply + 1)

    if depth > 0:
        count(game.start() if states is None else states, 0)
    return counts


def distinct(game: Game, depth: int) -> list[int]:
    """The number of different positions after 0 .. depth moves; a record's bytes tell positions apart."""
    kernels, states, counts = game.kernels(), game.start(), [1]
    for _ in range(depth):
        states = np.unique(expand(kernels, states, game.actions).view(f"V{game.State.itemsize}")).view(game.State)
        counts.append(len(states))
    return counts


def games(specs: Iterable[str] | None = None, seconds: float = 1.0, threads: int = 2) -> dict[str, Any]:
    """How fast the rules of each game are: one row a game, ready for JSON.

    `seconds` is the time spent on each of a row's figures; `threads` play random games side by side. Without `specs`,
    the games that are installed, and Gomoku and Go on 9x9.
    """
    specs = list(specs or [*registry.names(), "gomoku:size=9,row=5", "go:size=9"])
    return {"threads": threads, "rows": [_row(registry.find(spec), seconds, threads) for spec in specs]}


def _row(game: Game, seconds: float, threads: int) -> dict[str, Any]:
    kernels = game.kernels()
    start, batch = game.start(), 256
    rollout(kernels, start, 1)  # compiles, or reads from disk
    moves = _moves_per_game(game)

    def play_batches(seed: int) -> int:
        played, ends = 0, time.perf_counter() + seconds
        states = game.start(batch)
        while time.perf_counter() < ends:
            rollout(kernels, states, seed + threads * played)
            played += batch
        return played

    with ThreadPoolExecutor(threads) as pool:
        began = time.perf_counter()
        played = sum(pool.map(play_batches, range(1, threads + 1)))
        rollouts = played / (time.perf_counter() - began)

    states = game.start(batch)
    grown = states
    while len(grown) < batch:
        following = expand(kernels, grown, game.actions)
        if len(following) == 0:
            break
        grown = following
    states = grown[:batch]
    nodes, rate = _rate(lambda: len(expand(kernels, states, game.actions)), seconds)
    planes = np.zeros((len(states), *game.planes), np.float32)

    def encode() -> int:
        kernels.encode(states, planes)
        return len(states)

    return {
        "game": game.spec,
        "rollouts_per_second": round(rollouts),
        "moves_per_rollout": round(moves, 1),
        "random_moves_per_second": round(rollouts * moves),
        "nanoseconds_per_random_move": round(1e9 * threads / (rollouts * moves), 1),
        "perft_positions_per_second": round(rate),
        "nanoseconds_per_perft_position": round(1e9 / rate, 1) if nodes else None,
        "nanoseconds_per_encoded_position": round(1e9 / _rate(encode, seconds / 4)[1], 1),
    }


def rollout(kernels: Kernels, states: np.ndarray, seed: int) -> np.ndarray:
    """float32[B]: State[B] played out at random, as the player to move sees the result. One seed, the same games."""
    seeds = np.random.default_rng(seed).integers(1, 2**63, len(states)).astype(np.uint64)
    values = np.zeros(len(states), np.float32)
    kernels.rollout(states, seeds, values)
    return values


def _rate(work: Callable[[], int], seconds: float) -> tuple[int, float]:
    """How many things `work` did, and how many a second."""
    work()
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        done += work()
    return done, max(done, 1) / (time.perf_counter() - began)


def _moves_per_game(game: Game, count: int = 256) -> float:
    """The mean length of random games."""
    moves = np.zeros(count, np.int32)
    game.kernels().finish(game.start(count), np.arange(1, count + 1, dtype=np.uint64), moves)
    return float(moves.mean())
