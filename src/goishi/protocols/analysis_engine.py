"""Many analyses of boards of one size at once: one search with a tree for each, whose leaves are judged in one batch.

Shapes: B positions, A actions, P points, N random games.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from goishi import players
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import UsageError
from goishi.networks import evaluator as evaluators
from goishi.networks.evaluator import Evaluator, NetworkEvaluator, Outlook
from goishi.players.searcher import MOST_BYTES, SearchPlayer
from goishi.protocols.analysis_query import Query, is_go
from goishi.search import analysis
from goishi.search.analysis import Analysis
from goishi.search.rollout import random_outlook
from goishi.search.search import Search
from goishi.search.tree import EDGE, NODE

TREES = 24
"""Analyses that have begun, at most ..."""
AT_ONCE = 8
"""... and those whose leaves share a batch."""
LEAVES = 64
"""Of a batch, about."""
LONE_LEAVES = 16
"""Of one analysis, at most, unless its player has more: as quick as two threads in turn."""
TURN = 8
"""Each so many waves are for the analyses of lower priority, so that an endless one does not hold them up."""
CACHED_BYTES = 64 << 20
"""Of memory for what a network said."""
IDLE_BYTES = 128 << 20
"""A pool of trees larger than this is freed when nothing is to be done."""
REPORT_SHARE = 4.0
"""Reports come no more often than leaves this share of the time for the search."""


class Judge:
    """An evaluator that always knows ownership and score where the game does: by random games where it has no heads."""

    def __init__(self, game: Game, evaluator: Evaluator):
        self._game, self._evaluator = game, evaluator
        self.cache: evaluators.Cached | None = None
        if isinstance(evaluator, NetworkEvaluator):
            self.cache = evaluators.cached(evaluator, CACHED_BYTES // (4 * game.actions + game.State.itemsize + 200))

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (self.cache or self._evaluator)(states)

    def outlook(self, states: np.ndarray) -> Outlook | None:
        """Ownership and score of State[B]; None where the game knows neither."""
        return self.raw_outlook(states) or random_outlook(self._game, states)

    def raw_outlook(self, states: np.ndarray) -> Outlook | None:
        """The evaluator's own; None where it does not know."""
        return evaluators.outlook(self._evaluator, states)


class Job:
    """One turn of a query, from its arrival to its last answer."""

    def __init__(self, query: Query, turn: int, priority: int, number: int, position: Position, say: Any):
        self.query, self.turn, self.position, self.say = query, turn, position, say
        self.place = (-priority, number)
        """In the queue: the lowest first."""
        self.tree: int | None = None
        self.share = 1  # leaves of a wave, at most
        self.seconds = 0.0  # of search
        self.next_report = query.first_report
        self.stopped = False
        self.softens = False  # its root's policy is still to be flattened
        self.raw_score: float | None = None  # of the root alone; nan where nobody knows

    @property
    def temperature(self) -> float:
        """At which the root's policy is flattened."""
        settings = self.query.settings
        return settings.root_temperature * (4 * settings.wide_root_noise + 1)


