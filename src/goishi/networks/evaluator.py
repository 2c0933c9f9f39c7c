"""Judging positions: a network, or anything callable like one, and wrappers that change nothing but the speed.

Shapes: B positions, A actions, C H W planes, P = H W points, S symmetries.
"""

import threading
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np

from goishi.core.game import Game
from goishi.errors import UsageError
from goishi.networks import runtime as runtimes
from goishi.networks import store

Symmetry = Literal["none", "random", "average"]


class Outlook(NamedTuple):
    """What is expected of a game's end, as the player to move sees it."""

    ownership: np.ndarray
    """float32[B, P] in [-1, 1]: whose each point will be."""
    score: np.ndarray
    """float32[B]: by how many points this player will be ahead, komi counted."""


class Evaluator(Protocol):
    """Judges many positions at once. It may have a method `outlook` besides, which the function of this name asks."""

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits float32[B, A] and values float32[B] in [-1, 1], as the player to move sees them, of State[B].

        The logits of illegal actions mean nothing: the caller masks them. The arrays are the caller's own.
        """


def outlook(evaluator: Evaluator, states: np.ndarray) -> Outlook | None:
    """Who will own what in State[B], and the score; None where the evaluator does not tell."""
    ask = getattr(evaluator, "outlook", None)
    return ask(states) if ask is not None else None


class Uniform:
    """No network: all actions alike, every position even."""

    def __init__(self, game: Game):
        self._actions = game.actions

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(states), self._actions), np.float32), np.zeros(len(states), np.float32)


def uniform(game: Game) -> Evaluator:
    """An evaluator without an opinion: zeros."""
    return Uniform(game)


class NetworkEvaluator:
    """A game and a runtime: encodes positions and runs them in batches of the sizes that the runtime has.

    `symmetry`: `none`; `random`, a random one of the board's symmetries for each position; `average`, the mean of
    logits and values over all of them; `outlook` uses none. Callable from several threads, one at a time.
    """

    def __init__(
        self,
        game: Game,
        runtime: runtimes.Runtime,
        symmetry: Symmetry = "none",
        rng: np.random.Generator | None = None,
        model: store.Model | None = None,
    ):
        if symmetry not in ("none", "random", "average"):
            raise UsageError(f"There is no symmetry {symmetry!r}; there are none, random and average.")
        self.game, self.runtime, self.symmetry, self.model = game, runtime, symmetry, model
        self._beside: dict[int, list[NetworkEvaluator]] = {}
        self._encode = game.kernels().encode
        self._rng = rng or np.random.default_rng()
        channels, rows, columns = game.planes
        points = game.point_symmetries.shape[1]
        offsets = np.arange(channels, dtype=np.intp)[None, :, None] * points
        self._gather = (offsets + game.point_symmetries[:, None, :]).reshape(len(game.symmetries), -1)  # intp[S, C P]
        self._ungather = np.argsort(game.symmetries, axis=1)  # intp[S, A]
        self._scratch = np.zeros((runtime.sizes[-1], channels, rows, columns), np.float32)

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total, largest = len(states), self.runtime.sizes[-1]
        if total <= largest:
            return self._batch(states)
        parts = [self._batch(states[begin : begin + largest]) for begin in range(0, total, largest)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def outlook(self, states: np.ndarray) -> Outlook | None:
        """Ownership and score of State[B]; None where the model has no heads for them."""
        runtime = self.runtime.outlook()
        if runtime is None:
            return None
        _, rows, columns = self.game.planes
        found = Outlook(np.zeros((len(states), rows * columns), np.float32), np.zeros(len(states), np.float32))
        for begin in range(0, len(states), runtime.sizes[-1]):
            part = slice(begin, begin + runtime.sizes[-1])
            found.ownership[part], found.score[part] = self._plain(runtime, states[part])
        return found

    def beside(self, count: int) -> "list[NetworkEvaluator]":
        """The same network for so many threads at once, each with its part of the cores; empty where one batch at a
        time is as fast."""
        if count not in self._beside:
            lanes = self.runtime.beside(count)
            rngs = self._rng.spawn(len(lanes))
            self._beside[count] = [
                NetworkEvaluator(self.game, lane, self.symmetry, rng, self.model)
                for lane, rng in zip(lanes, rngs, strict=True)
            ]
        return self._beside[count]

    def _batch(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(states)
        if not count:
            return np.zeros((0, self.game.actions), np.float32), np.zeros(0, np.float32)
        if self.symmetry == "none":
            return self._plain(self.runtime, states)
        runtime = self.runtime
        size = next(size for size in runtime.sizes if size >= count)
        with runtime.lock:
            buffer = runtime.buffer(size)
            raw = self._scratch[:count]
            self._encode(states, raw)
            if self.symmetry == "random":
                drawn = self._rng.integers(len(self._gather), size=count)
                self._turn(raw, drawn, buffer)
                logits, values = runtime.run(buffer)
                return np.take_along_axis(logits[:count], self._ungather[drawn], axis=1), values[:count].copy()
            logits = np.zeros((count, self.game.actions), np.float32)
            values = np.zeros(count, np.float32)
            for one in range(len(self._gather)):
                self._turn(raw, np.full(count, one), buffer)
                turned, judged = runtime.run(buffer)
                logits += turned[:count, self._ungather[one]]
                values += judged[:count]
            return logits / np.float32(len(self._gather)), values / np.float32(len(self._gather))

    def _plain(self, runtime: runtimes.Runtime, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a runtime answers to positions that fit into one batch, as they are."""
        count = len(states)
        size = next(size for size in runtime.sizes if size >= count)
        with runtime.lock:
            buffer = runtime.buffer(size)
            self._encode(states, buffer[:count])
            many, one = runtime.run(buffer)
            return many[:count].copy(), one[:count].copy()

    def _turn(self, raw: np.ndarray, drawn: np.ndarray, buffer: np.ndarray) -> None:
        """buffer[i] = raw[i] moved by symmetry drawn[i]."""
        count, length = len(raw), self._gather.shape[1]
        index = self._gather[drawn] + (np.arange(count) * length)[:, None]
        np.take(raw.reshape(-1), index, out=buffer[:count].reshape(count, length), mode="clip")


