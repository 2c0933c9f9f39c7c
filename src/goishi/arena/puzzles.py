"""Positions of which the right moves are known: what share of them does a player find?

Formats, told apart by their lines:
    4455326 -3
        Connect Four 7x6: columns played from the start, and the exact score for the player to move, of which the sign
        counts (more than 0: that player wins)
    --XXX..OO- X; G8:+18; H1:+12;
        Othello (`.obf`): the board, who moves, the exact value of every move
    {"game": "tictactoe", "moves": ["b2"], "best": ["a1", "c1"]}
        JSON lines, for any game; `set` may name a group
A file is one set, a folder has a set for each of its puzzle files.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goishi.arena.record import action_of, numbered_lines, replay
from goishi.core import registry
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadRecord, GoishiError, UsageError
from goishi.players.player import Player, find

if TYPE_CHECKING:
    from goishi.search.search import Limit

CONNECT4 = re.compile(r"([1-7]+)\s+([+-]?\d+)")
OTHELLO = re.compile(r"([XxOo*.-]+)\s+([XxOo])\s*;(.*)")
IN_STEP = 64  # positions searched at the same time
SOLVER_POSITIONS = 1_000_000_000
"""As many positions the Connect Four solver looks at before it leaves a move unjudged."""

Progress = Callable[[str, int, int], None]
"""Hears what is done ("solved" or "judged") for how many positions of how many."""


class Puzzle(NamedTuple):
    """A position and how to judge a move in it."""

    position: Position
    judge: Callable[[int], bool | None]
    """Is this legal action right? None where that could not be found out."""
    group: str
    """The set it belongs to."""


def puzzles(
    path: Path | str,
    player: str | Player,
    game: str | None = None,
    *,
    limit: "Limit | None" = None,
    seed: int = 0,
    solver_positions: int = SOLVER_POSITIONS,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Asks a player for its move in every position; the figures that `goishi puzzles --json` prints.

    player     a spec, or a player of the only game that the file has
    game       the game of JSON lines that name none; for the other formats it must be the game of the format, if given
    solver_positions   how many positions the Connect Four solver looks at before it leaves a move unjudged
    progress   hears of each position, first that it is solved and then that it is judged

    `share` is of the positions that could be judged, `unjudged` counts the others, `seconds` are the player's.
    Raises BadRecord for a broken line, which it names.
    """
    path = Path(path)
    tasks = read(path, game, solver_positions)
    begun = time.perf_counter()
    chosen = _choose(tasks, player, limit, seed, progress)
    seconds = time.perf_counter() - begun
    verdicts = _judge(tasks, chosen, progress)
    name = player if isinstance(player, str) else player.name
    figures: dict[str, Any] = {"file": str(path), "player": name, **_share(verdicts), "seconds": round(seconds, 3)}
    groups = list(dict.fromkeys(task.group for task in tasks))
    if len(groups) > 1 or path.is_dir():
        members = {
            group: [v for task, v in zip(tasks, verdicts, strict=True) if task.group == group] for group in groups
        }
        figures["by_set"] = {group: _share(each) for group, each in members.items()}
    return figures


def read(path: Path, game: str | None = None, solver_positions: int = SOLVER_POSITIONS) -> list[Puzzle]:
    """The puzzles of a file, or of all puzzle files in a folder. Raises BadRecord."""
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file() and _is_puzzle_file(file)]
        found = [puzzle for file in files for puzzle in _read_file(file, game, solver_positions)]
    elif path.is_file():
        found = list(_read_file(path, game, solver_positions))
    else:
        raise BadRecord(f"There is no file {path}.")
    if not found:
        raise BadRecord(f"{path} has no puzzles; see `goishi puzzles --help` for the formats.")
    return found


def _is_puzzle_file(path: Path) -> bool:
    try:
        lines = numbered_lines(path)
    except BadRecord:
        return False
    return bool(lines) and _reader(lines[0][1]) is not None


