"""GTP's commands that tell what the engine thinks while it does: lz-analyze, kata-analyze and their kin.

Everything told is as the side to move sees it. Reports are lines, the last of a search always among them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from goishi.errors import IllegalMove
from goishi.players.searcher import SearchPlayer
from goishi.protocols.gtp_play import GLANCE, PlayCommands, Watch, analyst_of
from goishi.protocols.gtp_words import COLORS, Failure, Say, Stream, command, number, truth, whole
from goishi.search.analysis import Analysis, Candidate

EVERY = 1.0
"""Seconds between reports where nothing is said."""
NEVER = f"{10**9}"
"""An interval within which no search ends: only the last report is told."""
WITH_TRUTH = (
    "rootInfo",
    "ownership",
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "noResultValue",
)
"""What the kata commands know besides; ...STDEV are refused."""
UNKNOWN_HERE = ("ownershipStdev", "movesOwnershipStdev")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@dataclass
class Request:
    """The arguments of an analysis."""

    color: int
    every: float = EVERY
    """Seconds."""
    least: int = 0
    most: int | None = None
    """Moves told, at least and at most."""
    bars: np.ndarray | None = None
    """int32[2, A] as SearchPlayer.analyze takes them."""
    allowed: set[int] = field(default_factory=set)
    """Players for whom `allow` has said what they may play."""
    wanted: set[str] = field(default_factory=set)
    """What of WITH_TRUTH is true."""

    with_score: bool = True

    def watch(self, report: Callable[[Analysis], object], at_any_line: bool = True) -> Watch:
        """What a search is asked for."""
        return Watch(report, self.every, self.with_score, self.least, self.bars, at_any_line)


Form = Callable[[Analysis, Request], str]
"""Makes a report's line."""


