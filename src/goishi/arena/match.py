"""One game between two players."""

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goishi.arena import scoring
from goishi.arena.record import GameRecord, Opinion
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import EngineTimeout, GoishiError, IllegalMove
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
    """None where the player gave none."""
    seconds: float
    error: str | None = None
    """In a sentence: the player's program failed, or chose what the rules forbid. It is the last turn then."""
    ending: str | None = None
    """Of the last turn, where the player gave up or failed: one of record.TERMINATIONS."""


def play(
    game: Game, players: Sequence[Player], limit: "Limit | None" = None, opening: Iterable[int] = ()
) -> Iterator[Turn]:
    """Plays a game turn by turn, for a caller that watches, logs, or stops; `players[0]` moves first.

    It ends when the game is over, or with the turn in which a player resigns, crashes, takes too long or breaks the
    rules.
    Raises IllegalMove for an opening that is not legal.
    """
    position = Position.after(game, opening)
    while not position.over:
        index = 0 if position.player == 1 else 1
        player = players[index]
        begun = time.perf_counter()
        decision, error, ending = None, None, None
        try:
            decision = player.choose(position, limit)
        except Exception as problem:  # whatever a player's program does, it loses this game and the match goes on
            error, ending = _failure(player, problem)
        seconds = time.perf_counter() - begun
        if decision is not None and decision.resigns:
            ending = "resignation"
        elif decision is not None and not _legal(position, decision.action):
            move = position.name(decision.action) if _counted(position, decision.action) else decision.action
            error = f"{player.name} chose {move}, which may not be played here, and loses this game."
            ending = "illegal move"
        yield Turn(position, index, decision, seconds, error, ending)
        if ending or decision is None:
            return
        position = position.play(decision.action)


def play_out(
    game: Game,
    players: Sequence[Player],
    limit: "Limit | None" = None,
    opening: Iterable[int] = (),
    watch: Callable[[Turn], None] | None = None,
) -> GameRecord:
    """Plays a game to its end and records it. `watch` sees every turn, and may raise to break off.

    A finished game of Go is scored by its rules, with dead stones taken off where they say so; outside engines are
    asked what they think of it.
    """
    position = Position.after(game, opening)
    plies = len(position.history)
    seconds: list[float] = []
    values: list[float | None] = []
    score, termination, error = 0.0, "finished", None
    for turn in play(game, players, limit, position.history):
        if watch:
            watch(turn)
        seconds.append(turn.seconds)
        decision = turn.decision
        values.append(decision.result.value if decision and decision.result else None)
        if turn.ending or decision is None:
            position, error = turn.position, turn.error
            termination = turn.ending or "crash"
            score = -1.0 if turn.player == 0 else 1.0
            break
        position = turn.position.play(decision.action)
    dead: tuple[int, ...] = ()
    if termination == "finished":
        score, dead = scoring.count(position)
    record = GameRecord(
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
        dead=dead,
    )
    if termination != "finished" or not scoring.has_points(game):
        return record
    return replace(record, opinions=tuple(_opinions(players, position, dead)))


def _opinions(players: Sequence[Player], position: Position, dead: tuple[int, ...]) -> Iterator[Opinion]:
    """What those of the players who can judge say of a finished game."""
    ours = scoring.margin(position, dead)
    for index, player in enumerate(players):
        judge = getattr(player, "judge", None)
        judgement = judge(position) if judge else None
        if judgement is None:
            continue
        if judgement.margin is None:
            yield Opinion(index, "", judgement.score)
        elif judgement.margin == ours:
            yield Opinion(index, judgement.score)
        else:
            why = scoring.explain(position, dead, judgement)
            yield Opinion(index, judgement.score, why or scoring.UNEXPLAINED)


def _failure(player: Player, problem: Exception) -> tuple[str, str]:
    """A sentence about a player that gave no move, and how the game ends by it."""
    words = " ".join(str(problem).split())
    if isinstance(problem, GoishiError):
        ending = "timeout" if isinstance(problem, EngineTimeout) else "crash"
        return f"{player.name} loses this game: {words}", "illegal move" if isinstance(problem, IllegalMove) else ending
    return f"{player.name} crashed and loses this game: {type(problem).__name__}: {words}".rstrip(":. ") + ".", "crash"


def _counted(position: Position, action: int) -> bool:
    return isinstance(action, (int, np.integer)) and 0 <= action < position.game.actions


def _legal(position: Position, action: int) -> bool:
    return _counted(position, action) and bool(position.mask[action])
