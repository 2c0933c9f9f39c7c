"""Matches between two players, and rating tables of many.

Every opening is played twice with colors swapped; such a pair is the unit that errors are computed from.
"""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np

from goishi.arena import openings as opening_lists
from goishi.arena import rating, scoring
from goishi.arena.match import Turn, play_out
from goishi.arena.record import GameRecord, Opinion, from_json, numbered, numbered_lines
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadRecord, UsageError
from goishi.players.player import Maker, Player

if TYPE_CHECKING:
    from goishi.search.search import Limit

MOST_GAMES = 1_000_000


class Finished(NamedTuple):
    """A game of a match as A sees it."""

    number: int
    """Even where A has the first move, the pair's other game is the next."""
    record: GameRecord

    @property
    def a_first(self) -> bool:
        """Does A move first?"""
        return self.number % 2 == 0

    @property
    def points(self) -> float:
        """A's: 1, a half or 0."""
        return (1 + (self.record.score if self.a_first else -self.record.score)) / 2


@dataclass
class MatchResult:
    """What the games between A and B came to so far. Scores are A's."""

    game: str
    a: str
    b: str
    finished: list[Finished] = field(default_factory=list)
    seconds_a: float = 0.0
    seconds_b: float = 0.0

    def add(self, game: Finished, game_rules: Game) -> None:
        """Counts one more game."""
        self.finished.append(game)
        seconds = [0.0, 0.0]
        record = game.record
        for mover, spent in zip(_choosers(record, game_rules), record.seconds, strict=False):
            seconds[mover] += spent
        self.seconds_a += seconds[0 if game.a_first else 1]
        self.seconds_b += seconds[1 if game.a_first else 0]

    @property
    def games(self) -> int:
        """How many are finished."""
        return len(self.finished)

    @property
    def wins(self) -> int:
        """A's."""
        return sum(game.points == 1 for game in self.finished)

    @property
    def draws(self) -> int:
        """Drawn games."""
        return sum(game.points == 0.5 for game in self.finished)

    @property
    def losses(self) -> int:
        """A's."""
        return sum(game.points == 0 for game in self.finished)

    @property
    def pairs(self) -> list[float]:
        """A's mean score of each pair of which both games are finished."""
        points = {game.number: game.points for game in self.finished}
        return [(points[n] + points[n + 1]) / 2 for n in sorted(points) if n % 2 == 0 and n + 1 in points]

    @property
    def distinct_games(self) -> int:
        """Games that differ in their moves or in who played which side."""
        return len({(game.a_first, game.record.actions) for game in self.finished})

    @property
    def errors(self) -> list[str]:
        """Crashes, timeouts and illegal moves, a sentence each."""
        ordered = sorted(self.finished, key=lambda game: game.number)
        return [f"Game {game.number + 1}: {game.record.error}" for game in ordered if game.record.error]

    @property
    def disagreements(self) -> list[str]:
        """Games of which an engine says another score than ours, or none, a sentence each."""
        found = []
        for game in sorted(self.finished, key=lambda game: game.number):
            for opinion in filter(lambda opinion: opinion.why, game.record.opinions):
                name = game.record.players[opinion.player]
                said = f"{name} says {opinion.score}: it" if opinion.score else f"{name} says nothing:"
                why = opinion.why.rstrip(".")
                found.append(f"Game {game.number + 1} ends {game.record.result()}, but {said} {why}.")
        return found

    @property
    def counts_otherwise(self) -> str | None:
        """A sentence where an engine counts by other rules, and what may help; else None."""
        for name in (self.a, self.b):
            for game in self.finished:
                said = [each.why for each in game.record.opinions if game.record.players[each.player] == name]
                if any(words in why for words in scoring.SCORINGS.values() for why in said):
                    hint = " (GNU Go counts area with --chinese-rules)" if "gnugo" in name else ""
                    return f"{name} plays by other rules than {self.game}; start it with the same{hint}."
        return None

    @property
    def opinions(self) -> list[Opinion]:
        """All that engines said of scores."""
        return [opinion for game in self.finished for opinion in game.record.opinions]

    @property
    def note(self) -> str | None:
        """Why no Elo is told, or None."""
        return too_alike(self.distinct_games, self.games)

    def to_json(self) -> dict[str, Any]:
        """The figures that `goishi match --json` prints. An Elo that is infinite, or that is not told, is null."""
        score = rating.pair_interval(self.pairs)
        mean = (self.wins + self.draws / 2) / self.games if self.games else None
        elo = [None] * 3 if self.note else [finite(rating.elo(each)) for each in (score.value, score.low, score.high)]
        figures: dict[str, Any] = {"game": self.game, "a": self.a, "b": self.b, "games": self.games}
        figures |= {"wins": self.wins, "draws": self.draws, "losses": self.losses}
        figures |= {"score": mean, "score_low": score.low, "score_high": score.high}
        figures |= {"elo": elo[0], "elo_low": elo[1], "elo_high": elo[2], "distinct_games": self.distinct_games}
        figures |= {
            "seconds_a": round(self.seconds_a, 3),
            "seconds_b": round(self.seconds_b, 3),
            "errors": len(self.errors),
        }
        if opinions := self.opinions:
            unexplained = sum(opinion.why == scoring.UNEXPLAINED for opinion in opinions)
            figures |= {"scores_compared": len(opinions), "scores_unexplained": unexplained}
            figures |= {"disagreements": self.disagreements}
        return figures | ({"note": self.note} if self.note else {})


