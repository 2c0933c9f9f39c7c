"""What a person sees in the terminal: a game to play, figures as a table, progress as a bar."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from goishi.arena.sgf_game import Replay, SgfGame
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadModel, IllegalMove
from goishi.networks import store
from goishi.players import Player

PIECES = {1: "●", -1: "○", 0: "·"}
STYLES = {1: "bold cyan", -1: "bold yellow", 0: "bright_black"}
HELP = "Type a move such as {example}, or: hint, undo, moves, resign, help, quit."


def adversary(game: Game) -> str:
    """The player for those who name none: the best shipped model that plays this game, else search by random games."""
    fitting = []
    for model in store.shipped():
        try:
            store.check(model, game)
        except BadModel:
            continue
        fitting.append(model)
    if not fitting:
        return "rollout:visits=5000"
    best = min(fitting, key=lambda model: (model.game != game.spec, model.planes != game.planes, model.name))
    return f"net:{best.name}"


def draw(position: Position, last: tuple[int, int] | None = None) -> Text:
    """The board with its coordinates; the piece played last, or that at row and column `last`, stands in brackets."""
    stones = position.stones
    board = position.game.board
    rows, columns = stones.shape
    style = board.style if board else "plain"
    last = last or _last_point(position)
    width = max(len(str(rows)), 1)

    if board is None:
        names = [str(column) for column in range(columns)]
    elif style == "drop":
        names = [board.name(column) for column in range(columns)]
    else:
        names = [board.name(column).rstrip("0123456789") for column in range(columns)]
    header = " " * (width + 1) + "".join(f"{name:^3}" for name in names)

    text = Text()
    if style != "drop":
        text.append(header.rstrip() + "\n", "dim")
    for row in range(rows):
        label = {"points": str(rows - row), "drop": ""}.get(style, str(row + 1 if board else row))
        text.append(" " * (row * 2 if style == "hex" else 0) + f"{label:>{width}} ", "dim")
        for column in range(columns):
            piece = int(np.sign(stones[row, column]))
            left, right = ("(", ")") if (row, column) == last else (" ", " ")
            text.append(left, "bold").append(PIECES[piece], STYLES[piece]).append(right, "bold")
        text.append("\n")
    if style == "drop":
        text.append(header.rstrip() + "\n", "dim")
    return text


def play(
    position: Position,
    opponent: Player,
    person: int,
    console: Console,
    read: Callable[[str], str] | None = None,
    hints: bool = False,
) -> Position:
    """Plays on until the game is over or the person ends it; answers the last position.

    person  which side the person has: +1 the first player, -1 the second
    read    asks for a line, as `input` does
    hints   shows the opponent's view of each move before the person chooses
    """
    example = position.name(position.actions[len(position.actions) // 2])
    console.print(f"You are {PIECES[person]}, {opponent.name} is {PIECES[-person]}. {HELP.format(example=example)}\n")
    positions = [position]
    while not positions[-1].over:
        position = positions[-1]
        if position.player != person:
            decision = opponent.choose(position)
            if decision.resigns:
                console.print(f"{opponent.name} resigns: you win.")
                return position
            console.print(f"{opponent.name} plays {position.name(decision.action)}.")
            positions.append(position.play(decision.action))
            continue
        console.print(draw(position))
        if hints:
            _hint(position, opponent, console)
        try:
            word = (read or input)(f"{PIECES[person]} to move: ").strip()
        except EOFError:
            word = "quit"
        match word.lower():
            case "":
                continue
            case "quit" | "exit" | "q":
                console.print("The game ends here.")
                return position
            case "resign":
                console.print(f"You resign: {opponent.name} wins.")
                return position
            case "help" | "?":
                console.print(HELP.format(example=example))
            case "moves":
                console.print(" ".join(position.name(action) for action in position.actions))
            case "hint":
                _hint(position, opponent, console)
            case "undo":
                before = [index for index, old in enumerate(positions[:-1]) if old.player == person]
                if before:
                    positions = positions[: before[-1] + 1]
                else:
                    console.print("There is no move of yours to take back.")
            case _:
                try:
                    positions.append(position.play(position.action(word)))
                except IllegalMove as error:
                    console.print(str(error))
    console.print(draw(positions[-1]))
    score = positions[-1].score * person
    console.print("You win." if score > 0 else f"{opponent.name} wins." if score < 0 else "A draw.")
    return positions[-1]


def _hint(position: Position, adviser: Player, console: Console) -> None:
    """What the player would do here: its five favorite moves with their share of the search."""
    decision = adviser.choose(position)
    if decision.result is None:
        console.print(f"{adviser.name} would play {position.name(decision.action)}.")
        return
    visits, values = decision.result.visits, decision.result.values
    favorites = [int(action) for action in np.argsort(-visits, kind="stable")[:5] if visits[action] > 0]
    parts = [
        f"{position.name(action)} {100 * visits[action] / visits.sum():.0f}% (wins {50 + 50 * values[action]:.0f}%)"
        for action in favorites
    ]
    console.print(f"{adviser.name} looks at {', '.join(parts)}.")


def _last_point(position: Position) -> tuple[int, int] | None:
    """Where the last piece was put: the one point that was empty before."""
    if not position.history:
        return None
    before = Position.after(position.game, position.history[:-1]).stones
    new = np.argwhere((before == 0) & (position.stones != 0))
    return (int(new[0][0]), int(new[0][1])) if len(new) == 1 else None


def show_record(record: SgfGame, replay: Replay | None) -> None:
    """A game record on stdout: what it tells, what was odd, and the last position where the rules are known."""
    names = [" ".join(filter(None, pair)) for pair in zip(record.players, record.ranks, strict=True)]
    komi = "not told" if record.komi is None else f"{record.komi:g}"
    stones = {"setup": "", "free": " (Black's first moves)", "fixed": " (set on the usual points)", "": ""}
    facts = {
        "game": f"{'Go' if record.kind == 1 else 'Gomoku'} {record.columns}x{record.rows}",
        "black": names[0],
        "white": names[1],
        "handicap": f"{record.handicap} stones{stones[record.handicap_from]}" if record.handicap else "",
        "komi": komi + (f" (a guess; it says {record.komi_read:g})" if record.komi_read is not None else ""),
        "rules": record.rules or record.rules_read,
        "result": record.result or record.result_read,
        "date": record.date,
        "event": record.event,
        "place": record.place,
        "moves": str(len(record.moves)),
        "odd": "\n".join(map(str, record.remarks)),
        "under rules": replay.problem or "all moves are legal" if replay else "",
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, fact in facts.items():
        if fact and not (name == "komi" and record.kind != 1):
            table.add_row(name, Text(fact))
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200)
    console.print(record.source, style="bold")
    console.print(table)
    if replay:
        action = record.moves[replay.played - 1].action if replay.played else record.passing
        nowhere = (-1, -1)  # the record may have begun with stones: the moves alone do not lead to its position
        console.print(draw(replay.position, nowhere if action == record.passing else divmod(action, record.columns)))


MATCH_NOTE = "A draw is half a point. Score and Elo are of the player named first, with the limits of 95% confidence."
RATING_NOTE = "Elo with the limits of 95% confidence; the score is the share of all points."


def match_row(figures: Mapping[str, Any]) -> dict[str, Any]:
    """A match's figures for a person."""
    row = {key: figures[key] for key in ("games", "wins", "draws", "losses")}
    row["score"] = _between([f"{figures[key]:.3f}" for key in ("score", "score_low", "score_high")])
    return row | {"elo": _elo(figures)} | {key: figures[key] for key in ("distinct_games", "errors")}