def _reader(line: str) -> Callable[..., Puzzle] | None:
    """What reads lines like this one."""
    if line.startswith("{"):
        return _json_puzzle
    if CONNECT4.fullmatch(line):
        return _connect4_puzzle
    return _othello_puzzle if OTHELLO.fullmatch(line) else None


def _read_file(path: Path, game: str | None, solver_positions: int) -> Iterator[Puzzle]:
    lines = numbered_lines(path)
    reader = _reader(lines[0][1]) if lines else None
    if lines and reader is None:
        raise BadRecord(
            f"{path}, line {lines[0][0]}: this is no puzzle; a line is as `4455326 -3`, "
            "an Othello board with its moves' values, or JSON."
        )
    for number, line in lines:
        where = f"{path}, line {number}"
        assert reader is not None
        try:
            yield reader(line, where, path.stem, game, solver_positions)
        except BadRecord as error:
            raise error if str(error).startswith(where) else BadRecord(f"{where}: {error}") from None
        except UsageError:
            raise
        except GoishiError as error:
            raise BadRecord(f"{where}: {error}") from None


def _connect4_puzzle(line: str, where: str, group: str, game: str | None, solver_positions: int) -> Puzzle:
    rules = _only_game("connect4", game, where)
    found = CONNECT4.fullmatch(line)
    if not found:
        raise BadRecord("a Connect Four puzzle is columns from 1 to 7, a blank and the score, as in `4455326 -3`.")
    columns, sign = [int(column) - 1 for column in found[1]], int(np.sign(int(found[2])))
    position = _going_on(Position.after(rules, columns))

    def judge(action: int) -> bool | None:
        if sign < 0:
            return True  # nothing is left to spoil
        child = position.play(action)
        if child.over:
            return child.score * position.player >= sign
        spoiled = _solver().exceeds(child.history, -sign, solver_positions)
        return None if spoiled is None else not spoiled

    return Puzzle(position, judge, group)


@lru_cache(maxsize=1)
def _solver() -> Any:
    from goishi.arena.connect4_solver import Solver

    return Solver()


def _othello_puzzle(line: str, where: str, group: str, game: str | None, solver_positions: int) -> Puzzle:
    found = OTHELLO.fullmatch(line)
    if not found:
        raise BadRecord(
            "an Othello puzzle is a board, X or O, and the value of every move, as in `--XO.. X; G8:+18; H1:+12;`."
        )
    cells, side, moves = found.groups()
    size = round(len(cells) ** 0.5)
    if size * size != len(cells):
        raise BadRecord(f"the board has {len(cells)} squares, which make no square board.")
    rules = _only_game("othello" if size == 8 else f"othello:size={size}", game, where)
    states = rules.start()
    states["board"][0] = np.array([{"X": 1, "*": 1, "O": -1}.get(cell, 0) for cell in cells.upper()]).reshape(
        size, size
    )
    states["player"][0] = 1 if side in "Xx" else -1
    position = _going_on(Position(rules, states))
    values: dict[int, int] = {}
    for part in filter(None, (part.strip() for part in moves.split(";"))):
        name, _, text = part.partition(":")
        action = position.action(name)
        if not position.mask[action]:
            raise BadRecord(f"{name} may not be played here.")
        if not re.fullmatch(r"[+-]?\d+", text.strip()):
            raise BadRecord(f"{name} needs its value, as in {name}:+4.")
        values[action] = int(text)
    if not values:
        raise BadRecord("no move has a value.")
    best = frozenset(action for action, value in values.items() if value == max(values.values()))
    return Puzzle(position, best.__contains__, group)