class Cached:
    """Remembers judgments by the position's record. `hits` and `misses` count positions; a position that is in one
    batch twice is evaluated once. What was not asked for longest, about, makes room (the clock rule)."""

    def __init__(self, evaluator: Evaluator, entries: int):
        self._evaluator, self._entries = evaluator, max(1, entries)
        self._lock = threading.Lock()
        self._age = 0  # how often it was cleared
        self.clear()

    def clear(self) -> None:
        """Forgets everything, as after a change of the network."""
        with self._lock:
            self._age += 1
            self.hits = self.misses = 0
            self._slots: dict[bytes, int] = {}
            self._keys: list[bytes] = []
            self._used = bytearray(self._entries)
            self._hand = 0
            self._logits: np.ndarray | None = None  # float32[entries, A]
            self._values = np.empty(self._entries, np.float32)

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        data, length = states.tobytes(), states.dtype.itemsize
        keys = [data[i : i + length] for i in range(0, len(data), length)]
        with self._lock:
            age = self._age
            slots = [self._slots.get(key, -1) for key in keys]
            new: dict[bytes, int] = {}
            for row, (key, slot) in enumerate(zip(keys, slots, strict=True)):
                if slot >= 0:
                    self._used[slot] = 1
                else:
                    new.setdefault(key, row)
            self.misses += len(new)
            self.hits += len(keys) - len(new)
            known = self._logits[slots] if self._logits is not None else None
            values = self._values[slots]
        if not new:
            assert known is not None or not len(keys)
            return (known, values) if known is not None else self._evaluator(states)
        rows = np.fromiter(new.values(), np.intp, len(new))
        judged, judged_values = self._evaluator(states[rows])
        if len(new) == len(keys):
            logits, values = judged, judged_values
        else:
            order = {key: i for i, key in enumerate(new)}
            logits = known if known is not None else np.empty((len(keys), judged.shape[1]), np.float32)
            for row, slot in enumerate(slots):
                if slot < 0:
                    logits[row], values[row] = judged[order[keys[row]]], judged_values[order[keys[row]]]
        with self._lock:
            if age != self._age:  # cleared meanwhile: these are an older network's
                return logits, values
            if self._logits is None:
                self._logits = np.empty((self._entries, judged.shape[1]), np.float32)
            for i, key in enumerate(new):
                slot = self._slots.get(key, -1)
                if slot < 0:
                    slot = self._slots[key] = self._room(key)
                self._logits[slot], self._values[slot] = judged[i], judged_values[i]
        return logits, values

    def outlook(self, states: np.ndarray) -> Outlook | None:
        """As the evaluator tells it; it is not remembered."""
        return outlook(self._evaluator, states)

    def _room(self, key: bytes) -> int:
        """A free slot for a key."""
        if len(self._keys) < self._entries:
            self._keys.append(key)
            return len(self._keys) - 1
        while self._used[self._hand]:
            self._used[self._hand] = 0
            self._hand = (self._hand + 1) % self._entries
        slot = self._hand
        self._hand = (self._hand + 1) % self._entries
        del self._slots[self._keys[slot]]
        self._keys[slot] = key
        return slot


