"""Who won a finished game of Go, dead stones taken off where the rules say so; and why an engine counts otherwise."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from goishi.arena.dead import dead_stones
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.players.engine import Judgement

UNEXPLAINED = "counts in a way that is not told"
SCORINGS = {"area": "counts area, not territory", "territory": "counts territory, not area"}
"""What is said of an engine whose scoring is not ours."""
MOST_NAMED = 6  # points that a sentence names


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


def explain(position: Position, dead: Iterable[int], judgement: Judgement) -> str | None:
    """What an engine must do otherwise to come to its score, the least that explains it, else None.

    dead: the stones taken off before our own count, by their points.
    """
    game, module, stones = position.game, position.game.module, position.stones
    ours = _mask(game, dead)
    boards = {"": module.settle(position.state, ours)[0]}
    if judgement.dead is not None:
        theirs = _mask(game, judgement.dead)
        verdicts = _said(position, theirs & ~ours, "takes", "dead"), _said(position, ours & ~theirs, "takes", "alive")
        boards[" and ".join(filter(None, verdicts))] = module.settle(position.state, theirs)[0]
    if ours.any():
        boards["takes no stone for dead"] = module.settle(position.state, _mask(game, ()))[0]
    if judgement.owners is not None:
        owners, our_owners = judgement.owners, boards[""]
        parts = (
            _said(position, (owners != our_owners) & (owners == side), "counts", name)
            for side, name in ((1, "Black"), (-1, "White"), (0, "nobody"))
        )
        boards[" and ".join(filter(None, parts))] = owners
    scorings = ["territory", "area"] if position.state.rules & module.TERRITORY else ["area", "territory"]
    handicap, bonus = int(position.state.handicap), int(module.bonus(position.state))
    bonuses = [bonus, *sorted({0, handicap, max(0, handicap - 1)} - {bonus})]
    prisoners, half_points = _prisoners(position), int(position.state.button) - int(position.state.komi)
    ways: list[list[str]] = []
    for words, owners in boards.items():
        for scoring, given in itertools.product(scorings, bonuses):
            total = int(owners.sum()) if scoring == "area" else prisoners + int((owners - stones).sum())
            if total - given + half_points / 2 == judgement.margin:
                other = SCORINGS[scoring] if scoring != scorings[0] else ""
                more = f"gives White {given} points for the handicap, not {bonus}" if given != bonus else ""
                ways.append([said for said in (words, other, more) if said])
    ways.sort(key=len)
    return " and ".join(ways[0]) if ways else None


def _prisoners(position: Position) -> int:
    """White's stones that were taken, less Black's, whatever the rules: found by playing the game again."""
    game = position.game
    states = np.zeros(2, game.State)
    states[0] = game.start(1)[0]
    states["rules"][0] = position.state.rules | game.module.TERRITORY
    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    for action in position.history:
        game.kernels().play(states, zero, np.array([action], np.int32), one)
        states[0] = states[1]
    return int(states[0]["prisoners"])


def _mask(game: Game, dead: Iterable[int]) -> np.ndarray:
    mask = np.zeros(game.planes[1] * game.planes[2], np.bool_)
    mask[list(dead)] = True
    return mask.reshape(game.planes[1:])


def _said(position: Position, mask: np.ndarray, verb: str, what: str) -> str:
    """`takes D4 E4 for dead`; nothing where there are no such points."""
    points = np.flatnonzero(mask).tolist()
    shown = " ".join(position.name(point) for point in points[:MOST_NAMED])
    more = f" and {len(points) - MOST_NAMED} more points" if len(points) > MOST_NAMED else ""
    return f"{verb} {shown}{more} for {what}" if points else ""
