"""Openings of a match: the first moves that are given to both players, so that games differ.

`none`; `random:PLIES`; or a text file with one opening a line, `#` before a comment, in either of two forms:
    E5 D4 F6              names of points, blanks between
    0,0, 1,0, 1,3         x,y from the center, x to the right and y down (Piskvork's and Gomocup's lists)
Random openings leave out what is decided as far as a look at the next two moves tells: see `random_openings`.
The center of N columns is column N // 2 counted from 0, and likewise for rows.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from goishi.arena.record import numbered_lines
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadRecord, GoishiError, UsageError

Opening = tuple[int, ...]
TRIES = 50  # random openings drawn before a condition is given up

OFFSETS = re.compile(r"-?\d+\s*,\s*-?\d+(\s*,\s*-?\d+\s*,\s*-?\d+)*\s*,?")


def ignore(sentence: str) -> None:
    """Hears a warning and does nothing."""


def find(
    spec: str, game: Game, count: int, rng: np.random.Generator, warn: Callable[[str], None] = ignore
) -> list[Opening]:
    """`count` openings of a spec; a file with fewer is used again from its beginning.

    Raises UsageError for a spec that can't be used and BadRecord for a broken file; `warn` hears of openings left out.
    """
    if spec == "none":
        return [()] * count
    kind, _, plies = spec.partition(":")
    if kind == "random":
        if not plies.isdigit() or not 1 <= int(plies) <= 100:
            raise UsageError("Random openings need their number of plies, from 1 to 100, as in random:4.")
        return random_openings(game, int(plies), count, rng)
    path = Path(spec)
    if not path.is_file():
        raise UsageError(f"Openings are none, random:PLIES or the path of a file, and there is no file {spec!r}.")
    listed = read(path, game, warn)
    return [listed[index % len(listed)] for index in range(count)]


def random_openings(game: Game, plies: int, count: int, rng: np.random.Generator) -> list[Opening]:
    """Openings of random legal moves. None is over.

    As long as there are such, none is decided either: the player to move can't win at once, and has a move after which
    the opponent can't. Nor are two the same by symmetry; where these run out no two lead to one position, and then they
    repeat. The same `rng` gives the same openings.
    Raises UsageError for a game that hardly ever lasts so long.
    """
    seen: set[bytes] = set()
    openings = []
    for _ in range(count):
        for attempt in range(4 * TRIES):
            position = _random_position(game, plies, rng)
            if position is None:
                continue
            key = position.states.tobytes()
            if attempt < TRIES and (_symmetric_keys(position) & seen or decided(position)):
                continue
            if attempt < 2 * TRIES and key in seen:
                continue
            break
        else:
            raise UsageError(
                f"{game.spec} is over within {plies} moves; choose fewer plies, as in random:{max(1, plies // 2)}."
            )
        seen.add(key)
        openings.append(position.history)
    return openings


def read(path: Path, game: Game, warn: Callable[[str], None] = ignore) -> list[Opening]:
    """The openings of a file that fit the board. Raises BadRecord for a line that is none, or when none fits."""
    openings = []
    for number, line in numbered_lines(path):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        where = f"{path}, line {number}"
        names = _offset_names(text, game, where) if OFFSETS.fullmatch(text) else text.split()
        if names is None:
            warn(f"{where}: this opening does not fit the board and is left out.")
            continue
        position = Position.start(game)
        try:
            for name in names:
                position = position.play(position.action(name))
        except GoishiError as error:
            raise BadRecord(f"{where}: {error}") from None
        if position.over:
            raise BadRecord(f"{where}: the game is over after this opening.")
        openings.append(position.history)
    if not openings:
        raise BadRecord(f"{path} has no opening that fits {game.spec}.")
    return openings


def decided(position: Position) -> bool:
    """Can the player to move win with this very move, or the opponent with the next one, whatever is played now?

    A game in which a player moves twice in a row is not looked at beyond the first move.
    """
    if wins_at_once(position):
        return True
    for action in position.actions:
        following = position.play(action)
        if following.over or following.player == position.player or not wins_at_once(following):
            return False
    return True


def wins_at_once(position: Position) -> bool:
    """Can the player to move win with this very move?"""
    game = position.game
    actions = np.flatnonzero(position.mask).astype(np.int32)
    count = len(actions)
    children = np.arange(1, count + 1, dtype=np.int32)
    states = np.concatenate([position.states, np.zeros(count, game.State)])
    game.kernels().play(states, np.zeros(count, np.int32), actions, children)
    players, over = np.zeros(count, np.int8), np.zeros(count, np.bool_)
    values, masks = np.zeros(count, np.float32), np.zeros((count, game.actions), np.bool_)
    game.kernels().look(states, children, players, over, values, masks)
    return bool((over & (values * players * position.player > 0)).any())


def _random_position(game: Game, plies: int, rng: np.random.Generator) -> Position | None:
    position = Position.start(game)
    for _ in range(plies):
        position = position.play(int(rng.choice(position.actions)))
        if position.over:
            return None
    return position


def _symmetric_keys(position: Position) -> set[bytes]:
    """The records of the position and of its images."""
    game = position.game
    history = np.array(position.history, np.int64)
    return {Position.after(game, symmetry[history].tolist()).states.tobytes() for symmetry in game.symmetries}


def _offset_names(text: str, game: Game, where: str) -> list[str] | None:
    """The names of the points of `x,y` pairs; None when one lies off the board."""
    board = game.board
    if board is None or board.style == "drop":
        raise BadRecord(f"{where}: x,y pairs need a board with points; {game.spec} takes names of moves.")
    numbers = [int(each) for each in re.findall(r"-?\d+", text)]
    points = [(board.rows // 2 + y, board.columns // 2 + x) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    if not all(0 <= row < board.rows and 0 <= column < board.columns for row, column in points):
        return None
    return [board.name(row * board.columns + column) for row, column in points]
