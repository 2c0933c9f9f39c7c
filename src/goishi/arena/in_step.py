"""Many games between two sides played in step, so that a network judges them in batches. For ratings inside a run.

Shapes: G games, B of them in which one side is to move, A actions.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from goishi.arena.rating import pair_elo, pair_interval
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.search import Search


class Side(Protocol):
    """Chooses in many games at once."""

    def moves(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Actions int32[B] in positions State[B] with legal actions bool[B, A]."""


class RandomSide:
    """Random legal moves."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng

    def moves(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See Side."""
        return np.argmax(self._rng.random(masks.shape) * masks, axis=1).astype(np.int32)


class SearchSide:
    """A search with one tree a game and so many simulations a move."""

    def __init__(self, search: Search, visits: int):
        self._search, self._visits = search, visits

    def moves(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See Side."""
        search = self._search
        search.reset()
        for slot in range(len(states)):
            search.begin(slot, states[slot : slot + 1], self._visits)
        while search.busy().any():
            search.wave()
        return np.array([search.result(slot).best for slot in range(len(states))], np.int32)


class Played(NamedTuple):
    """A game that was played."""

    actions: tuple[int, ...]
    score: float  # for the player who began
    first: int  # which side began, 0 or 1


def random_openings(game: Game, count: int, plies: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Random legal openings, none of which ends the game; distinct as far as 20 tries each find."""
    openings: dict[tuple[int, ...], None] = {}
    spare = []
    for _ in range(20 * count):
        position = Position.start(game)
        for _ in range(plies):
            following = position.play(int(rng.choice(position.actions)))
            if following.over:
                break
            position = following
        spare.append(position.history)
        openings[position.history] = None
        if len(openings) == count:
            break
    found = list(openings)
    return found + [spare[i] for i in rng.integers(0, len(spare), count - len(found))]


def paired(openings: Sequence[Sequence[int]]) -> tuple[list[Sequence[int]], list[int]]:
    """Each opening twice, and who begins: side 0, then side 1."""
    return [opening for opening in openings for _ in (0, 1)], [0, 1] * len(openings)


def play_in_step(
    game: Game, sides: tuple[Side, Side], openings: Sequence[Sequence[int]], first: Sequence[int]
) -> list[Played]:
    """One game from each opening; `first` says which side has the game's first move, the opening's moves among them."""
    count = len(openings)
    begins = np.asarray(first, np.int8)
    states = np.zeros(count, game.State)
    actions: list[list[int]] = []
    for index, opening in enumerate(openings):
        position = Position.after(game, opening)
        states[index] = position.state
        actions.append(list(position.history))
    players, over = np.zeros(count, np.int8), np.zeros(count, np.bool_)
    values, masks = np.zeros(count, np.float32), np.zeros((count, game.actions), np.bool_)
    everyone = np.arange(count, dtype=np.int32)
    kernels = game.kernels()
    kernels.look(states, everyone, players, over, values, masks)
    while not over.all():
        mover = np.where(players == 1, begins, 1 - begins)
        for side in (0, 1):
            games = everyone[~over & (mover == side)]
            if len(games):
                chosen = sides[side].moves(states[games], masks[games])
                kernels.play(states, games, chosen, games)
                for index, action in zip(games, chosen, strict=True):
                    actions[index].append(int(action))
        kernels.look(states, everyone, players, over, values, masks)
    return [Played(tuple(actions[i]), float(values[i]) * int(players[i]), int(begins[i])) for i in range(count)]


def figures(played: Sequence[Played]) -> dict[str, Any]:
    """The figures of side 0 in games that were played in pairs: one from each opening with either color."""
    points = [(1 + one.score * (1 if one.first == 0 else -1)) / 2 for one in played]
    pairs = [(a + b) / 2 for a, b in zip(points[::2], points[1::2], strict=True)]
    score, elo = pair_interval(pairs), pair_elo(pairs)
    return {
        "games": len(points),
        "distinct_games": len({(one.actions, one.first) for one in played}),
        "wins": points.count(1.0),
        "draws": points.count(0.5),
        "losses": points.count(0.0),
        "score": round(score.value, 4),
        "elo": round(elo.value, 1),
        "elo_low": round(elo.low, 1),
        "elo_high": round(elo.high, 1),
    }
