"""Players that need no search: random, and perfect in games small enough to be solved in memory.

Letters: B positions at once, N positions in all, E edges (a position and a legal action), A actions.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import UsageError
from goishi.players.player import Decision

if TYPE_CHECKING:
    from goishi.search.search import Limit

POSITIONS = 3_000_000
"""A game with more positions than this is not solved ..."""
BYTES = 300 << 20
"""... nor one whose records take more bytes."""
CHUNK = 1 << 18  # edges played at once
WIN = 30_000  # the rank of a finished game that the player to move has won; a win d plies away is WIN - d


class RandomPlayer:
    """Any legal move, all equally likely."""

    def __init__(self, seed: int = 0, name: str = "random"):
        self.name = name
        self._rng = np.random.default_rng(seed)

    def choose(self, position: Position, limit: "Limit | None" = None) -> Decision:
        """A legal move."""
        return Decision(int(self._rng.choice(position.actions)))

    def close(self) -> None:
        """Nothing to free."""


class Solution(NamedTuple):
    """Every position that can be reached from a game's start, solved."""

    keys: np.ndarray  # uint64[N] ascending
    ranks: np.ndarray  # int16[N] as the player to move sees it: WIN - plies a win, 0 a draw, plies - WIN a loss

    def look_up(self, states: np.ndarray) -> np.ndarray:
        """int16[B]: the ranks. Raises UsageError for a position that can't be reached from the start."""
        wanted = keys_of(states)
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        if (self.keys[found] != wanted).any():
            raise UsageError("perfect knows only positions that can be reached from the start of the game.")
        return self.ranks[found]


class PerfectPlayer:
    """Best play: the shortest win, the longest loss; equals are drawn by lot."""

    def __init__(self, game: Game, seed: int = 0, name: str = "perfect", solution: Solution | None = None):
        self.name = name
        self.game = game
        self._rng = np.random.default_rng(seed)
        self._solution = solution or solve(game)

    def choose(self, position: Position, limit: "Limit | None" = None) -> Decision:
        """A best move."""
        ranks = self.ranks(position)
        return Decision(int(self._rng.choice(np.flatnonzero(position.mask & (ranks == ranks[position.mask].max())))))

    def value(self, position: Position) -> int:
        """+1, 0 or -1: the result of best play, as the player to move sees it.

        Raises UsageError for a position that can't be reached from the start.
        """
        return int(np.sign(self._solution.look_up(position.states)[0]))

    def values(self, position: Position) -> np.ndarray:
        """int8[A]: the same after each action, as the player to move now sees it; 0 for illegal ones."""
        return np.sign(self.ranks(position)).astype(np.int8)

    def ranks(self, position: Position) -> np.ndarray:
        """int16[A]: how good each action is (WIN - plies, 0, plies - WIN); 0 for illegal ones."""
        actions = np.flatnonzero(position.mask).astype(np.int32)
        states = np.zeros(1 + len(actions), self.game.State)
        states[0] = position.state
        self.game.kernels().play(
            states, np.zeros(len(actions), np.int32), actions, np.arange(1, 1 + len(actions), dtype=np.int32)
        )
        ranks = np.zeros(self.game.actions, np.int16)
        ranks[actions] = seen_before(self._solution.look_up(states[1:]), states["player"][1:] == position.player)
        return ranks

    def close(self) -> None:
        """Nothing to free: the solution is shared."""


@lru_cache(maxsize=4)
def solve(game: Game) -> Solution:
    """Solves a small game backwards from its ends. Raises UsageError for a game with too many positions."""
    layers, graded = _layers(game)
    keys = np.concatenate([keys_of(layer) for layer in layers])
    order = np.argsort(keys, kind="stable")
    solution = Solution(keys[order], np.zeros(len(keys), np.int16))
    ends = np.cumsum([len(layer) for layer in layers])
    settled = False
    while not settled:  # one pass where every move leads into the next layer; else until nothing changes
        settled = True
        for layer, end in zip(layers[::-1], ends[::-1], strict=True):
            ranks = _ranks(game, layer, solution)
            places = np.searchsorted(solution.keys, keys[end - len(layer) : end])
            settled &= graded or bool((solution.ranks[places] == ranks).all())
            solution.ranks[places] = ranks
    return solution


