"""How strong a run's networks are: fixed players of rising strength, earlier models, and one table of all results.

A new model plays the best one, earlier ones, and the weakest fixed player that it does not clearly beat. One fit of all
results since the run began then rates everybody anew. ratings.json holds the table.
"""

import json
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goishi.arena.in_step import Played, RandomSide, SearchSide, Side, paired, play_in_step, random_openings
from goishi.arena.rating import LEAST_DISTINCT, bradley_terry, expected
from goishi.core.game import Game
from goishi.errors import BadRun
from goishi.networks.evaluator import Evaluator
from goishi.search import Search, SearchSettings
from goishi.search.rollout import ROLLOUT_SETTINGS, rollouts
from goishi.training.files import write
from goishi.training.settings import Rating

FILE = "ratings.json"
STEP = 4
"""Each fixed player has so many times the playouts of the one below, and takes about so many times its time."""
BEATEN = 0.75
"""A fixed player of which a model is expected to win less than this is worth playing: a game tells at least three
quarters of what one between equals does, and the next player costs up to four times as much."""
NEAR = 0.25
"""Earlier models are worth playing that are expected to score at least this against the best."""
LARGEST = 4_000_000
"""Actions that the trees of a fixed player's games in step may hold, about: it bounds memory."""


class Match(NamedTuple):
    """What a match came to."""

    player: str
    """A model: its generation, as its file in models/ is called."""
    opponent: str
    """A model, `random`, or `rollout:VISITS`."""
    points: float
    """The player's: 1 for a win, a half for a draw."""
    games: int
    """0 where too few of them were distinct to count."""
    seconds: float

    @property
    def fixed(self) -> bool:
        """Is the opponent a fixed player?"""
        return not self.opponent.isdigit()


