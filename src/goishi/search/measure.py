"""How fast the search is against its network alone, measured in one run; and a checksum of what it chooses.

Shapes: B positions, A actions.
"""

import hashlib
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from goishi.core import registry
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadModel, MissingExtra
from goishi.networks import measure as network_measure
from goishi.networks import runtime as runtimes
from goishi.networks import store
from goishi.networks.evaluator import NetworkEvaluator
from goishi.search.clock import Limit
from goishi.search.search import THESIS, Search, SearchSettings

ROWS = ((128, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16))
"""Trees in step, and leaves of each in a batch."""
THESIS_POSITIONS = 65_536
"""What the thesis timed one tree by."""
TREE_VISITS = 400
"""How large the trees in step grow before they begin anew."""


def search(
    game_spec: str = "gomoku:size=9,row=5",
    network: str = "thesis",
    runtime: str = "auto",
    precision: str = "auto",
    seconds: float = 60.0,
    full: bool = False,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Positions a second in the search and in the network alone, as `goishi bench search` prints it.

    `network`: a preset with fresh weights, a shipped model or a path. Search and network take turns at the same batch
    in the same runtime. A row has what fits into its part of `seconds`, and `seconds_65536` from its rate; `full`
    evaluates those 65,536 positions whatever it takes. Raises UnknownGame, BadModel, or MissingExtra.
    """
    game = registry.find(game_spec)
    content, note = network_of(network, game)
    opened = runtimes.open_runtime(content, game, runtime, precision)
    alone = [NetworkEvaluator(game, opened)]
    beside = [
        NetworkEvaluator(game, runtimes.open_runtime(content, game, opened.name, opened.precision, threads=1))
        for _ in range(runtimes.cores())
    ]
    rows = []
    for number, (trees, leaves) in enumerate(ROWS):
        evaluators = beside if trees >= len(beside) else alone
        rows.append(measure_row(game, evaluators, trees, leaves, seconds / len(ROWS), full))
        if progress:
            progress((number + 1) / len(ROWS))
    return {
        "game": game.spec,
        "network": network,
        "runtime": opened.name,
        "precision": opened.precision,
        "signature": signature(),
        "rows": rows,
        **({"note": note} if note else {}),
    }


def network_of(name: str, game: Game) -> tuple[bytes, str]:
    """The network's file; where torch is missing to make a fresh one, a shipped model's and a sentence that says so."""
    try:
        return network_measure.model_bytes(name, game), ""
    except MissingExtra:
        for model in store.shipped():
            try:
                store.check(model, game)
            except BadModel:
                continue
            assert model.path is not None
            return model.path.read_bytes(), (
                f"A fresh {name} network needs torch, which is not installed: measured with the shipped {model.name}."
            )
        raise


class Grower:
    """One thread's trees, which grow by a few batches at a time, and their network alone."""

    def __init__(self, game: Game, evaluator: NetworkEvaluator, trees: int, leaves: int):
        self.batch = trees * leaves
        self._game, self._trees = game, trees
        self._search = Search(game, evaluator, SearchSettings(leaves=leaves, early_stop=False), trees)
        self._raw = network_measure.run_of(evaluator.runtime, self.batch, game)
        self._most, self._step = (THESIS_POSITIONS, 1024) if trees == 1 else (TREE_VISITS, 40)
        self._opening = self._visits = 0
        self.grow()  # compiles, and wakes the runtime
        self._visits = self._most

    def grow(self) -> int:
        """Visits a few more in each tree; how many positions were evaluated."""
        if self._visits >= self._most:
            self._search.reset()
            self._opening, self._visits = self._opening + 1, 0
        self._visits += self._step
        numbers = range(self._opening * self._trees, (self._opening + 1) * self._trees)
        states = np.concatenate([opening_of(self._game, number) for number in numbers])
        return sum(result.evaluations for result in self._search.run(states, Limit(visits=self._visits)))

    def run(self, calls: int) -> None:
        """The network alone, so many times."""
        for _ in range(calls):
            self._raw()


def measure_row(
    game: Game, evaluators: list[NetworkEvaluator], trees: int, leaves: int, seconds: float, full: bool
) -> dict[str, Any]:
    """One row: the search grows by a few batches, then the network alone runs as many, until the time is over.

    The trees are shared among the evaluators, each in a thread of its own, as self-play shares its games.
    """
    growers = [Grower(game, evaluator, trees // len(evaluators), leaves) for evaluator in evaluators]
    batch = growers[0].batch
    positions = raw_positions = 0
    search_seconds = raw_seconds = 0.0
    with ThreadPoolExecutor(len(growers)) as pool:
        while search_seconds + raw_seconds < seconds or (full and positions < THESIS_POSITIONS):
            begin = time.perf_counter()
            grown = sum(pool.map(Grower.grow, growers))
            middle = time.perf_counter()
            calls = ceil(grown / (len(growers) * batch))
            list(pool.map(lambda grower, calls=calls: grower.run(calls), growers))
            positions, raw_positions = positions + grown, raw_positions + calls * len(growers) * batch
            search_seconds, raw_seconds = search_seconds + middle - begin, raw_seconds + time.perf_counter() - middle
    rate, raw_rate = positions / search_seconds, raw_positions / raw_seconds
    row = {
        "trees": trees,
        "leaves": leaves,
        "threads": len(growers),
        "positions": positions,
        "seconds": round(search_seconds, 3),
        "raw_positions_per_second": round(raw_rate, 1),
        "search_positions_per_second": round(rate, 1),
        "ratio": round(rate / raw_rate, 3),
    }
    return row | ({"seconds_65536": round(THESIS_POSITIONS / rate, 2)} if trees == 1 else {})


def opening_of(game: Game, number: int) -> np.ndarray:
    """State[1]: the start, or a position a few plies from it."""
    position = Position.start(game)
    for ply in range(number % 8):
        actions = position.actions
        following = position.play(actions[(31 * number + 17 * ply * ply) % len(actions)])
        if following.over:
            break
        position = following
    return position.states


class Hashed:
    """An evaluator without a network: logits and values from a hash of the record, alike on every machine."""

    def __init__(self, game: Game, spread: float = 2.0):
        """spread: logits lie between 0 and this."""
        self._actions, self._spread = game.actions, np.float32(spread)

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        data, length = states.tobytes(), states.dtype.itemsize
        seeds = np.array([zlib.crc32(data[i : i + length]) for i in range(0, len(data), length)], np.uint64)
        drawn: np.ndarray = seeds[:, None] + np.arange(self._actions + 1, dtype=np.uint64)
        drawn = drawn * np.uint64(0x9E3779B97F4A7C15)
        drawn = (drawn ^ (drawn >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        unit = (drawn >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
        return self._spread * unit[:, 1:], 2 * unit[:, 0] - 1


SIGNED = (
    SearchSettings(early_stop=False),
    SearchSettings(mode="gumbel"),
    replace(THESIS, early_stop=False),
)
"""PUCT with descents in flight counted, Gumbel search, and the thesis's penalty of priors."""


def signature() -> str:
    """A checksum of all visits of ten fixed positions in three modes: it changes when the search chooses otherwise."""
    checksum = hashlib.sha256()
    for spec in ("connect4", "gomoku:size=9,row=5"):
        game = registry.find(spec)
        states = np.concatenate([opening_of(game, number) for number in range(5)])
        for settings in SIGNED:
            for result in Search(game, Hashed(game), settings, trees=len(states)).run(states, Limit(visits=300)):
                checksum.update(result.visits.astype("<i4").tobytes())
    return checksum.hexdigest()[:12]