def keys_of(states: np.ndarray) -> np.ndarray:
    """uint64[B]: a hash of each record's bytes. Among 3 million records two share one once in four million games."""
    size = -(-states.dtype.itemsize // 8)
    words = np.zeros((len(states), size * 8), np.uint8)
    words[:, : states.dtype.itemsize] = np.frombuffer(states.tobytes(), np.uint8).reshape(-1, states.dtype.itemsize)
    keys = np.zeros(len(states), np.uint64)
    for word in words.view(np.uint64).T:  # the mixing steps are splitmix64's
        keys = (keys ^ word) + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


def seen_before(ranks: np.ndarray, same_player: np.ndarray) -> np.ndarray:
    """int16[E]: the ranks of positions as seen one ply earlier: sign from the players, one step nearer to a draw."""
    own = np.where(same_player, ranks, -ranks)
    return (own - np.sign(own)).astype(np.int16)


class _Chunk(NamedTuple):
    """Some positions of a layer and all that follow them."""

    players: np.ndarray  # int8[B]
    values: np.ndarray  # float32[B] results of finished ones, as the player to move sees them
    parents: np.ndarray  # int32[E] ascending: the position of each edge
    children: np.ndarray  # State[E]


def _expand(game: Game, states: np.ndarray) -> Iterator[_Chunk]:
    size = max(1, CHUNK // game.actions)
    for begin in range(0, len(states), size):
        some = states[begin : begin + size]
        n = len(some)
        players, over, values = np.zeros(n, np.int8), np.zeros(n, np.bool_), np.zeros(n, np.float32)
        masks = np.zeros((n, game.actions), np.bool_)
        game.kernels().look(some, np.arange(n, dtype=np.int32), players, over, values, masks)
        parents, actions = (each.astype(np.int32) for each in np.nonzero(masks))
        both = np.concatenate([some, np.zeros(len(parents), game.State)])
        game.kernels().play(both, parents, actions, np.arange(n, len(both), dtype=np.int32))
        yield _Chunk(players, values, parents, both[n:])


def _layers(game: Game) -> tuple[list[np.ndarray], bool]:
    """The reachable positions by the plies of the shortest way to them; does every move lead into the next layer?"""
    layers, graded = [game.start()], True
    seen = keys_of(layers[0])
    while len(layers[-1]):
        keys, states = np.empty(0, np.uint64), np.empty(0, game.State)
        for chunk in _expand(game, layers[-1]):
            keys, first = np.unique(np.concatenate([keys, keys_of(chunk.children)]), return_index=True)
            states = np.concatenate([states, chunk.children])[first]
            if len(seen) + len(keys) > min(POSITIONS, BYTES // game.State.itemsize):
                raise UsageError(
                    f"perfect plays small games, such as tictactoe or connect4:columns=4,rows=4; "
                    f"{game.spec} has too many positions (over {len(seen) + len(keys):,})."
                )
        known = np.isin(keys, seen, assume_unique=True)
        graded &= not known.any()
        layers.append(states[~known])
        seen = np.sort(np.concatenate([seen, keys[~known]]), kind="stable")
    return layers[:-1], graded


def _ranks(game: Game, layer: np.ndarray, solution: Solution) -> np.ndarray:
    """int16[B]: the ranks of a layer from those of the positions that follow."""
    ranks = []
    for chunk in _expand(game, layer):
        rank = (np.sign(chunk.values) * WIN).astype(np.int16)
        if len(chunk.parents):
            same = chunk.children["player"] == chunk.players[chunk.parents]
            child_ranks = seen_before(solution.look_up(chunk.children), same)
            moving, first = np.unique(chunk.parents, return_index=True)
            rank[moving] = np.maximum.reduceat(child_ranks, first)
        ranks.append(rank)
    return np.concatenate(ranks)