def cached(evaluator: Evaluator, entries: int) -> Cached:
    """Remembers up to `entries` positions, about 4 A + 200 bytes each."""
    return Cached(evaluator, entries)


class Shared:
    """Merges what several threads ask at the same time into one batch.

    One of the callers evaluates for all; while it does, the others gather for the next batch. A caller that is alone
    never waits.
    """

    def __init__(self, evaluator: Evaluator, wait_seconds: float):
        self._evaluator, self._wait_seconds = evaluator, wait_seconds
        self._changed = threading.Condition()
        self._waiting: list[_Request] = []
        self._busy = False
        self._expected = 1  # callers that asked around the time of the last batch

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        request = _Request(states)
        with self._changed:
            self._waiting.append(request)
            self._changed.notify_all()
            self._changed.wait_for(lambda: request.done or not self._busy)
            if not request.done:
                self._busy = True
        if not request.done:
            self._lead()
        return request.take()

    def outlook(self, states: np.ndarray) -> Outlook | None:
        """As the evaluator tells it, without waiting for others."""
        return outlook(self._evaluator, states)

    def _lead(self) -> None:
        """Evaluates for all who wait, the caller among them."""
        batch: list[_Request] = []
        try:
            with self._changed:
                self._changed.wait_for(lambda: len(self._waiting) >= self._expected, self._wait_seconds)
                batch, self._waiting = self._waiting, []
            logits, values = self._evaluator(np.concatenate([r.states for r in batch]))
            begin = 0
            for r in batch:
                end = begin + len(r.states)
                r.answer = logits[begin:end].copy(), values[begin:end].copy()
                begin = end
        except BaseException as error:  # goes on in every thread that waits for this batch
            for r in batch:
                r.error = error
            if not batch:
                raise
        finally:
            with self._changed:
                for r in batch:
                    r.done = True
                self._expected = max(1, len(batch) + len(self._waiting))
                self._busy = False
                self._changed.notify_all()


class _Request:
    """What one thread asked, and its answer."""

    def __init__(self, states: np.ndarray):
        self.states = states
        self.done = False
        self.answer: tuple[np.ndarray, np.ndarray] | None = None
        self.error: BaseException | None = None

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        if self.error is not None:
            raise self.error
        assert self.answer is not None
        return self.answer


def shared(evaluator: Evaluator, wait_seconds: float) -> Evaluator:
    """Merges calls from several threads into one batch; a batch waits at most `wait_seconds` for the others."""
    return Shared(evaluator, wait_seconds)


def load(
    name_or_path: str | Path,
    game: Game,
    runtime: str = "auto",
    precision: str = "auto",
    symmetry: Symmetry = "none",
    rng: np.random.Generator | None = None,
) -> NetworkEvaluator:
    """The evaluator of a shipped model or of a model's file. Raises BadModel, MissingExtra or UsageError."""
    path = store.find(name_or_path)
    opened = runtimes.open_runtime(path, game, runtime, precision)
    return NetworkEvaluator(game, opened, symmetry, rng, store.read(path))
