"""One table: a game between the person at a browser and a player. Pure: no web framework, no thread of its own.

Messages come in through `handle`. When somebody has to think, `task` says what to run, anywhere and at leisure, and
`finish` takes its outcome. One task of a room runs at a time; an outcome that comes too late changes nothing.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from goishi.arena import dead, ending, scoring
from goishi.arena.ending import Ending
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import GoishiError, IllegalMove, UsageError
from goishi.players.player import Decision, Player
from goishi.players.searcher import SearchPlayer
from goishi.web.catalogue import HUMAN, Catalogue, look

Message = dict[str, Any]
MakePlayer = Callable[[str, Game], Player]
HINTS = 10
"""Moves in a hint, at most."""
LEAST_SHARE = 0.01
"""A move with less of the visits is no hint."""


class Task(NamedTuple):
    """Something to think about."""

    kind: Literal["move", "hints"]
    position: Position
    run: Callable[[], Decision]
    """Takes as long as the player takes; raises what the player raises."""


class Room:
    """A game, its settings, and the players who think in it."""

    def __init__(self, catalogue: Catalogue, make_player: MakePlayer):
        self.catalogue = catalogue
        self.make_player = make_player
        self.position: Position | None = None
        self.opponent = HUMAN
        self.person = 1  # the side of the person: +1 begins
        self.hints = False
        self._stuck: Position | None = None  # where the opponent failed
        self._hinted: Position | None = None  # where hints were given
        self._players: dict[tuple[str, str], Player] = {}  # by game's and player's spec
        self._movers_of: tuple[Position | None, list[int]] = (None, [])
        self._ending_of: tuple[Position | None, Ending | None] = (None, None)
        self._running: Task | None = None
        self.left = False  # the person went away

    def handle(self, message: object) -> list[Message]:
        """The answers to one message; a wrong one is answered by an error and changes nothing."""
        try:
            if not isinstance(message, dict):
                raise UsageError('A message is a JSON object such as {"type": "undo"}.')
            kind = message.get("type")
            if kind == "open":
                return self._open(message)
            if kind not in ("play", "undo", "new", "hints"):
                raise UsageError("A message's type is open, play, undo, new or hints.")
            if self.position is None:
                raise UsageError("No game is open; send a message of type open first.")
            if kind == "play":
                return self._play(message.get("action"))
            if kind == "hints":
                return self._show_hints(message.get("on"))
            return self._move_to(self._before_my_move() if kind == "undo" else Position.start(self.position.game))
        except GoishiError as error:
            return [self.error(error)]

    def task(self) -> Task | None:
        """What has to be thought about now, or None. Call it only while no task of this room runs."""
        position = self.position
        wanted = self._wanted()
        for key in [key for key in self._players if key not in wanted]:
            self._players.pop(key).close()
        if position is None or position.over:
            return None
        if self._thinks(position):
            return self._task("move", position, self.opponent)
        if self.hints and self._hinted is not position and not self._thinks_for(position):
            return self._task("hints", position, self.catalogue.analyst(position.game, self.opponent))
        return None

    def finish(self, task: Task, outcome: Decision | GoishiError) -> list[Message]:
        """The messages of a task's outcome: the move or the hints, nothing when the game has gone on meanwhile."""
        self._running = None
        if self.position is not task.position:
            return []
        if task.kind == "hints":
            self._hinted = task.position
            if not self.hints:
                return []
            return (
                [self.error(outcome)] if isinstance(outcome, GoishiError) else [hints_message(task.position, outcome)]
            )
        try:
            if isinstance(outcome, GoishiError):
                raise outcome
            return self._move_to(task.position.play(outcome.action))
        except GoishiError as error:
            self._stuck = task.position
            return [self.state(), {"type": "error", "text": f"Your opponent cannot go on: {error}"}]

    def stop_outdated(self) -> None:
        """Ends the search of a position that the game has left. From any thread."""
        if self._running is not None and (self.left or self._running.position is not self.position):
            for player in list(self._players.values()):
                if stop := getattr(player, "stop", None):
                    stop()

    def leave(self) -> None:
        """The person went away: nothing more is thought about."""
        self.left = True
        self.stop_outdated()

    def rest(self) -> None:
        """Frees what the players remember; the game stays. Call it only while no task runs."""
        for player in self._players.values():
            player.close()
        self._players.clear()

    close = rest

    @staticmethod
    def error(error: GoishiError) -> Message:
        """An error as the page shows it."""
        return {"type": "error", "text": str(error)}

    def opened(self) -> Message:
        """What stays the same during a game: the board, its names, the settings."""
        game = self._position.game
        board, shown = game.board, look(game)
        assert board is not None
        points = [board.name(action) for action in range(board.actions)]
        columns, rows = _labels(points, board.rows, board.columns, board.style)
        return {
            "type": "opened",
            "game": game.spec,
            "name": game.name,
            "title": shown.title,
            "goal": shown.goal(game),
            "sides": list(shown.sides),
            "pieces": shown.pieces,
            "board": {"rows": board.rows, "columns": board.columns, "style": board.style, "passes": board.passes},
            "names": points,
            "columns": columns,
            "row_labels": rows,
            "opponent": self.opponent,
            "begins": "you" if self.person == 1 else "opponent",
            "hints": self.hints,
        }

    def state(self) -> Message:
        """What changes with each move."""
        position = self._position
        last = last_point(position)
        winner, counted = self._winner(), self._ending()
        return {
            "type": "state",
            "played": list(position.history),
            "stones": position.stones.ravel().tolist(),
            "actions": [] if self._thinks_for(position) else position.actions,
            "last": last,
            "turn": position.player,
            "yours": not position.over and not self._thinks_for(position),
            "thinking": self._thinks(position),
            "over": position.over,
            "winner": winner,
            "line": winning_points(position) if winner else [],
            "owners": [] if counted is None else counted.owners.ravel().tolist(),
            "dead": [] if counted is None else np.flatnonzero(counted.dead).tolist(),
            "result": self.result() if position.over else "",
            "undo": self._ply_before_my_move() is not None,
        }

    def result(self) -> str:
        """How a finished game ended, in a sentence."""
        position, counted = self._position, self._ending()
        winner = self._winner()
        names = look(position.game).sides
        stones = position.stones
        mine, its = int((stones == (winner or 1)).sum()), int((stones == -(winner or 1)).sum())
        if winner == 0:
            return f"A draw, {mine} discs each." if position.game.name == "othello" else "A draw."
        who = f"{names[0 if winner == 1 else 1]} wins"
        if self.opponent != HUMAN:
            who = "You win" if winner == self.person else "You lose"
        if counted is not None:
            return f"{who} by {abs(counted.margin):g} point{'' if abs(counted.margin) == 1 else 's'}."
        if position.game.name == "othello":
            return f"{who}, {mine} discs to {its}." if who != "You lose" else f"You lose, {its} discs to {mine}."
        return f"{who} after {len(position.history)} moves."

    def _winner(self) -> int:
        """+1 or -1 of a game that is over; 0 of a draw and before."""
        counted = self._ending()
        return int(np.sign(counted.margin if counted else self._position.score)) if self._position.over else 0

    def _ending(self) -> Ending | None:
        """A finished game of Go, counted without its dead stones; None of any other."""
        position = self._position
        if not position.over or not scoring.has_points(position.game):
            return None
        if self._ending_of[0] is not position:
            self._ending_of = (position, ending.count(position.game, position.state, self._owners(position)))
        return self._ending_of[1]

    def _owners(self, position: Position) -> np.ndarray:
        """Whose each point of a board of Go will be, by random games and the network that plays here, if one does."""
        mine = [player for (spec, _), player in self._players.items() if spec == position.game.spec]
        evaluator = next((player.evaluator for player in mine if isinstance(player, SearchPlayer)), None)
        return dead.estimate(position.game, position.state, evaluator=evaluator)

    def _may_end(self, position: Position) -> bool:
        """In Go: has the person passed, and is a pass right, by which the game ends?"""
        if not scoring.has_points(position.game) or position.state.passes == 0:
            return False
        return ending.may_pass(position.game, position.state, self._owners(position))

    @property
    def _position(self) -> Position:
        assert self.position is not None
        return self.position

    def _open(self, message: Message) -> list[Message]:
        game = self.catalogue.find(message.get("game"))
        opponent = self.catalogue.check_opponent(game, message.get("opponent"))
        begins, moves = message.get("begins", "you"), message.get("moves", [])
        if begins not in ("you", "opponent"):
            raise UsageError("Who begins is told as you or opponent.")
        if not isinstance(moves, list) or len(moves) > 10_000 or not all(type(move) is int for move in moves):
            raise UsageError("The moves so far are told as a list of action numbers.")
        position = Position.after(game, moves)
        self.person = 1 if begins == "you" else -1
        self.opponent = opponent
        self.hints = message.get("hints") is True
        return self._move_to(position, opened=True)

    def _play(self, action: object) -> list[Message]:
        position = self._position
        if type(action) is not int:
            raise IllegalMove("A move is told as an action number.")
        if not position.over and self._thinks_for(position):
            raise IllegalMove("It is not your turn yet.")
        return self._move_to(position.play(action))

    def _show_hints(self, on: object) -> list[Message]:
        if type(on) is not bool:
            raise UsageError("Hints are switched on by true and off by false.")
        self.hints = on
        self._hinted = None
        return []

    def _move_to(self, position: Position, opened: bool = False) -> list[Message]:
        self.position = position
        self._stuck = self._hinted = None
        return [self.opened(), self.state()] if opened else [self.state()]

    def _before_my_move(self) -> Position:
        ply = self._ply_before_my_move()
        if ply is None:
            raise UsageError("There is no move of yours to take back.")
        return Position.after(self._position.game, self._position.history[:ply])

    def _ply_before_my_move(self) -> int | None:
        """The number of moves before the person's last one, or None when there was none."""
        position = self._position
        if self.opponent == HUMAN:
            return len(position.history) - 1 if position.history else None
        movers = self._movers()
        return next((ply for ply in reversed(range(len(movers))) if movers[ply] == self.person), None)

    def _movers(self) -> list[int]:
        """Who made each move of the game; not by turns, for some games let a player move twice."""
        position = self._position
        if self._movers_of[0] is position:
            return self._movers_of[1]
        movers = []
        step = Position.start(position.game)
        for action in position.history:
            movers.append(step.player)
            step = step.play(action)
        self._movers_of = (position, movers)
        return movers

    def _thinks_for(self, position: Position) -> bool:
        """Is it the opponent's turn?"""
        return not position.over and self.opponent != HUMAN and position.player != self.person

    def _thinks(self, position: Position) -> bool:
        return self._thinks_for(position) and self._stuck is not position

    def _wanted(self) -> set[tuple[str, str]]:
        if self.position is None:
            return set()
        game = self.position.game
        wanted = {(game.spec, self.opponent)}
        if self.hints:
            wanted.add((game.spec, "hints " + self.catalogue.analyst(game, self.opponent)))
        return wanted

    def _task(self, kind: Literal["move", "hints"], position: Position, spec: str) -> Task:
        key = (position.game.spec, spec if kind == "move" else "hints " + spec)

        def run() -> Decision:
            if self.left or self.position is not position:
                raise GoishiError("The game has gone on.")
            if kind == "move" and self._may_end(position):
                return Decision(position.game.actions - 1)
            if key not in self._players:
                self._players[key] = self.make_player(spec, position.game)
            return self._players[key].choose(position)

        self._running = Task(kind, position, run)
        return self._running


