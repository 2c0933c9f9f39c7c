"""An outside engine as a player: any program that speaks GTP, told the position and asked for a move.

A game that goes on is told by its new moves alone; a move taken back by `undo`; all else from the beginning.
"""

import json
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import EngineFailure, GoishiError, IllegalMove, UsageError
from goishi.players.player import Decision, Maker, Spec
from goishi.players.program import SOURCES, Program, Refusal, find, name_of, words_of

if TYPE_CHECKING:
    from goishi.search.search import Limit

TIMEOUT = 60.0
"""Seconds that an answer may take where the spec says nothing."""
RESTARTS = 5
"""After so many games in a row that it failed in, a program is not started again."""
SCORE = re.compile(r"([BW])\+(\d+(?:\.\d+)?)", re.IGNORECASE)
DRAWS = ("0", "draw", "jigo")
RULES = re.compile(r"-rules$|suicide|superko|capture-all-dead")
"""GNU Go's options about rules. Where a command line has none of them, it is given those of the game."""
MODES = {"gnugo": "gnugo --mode gtp", "katago": "katago gtp"}
"""How programs that can do other things as well are told to speak GTP."""

Answer = TypeVar("Answer")


class Judgement(NamedTuple):
    """What an engine says of a finished game."""

    score: str
    """As it said it: `B+3.5`, `0`; or why it said nothing, in a sentence."""
    margin: float | None
    """Black's points less White's; None where it told no score."""
    dead: tuple[int, ...] | None
    """The points of the stones that it takes for dead; None where it can't tell."""
    owners: np.ndarray | None = None
    """int8[rows, columns]: whose it takes each point to be, +1, -1, 0; None where it can't tell."""


class Setup(NamedTuple):
    """What a game begins with, as GTP tells it."""

    columns: int
    rows: int
    komi: float | None
    """None in a game without."""
    rules: tuple[str, ...]
    """What `kata-set-rules` may take: JSON, then the names of presets that mean the same; empty in other games."""
    stones: tuple[str, ...]
    """Black's handicap."""
    fixed: int
    """How many they are if they stand on the usual points, else 0."""


