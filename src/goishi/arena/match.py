"""One game between two players."""

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goishi.arena.record import GameRecord
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.players.player import Decision, Player

if TYPE_CHECKING:
    from goishi.search.search import Limit


class Turn(NamedTuple):
    """What one player did."""

    position: Position
    """Before the move."""
    player: int
    """Index of who chose: 0 the player who moves first in the game, 1 the other."""
    decision: Decision | None
    """None after a crash."""
    seconds: float
    error: str | None = None
    """In a sentence: the player's program failed, or chose what the rules forbid. It is the last turn then."""


def play(
    game: Game, players: Sequence[Player], limit: "Limit | None" = None, opening: Iterable[int] = ()
) -> Iterator[Turn]:
    """Plays a game turn by turn, for a caller that watches, logs, or stops; `players[0]` moves first.

    It ends when the game is over, or with the turn in which a player resigns, crashes or breaks the rules.
    Raises IllegalMove for an opening that is not legal.
    """
    position = Position.after(game, opening)
    while not position.over:
        index = 0 if position.player == 1 else 1
        player = players[index]
        begun = time.perf_counter()
        decision, error = None, None
        try:
            decision = player.choose(position, limit)
        except Exception as problem:  # whatever a player's program does, it loses this game and the match goes on
            words = f"{type(problem).__name__}: {' '.join(str(problem).split())}".rstrip(":. ")
            error = f"{player.name} crashed and loses this game: {words}."
        seconds = time.perf_counter() - begun
        if decision is not None and not decision.resigns and not _legal(position, decision.action):
            move = position.name(decision.action) if _counted(position, decision.action) else decision.action
            error = f"{player.name} chose {move}, which may not be played here, and loses this game."
        yield Turn(position, index, decision, seconds, error)
        if error or decision is None or decision.resigns:
            return
        position = position.play(decision.action)


def play_out(
    game: Game,
    players: Sequence[Player],
    limit: "Limit | None" = None,
    opening: Iterable[int] = (),
    watch: Callable[[Turn], None] | None = None,
) -> GameRecord:
    """Plays a game to its end and records it. `watch` sees every turn, and may raise to break off."""
    position = Position.after(game, opening)
    plies = len(position.history)
    seconds: list[float] = []
    values: list[float | None] = []
    score, termination, error = position.score, "finished", None
    for turn in play(game, players, limit, position.history):
        if watch:
            watch(turn)
        seconds.append(turn.seconds)
        decision = turn.decision
        values.append(decision.result.value if decision and decision.result else None)
        if turn.error or decision is None or decision.resigns:
            position, error = turn.position, turn.error
            termination = "resignation" if not turn.error else "crash" if decision is None else "illegal move"
            score = -1.0 if turn.player == 0 else 1.0
            break
        position = turn.position.play(decision.action)
        score = position.score
    return GameRecord(
        game=game.spec,
        players=(players[0].name, players[1].name),
        actions=position.history,
        score=score,
        termination=termination,
        error=error,
        opening=plies,
        seconds=tuple(seconds),
        values=tuple(values) if any(value is not None for value in values) else (),
        date=datetime.date.today().isoformat(),
    )


def _counted(position: Position, action: int) -> bool:
    return isinstance(action, (int, np.integer)) and 0 <= action < position.game.actions


def _legal(position: Position, action: int) -> bool:
    return _counted(position, action) and bool(position.mask[action])
