"""The Go Text Protocol, version 2: an engine for Go and, as far as it makes sense, for every game with a board.

`Gtp.answer` is pure but for its own state: a line in, a whole reply out. Black is the first player.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

import goishi
from goishi import players
from goishi.arena import dead
from goishi.core import registry
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import GoishiError, IllegalMove, UsageError
from goishi.search.clock import Clock, Limit

COLORS = {"b": 1, "black": 1, "w": -1, "white": -1}
LARGEST_ID = 2**31 - 1
EARLY = 0.25
"""A pass that ends the game before this share of the board has been played must win."""


class Failure(Exception):
    """What is answered after `?`."""


class Gtp:
    """One engine: a game, its position with all that led to it, clocks, and a player who may still be loading."""

    def __init__(self, spec: str, player: str, limit: Limit | None = None, name: str = "Goishi", version: str = ""):
        self.over = False
        self._name, self._version = name, version or goishi.__version__
        self._player_spec, self._limit = player, limit
        self._loader = ThreadPoolExecutor(1, "load")
        self._half_komi = 0
        self._clocks = {1: Clock(), -1: Clock()}
        self._line: list[Position] = []
        """The position and those before it, back to the last that can be undone to."""
        self._set_game(registry.find(spec))
        self._commands: dict[str, Callable[[list[str]], str]] = {
            name.removeprefix("_do_").replace("__", "-"): getattr(self, name)
            for name in dir(type(self))
            if name.startswith("_do_")
        }
        if not self._is_go:
            for command in ("komi", "get_komi", "fixed_handicap", "place_free_handicap", "set_free_handicap"):
                del self._commands[command]
            for command in ("final_score", "final_status_list", "final_status"):
                del self._commands[command]

    def answer(self, line: str) -> str | None:
        """The reply to a line, its closing empty line included; None where there is nothing to say."""
        text = "".join(letter for letter in line.replace("\t", " ").partition("#")[0] if letter >= " " != "\x7f")
        words = text.split()
        if not words:
            return None
        number, name = _split_id(words[0])
        words = [name, *words[1:]] if name else words[1:]
        command = self._commands.get(words[0]) if words else None
        try:
            if command is None:
                raise Failure("unknown command")
            mark, said = "=", command(words[1:])
        except Failure as failure:
            mark, said = "?", str(failure)
        except GoishiError as error:
            mark, said = "?", str(error)
        rows = [row.rstrip() for row in said.split("\n")]
        said = "\n".join(row for place, row in enumerate(rows) if row or place == 0)  # an empty line ends a reply
        return f"{mark}{number} {said}\n\n"

    def interrupt(self) -> None:
        """Nothing goes on until the next line yet: a move is thought out to its end."""

    # ---------------------------------------------------------------- what it is

    def _do_protocol_version(self, words: list[str]) -> str:
        return "2"

    def _do_name(self, words: list[str]) -> str:
        return self._name

    def _do_version(self, words: list[str]) -> str:
        return self._version

    def _do_known_command(self, words: list[str]) -> str:
        return "true" if " ".join(words) in self._commands else "false"

    def _do_list_commands(self, words: list[str]) -> str:
        return "\n".join(sorted(self._commands))

    def _do_quit(self, words: list[str]) -> str:
        self.over = True
        return ""

    def _do_stop(self, words: list[str]) -> str:
        return ""

    def _do_clear_cache(self, words: list[str]) -> str:
        return ""

    def _do_cputime(self, words: list[str]) -> str:
        return f"{time.process_time():.3f}"

    # ---------------------------------------------------------------- the board

    def _do_boardsize(self, words: list[str]) -> str:
        sizes = [_whole(word, "boardsize not an integer") for word in words]
        if len(sizes) not in (1, 2):
            raise Failure("boardsize not an integer")
        columns, rows = sizes[0], sizes[-1]
        if (columns, rows) != self._size:
            self._resize(columns, rows)
        return self._do_clear_board([])

    _do_rectangular_boardsize = _do_boardsize

    def _do_clear_board(self, words: list[str]) -> str:
        self._begin(self._game.start(1))
        return ""

    def _do_query_boardsize(self, words: list[str]) -> str:
        columns, rows = self._size
        return str(columns) if columns == rows else f"{columns} {rows}"

    def _do_komi(self, words: list[str]) -> str:
        try:
            komi = float(words[0])
        except (IndexError, ValueError):
            raise Failure("komi not a float") from None
        if not math.isfinite(komi):
            raise Failure("unacceptable komi")
        try:
            self._half_komi = self._game.module.half_points(komi)
        except UsageError:
            raise Failure("unacceptable komi") from None
        self._line = [self._given(position) for position in self._line]
        return ""

    def _do_get_komi(self, words: list[str]) -> str:
        return f"{self._half_komi / 2:g}"

    def _do_play(self, words: list[str]) -> str:
        color, action = self._move(words)
        self._play(color, action)
        return ""

    def _do_undo(self, words: list[str]) -> str:
        return self._do_gg__undo(["1"])

    def _do_gg__undo(self, words: list[str]) -> str:
        count = _whole(words[0], "cannot undo") if words else 1
        if not 0 <= count < len(self._line):
            raise Failure("cannot undo")
        del self._line[len(self._line) - count :]
        return ""

    def _do_last_move(self, words: list[str]) -> str:
        if len(self._line) == 1:
            raise Failure("no previous move known")
        return f"{_color(self._line[-2].player)} {self._vertex(self._position.history[-1])}"

    def _do_move_history(self, words: list[str]) -> str:
        moves = zip(self._line[:-1], self._line[1:], strict=True)
        played = [f"{_color(before.player)} {self._vertex(after.history[-1])}" for before, after in moves]
        return "\n".join(reversed(played))

    def _do_list_stones(self, words: list[str]) -> str:
        color = _color_of(words)
        return " ".join(self._vertex(point) for point in np.flatnonzero(self._position.stones.ravel() == color))

    def _do_is_legal(self, words: list[str]) -> str:
        color, action = self._move(words)
        return str(int(self._to_move(color).mask[action]))

    def _do_all_legal(self, words: list[str]) -> str:
        return " ".join(self._vertex(action) for action in self._to_move(_color_of(words)).actions)

    def _do_showboard(self, words: list[str]) -> str:
        board, stones = self._game.board, self._position.stones
        assert board is not None
        letters = " ".join(board.name(column)[:1].upper() for column in range(board.columns))
        rows = [
            f"{board.rows - row:2} {' '.join('.XO'[stone] for stone in stones[row])} {board.rows - row}"
            for row in range(board.rows)
        ]
        to_move = f"{_color(self._position.player)} to move"
        return "\n".join(["", f"   {letters}", *rows, f"   {letters}", to_move])

    # ---------------------------------------------------------------- handicap

    def _do_fixed_handicap(self, words: list[str]) -> str:
        count = _whole(words[0] if words else "", "invalid handicap")
        self._must_be_empty()
        columns, rows = self._size
        try:
            points = self._game.module.handicap_points(rows, columns, count)
        except UsageError:
            raise Failure("invalid handicap") from None
        if not points:
            raise Failure("invalid handicap")
        self._put_handicap(points)
        return " ".join(self._vertex(point) for point in points)

    _do_place_free_handicap = _do_fixed_handicap

    def _do_set_free_handicap(self, words: list[str]) -> str:
        self._must_be_empty()
        points = []
        for word in words:
            try:
                points.append(self._action(word))
            except IllegalMove:
                raise Failure("invalid coordinate") from None
        if len(points) < 2 or len(points) >= self._game.actions - 1:
            raise Failure("invalid handicap")
        if self._game.actions - 1 in points:
            raise Failure("invalid coordinate")
        if len(set(points)) < len(points):
            raise Failure("repeated vertex")
        self._put_handicap(points)
        return ""

    def _must_be_empty(self) -> None:
        if len(self._line) > 1 or self._position.stones.any():
            raise Failure("board not empty")

    def _put_handicap(self, points: list[int]) -> None:
        states = self._game.start(1)
        stones = np.zeros(self._position.stones.size, np.int8)
        stones[points] = 1
        self._game.module.arrange(states[0], stones.reshape(self._position.stones.shape), -1, len(points))
        self._begin(states)

    # ---------------------------------------------------------------- time

    def _do_time_settings(self, words: list[str]) -> str:
        numbers = [_whole(word, "not three integers") for word in words]
        if len(numbers) != 3 or min(numbers) < 0:
            raise Failure("not three integers")
        main, period, stones = numbers
        if period > 0 and stones == 0:
            return self._set_clocks(Clock())
        if period == 0:
            return self._set_clocks(Clock("absolute", main) if main or not stones else Clock())
        return self._set_clocks(Clock("canadian", main, period=period, stones=stones))

    def _do_kgs__time_settings(self, words: list[str]) -> str:
        return self._do_kata__time_settings(words)

    def _do_kata__list_time_settings(self, words: list[str]) -> str:
        return "none absolute byoyomi canadian fischer fischer-capped"

    def _do_kata__time_settings(self, words: list[str]) -> str:
        kind, numbers = (words[0] if words else ""), [_seconds(word) for word in words[1:]]
        counts = {"none": 0, "absolute": 1, "canadian": 3, "byoyomi": 3, "fischer": 2, "fischer-capped": 4}
        if counts.get(kind) != len(numbers):
            raise Failure("invalid time settings")
        if kind == "none":
            return self._set_clocks(Clock())
        main = numbers[0]
        if kind == "absolute":
            return self._set_clocks(Clock("absolute", main))
        if kind in ("canadian", "byoyomi"):
            period, count = numbers[1], int(numbers[2])
            if period <= 0 or count <= 0:
                raise Failure("invalid time settings")
            if kind == "canadian":
                return self._set_clocks(Clock("canadian", main, period=period, stones=count))
            return self._set_clocks(Clock("byoyomi", main, period=period, periods=count))
        caps = [cap if cap >= 0 else math.inf for cap in numbers[2:]] or [math.inf, math.inf]
        return self._set_clocks(Clock("fischer", main, numbers[1], most_main=caps[0], most_move=caps[1]))

    def _do_time_left(self, words: list[str]) -> str:
        color = _color_of(words)
        if len(words) != 3:
            raise Failure("time and stones not two integers")
        left, stones = _seconds(words[1]), _whole(words[2], "time and stones not two integers")
        clock = self._clocks[color]
        if clock.system == "none":
            return ""
        if stones <= 0 or clock.system in ("absolute", "fischer"):
            self._clocks[color] = replace(clock, main=left, left=None)
        elif clock.system == "canadian":
            self._clocks[color] = replace(clock, main=0.0, left=left, stones_left=stones)
        else:
            self._clocks[color] = replace(clock, main=0.0, left=left, periods=stones)
        return ""

    def _set_clocks(self, clock: Clock) -> str:
        self._clocks = {1: clock, -1: clock}
        return ""

    # ---------------------------------------------------------------- moves of its own

    def _do_genmove(self, words: list[str]) -> str:
        color = _color_of(words)
        action = self._choose(color)
        if action is None:
            return "resign"
        self._play(color, action)
        return self._vertex(action)

    def _do_reg_genmove(self, words: list[str]) -> str:
        action = self._choose(_color_of(words))
        return "resign" if action is None else self._vertex(action)

    def _choose(self, color: int) -> int | None:
        """The action of the side `color`, None when it gives up."""
        began = time.monotonic()
        position = self._to_move(color)
        if position.over:
            raise Failure("game over")
        if self._may_end(position, color):
            return self._game.actions - 1
        clock = self._clocks[color]
        budget = clock.budget(math.prod(self._size), int(np.count_nonzero(position.stones)))
        limit = self._limit if clock.system == "none" else Limit(seconds=budget.seconds)
        decision = self._player.result().choose(position, limit)
        self._clocks[color] = clock.after(time.monotonic() - began) or clock
        if decision.resigns:
            return None
        return self._unless_it_loses(position, color, decision)

    def _may_end(self, position: Position, color: int) -> bool:
        """Has the opponent passed, and does a pass win now?"""
        return self._is_go and position.state.passes > 0 and color * self._margin(position) > 0

    def _unless_it_loses(self, position: Position, color: int, decision: players.Decision) -> int:
        """The action chosen; but no pass that ends a lost game while another move is there, nor an early one."""
        passing = self._game.actions - 1
        if not self._is_go or decision.action != passing or decision.result is None:
            return decision.action
        ends = position.state.passes > 0
        early = len(position.history) < EARLY * math.prod(self._size)
        others = decision.result.visits.copy()
        others[passing] = 0
        if (early or (ends and color * self._margin(position) <= 0)) and others.any():
            return int(np.argmax(others))
        return decision.action

    # ---------------------------------------------------------------- the end

    def _do_final_score(self, words: list[str]) -> str:
        margin = self._margin(self._position)
        if margin == 0:
            return "0"
        return f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"

    def _do_final_status_list(self, words: list[str]) -> str:
        asked = words[0] if len(words) == 1 else ""
        found = self._statuses()
        if asked not in ("alive", "dead", "seki", "black_territory", "white_territory", "dame"):
            raise Failure("invalid status")
        return " ".join(self._vertex(point) for point, status in enumerate(found) if status == asked)

    def _do_final_status(self, words: list[str]) -> str:
        try:
            point = self._action(words[0] if words else "")
        except IllegalMove:
            raise Failure("invalid coordinate") from None
        if point == self._game.actions - 1:
            raise Failure("invalid coordinate")
        return self._statuses()[point]

    def _do_kgs__game_over(self, words: list[str]) -> str:
        return ""

    def _margin(self, position: Position) -> float:
        """Black's points less White's, dead stones taken off where the rules say so."""
        return self._game.module.margin(position.state, dead.dead_stones(self._game, position.state))

    def _statuses(self) -> list[str]:
        state = self._position.state
        gone = dead.dead_stones(self._game, state)
        owners = self._game.module.territory(self._position.stones, gone).ravel()
        places = {1: "black_territory", -1: "white_territory", 0: "dame"}
        stones = self._position.stones.ravel()
        return [
            places[int(owner)] if not stone else ("dead" if lost else "alive")
            for stone, owner, lost in zip(stones, owners, gone.ravel(), strict=True)
        ]

    # ---------------------------------------------------------------- its own affairs

    @property
    def _position(self) -> Position:
        return self._line[-1]

    @property
    def _size(self) -> tuple[int, int]:
        assert self._game.board is not None
        return self._game.board.columns, self._game.board.rows

    @property
    def _is_go(self) -> bool:
        return hasattr(self._game.module, "half_points")

    def _set_game(self, game: Game) -> None:
        """Another game: a fresh position, and a player who loads in the background."""
        if game.board is None or game.board.style != "points":
            raise UsageError(f"{game.spec} has no board with points such as D4; GTP can't name its moves.")
        self._game = game
        self._player: Future[players.Player] = self._loader.submit(players.find, self._player_spec, game)
        self._half_komi = int(game.start(1)["komi"][0]) if self._is_go else 0
        self._begin(game.start(1))

    def _resize(self, columns: int, rows: int) -> None:
        """The same game on another board; komi stays."""
        name, text = self._game.spec.partition(":")[::2]
        kept = [part for part in text.split(",") if part and part.split("=")[0] not in ("size", "columns", "rows")]
        sizes = [f"size={columns}"] if columns == rows else [f"columns={columns}", f"rows={rows}"]
        komi = self._half_komi
        try:
            self._set_game(registry.find(f"{name}:{','.join(sizes + kept)}"))
        except UsageError:
            raise Failure("unacceptable size") from None
        self._half_komi = komi

    def _begin(self, states: np.ndarray) -> None:
        self._line = [self._given(Position(self._game, states))]

    def _given(self, position: Position) -> Position:
        """A position with the komi that was asked for."""
        if not self._is_go or position.state.komi == self._half_komi:
            return position
        states = position.states.copy()
        states["komi"] = self._half_komi
        return Position(self._game, states, position.history, position.earlier)

    def _to_move(self, color: int) -> Position:
        """The position with this side to move. Raises Failure in a game where the other one must."""
        position = self._position
        if position.player == color:
            return position
        if not self._is_go:
            raise Failure("illegal move")
        states = position.states.copy()
        states["player"] = color
        return Position(self._game, states, position.history, position.earlier)

    def _play(self, color: int, action: int) -> None:
        try:
            before = self._to_move(color)
            after = before.play(action)
        except IllegalMove:
            raise Failure("illegal move") from None
        self._line[-1] = before
        self._line.append(self._given(after))

    def _move(self, words: list[str]) -> tuple[int, int]:
        try:
            return COLORS[words[0].lower()], self._action(words[1])
        except (IndexError, KeyError, IllegalMove):
            raise Failure("invalid color or coordinate") from None

    def _action(self, vertex: str) -> int:
        return self._game.board.action(vertex)  # type: ignore[union-attr]

    def _vertex(self, action: Any) -> str:
        return self._position.name(int(action))


def _split_id(word: str) -> tuple[str, str]:
    """`14name` as `14`, `name`; an id is a number up to 2^31 - 1."""
    digits = len(word) - len(word.lstrip("0123456789"))
    number = word[:digits]
    if not number or int(number) > LARGEST_ID:
        return "", word
    return str(int(number)), word[digits:]


def _color(player: int) -> str:
    return "black" if player > 0 else "white"


def _color_of(words: list[str]) -> int:
    try:
        return COLORS[words[0].lower()]
    except (IndexError, KeyError):
        raise Failure("invalid color") from None


def _whole(word: str, otherwise: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise Failure(otherwise) from None


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise Failure("time and stones not two integers")
    return seconds