class EnginePlayer:
    """Plays by asking a program. It runs from the beginning on, and again after a failure, in the next game."""

    def __init__(self, game: Game, words: list[str], name: str, timeout: float = TIMEOUT, seconds: float | None = None):
        """words: the program and its arguments; timeout: of one answer; seconds: a move, told to the program.

        Raises MissingProgram, and EngineFailure when it does not start as a GTP engine for this game.
        """
        self.name = name
        self.game = game
        self.timeout = timeout
        self.seconds = seconds
        self._words = words
        self._program: Program | None = None
        self._commands: frozenset[str] = frozenset()
        self._failures = 0
        self._told: list[str] = []
        self._setup: Setup | None = None
        self._seconds_told: float | None = None
        self._seen: tuple[Setup, Position, list[str]] | None = None
        self._start()
        try:
            self._watched(lambda: self._tell(Position.start(game)))
        except EngineFailure as problem:
            raise EngineFailure(f"{name} can't play {game.spec}: {_later(problem)}") from None

    def choose(self, position: Position, limit: "Limit | None" = None) -> Decision:
        """The engine's move.

        Raises EngineFailure, EngineTimeout, and IllegalMove for a move that the board does not have; after the first
        two the program is ended, and started again for the next game.
        """
        return self._watched(lambda: self._choose(position, (limit and limit.seconds) or self.seconds))

    def judge(self, position: Position) -> Judgement | None:
        """What the engine says of a finished game of Go; None of others, and where it can't score."""
        if not _is_go(self.game):
            return None
        try:
            return self._watched(lambda: self._judge(position))
        except GoishiError as problem:
            return Judgement(f"{problem}", None, None)

    def close(self) -> None:
        """Ends the program."""
        if self._program:
            self._program.close()
        self._program = None

    # ---------------------------------------------------------------- the program

    def _start(self) -> None:
        self._told, self._setup, self._seconds_told = [], None, None
        try:
            self._program = Program(self._words)
            try:
                self.title = self._ask("name")
                self._commands = frozenset(self._ask("list_commands").split())
            except Refusal as refusal:
                raise EngineFailure(f"It answers `? {refusal}` to what every GTP engine knows.") from None
        except GoishiError as problem:
            self._end()
            hint = f" {SOURCES['pachi']}." if name_of(self._words[0]) == "pachi" else ""
            raise EngineFailure(f"{self.name} does not speak GTP: {_later(problem)}{hint}") from None

    def _end(self) -> None:
        if self._program:
            self._program.kill()
        self._program = None

    def _watched(self, work: Callable[[], Answer]) -> Answer:
        """Does what may fail; a program that failed is ended."""
        try:
            return work()
        except EngineFailure:
            self._end()
            self._failures += 1
            raise

    def _ask(self, command: str, seconds: float | None = None) -> str:
        assert self._program
        return self._program.ask(command, seconds or self.timeout)

    def _must(self, command: str, seconds: float | None = None) -> str:
        """The answer to what an engine may not refuse."""
        try:
            return self._ask(command, seconds)
        except Refusal as refusal:
            raise EngineFailure(f"It answers `? {refusal}` to `{command}`.") from None

    # ---------------------------------------------------------------- what it is asked

    def _choose(self, position: Position, seconds: float | None) -> Decision:
        self._tell(position)
        color = _color(position.player)
        if seconds is not None:
            self._allow(color, seconds)
        answer = self._must(f"genmove {color}", self.timeout + (seconds or 0)).lower().partition(" ")[0]
        if answer == "resign":
            return Decision(position.actions[0], resigns=True)
        try:
            action = position.action(answer)
        except IllegalMove:
            if answer == "pass":
                raise IllegalMove("It passes, which this game does not know.") from None
            raise EngineFailure(f"It answers {answer[:60]!r} to `genmove {color}`, which is no move.") from None
        self._told.append(f"{color} {position.name(action)}")
        return Decision(action)

    def _judge(self, position: Position) -> Judgement | None:
        if "final_score" not in self._commands:
            return None
        self._tell(position)
        try:
            score = self._ask("final_score")
        except Refusal as refusal:
            return Judgement(f"It answers `? {refusal}` to `final_score`.", None, None)
        found = SCORE.match(score)
        if found:
            margin = float(found[2]) * (1 if found[1].upper() == "B" else -1)
        elif score.lower() in DRAWS:
            margin = 0.0
        else:
            return Judgement(f"It answers {score[:60]!r} to `final_score`.", None, None)
        dead = self._points(position, "dead")
        black, white = (self._points(position, f"{color}_territory") for color in ("black", "white"))
        if dead is None or black is None or white is None:
            return Judgement(score.split()[0], margin, dead)
        owners = position.stones.copy()
        owners.flat[list(dead)] *= -1
        owners.flat[list(black)], owners.flat[list(white)] = 1, -1
        return Judgement(score.split()[0], margin, dead, owners)

    def _points(self, position: Position, status: str) -> tuple[int, ...] | None:
        """The points of this status, such as `dead`; None where it does not tell."""
        if "final_status_list" not in self._commands:
            return None
        try:
            names = self._ask(f"final_status_list {status}").split()
            points = tuple(sorted(position.action(name) for name in names))
        except (Refusal, IllegalMove):
            return None
        return points if all(point < position.stones.size for point in points) else None

    def _allow(self, color: str, seconds: float) -> None:
        """Tells the time for a move: so many seconds each, as one period that begins anew with every move."""
        exact = "kata-time_settings" in self._commands
        given = f"{seconds:g}" if exact else str(math.ceil(seconds))
        if seconds != self._seconds_told and (exact or "time_settings" in self._commands):
            self._must(f"kata-time_settings byoyomi 0 {given} 1" if exact else f"time_settings 0 {given} 1")
            self._seconds_told = seconds
        if "time_left" in self._commands:
            self._must(f"time_left {color} {given} 1")

    # ---------------------------------------------------------------- the position

    def _tell(self, position: Position) -> None:
        """Makes the engine's position this one."""
        setup, moves = self._described(position)
        if self._program is None:
            if self._failures >= RESTARTS:
                raise EngineFailure(f"It failed in {RESTARTS} games one after the other and is not started again.")
            self._start()
        same = _shared(self._told, moves) if self._setup == setup else 0
        back = len(self._told) - same
        fresh = self._setup != setup or (back > 0 and (back > same or not self._undo(back)))
        if fresh and self._told:
            self._failures = 0  # it came through the game before
        if fresh:
            self._clear(setup)
        for move in moves[len(self._told) :]:
            try:
                self._ask(f"play {move}")
            except Refusal as refusal:
                raise EngineFailure(
                    f"It answers `? {refusal}` to `play {move}`, which the rules of {self.game.spec} allow."
                ) from None
            self._told.append(move)

    def _undo(self, count: int) -> bool:
        """Takes moves back, if the engine can."""
        try:
            for _ in range(count if "undo" in self._commands else 0):
                self._ask("undo")
                self._told.pop()
        except Refusal:
            return False
        return "undo" in self._commands

    def _clear(self, setup: Setup) -> None:
        """A new game."""
        self._setup, self._told = None, []
        if setup.columns == setup.rows:
            self._must(f"boardsize {setup.rows}")
        elif "rectangular_boardsize" in self._commands:
            self._must(f"rectangular_boardsize {setup.columns} {setup.rows}")
        else:  # some take the first number of two for a square
            raise EngineFailure(f"{self.title} plays on square boards only.")
        self._must("clear_board")
        if setup.rules and "kata-set-rules" in self._commands:
            self._set_rules(setup.rules)
        if setup.komi is not None:
            self._must(f"komi {setup.komi:g}")
        if setup.stones:
            self._put(setup)
        self._setup = setup

    def _set_rules(self, forms: tuple[str, ...]) -> None:
        for form in forms:
            try:
                self._ask(f"kata-set-rules {form}")
                return
            except Refusal as refusal:
                said = refusal
        raise EngineFailure(f"It answers `? {said}` to `kata-set-rules {forms[-1]}`.")

    def _put(self, setup: Setup) -> None:
        if "set_free_handicap" in self._commands:
            self._must(f"set_free_handicap {' '.join(setup.stones)}")
        elif setup.fixed and "fixed_handicap" in self._commands:
            put = self._must(f"fixed_handicap {setup.fixed}")
            if sorted(put.upper().split()) != sorted(setup.stones):
                raise EngineFailure(f"It puts {setup.fixed} handicap stones on {put}, not {' '.join(setup.stones)}.")
        else:
            for stone in setup.stones:
                self._must(f"play b {stone}")

    def _described(self, position: Position) -> tuple[Setup, list[str]]:
        """How a game begins, and its moves such as `b D4`. Raises UsageError for a position that was set up."""
        first = self._first(position.states)
        setup, seen, moves = self._setup_of(first), first, list[str]()
        if self._seen and self._seen[0] == setup:
            _, before, earlier = self._seen
            if position.history[: len(before.history)] == before.history:
                seen, moves = before, earlier
        try:
            for action in position.history[len(seen.history) :]:
                moves = [*moves, f"{_color(seen.player)} {seen.name(action)}"]
                seen = seen.play(action)
        except IllegalMove:
            seen = first
        if seen.player != position.player or not np.array_equal(seen.stones, position.stones):
            raise UsageError(f"{self.name} can't be told a position that was set up, only games from their beginning.")
        self._seen = setup, seen, moves
        return setup, moves

    def _first(self, states: np.ndarray) -> Position:
        """The first position of a game with this one's komi and rules."""
        start = self.game.start(1)
        if _is_go(self.game):
            for field in ("komi", "rules"):
                start[field] = states[field]
        return Position(self.game, start)

    def _setup_of(self, first: Position) -> Setup:
        board = self.game.board
        assert board
        komi, fixed = None, 0
        rules: tuple[str, ...] = ()
        stones = tuple(first.name(int(point)) for point in np.flatnonzero(first.stones.ravel() > 0))
        if _is_go(self.game):
            komi, rules, fixed = int(first.state.komi) / 2, _rules(self.game, int(first.state.rules)), len(stones)
        return Setup(board.columns, board.rows, komi, rules, stones, fixed)


