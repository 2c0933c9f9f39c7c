"""A game in progress: immutable, each move gives the next position."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from goishi.core.game import Game
from goishi.errors import IllegalMove


class Position:
    """One position with the moves that led to it.

    state    the record; nobody changes it
    history  the actions since the start, oldest first
    earlier  the keys of the positions so far, this one's among them, where a game has a `key`

    Where a game's file has a `key`, positions may not recur in the whole game: each new record forbids the actions that
    would repeat one, so that whoever sees the record knows them (see core/game.py).
    """

    def __init__(
        self, game: Game, states: np.ndarray, history: tuple[int, ...] = (), earlier: frozenset[int] = frozenset()
    ):
        """earlier: the keys of the positions that led here. A position without them begins a game of its own."""
        self.game = game
        self.states = states  # State[1]
        self.history = history
        self.earlier = earlier
        if game.kernels().keys:
            self._forbid_repeats()

    @classmethod
    def start(cls, game: Game) -> "Position":
        """The first position of a game."""
        return cls(game, game.start())

    @classmethod
    def after(cls, game: Game, actions: Iterable[int]) -> "Position":
        """The position after these actions from the start. Raises IllegalMove."""
        position = cls.start(game)
        for action in actions:
            position = position.play(action)
        return position

    @property
    def state(self) -> np.record:
        """The record."""
        return self.states[0]

    @property
    def player(self) -> int:
        """Who moves: +1 the player who began the game, -1 the other."""
        return int(self.states["player"][0])

    @cached_property
    def _look(self) -> tuple[bool, float, np.ndarray]:
        players, over = np.zeros(1, np.int8), np.zeros(1, np.bool_)
        values, masks = np.zeros(1, np.float32), np.zeros((1, self.game.actions), np.bool_)
        self.game.kernels().look(self.states, np.zeros(1, np.int32), players, over, values, masks)
        masks.setflags(write=False)
        return bool(over[0]), float(values[0]), masks[0]

    @property
    def over(self) -> bool:
        """Is the game finished?"""
        return self._look[0]

    @property
    def value(self) -> float:
        """The result as the player to move sees it; 0 while the game goes on."""
        return self._look[1]

    @property
    def score(self) -> float:
        """The result for the player who began: +1 won, 0 drawn or not over, -1 lost."""
        return self._look[1] * self.player

    @property
    def mask(self) -> np.ndarray:
        """bool[A]: the legal actions, read only."""
        return self._look[2]

    @property
    def actions(self) -> list[int]:
        """The legal actions, lowest first."""
        return np.flatnonzero(self.mask).tolist()

    @property
    def stones(self) -> np.ndarray:
        """int8[rows, columns]: +1, -1, 0."""
        return self.game.stones(self.state)

    def play(self, action: int) -> "Position":
        """The next position. Raises IllegalMove, and this one stays as it is."""
        if self.over:
            raise IllegalMove("The game is over.")
        if not 0 <= action < self.game.actions or not self.mask[action]:
            known = self.game.board is not None and 0 <= action < self.game.actions
            raise IllegalMove(f"{self.name(action) if known else action} may not be played here.")
        states = np.zeros(2, self.game.State)
        states[0] = self.state
        self.game.kernels().play(states, np.zeros(1, np.int32), np.array([action], np.int32), np.ones(1, np.int32))
        return Position(self.game, states[1:], (*self.history, int(action)), self.earlier)

    def _forbid_repeats(self) -> None:
        """Notes in the record which actions would lead to a position that was there before."""
        (key,) = self._keys_of(self.states)
        if key:
            self.earlier |= {key}
        if not self.earlier or self.over:
            return
        actions = np.flatnonzero(self.mask).astype(np.int32)
        del self.__dict__["_look"]  # the mask may change
        pool = np.repeat(self.states, len(actions) + 1)
        children = np.arange(1, len(pool), dtype=np.int32)
        self.game.kernels().play(pool, np.zeros(len(actions), np.int32), actions, children)
        for action, after in zip(actions.tolist(), self._keys_of(pool[1:]), strict=True):
            if after in self.earlier:
                self.game.module.forbid(self.state, action)

    def _keys_of(self, states: np.ndarray) -> list[int]:
        keys, kernel = np.zeros(len(states), np.uint64), self.game.kernels().keys
        assert kernel is not None
        kernel(states, keys)
        return keys.tolist()

    def name(self, action: int) -> str:
        """The action's name for a person: `D4`, or its number where the game has no board."""
        return self.game.board.name(action) if self.game.board else str(action)

    def action(self, name: str) -> int:
        """The action of that name. Raises IllegalMove when there is none."""
        if self.game.board:
            return self.game.board.action(name)
        if name.strip().isdigit() and int(name) < self.game.actions:
            return int(name)
        raise IllegalMove(f"{name.strip()!r} is no move; moves are numbers from 0 to {self.game.actions - 1}.")
