"""Samples on disk and in memory.

A file of samples is a row of frames, one a finished game: a length, a checksum, and the game's arrays, compressed. A
frame is written at once when the game ends, so a process that dies loses no finished game; a frame that is cut short or
damaged ends the file for the reader, and the rest of the run is untouched.

Shapes: R rows, A actions, P points.
"""

import io
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from goishi.core.game import Game
from goishi.training.selfplay import PlayedGame

MAGIC = b"GOISHI01"
HEADER = struct.Struct("<II")  # bytes of the frame, their CRC-32
LONGEST = 1 << 28


def pack(game: PlayedGame) -> bytes:
    """A game as one frame."""
    facts = {
        "actions": game.actions,
        "score": game.score,
        "opening": game.opening,
        "resigned": game.resigned,
        "wrong": game.wrong,
        "right": game.right,
        "rows": len(game.results),
        "lead": game.lead,
        "varied": game.varied,
        "owners": 0 if game.owners is None else len(game.owners),
    }
    text = json.dumps(facts).encode()
    arrays = [game.states, game.policies, game.results, game.values]
    arrays += [] if game.owners is None else [game.owners]
    body = zlib.compress(struct.pack("<I", len(text)) + text + b"".join(array.tobytes() for array in arrays), 1)
    return HEADER.pack(len(body), zlib.crc32(body)) + body


def unpack(body: bytes, game: Game) -> PlayedGame:
    """The game of a frame's body. Raises ValueError when it is not one of this game."""
    content = zlib.decompress(body)
    (length,) = struct.unpack_from("<I", content)
    facts = json.loads(content[4 : 4 + length])
    rows, points = int(facts.pop("rows")), int(facts.pop("owners", 0))  # older files know no owners
    buffer = io.BytesIO(content[4 + length :])

    def take(dtype: np.dtype | type, *shape: int) -> np.ndarray:
        array = np.frombuffer(buffer.read(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype)
        return array.reshape(shape)

    return PlayedGame(
        tuple(facts.pop("actions")),
        **facts,
        states=take(game.State, rows),
        policies=take(np.float16, rows, game.actions),
        results=take(np.float32, rows),
        values=take(np.float32, rows),
        owners=take(np.int8, points) if points else None,
    )


class SampleFile:
    """A file of samples that grows game by game. Opening an old one cuts off a frame that is not whole."""

    def __init__(self, path: Path):
        self.path = path
        self._file: BinaryIO = path.open("a+b")
        self._file.seek(0)
        if self._file.read(len(MAGIC)) == MAGIC:
            self._file.truncate(len(MAGIC) + sum(HEADER.size + len(body) for body in frames(path)))
        else:
            self._file.truncate(0)
            self._file.write(MAGIC)
            self._file.flush()

    def add(self, game: PlayedGame) -> None:
        """Writes a game and hands it to the system, where a kill of this process cannot reach it."""
        self._file.write(pack(game))
        self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def frames(path: Path) -> Iterator[bytes]:
    """The bodies of a file's whole frames, up to the first that is not."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        while True:
            header = file.read(HEADER.size)
            if len(header) < HEADER.size:
                return
            length, checksum = HEADER.unpack(header)
            body = file.read(length) if length <= LONGEST else b""
            if len(body) < length or zlib.crc32(body) != checksum:
                return
            yield body


def read_games(path: Path, game: Game) -> Iterator[PlayedGame]:
    """The games of a file, up to the first frame that is damaged."""
    for body in frames(path):
        try:
            yield unpack(body, game)
        except (ValueError, KeyError, TypeError, struct.error, zlib.error):
            return


class Replay:
    """The newest rows, in a ring: what the network learns from."""

    def __init__(self, game: Game, capacity: int):
        self.capacity = capacity
        self.states = np.zeros(capacity, game.State)
        self.policies = np.zeros((capacity, game.actions), np.float16)
        self.results = np.zeros(capacity, np.float32)
        self.values = np.zeros(capacity, np.float32)
        self.made = 0  # rows ever added
        points = game.planes[1] * game.planes[2] if hasattr(game.module, "owners") else 0
        self.owners = np.zeros((capacity, points), np.int8)  # at the game's end, +1 is the row's player; P is 0 or all
        self.leads = np.full(capacity, np.nan, np.float32)  # points, as the row's player sees them; nan is unknown

    def add(self, game: PlayedGame) -> None:
        """Adds a game's rows over the oldest ones."""
        rows = (self.made + np.arange(len(game.results))) % self.capacity
        self.states[rows], self.policies[rows] = game.states, game.policies
        self.results[rows], self.values[rows] = game.results, game.values
        self.owners[rows], self.leads[rows] = 0, np.nan
        if self.owners.shape[1] and game.owners is not None and game.lead is not None:
            players = game.states["player"].astype(np.int8)
            self.owners[rows] = players[:, None] * game.owners
            self.leads[rows] = players * game.lead
        self.made += len(rows)

    def draw(self, count: int, window: int, rng: np.random.Generator) -> np.ndarray:
        """int64[count]: rows at random from the newest `window`."""
        reach = min(window, self.made, self.capacity)
        return (self.made - 1 - rng.integers(0, reach, count)) % self.capacity


def window_size(rows: int, smallest: int, exponent: float, largest: int) -> int:
    """How many of the newest rows to learn from when `rows` were made (KataGo, appendix C, with M = T = smallest).

    W(N) = M + .4 (N^e - M^e) / (e M^(e-1)): all at first, then growing ever more slowly.
    """
    if rows <= smallest:
        return rows
    grown = smallest + 0.4 * (rows**exponent - smallest**exponent) / (exponent * smallest ** (exponent - 1))
    return int(min(grown, rows, largest))
