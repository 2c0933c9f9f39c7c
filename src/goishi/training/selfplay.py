"""Games of a network against itself, many in step.

Each tree plays a game of its own: when its search is done it moves and goes on at once, so the batches stay full.

Shapes: T games in step, R rows (learned positions) of a game, A actions, P points.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from goishi.core.game import Game
from goishi.networks.evaluator import Evaluator
from goishi.search import Result, Search
from goishi.training.settings import Games, LearningSearch

CLEAR_MOVES, CLEAR_CHEAP_SHARE = 4, 0.9
"""Once the search was sure of one winner for so many moves, this share of moves is cheap."""


class PlayedGame(NamedTuple):
    """A finished game and what is to be learned from it."""

    actions: tuple[int, ...]
    score: float  # for the player who began
    opening: int  # plies that were not searched
    resigned: bool
    wrong: bool  # played on for calibration: the side that would have resigned did not lose
    right: bool  # and here it did
    states: np.ndarray  # State[R]
    policies: np.ndarray  # float16[R, A] what the search says of the move
    results: np.ndarray  # float32[R] of the game, as the row's player sees it
    values: np.ndarray  # float32[R] of the search's root, as the row's player sees it
    owners: np.ndarray | None = None  # int8[P] whose each point was at the end by the rules, +1 the first player's
    lead: float | None = None  # the first player's points less the second's then
    varied: bool = False  # did it begin with other komi or rules than the game's spec has?


class _Unfinished:
    """A game in progress."""

    def __init__(self) -> None:
        self.actions: list[int] = []
        self.opening = 0  # plies of the opening still to come
        self.drawn = 0  # plies that were
        self.full = True  # is this move's position learned?
        self.plays_on = False
        self.varied = False
        self.clear = 0  # moves in a row at which the search was sure who wins; its sign says who
        self.states: list[np.ndarray] = []
        self.policies: list[np.ndarray] = []
        self.players: list[int] = []
        self.values: list[float] = []
        self.low = {1: 0, -1: 0}  # own turns in a row below the threshold
        self.would_resign = 0  # the first side that would have


class SelfPlay:
    """Plays `at_once` games in step with one evaluator, which may be replaced at any time. For one thread."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        search: LearningSearch,
        games: Games,
        at_once: int,
        rng: np.random.Generator,
    ):
        self.game, self.settings, self.games, self.rng = game, search, games, rng
        self.search = Search(game, evaluator, search, at_once, rng)
        self.evaluations = 0
        T = at_once
        self._area = prod(game.planes[1:])
        board = game.board
        self._pass = game.actions - 1 if board is not None and board.passes else -1
        self._vary = getattr(game.module, "vary", None)
        self._rows = np.arange(T, dtype=np.int32)
        self._states = np.zeros(T, game.State)
        self._over, self._players = np.zeros(T, np.bool_), np.zeros(T, np.int8)
        self._values, self._masks = np.zeros(T, np.float32), np.zeros((T, game.actions), np.bool_)
        self._unfinished = [_Unfinished() for _ in range(T)]
        for index in range(T):
            self._start(index)

    def step(self) -> list[PlayedGame]:
        """One batch of all games; the games that ended with it."""
        self.evaluations += self.search.wave()
        done = np.flatnonzero(~self.search.busy()).astype(np.int32)
        if not len(done):
            return []
        finished = []
        moved = []
        for index in done:
            if self._choose(int(index)):
                moved.append(index)
            else:
                finished.append(self._finish(int(index), resigned=True))
                self._start(int(index))
        if moved:
            rows = np.array(moved, np.int32)
            actions = np.array([self._unfinished[index].actions[-1] for index in moved], np.int32)
            self.game.kernels().play(self._states, rows, actions, rows)
            over = self._look(rows)
            for index, ended in zip(moved, over, strict=True):
                if ended:
                    finished.append(self._finish(int(index), resigned=False))
                    self._start(int(index))
                else:
                    self._begin(int(index))
        return finished

    def _look(self, rows: np.ndarray) -> np.ndarray:
        """bool[B]: which of these games are over; who moves and the results are written down."""
        count = len(rows)
        players, over = np.zeros(count, np.int8), np.zeros(count, np.bool_)
        values, masks = np.zeros(count, np.float32), np.zeros((count, self.game.actions), np.bool_)
        self.game.kernels().look(self._states, rows, players, over, values, masks)
        self._players[rows], self._over[rows], self._values[rows], self._masks[rows] = players, over, values, masks
        return over

    def _start(self, index: int) -> None:
        """A new game, with the random moves of its opening."""
        games, rng = self.games, self.rng
        fresh = self._unfinished[index] = _Unfinished()
        fresh.plays_on = games.resign > 0 and rng.random() < games.play_on
        row = self._rows[index : index + 1]
        self.game.kernels().start(self._states[index : index + 1])
        if self._vary and rng.random() < games.varied_share:
            self._vary(self._states[index], rng)
            fresh.varied = True
        self._look(row)
        if rng.random() < games.random_share:
            for _ in range(int(rng.integers(1, (games.random_plies or self._area) + 1))):
                before = self._states[index : index + 1].copy()
                legal = np.flatnonzero(self._masks[index])
                others = legal[legal != self._pass]
                action = int(rng.choice(others if len(others) else legal))
                self.game.kernels().play(self._states, row, np.array([action], np.int32), row)
                if self._look(row)[0]:  # a game that chance has ended teaches nothing: stop before
                    self._states[index : index + 1] = before
                    self._look(row)
                    break
                fresh.actions.append(action)
                fresh.drawn += 1
        else:
            fresh.opening = int(rng.exponential(games.policy_plies * self._area)) if games.policy_plies else 0
        self.search.reset(index)
        self._begin(index)

    def _begin(self, index: int) -> None:
        """Starts the search of a game's next move."""
        game, settings = self._unfinished[index], self.settings
        cheap = max(settings.cheap_share, CLEAR_CHEAP_SHARE if abs(game.clear) >= CLEAR_MOVES else 0.0)
        game.full = not cheap or self.rng.random() >= cheap
        visits = 1 if game.opening else settings.visits if game.full else settings.cheap_visits
        if not (settings.keep_tree and game.actions):
            self.search.reset(index)
        self.search.begin(index, self._states[index : index + 1], visits)

    def _choose(self, index: int) -> bool:
        """Adds the move of a searched game to its actions; False when its side resigns."""
        game = self._unfinished[index]
        result = self.search.result(index)
        if game.opening:
            game.opening -= 1
            game.drawn += 1
            weights = result.priors.astype(np.float64)
            if self._may_not_pass(index, result):
                weights = self._without_pass(index, weights)
            action = int(self.rng.choice(len(weights), p=weights / weights.sum()))
        else:
            player = int(self._players[index])
            winner = player * (int(result.value > self.settings.clear) - int(result.value < -self.settings.clear))
            game.clear = game.clear + winner if winner * game.clear >= 0 and winner else winner
            if self._resigns(game, player, result.value):
                return False
            if game.full:
                game.states.append(self._states[index].copy())
                game.policies.append(result.policy.astype(np.float16))
                game.players.append(player)
                game.values.append(result.value)
            policy, best = result.policy, result.best
            if self._may_not_pass(index, result):
                policy = self._without_pass(index, policy)
                best = int(np.argmax(policy)) if best == self._pass else best
            action = best if self.settings.mode == "gumbel" else self._draw(game, policy)
            if result.value < -self.settings.clear and self._may_end(index):
                action = self._pass
        game.actions.append(action)
        if self.settings.keep_tree:
            self.search.advance(index, action)
        return True

    def _may_not_pass(self, index: int, result: Result) -> bool:
        """Is it too early for a pass that neither wins by itself nor is forced?"""
        early = len(self._unfinished[index].actions) < self.games.first_pass * self._area
        return early and self._pass >= 0 and result.proven != 1 and int(self._masks[index, : self._pass].sum()) > 0

    def _may_end(self, index: int) -> bool:
        """Has the opponent passed, and may this side pass too? Who has lost would else play on to the end."""
        actions = self._unfinished[index].actions
        return self._pass >= 0 and actions[-1:] == [self._pass] and bool(self._masks[index, self._pass])

    def _without_pass(self, index: int, policy: np.ndarray) -> np.ndarray:
        """A policy over the other legal actions, which have some share each, whatever it was; it need not sum to 1."""
        others = np.where(self._masks[index], np.maximum(policy, 1e-9), 0.0)
        others[self._pass] = 0.0
        return others

    def _draw(self, game: _Unfinished, policy: np.ndarray) -> int:
        """A move in proportion to its visits to the power 1 / temperature, which falls with the plies."""
        games = self.games
        fall = 0.5 ** (len(game.actions) / max(1, games.temperature_plies))
        temperature = games.final_temperature + (games.temperature - games.final_temperature) * fall
        logits = np.log(np.maximum(policy.astype(np.float64), 1e-300)) / temperature
        weights = np.where(policy > 0, np.exp(logits - logits.max()), 0.0)
        return int(self.rng.choice(len(weights), p=weights / weights.sum()))

    def _resigns(self, game: _Unfinished, player: int, value: float) -> bool:
        if not self.games.resign:
            return False
        game.low[player] = game.low[player] + 1 if value < -self.games.resign else 0
        if game.low[player] < self.games.resign_turns:
            return False
        game.would_resign = game.would_resign or player
        return not game.plays_on

    def _finish(self, index: int, resigned: bool) -> PlayedGame:
        game = self._unfinished[index]
        mover = int(self._players[index])
        score = -float(mover) if resigned else float(self._values[index]) * mover
        players = np.array(game.players, np.float32)
        calibrates = game.would_resign != 0 and not resigned
        lost = game.would_resign * score < 0
        owners, lead = (None, None) if resigned else self._count(index)
        return PlayedGame(
            tuple(game.actions),
            score,
            game.drawn,
            resigned,
            calibrates and not lost,
            calibrates and lost,
            np.array(game.states, self.game.State),
            np.array(game.policies, np.float16).reshape(len(players), self.game.actions),
            score * players,
            np.array(game.values, np.float32),
            owners,
            lead,
            game.varied,
        )

    def _count(self, index: int) -> tuple[np.ndarray | None, float | None]:
        """Whose each point is at a game's end, and by how many points the first player is ahead, where it is known."""
        kernels, state = self.game.kernels(), self._states[index : index + 1]
        if kernels.owners is None or kernels.leads is None:
            return None, None
        owners, leads = np.zeros((1, self._area), np.int8), np.zeros(1, np.float32)
        kernels.owners(state, owners)
        kernels.leads(state, leads)
        return owners[0], float(leads[0])
