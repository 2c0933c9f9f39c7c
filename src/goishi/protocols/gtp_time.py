"""GTP's ways to tell of clocks, read into `Clock`."""

import math
from dataclasses import replace

from goishi.protocols.gtp_words import Failure, number, whole
from goishi.search.clock import Clock

SYSTEMS = "none absolute byoyomi canadian fischer fischer-capped"
COUNTS = {"none": 0, "absolute": 1, "canadian": 3, "byoyomi": 3, "fischer": 2, "fischer-capped": 4}
"""How many numbers each takes."""


def standard(words: list[str]) -> Clock:
    """`time_settings MAIN PERIOD STONES`. Raises Failure."""
    numbers = [whole(word, "not three integers") for word in words]
    if len(numbers) != 3 or min(numbers) < 0:
        raise Failure("not three integers")
    main, period, stones = numbers
    if period > 0 and stones == 0:
        return Clock()
    if period == 0:
        return Clock("absolute", main) if main or not stones else Clock()
    return Clock("canadian", main, period=period, stones=stones)


def named(words: list[str]) -> Clock:
    """What kgs-time_settings and kata-time_settings say. Raises Failure."""
    kind = words[0] if words else ""
    numbers = [number(word, "invalid time settings") for word in words[1:]]
    if COUNTS.get(kind) != len(numbers):
        raise Failure("invalid time settings")
    if kind == "none":
        return Clock()
    main = numbers[0]
    if kind == "absolute":
        return Clock("absolute", main)
    if kind in ("canadian", "byoyomi"):
        period, count = numbers[1], int(numbers[2])
        if period <= 0 or count <= 0:
            raise Failure("invalid time settings")
        if kind == "canadian":
            return Clock("canadian", main, period=period, stones=count)
        return Clock("byoyomi", main, period=period, periods=count)
    caps = [cap if cap >= 0 else math.inf for cap in numbers[2:]] or [math.inf, math.inf]
    return Clock("fischer", main, numbers[1], most_main=caps[0], most_move=caps[1])


def left(clock: Clock, words: list[str]) -> Clock:
    """The clock after `time_left COLOR SECONDS STONES`, given the last two words. Raises Failure."""
    wanted = "time and stones not two integers"
    if len(words) != 2:
        raise Failure(wanted)
    seconds, stones = number(words[0], wanted), whole(words[1], wanted)
    if clock.system == "none":
        return clock
    if stones <= 0 or clock.system in ("absolute", "fischer"):
        return replace(clock, main=seconds, left=None)
    if clock.system == "canadian":
        return replace(clock, main=0.0, left=seconds, stones_left=stones)
    return replace(clock, main=0.0, left=seconds, periods=stones)
