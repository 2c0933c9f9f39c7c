"""A training run in a folder: self-play, samples, learning, rating, models. Killed at any moment, it goes on.

config.toml      the settings, resolved; the version that wrote them
checkpoint.npz   weights, average, optimizer, random states, counters: written after each generation
samples/         what was played, one file a generation, a frame for each finished game
games/           the same games as JSON lines, to look at; those by other rules than the run's are left out
models/          the models that were rated, by generation
ratings.json     the results of all rating matches, everybody's Elo by them, and who is best
newest.onnx      the newest model; best.onnx the best by rating
metrics.jsonl    one flat object a generation; tensorboard/ the same for TensorBoard; curve.png as a picture
"""

import contextlib
import dataclasses
import importlib.util
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np

import goishi
from goishi import config
from goishi.arena.record import GameRecord
from goishi.core import registry
from goishi.core.game import Game
from goishi.errors import BadRun, MissingExtra, UsageError
from goishi.networks import evaluator, runtime
from goishi.training.files import open_to_append, write
from goishi.training.ladder import Ladder, Match
from goishi.training.progress import Progress, draw_curve
from goishi.training.replay import Replay, SampleFile, read_games, window_size
from goishi.training.selfplay import PlayedGame, SelfPlay
from goishi.training.settings import Run, preset_of

CONFIG, CHECKPOINT, METRICS = "config.toml", "checkpoint.npz", "metrics.jsonl"


def train(
    game_spec: str | None,
    folder: str | Path,
    *,
    preset: str | None = None,
    minutes: float | None = None,
    sets: list[str] | None = None,
    config_file: Path | None = None,
    start_from: str | None = None,
    seed: int | None = None,
    quiet: bool = False,
) -> Path:
    """Trains in a folder, or goes on in one that is there; answers the path of the best model.

    Raises UsageError for settings that cannot be, BadRun for a folder that cannot be used, MissingExtra without torch.
    """
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("Training needs PyTorch: install goishi[train], or call ./goishi train in a checkout.")
    folder = Path(folder)
    settings = _settings(game_spec, folder, preset, minutes, sets or [], config_file, seed)
    try:
        with _only_here(folder):
            run = TrainingRun(folder, settings, start_from, quiet)
            try:
                run.loop()
            finally:
                run.close()
    except OSError as error:
        raise BadRun(
            f"{folder}: {error.strerror or error}; what was finished is kept, go on with goishi train --run {folder}."
        ) from None
    return run.best_path()


def _settings(
    game_spec: str | None,
    folder: Path,
    preset: str | None,
    minutes: float | None,
    sets: list[str],
    config_file: Path | None,
    seed: int | None,
) -> Run:
    """The settings of a folder that goes on, or of a new one."""
    old = folder / CONFIG
    if old.exists():
        if preset is not None:
            raise UsageError(f"{folder} has its settings already; leave --preset out, or start another folder.")
        settings = config.resolve(Run(), old)
        if game_spec is not None and registry.find(game_spec).spec != registry.find(settings.game).spec:
            raise UsageError(f"{folder} trains {settings.game}, not {game_spec}; start another folder.")
    elif game_spec is None:
        raise UsageError(
            f"{folder} holds no run yet; name the game, as in: goishi train gomoku:size=6,row=4 --run {folder}."
        )
    else:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty and holds no run; name a new folder.")
        settings = preset_of(preset or "auto", registry.find(game_spec))
    settings = config.resolve(settings, config_file, sets)
    if settings.game and settings.game != (game := registry.find(settings.game).spec):
        settings = dataclasses.replace(settings, game=game)
    if minutes is not None:
        settings = dataclasses.replace(settings, minutes=minutes)
    if seed is not None and not old.exists():
        settings = dataclasses.replace(settings, seed=seed)
    return settings


