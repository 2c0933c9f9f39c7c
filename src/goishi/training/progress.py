"""What a person sees of a training run: a live line, a line a generation, a picture at the end."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from goishi.core.game import Game
from goishi.training.settings import Run


class Progress:
    """Progress on stderr: live on a terminal, lines elsewhere, nothing when quiet. A context manager."""

    def __init__(self, settings: Run, game: Game, quiet: bool):
        self._console = Console(file=sys.stderr, quiet=quiet)
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
            refresh_per_second=4,
        )
        self._whole = self._bar.add_task(
            f"[bold]{game.spec}", total=1.0 if settings.minutes or settings.generations else None
        )
        self._part = self._bar.add_task("playing", total=settings.learning.rows)
        self._lines = 0

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, rows: int, share: float) -> None:
        """New rows of this generation, and the share of the time that is over."""
        if not self._bar.disable:
            self._bar.update(self._part, completed=rows, description=f"playing: {rows} new positions")
            self._bar.update(self._whole, completed=share)

    def stage(self, name: str) -> None:
        """What is going on now."""
        self._bar.update(self._part, description=name)

    def say(self, text: str) -> None:
        """One sentence."""
        self._console.print(text, highlight=False)

    def report(self, row: dict[str, Any]) -> None:
        """A generation's figures."""
        if self._lines % 20 == 0:
            self.say("[dim]  time  gen.    games positions  games/s  evals/s  policy  value   Elo (random = 0)[/dim]")
        self._lines += 1
        minutes, seconds = divmod(int(row["seconds"]), 60)
        elo = f"{row['elo']:6.0f} ± {1.96 * row['elo_error']:.0f}" if "elo" in row else ""
        self.say(
            f"{minutes:3}:{seconds:02} {row['generation']:5} {row['games']:8} {row['positions']:9} "
            f"{row['games_per_second']:8.1f} {row['positions_per_second']:8.0f} "
            f"{row['policy_loss']:7.3f} {row['value_loss']:6.3f} {elo}"
        )


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl that are whole."""
    rows = []
    for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def draw_curve(folder: Path, elo: dict[str, tuple[float, float]]) -> Path | None:
    """curve.png: losses and Elo over time. None where matplotlib is missing or there is nothing to draw.

    elo   by generation (six digits), with its standard error, as all results of the run rate it
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    rows = read_metrics(folder)
    if not rows:
        return None
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    minutes = [row["seconds"] / 60 for row in rows]
    left.plot(
        minutes, [row["policy_loss"] for row in rows], label="policy (above the target's entropy)", color="#3b6ea5"
    )
    left.plot(minutes, [row["value_loss"] for row in rows], label="value", color="#c2703d")
    left.set(xlabel="minutes", ylabel="loss", title="What it learns")
    left.legend(frameon=False)
    rated = [(row["seconds"] / 60, *elo[name]) for row in rows if (name := f"{row['generation']:06}") in elo]
    right.errorbar(
        [minute for minute, _, _ in rated],
        [rating for _, rating, _ in rated],
        [1.96 * error for _, _, error in rated],
        fmt="o-",
        color="#3f8f5f",
        capsize=3,
        markersize=4,
    )
    right.set(xlabel="minutes", ylabel="Elo, random = 0", title="How strong it plays")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    path = folder / "curve.png"
    new = folder / "curve.new.png"
    figure.savefig(new, dpi=130)
    new.replace(path)
    return path