def hints_message(position: Position, decision: Decision) -> Message:
    """The favorite moves of a search: share of the visits, prior, and value as the player to move sees it."""
    moves: list[Message] = []
    result = decision.result
    if result is not None:
        visits = np.where(position.mask, result.visits, 0)
        shares = visits / max(1, visits.sum()) if visits.any() else np.where(position.mask, result.priors, 0.0)
        for action in np.argsort(-shares, kind="stable")[:HINTS].tolist():
            if shares[action] >= LEAST_SHARE:
                moves.append(
                    {
                        "action": action,
                        "name": position.name(action),
                        "share": round(float(shares[action]), 4),
                        "prior": round(float(result.priors[action]), 4),
                        "value": round(float(result.values[action]), 4) if visits[action] else None,
                    }
                )
    return {
        "type": "hints",
        "ply": len(position.history),
        "player": position.player,
        "moves": moves,
        "value": None if result is None else round(float(result.value), 4),
    }


def last_point(position: Position) -> int:
    """Where the last move's piece lies, `row * columns + column`; -1 when there is none (a pass, or no move yet)."""
    board = position.game.board
    if board is None or not position.history:
        return -1
    action = position.history[-1]
    if board.passes and action == board.actions - 1:
        return -1
    if board.style == "drop":
        return int(np.flatnonzero(position.stones[:, action])[0]) * board.columns + action
    return action