@contextlib.contextmanager
def _only_here(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps a second process out of it while this one works there."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / ".lock").open("a+b")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise BadRun(f"Another process trains in {folder}; stop it first, or name another folder.") from None
    try:
        yield
    finally:
        lock.close()


class Worker:
    """One thread's games, and the files that they go to when they end."""

    def __init__(self, play: SelfPlay, folder: Path, index: int):
        self.play, self._folder, self._index = play, folder, index
        self.rows = 0  # of the generation in hand
        self.games = 0
        self.evaluations = 0
        self.samples: SampleFile | None = None
        self._records: Any = None

    def open(self, generation: int) -> None:
        """The files of a generation."""
        self.close()
        name = f"{generation:06}-{self._index}"
        self.samples = SampleFile(self._folder / "samples" / f"{name}.games")
        self._records = open_to_append(self._folder / "games" / f"{name}.jsonl")
        self.rows = self.games = 0
        self.evaluations = -self.play.evaluations

    def close(self) -> None:
        """Ends the files."""
        if self.samples:
            self.samples.close()
            self._records.close()

    def work(self, rows: int, model: str, stop: Callable[[], bool]) -> list[PlayedGame]:
        """Plays until games with so many rows have ended, or it is told to stop; each is written when it ends."""
        assert self.samples
        finished = []
        while self.rows < rows and not stop():
            for game in self.play.step():
                self.samples.add(game)
                record = GameRecord(
                    game=self.play.game.spec,
                    players=(model, model),
                    actions=game.actions,
                    score=game.score,
                    termination="resignation" if game.resigned else "finished",
                    opening=game.opening,
                )
                if not game.varied:  # a record could not say what its rules were
                    self._records.write(record.to_json(self.play.game) + "\n")
                    self._records.flush()
                finished.append(game)
                self.rows += len(game.results)
                self.games += 1
        self.evaluations += self.play.evaluations
        return finished


class TrainingRun:
    """A run in progress.

    While the network learns from one generation of games, the workers play the next with the network before: nobody
    waits for a core, and what is played does not depend on who is faster.
    """

    def __init__(self, folder: Path, settings: Run, start_from: str | None = None, quiet: bool = False):
        from goishi.training.trainer import Trainer, first_module

        self.folder, self.settings = folder, settings
        self.game: Game = registry.find(settings.game)
        for name in ("samples", "games", "models"):
            (folder / name).mkdir(exist_ok=True)
        goes_on = (folder / CHECKPOINT).exists()
        module = first_module(self.game, settings, None if goes_on else start_from)
        self.trainer = Trainer(self.game, module, settings.learning, settings.seed)
        self.generation = 0  # of the games in hand, and how often the network has learned
        self.seconds = 0.0  # of all earlier starts
        self.games_played = 0
        self.rows_of: dict[str, int] = {}  # by sample file
        self.ladder = Ladder(self.game, settings.rating, folder, self._evaluator, settings.seed)
        self.resigned = [0, 0]  # calibration games: the resigning side would have been wrong, right
        write(folder / CONFIG, f"# Goishi {goishi.__version__}\n{config.dump(settings)}".encode())
        if goes_on:
            self._restore()
        self.replay = Replay(self.game, max(settings.learning.largest_window, settings.learning.window))
        self.new = self._read_samples()  # rows that the network has not learned from
        self._started = time.monotonic()
        self._metrics = open_to_append(folder / METRICS)
        self._board: Any = None
        self._stop = threading.Event()
        self._play_started = 0.0
        self._figures: dict[str, float] = {}  # of the playing of the generation in hand
        self._content = self._export()
        write(folder / "newest.onnx", self._content)
        self._keep_best()  # in case that a kill came before it
        self.workers = self._make_workers()
        self.progress = Progress(settings, self.game, quiet)

    def _make_workers(self) -> list[Worker]:
        games = self.settings.games
        count = games.workers or max(1, min(runtime.cores(), games.at_once // 16))
        shares = [games.at_once // count + (index < games.at_once % count) for index in range(count)]
        # A start of its own for each start of the run: what a killed one had in progress is not played again.
        rngs = [np.random.default_rng((self.settings.seed, 0, index, self.generation)) for index in range(count)]
        return [
            Worker(SelfPlay(self.game, self._evaluator(), self.settings.search, games, share, rng), self.folder, index)
            for index, (share, rng) in enumerate(zip(shares, rngs, strict=True))
        ]

    # The loop

    def loop(self) -> None:
        """Generations until the minutes are over. Ctrl-C ends it after saving."""
        if self.finished():
            longer = (
                f"--minutes {max(1, 2 * self.elapsed() / 60):.0f}"
                if self.out_of_time()
                else (f"--set generations={2 * self.generation}")
            )
            more = f"goishi train --run {self.folder} {longer}"
            raise UsageError(f"{self.folder} has trained as long as it was asked to; for more: {more}.")
        with self.progress, ThreadPoolExecutor(len(self.workers), "self-play") as pool:
            try:
                playing = self._send_out(pool)
                while not self.finished(ahead=1):
                    self._gather(playing)
                    playing = self._send_out(pool)
                    self._learn()
                self._gather(playing)
                self._learn()
            except BaseException as error:
                self._stop.set()
                if isinstance(error, KeyboardInterrupt):
                    self.progress.say("Stopping; every finished game is on disk.")
                raise
            self.rate(last=True)
            self.save()
            draw_curve(self.folder, self.ladder.elo)
            self.progress.say(f"Done: {self.best_path()} is the best model, {self.folder / 'newest.onnx'} the newest.")

    def elapsed(self) -> float:
        """Seconds of training over all starts."""
        return self.seconds + time.monotonic() - self._started

    def out_of_time(self) -> bool:
        """Are the minutes over?"""
        return 0 < self.settings.minutes * 60 <= self.elapsed()

    def finished(self, ahead: int = 0) -> bool:
        """Are the minutes over, or is there no generation left to begin (besides those `ahead`, in hand)?"""
        return self.out_of_time() or 0 < self.settings.generations <= self.generation + ahead

    def share_done(self) -> float:
        """Of the minutes or generations asked for, 0 when the run has no end."""
        minutes, generations = self.settings.minutes, self.settings.generations
        shares = [self.elapsed() / (minutes * 60)] if minutes else []
        shares += [self.generation / generations] if generations else []
        return min(1.0, max(shares, default=0.0))

    def _send_out(self, pool: ThreadPoolExecutor) -> list[Future]:
        """The workers play the next generation, each its share of the rows, with the newest network."""
        content = self._content
        quota = -(-self.settings.learning.rows // len(self.workers))

        def stop() -> bool:
            return self._stop.is_set() or self.out_of_time()

        self._play_started = time.monotonic()
        for worker in self.workers:
            worker.play.search.evaluator = self._evaluator(content)
            worker.open(self.generation + 1)
        return [pool.submit(worker.work, quota, f"generation {self.generation}", stop) for worker in self.workers]

    def _gather(self, playing: list[Future]) -> None:
        """Waits for the workers; their games go into the replay in the workers' order."""
        self.progress.stage("playing")
        while wait(playing, timeout=0.25).not_done:
            self.progress.update(sum(worker.rows for worker in self.workers), self.share_done())
        seconds = time.monotonic() - self._play_started
        self._figures = {
            "games_per_second": round(sum(worker.games for worker in self.workers) / seconds, 2),
            "rows_per_second": round(sum(worker.rows for worker in self.workers) / seconds, 1),
            "positions_per_second": round(sum(worker.evaluations for worker in self.workers) / seconds, 1),
        }
        for worker, games in zip(self.workers, playing, strict=True):
            assert worker.samples
            for game in games.result():
                self.replay.add(game)
                self.games_played += 1
                self.new += len(game.results)
                self.resigned[0] += game.wrong
                self.resigned[1] += game.right
            self.rows_of[worker.samples.path.name] = worker.rows
        self.generation += 1

    def _learn(self) -> None:
        """Learns from the new rows, publishes the network, rates it now and then, and saves all."""
        from goishi.training.trainer import learning_rate

        settings = self.settings.learning
        window = window_size(self.replay.made, settings.window, settings.window_exponent, settings.largest_window)
        if not self.new or window < settings.batch:
            return  # too little to learn from yet: play on
        self.progress.stage("learning")
        steps = max(1, round(self.new * settings.passes / settings.batch))
        rate = learning_rate(settings, self.share_done())
        figures = dict(self._figures)
        began = time.monotonic()
        losses = self.trainer.learn(self.replay, steps, window, rate)
        self.new = 0
        figures |= {
            "samples_per_second": round(steps * settings.batch / (time.monotonic() - began), 1),
            "window": window,
            "learning_rate": rate,
            "policy_loss": losses.policy,
            "value_loss": losses.value,
            "policy_entropy": losses.entropy,
            **({"ownership_loss": losses.ownership, "score_error": losses.score} if self.trainer.module.owners else {}),
            "gradient": losses.gradient,
        }
        self._content = self._export()
        write(self.folder / "newest.onnx", self._content)
        every = self.settings.rating.every
        if every and self.generation % every == 0:
            self.rate()
        self.save()
        self._measure(figures)

    # Models

    def best_path(self) -> Path:
        """The best model by rating; the newest when none was rated."""
        best = self.folder / "best.onnx"
        return best if best.exists() else self.folder / "newest.onnx"

    def _export(self) -> bytes:
        """The averaged network as ONNX."""
        return self.trainer.export({"games": self.games_played, "run": self.folder.name})

    def _evaluator(self, content: bytes | Path | None = None) -> evaluator.NetworkEvaluator:
        network = self.settings.network
        opened = runtime.open_runtime(
            content or self._content, self.game, network.runtime, network.precision, threads=1
        )
        return evaluator.NetworkEvaluator(self.game, opened)

    def rate(self, last: bool = False) -> None:
        """Rates the newest network, if it is not yet, and keeps the best one."""
        name = f"{self.generation:06}"
        if not self.settings.rating.every or self.ladder.rated(name):
            return
        self.progress.stage("rating")
        self.ladder.rate(name, self._content, self.elapsed, self.progress.say, last)
        self._keep_best()

    def _keep_best(self) -> None:
        """best.onnx is the ladder's best."""
        if self.ladder.best:
            write(self.folder / "best.onnx", (self.folder / "models" / f"{self.ladder.best}.onnx").read_bytes())

    # On disk

    def save(self) -> None:
        """The checkpoint."""
        facts = {
            "generation": self.generation,
            "seconds": self.elapsed(),
            "games": self.games_played,
            "rows": self.rows_of,
            "resigned": self.resigned,
        }
        write(self.folder / CHECKPOINT, self.trainer.save(facts))

    def _restore(self) -> None:
        facts = self.trainer.restore((self.folder / CHECKPOINT).read_bytes())
        self.generation, self.seconds, self.games_played = facts["generation"], facts["seconds"], facts["games"]
        self.rows_of, self.resigned = facts["rows"], facts["resigned"]
        if "results" in facts and not self.ladder.matches:  # a run of Goishi before ratings.json
            self.ladder.take(
                [Match(a, b, points, games, 0.0) for a, b, points, games in facts["results"]], facts["best"]
            )

    def _read_samples(self) -> int:
        """The newest rows back into memory; how many of them ended after the checkpoint, so are still to be learned."""
        files = sorted((self.folder / "samples").glob("*.games"))
        reach, needed = 0, []
        for path in reversed(files):
            if path.name in self.rows_of:
                if reach >= self.replay.capacity:
                    self.replay.made += self.rows_of[path.name]
                    continue
                reach += self.rows_of[path.name]
            needed.append(path)
        new = 0
        for path in reversed(needed):
            before = self.replay.made
            for game in read_games(path, self.game):
                self.replay.add(game)
                self.games_played += path.name not in self.rows_of
            if path.name not in self.rows_of:
                new += self.replay.made - before
                self.rows_of[path.name] = self.replay.made - before
                self.generation = max(self.generation, int(path.name[:6]))
        return new

    def _measure(self, figures: dict[str, Any]) -> None:
        """A line of metrics.jsonl, the same for TensorBoard and on the screen."""
        name = f"{self.generation:06}"
        row: dict[str, Any] = {
            "step": self.trainer.steps,
            "generation": self.generation,
            "seconds": round(self.elapsed(), 1),
            "games": self.games_played,
            "positions": self.replay.made,
            **{key: round(value, 5) if isinstance(value, float) else value for key, value in figures.items()},
        }
        if name in self.ladder.elo:
            row["elo"], row["elo_error"] = (round(value, 1) for value in self.ladder.elo[name])
        if sum(self.resigned):
            row["wrong_resignations"] = round(self.resigned[0] / sum(self.resigned), 4)
        self._metrics.write(json.dumps(row) + "\n")
        self._metrics.flush()
        if self._board is None:
            from goishi.training.trainer import tensorboard

            self._board = tensorboard(self.folder / "tensorboard")
        for key, value in row.items():
            if key != "step" and self._board:
                self._board.add_scalar(key, value, row["step"])
        self.progress.report(row)

    def close(self) -> None:
        """Ends the files."""
        for file in (*self.workers, self._metrics, self._board):
            if file:
                file.close()