Progress = Callable[[GameRecord, MatchResult], None]


def match(
    game: Game,
    make_a: Maker,
    make_b: Maker,
    games: int,
    openings: str = "none",
    *,
    limit: "Limit | None" = None,
    seed: int = 0,
    threads: int = 1,
    out: Path | None = None,
    progress: Progress | None = None,
    warn: Callable[[str], None] = opening_lists.ignore,
) -> MatchResult:
    """Plays `games` games between two players, half of them with either side first.

    make_a, make_b   as `players.maker` gives them
    openings         a spec; see the module `openings`
    threads          games played at the same time
    out              a folder for the games (`games.jsonl`, and SGF where the board has points); games that it already
                     holds of this very match are counted, not played again
    progress         hears of each game as soon as it is finished, one call at a time

    The same seed gives the same games, whatever the machine, unless a player thinks by the clock.
    Raises UsageError for an odd number of games, and what the openings raise.
    """
    if games < 2 or games % 2 or games > MOST_GAMES:
        raise UsageError(
            "A match plays each opening twice with colors swapped: the number of games must be even, such as 20."
        )
    if threads < 1:
        raise UsageError("threads is at least 1.")
    listed = opening_lists.find(openings, game, games // 2, np.random.default_rng(seed), warn)
    with ExitStack() as stack:
        workers = min(threads, games // 2)
        seats = [_seats(stack, make_a, make_b, seed, worker) for worker in range(workers)]
        result = MatchResult(game.spec, seats[0][0].name, seats[0][1].name)
        store = stack.enter_context(_Store(out, game, result, listed)) if out else None
        done = {finished.number for finished in result.finished}
        lock, stop = threading.Lock(), threading.Event()

        def watch(_: Turn) -> None:
            if stop.is_set():
                raise _Stopped

        def work(worker: int) -> None:
            a, b = seats[worker]
            for number in _numbers(worker, workers, games):
                if number in done:
                    continue
                players = (a, b) if number % 2 == 0 else (b, a)
                record = numbered(play_out(game, players, limit, listed[number // 2], watch), number)
                with lock:
                    result.add(Finished(number, record), game)
                    if store:
                        store.write(record)
                    if progress:
                        progress(record, result)

        if workers == 1:
            work(0)
        else:
            _in_threads(work, workers, stop)
    if result.note:
        warn(result.note)
    return result


@dataclass
class RatingTable:
    """Ratings of several players in one game, the anchor at 0."""

    game: str
    anchor: str
    players: list[str]
    elo: list[float | None]
    """None where no rating is told."""
    reach: list[float | None]
    """Half the 95% interval; None also where a player has no link to the anchor."""
    scores: list[float]
    """Share of the points that a player took."""
    games: list[int]
    matches: list[MatchResult]
    note: str | None = None

    @property
    def distinct_games(self) -> int:
        """Over all pairings."""
        return sum(match.distinct_games for match in self.matches)

    def order(self) -> list[int]:
        """The players' indices, the strongest first."""
        return sorted(range(len(self.players)), key=lambda i: (-(self.elo[i] or 0), -self.scores[i]))

    def to_json(self) -> dict[str, Any]:
        """The figures that `goishi rate --json` prints."""
        rows = []
        for i in self.order():
            elo, reach = self.elo[i], self.reach[i]
            low, high = (None, None) if elo is None or reach is None else (round(elo - reach, 1), round(elo + reach, 1))
            row = {
                "player": self.players[i],
                "elo": None if elo is None else round(elo, 1),
                "elo_low": low,
                "elo_high": high,
            }
            rows.append(row | {"score": self.scores[i], "games": self.games[i]})
        figures: dict[str, Any] = {
            "game": self.game,
            "anchor": self.anchor,
            "games": sum(m.games for m in self.matches),
        }
        figures |= {
            "distinct_games": self.distinct_games,
            "players": rows,
            "matches": [m.to_json() for m in self.matches],
        }
        figures |= {"errors": sum(len(m.errors) for m in self.matches)}
        return figures | ({"note": self.note} if self.note else {})


class Options(TypedDict, total=False):
    """What all matches of a rating table share; see `match`."""

    limit: "Limit | None"
    threads: int
    progress: Progress | None
    warn: Callable[[str], None]


def rate(
    game: Game,
    makers: Sequence[Maker],
    games: int,
    openings: str = "none",
    *,
    seed: int = 0,
    out: Path | None = None,
    **options: Unpack[Options],
) -> RatingTable:
    """Every player against every other, `games` games each, then ratings by Bradley and Terry with a weak prior.

    The anchor at 0 is `random` where it plays, else the first player.
    Options as in `match`; `out` gets a folder a pairing.
    """
    if len(makers) < 2:
        raise UsageError("A rating table needs at least two players.")
    matches, points = [], np.zeros((len(makers), len(makers)))
    names = [""] * len(makers)
    for count, (i, j) in enumerate(itertools.combinations(range(len(makers)), 2)):
        folder = out / f"{i + 1}-{j + 1}" if out else None
        result = match(game, makers[i], makers[j], games, openings, seed=seed + count, out=folder, **options)
        matches.append(result)
        names[i], names[j] = result.a, result.b
        points[i, j] = result.wins + result.draws / 2
        points[j, i] = result.games - points[i, j]
    anchor = names.index("random") if "random" in names else 0
    alike = next((each for each in matches if each.note), None)
    note = f"{alike.a} against {alike.b}: {alike.note}" if alike else None
    ratings = rating.bradley_terry(points, anchor)
    played = (points + points.T).sum(axis=1)
    return RatingTable(
        game=game.spec,
        anchor=names[anchor],
        players=names,
        elo=[None if note else float(each) for each in ratings.elo],
        reach=[None if note else finite(rating.Z95 * each) for each in ratings.errors],
        scores=[float(each) for each in points.sum(axis=1) / played],
        games=[int(each) for each in played],
        matches=matches,
        note=note,
    )


def too_alike(distinct: int, games: int) -> str | None:
    """A sentence where too few games are distinct for a rating, else None."""
    if games == 0 or distinct >= rating.LEAST_DISTINCT * games:
        return None
    return (
        f"Only {distinct} of {games} games are distinct, which is too few for a rating; "
        "choose other openings (random:4, or a file) or give the players a temperature."
    )


def finite(value: float) -> float | None:
    """The number as JSON can hold it, rounded."""
    return round(float(value), 1) + 0.0 if isfinite(value) else None


class _Stopped(Exception):
    """Another game of the match ended with an error, or the user wants to stop."""


def _seats(stack: ExitStack, make_a: Maker, make_b: Maker, seed: int, worker: int) -> tuple[Player, Player]:
    """A's and B's player of one worker, closed with the stack."""
    seeds = np.random.default_rng([seed, worker]).integers(1 << 62, size=2)
    a, b = make_a(int(seeds[0])), make_b(int(seeds[1]))
    stack.callback(a.close)
    stack.callback(b.close)
    return a, b


def _numbers(worker: int, workers: int, games: int) -> Iterator[int]:
    """The games of one worker, pair by pair: fixed beforehand, so that a seed tells them."""
    for pair in range(worker, games // 2, workers):
        yield from (2 * pair, 2 * pair + 1)


def _in_threads(work: Callable[[int], None], workers: int, stop: threading.Event) -> None:
    """Runs the workers; when one fails, or the user wants to stop, the others end at their next move."""
    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(work, worker) for worker in range(workers)]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
    failures = [failure for each in running if (failure := each.exception())]
    for failure in sorted(failures, key=lambda failure: isinstance(failure, _Stopped)):
        raise failure


def _choosers(record: GameRecord, game: Game) -> Iterator[int]:
    """Who thought at each chosen move: 0 the player who moves first, 1 the other."""
    position = Position.start(game)
    for ply, action in enumerate(record.actions):
        if ply >= record.opening:
            yield 0 if position.player == 1 else 1
        position = position.play(action)
    if record.termination != "finished":
        yield 0 if position.player == 1 else 1


class _Store:
    """The folder of a match's games: `games.jsonl`, one line a game, on the disk before the next one ends."""

    def __init__(self, folder: Path, game: Game, result: MatchResult, listed: Sequence[opening_lists.Opening]):
        self._folder, self._game = folder, game
        path = folder / "games.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            whole = path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0
            self._file = path.open("r+b" if path.exists() else "w+b")
            self._file.truncate(whole)  # a line that a kill left half written
            self._file.seek(whole)
        except OSError as error:
            raise UsageError(f"{folder} can't hold the games: {error.strerror or error}.") from None
        try:
            self._count_earlier(path, result, listed)
        except BaseException:
            self._file.close()
            raise

    def write(self, record: GameRecord) -> None:
        """Keeps one more game."""
        try:
            self._file.write(record.to_json(self._game).encode() + b"\n")
            self._file.flush()
            board = self._game.board
            if board and board.style == "points":
                name = f"game-{(record.number or 0) + 1:04d}.sgf"
                (self._folder / name).write_text(record.to_sgf(self._game), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{self._folder} can't hold the games: {error.strerror or error}.") from None

    def _count_earlier(self, path: Path, result: MatchResult, listed: Sequence[opening_lists.Opening]) -> None:
        for line_number, line in numbered_lines(path):
            source = f"{path}, line {line_number}"
            record = from_json(line, source)
            number = -1 if record.number is None else record.number
            players = (result.a, result.b) if number % 2 == 0 else (result.b, result.a)
            same = 0 <= number < 2 * len(listed) and record.game == result.game and record.players == players
            if not same or record.actions[: record.opening] != listed[number // 2]:
                raise BadRecord(f"{source}: this game belongs to another match; choose another folder for the games.")
            result.add(Finished(number, record), self._game)

    def __enter__(self) -> "_Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()