class AnalysisCommands(PlayCommands):
    """A player whose thoughts are told."""

    @command("stop")
    def stop(self, words: list[str]) -> str:
        """Like any line it ends an analysis, and there it has been read."""
        return ""

    @command("lz-analyze")
    def lz_analyze(self, words: list[str]) -> Stream:
        return self._analyze(words, (), self._lz_line)

    @command("kata-analyze")
    def kata_analyze(self, words: list[str]) -> Stream:
        return self._analyze(words, WITH_TRUTH, self._kata_line)

    @command("analyze", listed=False)
    def analyze(self, words: list[str]) -> Stream:
        """As kata-analyze, with a decimal point in every float. Sabaki would prefer it, so it is not listed."""
        return self._analyze(words, WITH_TRUTH, self._pointed_line)

    @command("lz-genmove_analyze")
    def lz_genmove_analyze(self, words: list[str]) -> Stream:
        return self._told_move(words, (), self._lz_line)

    @command("kata-genmove_analyze")
    def kata_genmove_analyze(self, words: list[str]) -> Stream:
        return self._told_move(words, WITH_TRUTH, self._kata_line)

    @command("genmove_analyze", listed=False)
    def genmove_analyze(self, words: list[str]) -> Stream:
        return self._told_move(words, WITH_TRUTH, self._pointed_line)

    @command("kata-search_analyze")
    def search_analyze(self, words: list[str]) -> Stream:
        return self._told_move(words, WITH_TRUTH, self._kata_line, plays=False)

    @command("kata-search_analyze_cancellable")
    def search_analyze_cancellable(self, words: list[str]) -> Stream:
        return self._told_move(words, WITH_TRUTH, self._kata_line, plays=False, cancels=True)

    @command("kata-search_cancellable")
    def search_cancellable(self, words: list[str]) -> str:
        told: list[str] = []
        self._told_move([*words[:1], NEVER], (), self._lz_line, plays=False, cancels=True)(told.append)
        return told[-1].removeprefix("play ")

    @command("cgos-genmove_analyze")
    def cgos_genmove_analyze(self, words: list[str]) -> Stream:
        return self._told_move([*words[:1], NEVER, "ownership", "true"], WITH_TRUTH, self._cgos_line)

    # ---------------------------------------------------------------- what goes on

    def _analyze(self, words: list[str], keys: Sequence[str], told: Form) -> Stream:
        """Reports until there is another line. Raises Failure before the first one."""
        request = self._request(words, keys)
        position, analyst = self._to_move(request.color), self._analyst()
        if position.over:
            raise Failure("game over")

        def stream(say: Say) -> None:
            watch = request.watch(lambda analysis: say(told(analysis, request)))
            with self._attention.while_it(analyst.stop):
                if not self._attention.ends:
                    last = analyst.analyze(position, None, *watch[:5])
                    if not self._attention.ends:
                        watch.report(last)
                self._attention.wait()

        return stream

    def _told_move(
        self, words: list[str], keys: Sequence[str], told: Form, plays: bool = True, cancels: bool = False
    ) -> Stream:
        """Reports, then `play` and the move. Raises Failure before the first one."""
        request = self._request(words, keys)
        self._analyst()
        position = self._to_move(request.color)
        if position.over:
            raise Failure("game over")

        def stream(say: Say) -> None:
            watch = request.watch(lambda analysis: say(told(analysis, request)), at_any_line=cancels)
            action = self._choose(request.color, keeps=plays, watch=watch)
            if cancels and self._attention.waits:
                say("play cancelled")
            else:
                say(f"play {self._announce(request.color, action) if plays else self._name(action)}")

        return stream

    def _analyst(self) -> SearchPlayer:
        """The player, if it can tell what it thinks. Raises Failure."""
        player = self._ready().player
        analyst = analyst_of(player)
        if analyst is None:
            raise Failure(f"{player.name} does not tell what it thinks")
        return analyst

    def _look(self) -> Analysis:
        """A short look at the position: what a search that was there before left of it, too."""
        if self._position.over:
            raise Failure("game over")
        return self._analyst().analyze(self._position, GLANCE)

    # ---------------------------------------------------------------- the arguments

    def _request(self, words: list[str], keys: Sequence[str]) -> Request:
        """`[COLOR] [INTERVAL] {KEY VALUE}`. Raises Failure."""
        wrong = f"could not parse analyze arguments or arguments out of range: '{' '.join(words)}'"
        left = list(words)
        request = Request(self._position.player, with_score=bool(keys))
        if left and left[0].lower() in COLORS:
            request.color = COLORS[left.pop(0).lower()]
        if left and left[0][:1] in "0123456789.+-":
            left.insert(0, "interval")
        try:
            while left:
                key = left.pop(0)
                if key in ("avoid", "allow"):
                    self._bar(request, key, left.pop(0), left.pop(0), left.pop(0))
                elif key == "interval":
                    request.every = max(0.0, number(left[0], wrong)) / 100
                    if number(left.pop(0), wrong) < 0:
                        raise Failure(wrong)
                elif key in ("minmoves", "maxmoves"):
                    moves = whole(left.pop(0), wrong)
                    if moves < 0:
                        raise Failure(wrong)
                    if key == "minmoves":
                        request.least = moves
                    else:
                        request.most = moves
                elif key in keys:
                    if truth(left.pop(0), wrong):
                        request.wanted.add(key)
                else:
                    raise Failure(wrong)
        except (IndexError, IllegalMove):
            raise Failure(wrong) from None
        if request.wanted.intersection(UNKNOWN_HERE):
            raise Failure(f"{', '.join(sorted(request.wanted.intersection(UNKNOWN_HERE)))} is not known here")
        return request

    def _bar(self, request: Request, key: str, color: str, vertices: str, depth: str) -> None:
        """`avoid` or `allow` COLOR V,V,... DEPTH. Raises IllegalMove, IndexError."""
        if color.lower() not in COLORS or not depth.isdigit() or not int(depth[:9]) >= 1:
            raise IndexError
        player = COLORS[color.lower()]
        if request.bars is None:
            request.bars = np.zeros((2, self._game.actions), np.int32)
        bars = request.bars[(1 - player) // 2]
        if player in request.allowed or (key == "allow" and bars.any()):
            raise IndexError
        actions = [self._action(vertex) for vertex in vertices.split(",") if vertex]
        plies = min(int(depth[:9]), 1 << 30)
        if key == "avoid":
            bars[actions] = np.maximum(bars[actions], plies)
        else:
            request.allowed.add(player)
            bars[:] = plies
            bars[actions] = 0

    # ---------------------------------------------------------------- the lines

    def _candidates(self, analysis: Analysis, request: Request) -> list[Candidate]:
        """The moves to tell of, best first."""
        return analysis.candidates[: request.most]

    def _lz_line(self, analysis: Analysis, request: Request) -> str:
        return " ".join(
            f"info move {self._vertex(each.action)} visits {each.visits} winrate {_parts(each.value)} "
            f"prior {round(10_000 * each.prior)} lcb {_parts(each.bound)} order {order} pv {self._names(each.line)}"
            for order, each in enumerate(self._candidates(analysis, request))
        )

    def _kata_line(self, analysis: Analysis, request: Request, shown: Callable[[float], str] = "{:.6g}".format) -> str:
        wanted = request.wanted

        def score(points: float | None) -> dict[str, float]:
            return {} if points is None else {"scoreMean": points, "scoreLead": points, "scoreSelfplay": points}

        def words(values: dict[str, Any]) -> str:
            return " ".join(f"{key} {shown(each) if isinstance(each, float) else each}" for key, each in values.items())

        def owners(values: np.ndarray) -> str:
            return " ".join(shown(float(each)) for each in values.ravel())

        parts = []
        for order, each in enumerate(self._candidates(analysis, request)):
            singles: dict[str, Any] = {
                "move": self._vertex(each.action),
                "visits": each.visits,
                "edgeVisits": each.visits,
                "utility": float(each.value),
                "winrate": (1 + float(each.value)) / 2,
                **score(each.score),
                "prior": float(each.prior),
                "lcb": (1 + float(each.bound)) / 2,
                "utilityLcb": float(each.bound),
                "weight": float(each.visits),
            }
            if "noResultValue" in wanted:
                singles["noResultValue"] = 0.0
            parts.append(f"info {words(singles)} order {order} pv {self._names(each.line)}")
            for key in ("pvVisits", "pvEdgeVisits"):
                if key in wanted:
                    parts.append(f"{key} {' '.join(map(str, each.line_visits))}")
            if "movesOwnership" in wanted and each.ownership is not None:
                parts.append(f"movesOwnership {owners(each.ownership)}")
        if "rootInfo" in wanted:
            root: dict[str, Any] = {"visits": analysis.visits, "utility": float(analysis.value)}
            root |= {"winrate": (1 + float(analysis.value)) / 2, **score(analysis.score)}
            root |= {"weight": float(analysis.visits), "rawWinrate": (1 + float(analysis.raw_value)) / 2}
            parts.append(f"rootInfo {words(root)}")
        if "ownership" in wanted and analysis.ownership is not None:
            parts.append(f"ownership {owners(analysis.ownership)}")
        return " ".join(parts)

    def _pointed_line(self, analysis: Analysis, request: Request) -> str:
        return self._kata_line(analysis, request, _pointed)

    def _cgos_line(self, analysis: Analysis, request: Request) -> str:
        moves = []
        for each in self._candidates(analysis, request):
            told: dict[str, Any] = {"move": self._vertex(each.action), "winrate": _share(each.value)}
            told |= {} if each.score is None else {"score": round(float(each.score), 2)}
            told |= {"prior": round(float(each.prior), 4), "visits": each.visits}
            moves.append(told | {"pv": self._names(each.line[1:])})
        report: dict[str, Any] = {"winrate": _share(analysis.value)}
        report |= {} if analysis.score is None else {"score": round(float(analysis.score), 2)}
        report |= {"visits": analysis.visits, "moves": moves}
        if analysis.ownership is not None:
            places = np.rint((analysis.ownership + 1) / 2 * (len(LETTERS) - 2)).astype(int)
            report["ownership"] = "".join(LETTERS[place] for place in places)
        return json.dumps(report, separators=(",", ":"))

    def _names(self, line: Sequence[int]) -> str:
        return " ".join(self._vertex(action) for action in line)


def _parts(value: float) -> int:
    """A value in [-1, 1] as parts of 10,000; a bound may fall outside."""
    return round(5000 * (1 + float(value)))


def _share(value: float) -> float:
    return round((1 + float(value)) / 2, 4)


def _pointed(value: float) -> str:
    """Six digits, and a decimal point in any case."""
    text = f"{value:.6g}"
    if "." in text:
        return text
    digits, exponent, power = text.partition("e")
    return f"{digits}.0{exponent}{power}"