def maker(name: str, spec: Spec, game: Game) -> Maker:
    """Makes players of a `gtp` spec. Raises UsageError, MissingProgram."""
    if game.board is None or game.board.style != "points":
        raise UsageError(f"{game.spec} has no board with points such as D4; GTP can't name its moves.")
    words = words_of(spec.argument)
    find(words[0])
    mode = MODES.get(name_of(words[0]))
    if mode and not any("gtp" in word for word in words[1:]):
        raise UsageError(f"{name} does not ask for GTP; write gtp:{mode}, and what else it needs.")
    if name_of(words[0]) == "gnugo" and not any(RULES.search(word) for word in words):
        words += gnu_go_options(game)
    timeout, seconds = spec.options.get("timeout", TIMEOUT), spec.options.get("seconds")
    return lambda seed: EnginePlayer(game, words, name, float(timeout), None if seconds is None else float(seconds))


def _is_go(game: Game) -> bool:
    return hasattr(game.module, "half_points")


def _rules(game: Game, rules: int) -> tuple[str, ...]:
    """A record's rules as KataGo writes them, and the presets that mean the same."""
    module = game.module
    told = json.dumps(module.as_katago(module.describe(rules)))
    return told, *(name for name, preset in module.PRESETS.items() if module.flags(preset) == rules)


def gnu_go_options(game: Game) -> list[str]:
    """What makes GNU Go, which can be told the rules on its command line alone, play by those of the game."""
    if not _is_go(game):
        return []
    rules = game.module.describe(game.module.RULES)
    options = ["--japanese-rules" if rules.scoring == "territory" else "--chinese-rules"]
    if rules.suicide:
        options.append("--allow-suicide")
    if rules.ko != "simple":
        options.append(f"--{rules.ko}-superko")
    if rules.scoring == "area" and not rules.friendly:
        options.append("--capture-all-dead")  # else it leaves dead stones standing, which live by these rules
    return options


def _color(player: int) -> str:
    return "b" if player > 0 else "w"


def _shared(told: list[str], moves: list[str]) -> int:
    """How many moves two games have in common from the beginning."""
    count = 0
    while count < min(len(told), len(moves)) and told[count] == moves[count]:
        count += 1
    return count


def _later(problem: GoishiError) -> str:
    """A sentence as the end of another one."""
    text = str(problem)
    return text[:1].lower() + text[1:] if text.startswith("It ") else text
