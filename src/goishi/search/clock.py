"""How long a search may last: a limit, and what a clock allows for the next move. Times in seconds."""

from dataclasses import dataclass, replace
from math import inf
from typing import Literal, NamedTuple, Self

KEPT_PERIODS = 5
"""Of many byo-yomi periods so many are kept as such; the earlier ones are main time."""
BUFFER = 1.0
"""Seconds that a message may be late."""


class Limit(NamedTuple):
    """Visits, seconds or both; what comes first ends the search.

    visits   of the root in total, those kept from an earlier search among them
    seconds  of this search
    most     seconds that it may go on for where the choice is hard: where another action has nearly as many visits as
             the most visited one, or a better value
    """

    visits: int | None = None
    seconds: float | None = None
    most: float | None = None


class Budget(NamedTuple):
    """What a clock allows for the next move."""

    seconds: float
    """To be spent on a usual move."""
    most: float
    """Not to be exceeded on a hard one."""


NO_LIMIT = Budget(inf, inf)


@dataclass(frozen=True)
class Clock:
    """One side's clock: the time system, and what is left. A move makes the next clock (`after`)."""

    system: Literal["none", "absolute", "fischer", "byoyomi", "canadian"] = "none"
    main: float = 0.0
    """Seconds of main time left; in overtime 0."""
    increment: float = 0.0
    """fischer: seconds that a move brings."""
    most_main: float = inf
    """fischer: main time never rises above this."""
    most_move: float = inf
    """No move may take longer."""
    period: float = 0.0
    """byoyomi, canadian: seconds of a period."""
    stones: int = 1
    """canadian: moves to be made in a period."""
    periods: int = 1
    """byoyomi: periods left, the one in hand among them."""
    left: float | None = None
    """Seconds left of the period in hand; None in main time."""
    stones_left: int = 1
    """canadian: moves still to be made in the period in hand."""

    def after(self, seconds: float) -> Self | None:
        """The clock when a move has taken so long; None when the time had run out."""
        if self.system == "none":
            return self
        if seconds > self.most_move:
            return None
        if self.left is None and (seconds < self.main or self.system in ("absolute", "fischer")):
            if seconds >= self.main:
                return None
            return replace(
                self, main=min(self.main - seconds + self.increment, max(self.most_main, self.main - seconds))
            )
        stones_left = self.stones if self.left is None else self.stones_left
        left, over = (self.period, seconds - self.main) if self.left is None else (self.left, seconds)
        periods = self.periods
        while over >= left:  # periods that this move has used up
            if self.system == "canadian" or periods == 1:
                return None
            over, left, periods = over - left, self.period, periods - 1
        if self.system == "byoyomi" or stones_left == 1:  # a period begins anew
            return replace(self, main=0.0, left=self.period, stones_left=self.stones, periods=periods)
        return replace(self, main=0.0, left=left - over, stones_left=stones_left - 1)

    def budget(self, area: int, stones: int, buffer: float = BUFFER) -> Budget:
        """What the next move may take on a board of `area` points that holds `stones` stones.

        The time lasts for .95 area + 20 moves, so an opponent who drags the game out wins nothing (KataGo's clock).
        """
        if self.system == "none":
            return NO_LIMIT
        by_clock = 0.5 * max(0.95 * area + 20 - stones, 0.15 * area + 30)
        if self.system in ("absolute", "fischer"):
            usual, most = self._main_only(area, stones, by_clock, buffer)
        elif self.left is not None:
            moves = self.stones_left if self.system == "canadian" else 1
            if moves == 1 and (self.system == "canadian" or self.periods == 1):
                buffer *= 2  # the very last one
            usual, most = self.left / moves, self.left / (0.75 * moves + 0.25)
        else:
            usual, most = self._before_overtime(area, stones, by_clock)
        most = max(0.0, late(min(most, self.most_move), buffer))
        return Budget(min(max(0.0, late(usual, buffer)), most), most)

    def _main_only(self, area: int, stones: int, by_clock: float, buffer: float) -> tuple[float, float]:
        by_increment = 0.5 * max(0.75 * area + 15 - stones, 0.10 * area + 20)
        if self.main <= self.increment:
            return late(self.main, buffer), self.main
        spare = late(self.main - self.increment, buffer)
        usual = self.increment + min(spare / by_increment, spare / by_clock + 2 * self.increment)
        return usual, min(self.main, self.increment + spare / 5)

    def _before_overtime(self, area: int, stones: int, by_clock: float) -> tuple[float, float]:
        moves = self.stones if self.system == "canadian" else 1
        extra = max(0, self.periods - KEPT_PERIODS) if self.system == "byoyomi" else 0
        main = self.main + extra * self.period
        a_move = self.period / moves
        in_period = 0.5 * max(0.50 * area + 10 - stones, 0.02 * area + 4)
        turns = 0.3679 * main / a_move  # 1 / e
        if in_period > turns:
            turns = min(in_period, 1.75 * turns)
        turns = max(1.0, min(turns, by_clock))
        usual = max(a_move, min(main / turns, main / by_clock + 3 * a_move))
        if usual < 1.5 * a_move and main < 1.5 * a_move:
            usual = main + a_move
        last = self.period / (0.75 * moves + 0.25)
        most = last + max(min(1.75 * last, main), main / 5)
        return usual, main + last if main <= most <= main + last else most


def late(seconds: float, buffer: float = BUFFER) -> float:
    """What is left of a time when a message may be `buffer` seconds late; of a short time, half."""
    if seconds < 0:
        return seconds
    return seconds / 2 if seconds < 2 * buffer else seconds - buffer
