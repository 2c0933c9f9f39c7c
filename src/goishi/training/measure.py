"""How fast self-play and learning are on this machine, for `goishi bench`."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from goishi.core import registry
from goishi.networks import evaluator, network, runtime
from goishi.training.replay import Replay
from goishi.training.selfplay import PlayedGame, SelfPlay
from goishi.training.settings import preset_of
from goishi.training.trainer import Trainer, first_module

WARM_UP = 1.0
"""Seconds that are not counted: compiling, first games."""


def selfplay(game_spec: str = "gomoku:size=9,row=5", seconds: float = 10.0, seed: int = 0) -> dict[str, Any]:
    """Self-play with fresh weights, a worker on each core; beside it the network alone at the same batch, in one run.

    Answers `game`, `network`, `workers`, `games_at_once`, `search_positions_per_second` (judged by the network),
    `moves_per_second`, `raw_positions_per_second` and their `ratio`.
    """
    game = registry.find(game_spec)
    settings = preset_of("auto", game)
    content = network.to_onnx(first_module(game, settings), game, {})
    workers = max(1, min(runtime.cores(), settings.games.at_once // 16))
    share = settings.games.at_once // workers
    judges = [
        evaluator.NetworkEvaluator(game, runtime.open_runtime(content, game, threads=1 if workers > 1 else 0))
        for _ in range(workers)
    ]
    plays = [
        SelfPlay(game, judge, settings.search, settings.games, share, np.random.default_rng((seed, index)))
        for index, judge in enumerate(judges)
    ]
    states = game.start(share)

    def play(index: int, lasts: float) -> tuple[int, int]:
        end = time.perf_counter() + lasts
        before, moves = plays[index].evaluations, 0
        while time.perf_counter() < end:
            moves += sum(len(one.actions) for one in plays[index].step())
        return plays[index].evaluations - before, moves

    def judge(index: int, lasts: float) -> tuple[int, int]:
        end = time.perf_counter() + lasts
        count = 0
        while time.perf_counter() < end:
            judges[index](states)
            count += share
        return count, 0

    sums = {play: [0, 0], judge: [0, 0]}
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(play, range(workers), [WARM_UP] * workers))
        for _ in range(4):  # in turns, so that what slows the machine slows both
            for part, total in sums.items():
                for count, moves in pool.map(part, range(workers), [seconds / 8] * workers):
                    total[0] += count
                    total[1] += moves
    searched, raw = sums[play][0], sums[judge][0]
    return {
        "game": game.spec,
        "network": settings.network.preset,
        "workers": workers,
        "games_at_once": workers * share,
        "visits": settings.search.visits,
        "search_positions_per_second": round(searched / seconds * 2, 1),
        "moves_per_second": round(sums[play][1] / seconds * 2, 1),
        "raw_positions_per_second": round(raw / seconds * 2, 1),
        "ratio": round(searched / max(1, raw), 3),
    }


def train(game_spec: str = "gomoku:size=9,row=5", seconds: float = 10.0, seed: int = 0) -> dict[str, Any]:
    """Learning steps on random samples, with all cores. Answers `game`, `network`, `batch`, `samples_per_second`."""
    game = registry.find(game_spec)
    settings = preset_of("auto", game)
    rng = np.random.default_rng(seed)
    trainer = Trainer(game, first_module(game, settings), settings.learning, seed)
    replay = Replay(game, settings.learning.window)
    rows = settings.learning.batch
    policies = rng.dirichlet(np.ones(game.actions), rows).astype(np.float16)
    results = rng.integers(-1, 2, rows).astype(np.float32)
    replay.add(PlayedGame((), 0.0, 0, False, False, False, game.start(rows), policies, results, results))
    trainer.learn(replay, 2, rows, settings.learning.rate)
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        trainer.learn(replay, 1, rows, settings.learning.rate)
        steps += 1
    return {
        "game": game.spec,
        "network": settings.network.preset,
        "batch": rows,
        "samples_per_second": round(steps * rows / (time.perf_counter() - began), 1),
    }
