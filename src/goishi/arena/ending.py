"""How a game of Go ends: who has won, may a player pass now, and which moves are left to make before counting.

All of it is a pure judgement of one record, and of `owners`, whose each point will be: a network's ownership, or, where
None is given, random games. Shapes: A actions, R C rows and columns.
"""

from typing import NamedTuple

import numpy as np

from goishi.arena import dead
from goishi.core.game import Game

EARLY = 0.25
"""A pass that ends the game before this many moves a point must win: nobody learns to pass on an empty board."""
CERTAIN = 0.35
"""What a side holds in one piece is decided when it owns it by more than this, on average."""


class Ending(NamedTuple):
    """A board, counted."""

    dead: np.ndarray
    """bool[R, C]: stones that are taken off; none under rules by which all live."""
    owners: np.ndarray
    """int8[R, C]: whose each point is by the rules, +1, -1 or 0."""
    seki: np.ndarray
    """bool[R, C]: stones that live in seki."""
    margin: float
    """Black's points less White's, komi and all counted."""


def count(game: Game, state: np.record, owners: np.ndarray | None = None) -> Ending:
    """The result if the game ended now. owners: float[R, C] as the first player sees it, in [-1, 1]."""
    gone = dead.dead_stones(game, state, owners)
    owned, seki = game.module.settle(state, gone)
    return Ending(gone, owned, seki, game.module.margin(state, gone))


def statuses(game: Game, state: np.record, owners: np.ndarray | None = None) -> list[str]:
    """What GTP's final_status_list calls each point: alive, dead, seki; black_territory, white_territory, dame."""
    ending = count(game, state, owners)
    stones, places = game.stones(state).ravel(), {1: "black_territory", -1: "white_territory", 0: "dame"}
    return [
        places[int(owner)] if not stone else "dead" if gone else "seki" if seki else "alive"
        for stone, gone, seki, owner in zip(
            stones, ending.dead.ravel(), ending.seki.ravel(), ending.owners.ravel(), strict=True
        )
    ]


def may_pass(game: Game, state: np.record, owners: np.ndarray | None = None) -> bool:
    """May the player to move pass, so that no won game is lost by it and no settled one goes on?

    A pass after the other's ends the game: it is good when it wins. Otherwise nothing may be left to play, neither a
    fight nor dead stones to take where the rules want them taken, and not too early.
    """
    owners = _estimate(game, state, owners)
    wins = state.player * count(game, state, owners).margin > 0
    if state.passes > 0 and wins:
        return True
    if state.moves < EARLY * owners.size or not settled(game, state, owners):
        return False
    return bool(wins or not state.rules & game.module.ALL_ALIVE or not cleanup(game, state, owners).any())


def settled(game: Game, state: np.record, owners: np.ndarray | None = None) -> bool:
    """Is nothing left to fight for? What each side holds in one piece, stones and points, is its own for certain or in
    seki, and what nobody holds lies between two sides."""
    owners = _estimate(game, state, owners).ravel()
    gone = dead.hopeless(game, state, owners)
    _, seki = game.module.settle(state, gone)
    held, near = game.module.territory(game.stones(state), gone).ravel(), game.module.NEIGHBOURS
    seen = np.zeros(held.size, np.bool_)
    for first in range(held.size):
        if held[first] == 0 and not held[near[first][near[first] >= 0]].any():
            return False  # open space
        if held[first] == 0 or seen[first]:
            continue
        seen[first] = True
        piece = [first]
        for point in piece:  # it grows
            for beside in near[point][near[point] >= 0]:
                if held[beside] == held[first] and not seen[beside]:
                    seen[beside] = True
                    piece.append(int(beside))
        if held[first] * owners[piece].mean() <= CERTAIN and not seki.ravel()[piece].any():
            return False
    return True


def cleanup(game: Game, state: np.record, owners: np.ndarray | None = None) -> np.ndarray:
    """bool[A]: the moves of the player to move that help to take dead stones, legal ones, never a pass.

    For a phase in which the other side does not agree that they are dead. No move fills an eye or gives a chain away.
    Moves beside dead stones come first; where there is none, any in the room where they stand.
    """
    module, cells = game.module, game.stones(state).ravel()
    gone = dead.hopeless(game, state, _estimate(game, state, owners)).ravel() & (cells == -state.player)
    legal = np.zeros(game.actions, np.bool_)
    module.legal(state, legal)
    useful = legal.copy()
    for point in np.flatnonzero(legal):
        useful[point] = point < cells.size and not (
            module.is_eye(cells, point, state.player) or module.wastes(cells, point, state.player)
        )
    near, room = module.NEIGHBOURS, gone
    while True:
        touched = np.zeros(cells.size, np.bool_)
        touched[near[room][near[room] >= 0]] = True
        mask = np.append(touched, False) & useful
        grown = room | (touched & (cells == 0))
        if mask.any() or (grown == room).all():
            return mask
        room = grown


def _estimate(game: Game, state: np.record, owners: np.ndarray | None) -> np.ndarray:
    return dead.estimate(game, state) if owners is None else np.asarray(owners)
