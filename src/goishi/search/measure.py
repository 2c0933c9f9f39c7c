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
from goishi.networks.evaluator import NetworkEvaluator, uniform
from goishi.search.clock import Limit
from goishi.search.search import THESIS, Search, SearchSettings

ROWS = ((128, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16))
"""Trees in step, and leaves of each in a batch."""
THESIS_POSITIONS = 65_536
"""What the thesis timed one tree by."""
TREE_VISITS = 400
"""How large the trees in step grow before they begin anew."""
TURN = 8
"""Batches that search and network take in turn."""


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
    """One thread's trees, and their network alone."""

    def __init__(self, game: Game, evaluator: NetworkEvaluator, trees: int, leaves: int):
        self.batch = trees * leaves
        self._game, self._trees = game, trees
        self._search = Search(game, uniform(game), SearchSettings(leaves=leaves, early_stop=False), trees)
        self._most = THESIS_POSITIONS if trees == 1 else TREE_VISITS
        self._raw = network_measure.run_of(evaluator.runtime, self.batch, game)
        self._opening = self._visits = 0
        grown = 0
        while grown < 2 * trees * self._most:  # compiles, and touches the memory, which costs more than a leaf once
            grown += self._grow()
        self._search.reset()
        self._search.evaluator, self._visits = evaluator, 0
        self._grow()  # wakes the runtime
        self._raw()

    def measure(self, seconds: float, positions: int) -> np.ndarray:
        """float64[4]: positions that the search evaluated and its seconds, then the same of the network alone.

        They take turns of a few batches, so that whatever else the machine does hits both alike. `positions`: at least.
        """
        tally = np.zeros(4)
        while tally[1] + tally[3] < seconds or tally[0] < positions:
            begin = time.perf_counter()
            grown = self._grow()
            middle = time.perf_counter()
            calls = ceil(grown / self.batch)
            for _ in range(calls):
                self._raw()
            tally += grown, middle - begin, calls * self.batch, time.perf_counter() - middle
        return tally

    def _grow(self) -> int:
        """So many more batches in the search; how many positions were evaluated.

        One tree is grown as a player grows it, many as self-play does. Where they are grown they begin anew.
        """
        search, trees = self._search, self._trees
        if trees == 1:
            if self._visits >= self._most:
                search.reset()
                self._opening, self._visits = self._opening + 1, 0
            self._visits += 2 * TURN * self.batch
            return search.run(opening_of(self._game, self._opening), Limit(visits=self._visits))[0].evaluations
        grown = 0
        for _ in range(TURN):
            if not search.busy().any():
                for tree in range(trees):
                    if search.desk.roots[tree] >= 0:
                        search.result(tree)
                    search.reset(tree)
                    search.begin(tree, opening_of(self._game, self._opening), self._most)
                    self._opening += 1
            grown += search.wave()
        return grown


def measure_row(
    game: Game, evaluators: list[NetworkEvaluator], trees: int, leaves: int, seconds: float, full: bool
) -> dict[str, Any]:
    """One row; the trees are shared among the evaluators, each in its thread, as self-play shares its games."""
    threads = len(evaluators)
    growers = [Grower(game, evaluator, trees // threads, leaves) for evaluator in evaluators]
    with ThreadPoolExecutor(threads) as pool:
        least = THESIS_POSITIONS // threads if full else 0
        tallies = list(pool.map(lambda grower: grower.measure(seconds, least), growers))
    positions, busy, raw_positions, raw_busy = np.sum(tallies, axis=0).tolist()
    rate, raw_rate = threads * positions / busy, threads * raw_positions / raw_busy
    row = {
        "trees": trees,
        "leaves": leaves,
        "threads": threads,
        "positions": int(positions),
        "seconds": round(busy / threads, 3),
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