def compared(figures: Mapping[str, Any]) -> str:
    """A sentence about the scores that engines told, where there were any."""
    if "scores_compared" not in figures:
        return ""
    counts = [figures["scores_compared"], len(figures["disagreements"]), figures["scores_unexplained"]]
    return " Scores that engines told: {}, of which {} are not ours, {} of them unexplained.".format(*counts)


def rating_row(figures: Mapping[str, Any]) -> dict[str, Any]:
    """A player's figures in a rating table for a person."""
    anchor = figures["elo_low"] == figures["elo_high"] == 0
    elo = "0" if anchor else _elo(figures)
    return {"player": figures["player"], "elo": elo, "score": figures["score"], "games": figures["games"]}


def _elo(figures: Mapping[str, Any]) -> str:
    """`+65 (-20 to +150)`. Without a value it is infinite, which says nothing, or not told; the limits likewise."""
    values = [figures[key] for key in ("elo", "elo_low", "elo_high")]
    if values == [None] * 3:
        return "-"
    if values[0] is None:
        return f"over {values[1]:+.0f}" if values[1] is not None else f"under {values[2]:+.0f}"
    return _between(["open" if value is None else f"{value:+.0f}" if round(value) else "0" for value in values])


def _between(parts: Sequence[str]) -> str:
    return f"{parts[0]} ({parts[1]} to {parts[2]})"


def show(rows: Sequence[Mapping[str, Any]], title: str = "", note: str = "") -> None:
    """Figures on stdout, a column for each key; numbers stand at the right."""
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.caption, table.caption_justify = note or None, "left"
    keys = list(dict.fromkeys(key for row in rows for key in row))
    for key in keys:
        number = all(isinstance(row.get(key), int | float | None) for row in rows)
        table.add_column(key.replace("_", " "), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(figure(row.get(key)) for key in keys))
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200).print(table)


def figure(value: Any) -> str:
    """A value as a table shows it: `12,345`, `0.957`."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


@contextmanager
def progress(text: str, total: float) -> Iterator[Callable[[float], None]]:
    """A bar on stderr, which is told how much of `total` is done; nothing where stderr is no terminal."""
    with _bars(MofNCompleteColumn() if total > 1 else TextColumn("{task.percentage:.0f}%")) as bars:
        task = bars.add_task(text, total=total)
        yield lambda done: bars.update(task, completed=done)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr for each stage of a work, which is told its name and how many of how many are done."""
    with _bars(MofNCompleteColumn()) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        yield tell


def _bars(count: ProgressColumn) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
