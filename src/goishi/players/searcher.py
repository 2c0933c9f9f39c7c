"""Players with an evaluator: by search, and by a network's first thought alone. Letter: A actions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import IllegalMove
from goishi.networks import evaluator as evaluators
from goishi.players import levels
from goishi.players.levels import LEVELS, Level
from goishi.players.player import VISITS, Decision, Maker, Spec
from goishi.search import analysis
from goishi.search.analysis import Analysis
from goishi.search.rollout import ROLLOUT_SETTINGS, rollouts
from goishi.search.search import Limit, Result, Search, SearchSettings
from goishi.search.tree import EDGE, NODE

RESIGN_TURNS = 3
"""A player resigns when it saw itself lost this many turns in a row ..."""
RESIGN_PLIES = 0.25
"""... and not before this share of the actions has been played."""
MOST_BYTES = 1 << 30
"""Of memory that the tree of an analysis may fill."""
SHARE_SECONDS = 0.001
"""How long an evaluator that several players share waits for the others' positions."""


class SearchPlayer:
    """Chooses by searching; keeps what it found below the moves that were played while one game goes on."""

    def __init__(
        self,
        game: Game,
        evaluator: evaluators.Evaluator,
        settings: SearchSettings | None = None,
        limit: Limit | None = None,
        temperature: float = 0.0,
        resign: float | None = None,
        seed: int = 0,
        name: str = "search",
        level: Level | None = None,
    ):
        """limit goes for every move unless `choose` is given another; temperature draws the move from the visits (see
        `visit_policy`), 0 plays the best; resign is the value in [-1, 0] below which it gives up, None never; a level
        says how the move is drawn in place of the temperature.
        """
        self.name = name
        self.game = game
        self.limit = limit or Limit(visits=VISITS["net"])
        self.temperature = temperature
        self.resign = resign
        self.level = level
        self._rng = np.random.default_rng(seed)
        self._evaluator = evaluator
        self._settings = settings or SearchSettings()
        self._search = Search(game, evaluator, self._settings, rng=self._rng)
        self._last: Position | None = None
        self._bars: np.ndarray | None = None
        self._lost_turns = 0

    def choose(self, position: Position, limit: Limit | None = None) -> Decision:
        """The best move, or one drawn by the temperature."""
        self._follow(position)
        result = self._search.run(position.states, limit or self.limit)[0]
        return self._decide(position, result)

    def choose_many(self, positions: list[Position], limit: Limit | None = None) -> list[Decision]:
        """A move for each of several unrelated positions, searched in step so that the evaluator gets large batches."""
        search = Search(self.game, self._evaluator, self._settings, trees=len(positions), rng=self._rng)
        states = np.concatenate([position.states for position in positions])
        return [Decision(self._draw(result), result) for result in search.run(states, limit or self.limit)]

    def analyze(
        self,
        position: Position,
        limit: Limit | None = None,
        report: Callable[[Analysis], object] | None = None,
        every: float = 1.0,
        territory: bool = False,
        least: int = 0,
        bars: np.ndarray | None = None,
        chooses: bool = False,
    ) -> Analysis:
        """What a search finds, read out each so many seconds for `report` (perhaps by another thread) and at the end.

        Without a limit it goes on until `stop`, or until its tree fills the memory that it may have. territory, least:
        see `analysis.analyze`. bars: int32[2, A], actions left out, see `Search.bar`. chooses: it may end early, as
        `choose` does, when nothing can change the choice.
        """
        self._follow(position, bars)
        bytes_a_visit = NODE.itemsize + self.game.State.itemsize + EDGE.itemsize * self.game.actions
        limit = limit or Limit()
        room = max(1, MOST_BYTES // bytes_a_visit)
        limit = limit._replace(visits=min(limit.visits or room, room))

        def read() -> Analysis:
            return analysis.analyze(self._search, 0, territory, least)

        def tell() -> None:
            assert report is not None
            report(read())

        self._search.run(position.states, limit, tell if report else None, every, to_the_end=not chooses)
        territory = territory and not self._search.stopped  # whoever stops it does not want to wait
        return read()

    @property
    def evaluator(self) -> evaluators.Evaluator:
        """What judges its positions."""
        return self._evaluator

    @property
    def settings(self) -> SearchSettings:
        """How it searches."""
        return self._settings

    def stop(self) -> None:
        """Ends the search that another thread is waiting for; `choose` then answers with what it has."""
        self._search.stop()

    def close(self) -> None:
        """Frees the tree."""
        self._search.reset()
        self._last = None

    def _follow(self, position: Position, bars: np.ndarray | None = None) -> None:
        """Moves the tree's root to the position where it continues the last one, else forgets the tree."""
        last, self._last = self._last, position
        if bars is not None or self._bars is not None:
            self._search.bar(0, bars)
            self._bars, last = bars, None
        if last is not None and _continues(position, last):
            for action in position.history[len(last.history) :]:
                self._search.advance(0, action)
            return
        self._search.reset()
        self._lost_turns = 0

    def _draw(self, result: Result) -> int:
        if self.level is None:
            return draw(result, self.temperature, self._rng)
        passes = self.game.board is not None and self.game.board.passes
        return levels.draw(result, self.level, self.game.actions - 1 if passes else None, self._rng)

    def _decide(self, position: Position, result: Result) -> Decision:
        action = self._draw(result)
        if self.resign is None:
            return Decision(action, result)
        lost = result.value < self.resign and result.values[result.best] < self.resign
        self._lost_turns = self._lost_turns + 1 if lost else 0
        early = len(position.history) < RESIGN_PLIES * self.game.actions
        return Decision(action, result, self._lost_turns >= RESIGN_TURNS and not early)


class PolicyPlayer:
    """Plays what the network likes best at first sight, or draws from its policy where a temperature is given."""

    def __init__(
        self, game: Game, evaluator: evaluators.Evaluator, temperature: float = 0.0, seed: int = 0, name: str = "policy"
    ):
        self.name = name
        self.game = game
        self.temperature = temperature
        self._evaluator = evaluator
        self._rng = np.random.default_rng(seed)

    def choose(self, position: Position, limit: Limit | None = None) -> Decision:
        """The move of the largest policy, or one drawn; the limit is not needed."""
        return self.choose_many([position])[0]

    def choose_many(self, positions: list[Position], limit: Limit | None = None) -> list[Decision]:
        """The same for several positions in one evaluation."""
        logits, _ = self._evaluator(np.concatenate([position.states for position in positions]))
        return [self._pick(position.mask, row) for position, row in zip(positions, logits, strict=True)]

    def close(self) -> None:
        """Nothing to free."""

    def _pick(self, mask: np.ndarray, logits: np.ndarray) -> Decision:
        if self.temperature == 0:
            return Decision(int(np.where(mask, logits, -np.inf).argmax()))
        policy = masked_softmax(logits / self.temperature, mask)
        return Decision(int(self._rng.choice(len(policy), p=policy)))


def _continues(position: Position, last: Position) -> bool:
    """Did this position come from the last one by the moves of its history?"""
    if position.history[: len(last.history)] != last.history:
        return False
    try:
        for action in position.history[len(last.history) :]:
            last = last.play(action)
    except IllegalMove:
        return False
    return last.states.tobytes() == position.states.tobytes()


def masked_softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """float64[A]: the softmax over the legal actions, 0 elsewhere."""
    masked = np.where(mask, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max())
    return weights / weights.sum()


def visit_policy(visits: np.ndarray, temperature: float) -> np.ndarray:
    """float64[A]: p(a) in proportion to visits(a) ** (1 / temperature); by logarithms, so that none overflows."""
    with np.errstate(divide="ignore"):
        return masked_softmax(np.log(visits) / temperature, visits > 0)


def draw(result: Result, temperature: float, rng: np.random.Generator) -> int:
    """The move to play. Chance has no say at temperature 0, in a proven position, and where nothing was visited."""
    if temperature == 0 or result.proven is not None or not result.visits.any():
        return int(result.best)
    return int(rng.choice(len(result.visits), p=visit_policy(result.visits, temperature)))


def maker(name: str, spec: Spec, game: Game, threads: int) -> Maker:
    """Makes players of a spec whose kind is uniform, rollout, net or policy.

    Raises BadModel for a model that can't play the game.
    """
    options: dict[str, Any] = dict(spec.options)
    temperature = options.get("temperature", 0.0)
    evaluator: evaluators.Evaluator | None = None
    if spec.kind in ("net", "policy"):
        chosen = {key: options[key] for key in ("runtime", "precision", "symmetry") if key in options}
        evaluator = evaluators.load(spec.argument, game, rng=np.random.default_rng(0), **chosen)
        if threads > 1:
            evaluator = evaluators.shared(evaluator, SHARE_SECONDS)
    if spec.kind == "policy":
        assert evaluator is not None
        return lambda seed: PolicyPlayer(game, evaluator, temperature, seed, name)

    settings = search_settings(spec.kind, options)
    level = LEVELS[options["level"] - 1] if "level" in options else None
    usual = level.visits if level else VISITS[spec.kind]
    visits = options.get("visits", None if "seconds" in options else usual)
    limit = Limit(visits=visits, seconds=options.get("seconds"))

    def make(seed: int) -> SearchPlayer:
        judge = evaluator
        if spec.kind == "uniform":
            judge = evaluators.uniform(game)
        elif spec.kind == "rollout":
            judge = rollouts(game, seed, threads=options.get("threads", 1 if threads > 1 else 2))
        assert judge is not None
        return SearchPlayer(game, judge, settings, limit, temperature, options.get("resign"), seed, name, level)

    return make


def search_settings(kind: str, options: dict[str, Any]) -> SearchSettings:
    """The search of a spec: the traditional one for rollouts, PUCT for the others, unless `mode` says more."""
    mode = options.get("mode", "uct" if kind == "rollout" else "puct")
    settings = ROLLOUT_SETTINGS if kind == "rollout" and mode == "uct" else SearchSettings(mode=mode)
    if "leaves" in options:
        settings = replace(settings, leaves=options["leaves"])
    drawn = options.get("temperature") or options.get("level", len(LEVELS)) < len(LEVELS)
    return replace(settings, early_stop=False) if drawn else settings