def winning_points(position: Position) -> list[int]:
    """The points to light up after a win: the lines through the last move, or the chain that joins the edges."""
    game, last, stones = position.game, last_point(position), position.stones
    if last < 0 or game.name not in ("tictactoe", "connect4", "gomoku", "hex"):
        return []
    if game.name == "hex":
        return joining_chain(stones, int(np.sign(position.score)))
    length = int(getattr(game.module, "ROW", 3))
    points: set[int] = set()
    rows, columns = stones.shape
    row, column = divmod(last, columns)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        line = [last]
        for way in (1, -1):
            r, c = row + way * down, column + way * right
            while 0 <= r < rows and 0 <= c < columns and stones[r, c] == stones[row, column]:
                line.append(r * columns + c)
                r, c = r + way * down, c + way * right
        if len(line) >= length:
            points.update(line)
    return sorted(points)


def joining_chain(stones: np.ndarray, winner: int) -> list[int]:
    """The shortest chain of the winner's hexagons from edge to edge: top to bottom for +1, left to right for -1."""
    size = len(stones)
    board = stones if winner == 1 else stones.T
    came = {(0, column): (-1, -1) for column in range(size) if board[0, column] == winner}
    todo = deque(came)
    while todo:
        row, column = todo.popleft()
        if row == size - 1:
            chain = []
            while row >= 0:
                chain.append(row * size + column if winner == 1 else column * size + row)
                row, column = came[row, column]
            return sorted(chain)
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1)):
            step = (row + down, column + right)
            if min(step) >= 0 and max(step) < size and step not in came and board[step] == winner:
                came[step] = (row, column)
                todo.append(step)
    return []


def _labels(names: list[str], rows: int, columns: int, style: str) -> tuple[list[str], list[str]]:
    """The board's column and row labels, out of its points' names: `D4` stands in column D, row 4."""
    if style == "drop":
        return names[:columns], []
    across = [name.rstrip("0123456789") for name in names[:columns]]
    down = [
        name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        for name in names[: rows * columns : columns]
    ]
    return across, down
