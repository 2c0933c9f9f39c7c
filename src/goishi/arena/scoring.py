"""Who won a finished game of Go, dead stones taken off where the rules say so; and why an engine counts otherwise."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from goishi.arena.dead import dead_stones
from goishi.core.game import Game
from goishi.core.position import Position

UNEXPLAINED = "counts in a way that is not told"
COUNTS = "counts "
"""Begins what is said of an engine that counts territory for area, or area for territory."""
MOST_NAMED = 6  # dead stones that a sentence names


class Count(NamedTuple):
    """How a finished game ended."""

    score: float
    """For the first player: +1 won, 0 drawn, -1 lost."""
    dead: tuple[int, ...] = ()
    """The points of stones that were taken off before counting."""


def count(position: Position) -> Count:
    """The result of a finished game: of Go with its dead stones, as `arena.dead` tells them."""
    if not has_points(position.game):
        return Count(position.score)
    dead = np.flatnonzero(dead_stones(position.game, position.state).ravel())
    return Count(float(np.sign(margin(position, dead.tolist()))), tuple(dead.tolist()))


def has_points(game: Game) -> bool:
    """Does the game end by counting points, with dead stones taken off?"""
    return hasattr(game.module, "margin") and hasattr(game.module, "territory")


def margin(position: Position, dead: Iterable[int] = ()) -> float:
    """By how many points the first player leads once the dead stones, named by their points, are taken off."""
    return float(position.game.module.margin(position.state, _mask(position.game, dead)))


def told(margin: float) -> str:
    """`B+3.5`, `W+0.5`, `0`."""
    return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"


def explain(position: Position, ours: Iterable[int], theirs: Iterable[int] | None, score: float) -> str | None:
    """What an engine must do otherwise to come to its score, the least that explains it, else None.

    ours, theirs   the stones taken for dead, by their points; None where the engine does not tell its own
    score          its own: Black's points less White's
    """
    game, module = position.game, position.game.module
    ours = tuple(ours)
    sets = {"": ours} | ({_dead_words(position, theirs, ours): tuple(theirs)} if theirs is not None else {})
    if ours:
        sets |= {"takes no stone for dead": ()}
    names = ("territory", "area") if position.state.rules & module.TERRITORY else ("area", "territory")
    scorings = {"": 0, f"{COUNTS}{names[1]}, not {names[0]}": module.TERRITORY}
    stones, bonus = int(position.state.handicap), int(module.bonus(position.state))
    bonuses = {"": 0} | {
        f"gives White {given} points for the handicap, not {bonus}": given - bonus
        for given in sorted({0, stones, max(0, stones - 1)} - {bonus})
    }
    ways = list(itertools.product(sets.items(), scorings.items(), bonuses.items()))
    for way in sorted(ways, key=lambda way: sum(bool(words) for words, _ in way)):
        (_, dead), (_, flag), (_, more) = way
        if _margin_by(position, flag, _mask(game, dead)) - more == score:
            return " and ".join(words for words, _ in way if words)
    return None


def _margin_by(position: Position, flag: int, dead: np.ndarray) -> float:
    """The margin by rules of which some flags are turned over, prisoners counted from the beginning."""
    game = position.game
    states = np.zeros(2, game.State)
    states[0] = game.start(1)[0]
    states["komi"][0], states["rules"][0] = position.state.komi, position.state.rules ^ flag
    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    for action in position.history:
        game.kernels().play(states, zero, np.array([action], np.int32), one)
        states[0] = states[1]
    return float(game.module.margin(states[0], dead))


def _mask(game: Game, dead: Iterable[int]) -> np.ndarray:
    mask = np.zeros(game.planes[1] * game.planes[2], np.bool_)
    mask[list(dead)] = True
    return mask.reshape(game.planes[1:])


def _dead_words(position: Position, theirs: Iterable[int], ours: Iterable[int]) -> str:
    more, less = sorted(set(theirs) - set(ours)), sorted(set(ours) - set(theirs))
    parts = [
        f"takes {_named(position, points)} for {what}" for points, what in ((more, "dead"), (less, "alive")) if points
    ]
    return " and ".join(parts)


def _named(position: Position, points: list[int]) -> str:
    shown = " ".join(position.name(point) for point in points[:MOST_NAMED])
    return shown if len(points) <= MOST_NAMED else f"{shown} and {len(points) - MOST_NAMED} other stones"