class Ladder:
    """The table of a run's results, who is best by it, and the matches that fill it."""

    def __init__(
        self, game: Game, settings: Rating, folder: Path, judge: Callable[[bytes | Path], Evaluator], seed: int = 0
    ):
        """`folder` is the run's, with the rated models in its models/; `judge` opens a network."""
        self._game, self._settings, self._folder, self._judge, self._seed = game, settings, folder, judge, seed
        visits = [settings.rollouts] if settings.rollouts else []
        while visits and visits[0] >= 25 * STEP:
            visits.insert(0, visits[0] // STEP)
        self.anchors = ["random", *(f"rollout:{count}" for count in visits)]
        """The fixed players, the weakest first."""
        self.matches: list[Match] = []
        self.best = ""
        """The best model; empty when none is rated."""
        self.elo: dict[str, tuple[float, float]] = {}
        """By player: Elo, and its standard error. `random` is 0. Errors are those of the distance from the weakest
        player that searches: how far this one lies above `random`, which soon loses every game, moves all alike."""
        if (folder / FILE).exists():
            try:
                facts = json.loads((folder / FILE).read_bytes())
                self.take([Match(*row) for row in facts["matches"]], str(facts["best"]))
            except (ValueError, KeyError, TypeError):
                raise BadRun(f"{folder / FILE} is broken; move it away to rate anew from here on.") from None

    def take(self, matches: list[Match], best: str) -> None:
        """Goes on from earlier results; they are on the disk at once."""
        self.matches, self.best = matches, best
        self._fit_all()
        self._save()

    def rated(self, name: str) -> bool:
        """Has the model played?"""
        return any(match.player == name for match in self.matches)

    # The matches

    def rate(
        self,
        name: str,
        content: bytes,
        elapsed: Callable[[], float],
        say: Callable[[str], None],
        last: bool = False,
    ) -> None:
        """Rates a new model by the matches that there is time for; chooses the best anew.

        elapsed   seconds that the run has lasted; of the share that the settings allow, one half is for all its
                  matches with fixed players, one for those with earlier models
        say       hears why a match does not count
        last      the run's last model meets the best one in any case
        """
        rng = np.random.default_rng((self._seed, 2, int(name)))
        me = self._network(content)

        def affords(opponent: str) -> bool:
            fixed = opponent in self.anchors
            spent = sum(match.seconds for match in self.matches if match.fixed == fixed)
            return spent + self.expected_seconds(opponent) <= self._settings.share / 2 * elapsed()

        def play(opponent: str) -> None:
            began = elapsed()
            games = self._play(me, opponent, rng)
            points = sum((1 + game.score * (1 if game.first == 0 else -1)) / 2 for game in games)
            match = Match(name, opponent, points, len(games), round(elapsed() - began, 2))
            if len({(game.actions, game.first) for game in games}) < LEAST_DISTINCT * len(games):
                say(f"No rating against {opponent}: fewer than {LEAST_DISTINCT:.0%} of the games are distinct.")
                match = match._replace(points=0, games=0)
            write(self._folder / "models" / f"{name}.onnx", content)
            self.add(match)

        for opponent in self.earlier(rng):
            if affords(opponent) or (last and opponent == self.best):
                play(opponent)
        met: set[str] = set()
        while (anchor := self.anchor(name)) not in met and affords(anchor):
            met.add(anchor)
            play(anchor)
        if self.rated(name):
            self.choose()

    def anchor(self, name: str) -> str:
        """The fixed player worth a match with a model: the weakest that it has not clearly beaten.

        One that nobody has met is worth it, too: no rung is skipped. But a model that has no result yet first plays one
        that others have met, so that games connect everybody with everybody. The strongest is always worth it.
        """
        elo = self.elo.get(name) or self.elo.get(self.best, (0.0, 0.0))
        met = [anchor for anchor in self.anchors if anchor in self.elo]
        for anchor in met:
            if expected(elo[0] - self.elo[anchor][0]) < BEATEN:
                return anchor
        above = [anchor for anchor in self.anchors if anchor not in self.elo]
        return above[0] if above and (name in self.elo or not met) else met[-1]

    def earlier(self, rng: np.random.Generator) -> list[str]:
        """The models that a new one is to meet: the best, and others of any time that are not far below it."""
        near = [
            name
            for name, (elo, _) in self.elo.items()
            if name.isdigit() and name != self.best and expected(elo - self.elo[self.best][0]) >= NEAR
        ]
        count = min(max(0, self._settings.earlier - 1), len(near))
        return ([self.best] if self.best else []) + rng.permutation(near)[:count].tolist()

    def expected_seconds(self, opponent: str) -> float:
        """How long a match with an opponent will take, by the last of its kind; 0 before the first."""
        fixed = opponent in self.anchors
        for match in reversed(self.matches):
            if match.opponent == opponent or not (fixed or match.fixed):
                return match.seconds
        below = self.anchors.index(opponent) - 1 if fixed else -1
        if below < 0:
            return 0.0
        return self.expected_seconds(self.anchors[below]) * (STEP if below else 1)  # beside a network `random` is idle

    def _play(self, me: Side, opponent: str, rng: np.random.Generator) -> list[Played]:
        """Pairs of games, each pair from an opening of its own."""
        count, plies = self._settings.games, self._settings.opening_plies
        openings = random_openings(self._game, count // 2, plies, rng)
        kind, _, visits = opponent.partition(":")
        other: Side
        if kind == "random":
            other = RandomSide(rng)
        elif kind == "rollout":
            count = min(count, max(2, LARGEST // (int(visits) * self._game.actions)))
            judge = rollouts(self._game, int(rng.integers(1 << 30)), threads=1)
            other = SearchSide(Search(self._game, judge, ROLLOUT_SETTINGS, count), int(visits))
        else:
            other = self._network(self._folder / "models" / f"{opponent}.onnx")
        pairs = count // 2
        return [
            game
            for begin in range(0, len(openings), pairs)
            for game in play_in_step(self._game, (me, other), *paired(openings[begin : begin + pairs]))
        ]

    def _network(self, content: bytes | Path) -> Side:
        settings = SearchSettings(mode="gumbel", leaves=1)
        search = Search(self._game, self._judge(content), settings, self._settings.games)
        return SearchSide(search, self._settings.visits)

    # The table

    def add(self, match: Match) -> None:
        """One more result, on the disk at once."""
        self.matches.append(match)
        self._fit_all()
        self._save()

    def choose(self) -> None:
        """The best model: another takes its place when it is rated higher by more than the difference's standard error.

        So it is better with 84% probability. A best one that was only lucky plays every later model, falls, and is
        replaced, if need be by the one before.
        """
        models = [name for name in self.elo if name.isdigit()]
        if self.best not in models:
            self.best = max(models, key=lambda name: self.elo[name][0], default="")
        over = self._fit(self.best)  # the errors are those of the distance from the best
        surely = {name: over[name][0] - over[name][1] for name in models if name in over}
        first = max(surely, key=surely.__getitem__, default=self.best)
        if surely.get(first, 0) > 0:
            self.best = first
        self._save()

    def _fit_all(self) -> None:
        """Everybody's Elo from all results."""
        names = self._names()
        fit = self._fit(next((name for name in (*self.anchors[1:], "rollout", "random", *names) if name in names), ""))
        zero = fit.get("random", (0.0, 0.0))[0]
        self.elo = {name: (elo - zero, error) for name, (elo, error) in fit.items()}

    def _fit(self, zero: str) -> dict[str, tuple[float, float]]:
        """Elo over the player `zero` and its standard error, of all whom games connect with it."""
        names = self._names()
        if zero not in names:
            return {}
        index = {name: place for place, name in enumerate(names)}
        points = np.zeros((len(names), len(names)))
        for match in filter(lambda match: match.games, self.matches):
            points[index[match.player], index[match.opponent]] += match.points
            points[index[match.opponent], index[match.player]] += match.games - match.points
        fit = bradley_terry(points, index[zero])
        rows = zip(names, fit.elo.tolist(), fit.errors.tolist(), strict=True)
        return {name: (elo, error) for name, elo, error in rows if isfinite(error)}

    def _names(self) -> list[str]:
        """All who have a result, in the order of their first."""
        return list(dict.fromkeys(name for match in self.matches if match.games for name in match[:2]))

    def _save(self) -> None:
        elo = {name: [round(elo, 1), round(error, 1)] for name, (elo, error) in self.elo.items()}
        facts: dict[str, Any] = {"best": self.best, "elo": elo, "matches": self.matches}
        write(self._folder / FILE, json.dumps(facts).encode())