class Engine:
    """A game on one board, a player's evaluator, and the trees of the analyses."""

    def __init__(self, game: Game, player: str):
        """Takes seconds: loads the network, and compiles the rules where they are new. Raises GoishiError."""
        found = players.find(player, game)
        if not isinstance(found, SearchPlayer):
            raise UsageError(f"Analysis needs a player that searches, such as net, uniform or rollout, not {player}.")
        settings = replace(found.settings, early_stop=False, leaves=max(found.settings.leaves, LONE_LEAVES))
        if settings.mode == "gumbel":
            settings = replace(settings, mode="puct")  # it lays its visits out ahead, and an analysis may be endless
        if is_go(game):
            settings = replace(settings, solver=False)  # passes "prove" results that dead stones belie
        self._game, self._limit = game, found.limit
        self._settings, self._judge = settings, Judge(game, found.evaluator)
        self._jobs: list[Job] = []
        self._waves = 0
        self._bytes_a_visit = NODE.itemsize + game.State.itemsize + EDGE.itemsize * game.actions
        self._search = Search(game, self._judge, settings, trees=TREES)
        for count in (LONE_LEAVES, LEAVES):
            self._judge(game.start(count))  # some runtimes prepare each size of batch
        self._search.begin(0, game.start(), 2)
        while self._search.busy().any():
            self._search.wave()
        analysis.analyze(self._search, 0, territory=True)
        self._judge.outlook(game.start(analysis.MOST_OUTLOOKS))
        self._search.reset()

    @property
    def is_busy(self) -> bool:
        """Is there anything to be done?"""
        return bool(self._jobs)

    def add(self, job: Job) -> None:
        """A job more."""
        self._jobs.append(job)
        self._jobs.sort(key=lambda job: job.place)

    def jobs(self) -> Iterator[Job]:
        """All that are not done."""
        return iter(self._jobs)

    def remove(self, wanted: Callable[[Job], bool]) -> None:
        """Drops jobs without an answer."""
        for job in [job for job in self._jobs if wanted(job)]:
            self._end(job)

    def start_again(self) -> None:
        """After a failure: drops all jobs and all trees."""
        self._jobs.clear()
        self._search = Search(self._game, self._judge, self._settings, trees=TREES)

    def clear(self) -> None:
        """Forgets what is not in use: trees of earlier analyses, and what the network said."""
        for tree in self._free():
            self._search.reset(tree)
        if self._judge.cache:
            self._judge.cache.clear()

    def work(self, tell: Callable[[Job, Analysis | None, bool], None]) -> None:
        """One batch for the first jobs, then what there is to tell: `tell(job, analysis, is during the search)`."""
        for job in [job for job in self._jobs if job.stopped]:
            self._finish(job, tell)
        active = self._choose()
        if not active:
            return
        desk, search = self._search.desk, self._search
        desk.share[:] = 0
        for job in active:
            desk.share[job.tree] = max(1, min(job.share, LEAVES // len(active)))
        began = time.monotonic()
        search.wave()
        passed = time.monotonic() - began
        busy = search.busy()
        for job in active:
            job.seconds += passed
            if job.softens and self._visits(job) > 0:
                search.soften(job.tree, job.temperature)  # type: ignore[arg-type]
                job.softens = False
            limit = job.query.settings.seconds
            if limit is None and job.query.settings.visits is None:
                limit = self._limit.seconds
            if not busy[job.tree] or (limit is not None and job.seconds >= limit):
                self._finish(job, tell)
            elif job.next_report is not None and job.seconds >= job.next_report and self._visits(job) > 0:
                self._report(job, tell)
        self._spare_memory(tell)

    def raw_score(self, job: Job, otherwise: float) -> float:
        """What the evaluator says of the root's score before any search, where it knows."""
        if job.raw_score is None:
            raw = self._judge.raw_outlook(job.position.states)
            job.raw_score = math.nan if raw is None else float(raw.score[0])
        return otherwise if math.isnan(job.raw_score) else job.raw_score

    def policy(self, job: Job) -> np.ndarray:
        """float32[A]: the evaluator's own, over all legal actions."""
        mask = job.position.mask
        logits = np.where(mask, self._judge(job.position.states)[0][0].astype(np.float64), -np.inf)
        weights = np.exp(logits - logits.max()) if mask.any() else np.zeros(len(mask))
        return (weights / max(weights.sum(), 1e-300)).astype(np.float32)

    def _choose(self) -> list[Job]:
        """The jobs of the next wave, each with a tree: those of the highest priority, or now and then the others."""
        if not self._jobs:
            return []
        self._waves += 1
        highest = self._jobs[0].place[0]
        chosen = [job for job in self._jobs if job.place[0] == highest]
        lower = self._jobs[len(chosen) :]
        if lower and self._waves % TURN == 0:
            chosen = lower
        active = []
        for job in chosen:
            if job.tree is None and not self._begin(job):
                continue
            active.append(job)
            if len(active) == AT_ONCE:
                break
        return active or [job for job in self._jobs if job.tree is not None][:AT_ONCE]

    def _free(self) -> list[int]:
        taken = {job.tree for job in self._jobs}
        return [tree for tree in range(TREES) if tree not in taken]

    def _begin(self, job: Job) -> bool:
        """Gives a job a tree: one that knows its position, an empty one, or any that is not in use. False: none is."""
        free, search = self._free(), self._search
        if not free:
            return False
        settings, roots = job.query.settings, search.desk.roots
        visits = settings.visits or self._limit.visits or 1 << 30
        visits = min(visits, 1 << 30) - 1  # the root's own evaluation counts here
        wanted = job.position.states.tobytes()

        def rank(tree: int) -> int:
            root = roots[tree]
            if root < 0:
                return 1
            known = search.states[root].tobytes() == wanted and search.pool.nodes.visits[root] <= visits + 1
            return 0 if known and job.query.bars is None else 2

        tree = min(free, key=rank)
        if rank(tree) == 2:
            search.reset(tree)
        if job.query.bars is not None:
            search.bar(tree, job.query.bars)
        search.begin(tree, job.position.states, visits)
        job.tree, job.share = tree, int(search.desk.share[tree])
        job.softens = job.temperature != 1.0
        return True

    def _visits(self, job: Job) -> int:
        root = self._search.desk.roots[job.tree] if job.tree is not None else -1
        return int(self._search.pool.nodes.visits[root]) if root >= 0 else 0

    def _read(self, job: Job) -> Analysis | None:
        """What its tree knows; None before its root was judged."""
        if job.tree is None or self._visits(job) == 0:
            return None
        return analysis.analyze(self._search, job.tree, territory=True)

    def _report(self, job: Job, tell: Callable[[Job, Analysis | None, bool], None]) -> None:
        began = time.monotonic()
        tell(job, self._read(job), True)
        every = job.query.every
        took = time.monotonic() - began
        job.next_report = None if every is None else job.seconds + max(every, REPORT_SHARE * took)

    def _finish(self, job: Job, tell: Callable[[Job, Analysis | None, bool], None]) -> None:
        found = self._read(job)
        tell(job, found, False)
        self._end(job)

    def _end(self, job: Job) -> None:
        self._jobs.remove(job)
        if job.tree is not None:
            self._search.desk.left[job.tree] = 0
            if job.query.bars is not None:
                self._search.bar(job.tree, None)
        if not self._jobs and len(self._search.pool.nodes) * self._bytes_a_visit > IDLE_BYTES:
            self._search = Search(self._game, self._judge, self._settings, trees=TREES)

    def _spare_memory(self, tell: Callable[[Job, Analysis | None, bool], None]) -> None:
        """Ends the largest analysis when the trees would fill more memory than they may."""
        begun = [job for job in self._jobs if job.tree is not None]
        room = MOST_BYTES // self._bytes_a_visit
        if sum(map(self._visits, begun)) > room:
            self._finish(max(begun, key=self._visits), tell)
        elif self._search.pool.used[0] > room:
            for tree in self._free():
                self._search.reset(tree)