def _json_puzzle(line: str, where: str, group: str, game: str | None, solver_positions: int) -> Puzzle:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise BadRecord("this is no JSON object.")
    spec, moves, best = fields.get("game", game), fields.get("moves"), fields.get("best")
    if not isinstance(spec, str):
        raise BadRecord("the puzzle names no game; add `game`, or give --game.")
    if not isinstance(moves, list) or not isinstance(best, list) or not best:
        raise BadRecord("a puzzle needs `moves`, a list of the moves so far, and `best`, a list of the right moves.")
    position = _going_on(replay(spec, moves, where))
    right = frozenset(action_of(position, move) for move in best)
    if not all(0 <= action < len(position.mask) and position.mask[action] for action in right):
        raise BadRecord("a move of `best` may not be played here.")
    return Puzzle(position, right.__contains__, str(fields.get("set", group)))


def _only_game(spec: str, asked: str | None, where: str) -> Game:
    """The game of a format. Raises UsageError when another one was asked for."""
    game = registry.find(spec)
    if asked and (registry.find(asked).State, registry.find(asked).name) != (game.State, game.name):
        raise UsageError(f"{where}: this is a puzzle for {spec}, not for {asked}; leave --game out.")
    return registry.find(asked) if asked else game


def _going_on(position: Position) -> Position:
    if position.over:
        raise BadRecord("the game is over in this position.")
    return position


def _choose(
    tasks: Sequence[Puzzle],
    player: str | Player,
    limit: "Limit | None",
    seed: int,
    progress: Progress | None,
) -> list[int]:
    """The player's action in every puzzle."""
    chosen: dict[int, int] = {}
    by_game: dict[str, list[int]] = {}
    for index, task in enumerate(tasks):
        by_game.setdefault(task.position.game.spec, []).append(index)
    if not isinstance(player, str) and len(by_game) > 1:
        raise UsageError(f"These puzzles are of several games ({', '.join(by_game)}); give the player as a spec.")
    for spec, indices in by_game.items():
        seat = find(player, registry.find(spec), seed) if isinstance(player, str) else player
        try:
            for some in _in_step(indices, seat, limit):
                positions = [tasks[index].position for index in some]
                many = getattr(seat, "choose_many", None)
                decisions = many(positions, limit) if many and len(some) > 1 else [seat.choose(positions[0], limit)]
                chosen.update(zip(some, (int(decision.action) for decision in decisions), strict=True))
                if progress:
                    progress("solved", len(chosen), len(tasks))
        finally:
            if isinstance(player, str):
                seat.close()
    return [chosen[index] for index in range(len(tasks))]


def _in_step(indices: list[int], player: Player, limit: "Limit | None") -> Iterator[list[int]]:
    """The puzzles in portions: many at once where the player can and does not think by the clock, else one by one."""
    own = limit or getattr(player, "limit", None)
    by_clock = own is not None and own.seconds is not None
    size = IN_STEP if hasattr(player, "choose_many") and not by_clock else 1
    for begin in range(0, len(indices), size):
        yield indices[begin : begin + size]


def _judge(tasks: Sequence[Puzzle], chosen: Sequence[int], progress: Progress | None) -> list[bool | None]:
    """Was each chosen action right? The solver lets threads run side by side."""
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    running = list[Future[bool | None]]()
    try:
        running = [pool.submit(_verdict, task, action) for task, action in zip(tasks, chosen, strict=True)]
        for done, _ in enumerate(as_completed(running), start=1):
            if progress:
                progress("judged", done, len(tasks))
        return [each.result() for each in running]
    finally:
        for each in running:
            each.cancel()
        if _solver.cache_info().currsize:
            _solver().stop()
        pool.shutdown()


def _verdict(task: Puzzle, action: int) -> bool | None:
    legal = 0 <= action < len(task.position.mask) and bool(task.position.mask[action])
    return task.judge(action) if legal else False


def _share(verdicts: Iterable[bool | None]) -> dict[str, Any]:
    verdicts = list(verdicts)
    right, unjudged = verdicts.count(True), verdicts.count(None)
    judged = len(verdicts) - unjudged
    share = right / judged if judged else None
    return {"positions": len(verdicts), "right": right, "share": share, "unjudged": unjudged}
