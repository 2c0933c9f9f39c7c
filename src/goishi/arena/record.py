"""A finished game as one line of JSON, and as SGF for a person's viewer."""

import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from goishi.arena import scoring, sgf, sgf_game
from goishi.arena.sgf import Node
from goishi.core import registry
from goishi.core.game import Game, split
from goishi.core.position import Position
from goishi.errors import BadRecord, GoishiError, IllegalMove

TERMINATIONS = ("finished", "resignation", "illegal move", "crash", "timeout")
"""How a game ends: by its rules, or because the player to move gave up, broke the rules, its program failed, or it took
too long."""

RULES = {"new-zealand": "NZ", "nz": "NZ", "aga": "AGA", "bga": "BGA", "goe": "GOE", "ing": "GOE"} | {
    "tromp-taylor": "Tromp-Taylor",
    "cgos": "Tromp-Taylor",
}
"""SGF's names of rules where they are not the first word of Goishi's."""


class Opinion(NamedTuple):
    """What an outside engine says of a finished game's score."""

    player: int
    """Which of the game's players: 0 the one who moves first, 1 the other."""
    score: str
    """As it says it: `B+3.5`; empty where it says none."""
    why: str = ""
    """What it does otherwise, where its score is not ours, or why it says none; else empty."""


@dataclass(frozen=True)
class GameRecord:
    """One game between two players."""

    game: str
    """The game's spec."""
    players: tuple[str, str]
    """Their names, the one who moves first before the other."""
    actions: tuple[int, ...]
    """All moves, the opening's among them."""
    score: float
    """For the player who moves first: +1 won, 0 drawn, -1 lost."""
    termination: str = "finished"
    """One of TERMINATIONS."""
    error: str | None = None
    """What went wrong, in a sentence, where the game ended by an illegal move or a crash."""
    opening: int = 0
    """How many of the first moves were given, not chosen."""
    seconds: tuple[float, ...] = ()
    """Thinking time of each chosen move, the last one among them that could not be played."""
    values: tuple[float | None, ...] = ()
    """What the search of each chosen move said of the position, as its player saw it; empty where nobody asked."""
    date: str = ""
    """The day, as 2026-11-30."""
    number: int | None = None
    """Which game of its match."""
    dead: tuple[int, ...] = ()
    """Go: the points of stones that were taken off as dead before the game was scored."""
    opinions: tuple[Opinion, ...] = ()
    """What outside engines say of the score."""

    def position(self, game: Game | None = None) -> Position:
        """The last position. Raises IllegalMove where the moves do not fit the game."""
        return Position.after(game or registry.find(self.game), self.actions)

    def to_json(self, game: Game | None = None) -> str:
        """One line, without its end."""
        start = Position.start(game or registry.find(self.game))
        fields: dict[str, Any] = {
            "game": self.game,
            "players": self.players,
            "score": self.score,
            "termination": self.termination,
            "opening": self.opening,
            "moves": [start.name(action) for action in self.actions],
            "seconds": [round(each, 4) for each in self.seconds],
        }
        if self.values:
            fields["values"] = [None if value is None else round(value, 4) for value in self.values]
        for name in ("error", "date", "number"):
            if getattr(self, name) not in (None, ""):
                fields[name] = getattr(self, name)
        if self.dead:
            fields["dead"] = [start.name(point) for point in self.dead]
        if self.opinions:
            fields["opinions"] = [opinion._asdict() for opinion in self.opinions]
        return json.dumps(fields, ensure_ascii=False)

    def to_sgf(self, game: Game | None = None, comments: bool = True) -> str:
        """SGF of a game on a `points` board of at most 52 x 52. Raises BadRecord for other boards.

        comments  with what the search of each move said, and its time
        """
        game = game or registry.find(self.game)
        board = game.board
        if board is None or board.style != "points" or max(board.rows, board.columns) > sgf_game.LARGEST:
            raise BadRecord(f"SGF holds games with stones on points, up to 52x52, which {self.game} is not.")
        position = Position.start(game)
        kind = sgf_game.GO if game.name == "go" else sgf_game.GOMOKU
        node = root = Node(sgf_game.head(kind, board.columns, board.rows))
        words = {"PB": self.players[0], "PW": self.players[1], "DT": self.date} | self._sgf_rules(game)
        words |= {"RE": self.result(game), "GC": "; ".join(filter(None, (self.game, self.error)))}
        root.properties |= {name: [word] for name, word in words.items() if word}
        for name, player in (("AB", 1), ("AW", -1)):
            stones = [sgf.point(int(column), int(row)) for row, column in np.argwhere(position.stones == player)]
            root.properties |= {name: stones} if stones else {}
        for ply, action in enumerate(self.actions):
            row, column = divmod(action, board.columns)
            point = "" if position.name(action) == "pass" else sgf.point(column, row)
            comment = self._sgf_comment(ply) if comments else ""
            color = "B" if position.player == 1 else "W"
            node.children = [Node({color: [point]} | ({"C": [comment]} if comment else {}))]
            node = node.children[0]
            position = position.play(action)
        return sgf.write(root)

    def _sgf_rules(self, game: Game) -> dict[str, str]:
        """Komi, handicap and the name of the rules, as far as the game has them."""
        if game.name == "gomoku":
            return {"RU": _parameter(game, "rule")}
        if game.name != "go":
            return {}
        komi, handicap, rules = game.module.HALF_KOMI / 2, game.module.HANDICAP, _parameter(game, "rules")
        return {
            "KM": f"{komi:.15g}" + (".0" if komi == int(komi) else ""),
            "HA": str(handicap) if handicap >= 2 else "",
            "RU": RULES.get(rules, rules.partition("-")[0].title()),
        }

    def result(self, game: Game | None = None) -> str:
        """As SGF writes it: `B+3.5`, `W+R`, `W+T` on time, `B+F` by a failure, `0`."""
        game = game or registry.find(self.game)
        if self.score == 0:
            return "0"
        how = {"finished": "", "resignation": "R", "timeout": "T"}.get(self.termination, "F")
        if scoring.has_points(game) and self.termination == "finished":  # they tell by how many
            return scoring.told(scoring.margin(self.position(game), self.dead))
        return ("B+" if self.score > 0 else "W+") + how

    def _sgf_comment(self, ply: int) -> str:
        chosen = ply - self.opening
        if chosen < 0:
            return "opening"
        value = self.values[chosen] if chosen < len(self.values) else None
        parts = [] if value is None else [f"value {value:+.2f}"]
        return ", ".join(parts + ([f"{self.seconds[chosen]:.2f} s"] if chosen < len(self.seconds) else []))


def from_json(line: str, source: str = "record") -> GameRecord:
    """Reads one line and replays its moves. Raises BadRecord, whose text begins with `source`."""

    def bad(why: str) -> BadRecord:
        return BadRecord(f"{source}: {why}.")

    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise bad("this is no line of JSON") from None
    if not isinstance(fields, dict):
        raise bad("a game record is a JSON object")
    missing = [name for name in ("game", "players", "score", "moves") if name not in fields]
    if missing:
        raise bad(f"a game record needs {', '.join(missing)}")
    players, moves, score = fields["players"], fields["moves"], fields["score"]
    if not isinstance(fields["game"], str) or not _texts(players, 2) or not isinstance(moves, list):
        raise bad("game is a spec, players are two names and moves a list of moves")
    if score not in (-1, 0, 1) or isinstance(score, bool):
        raise bad("score is 1, 0 or -1, for the player who moves first")
    termination = fields.get("termination", "finished")
    if termination not in TERMINATIONS:
        raise bad(f"termination is one of {', '.join(TERMINATIONS)}")
    position = replay(fields["game"], moves, source)
    if termination == "finished" and not position.over:
        raise bad("the game is not over after its last move")
    dead = _points(fields.get("dead", []), position)
    if dead is None:
        raise bad("dead is a list of points such as D4")
    due = position.score if not dead else float(np.sign(scoring.margin(position, dead)))
    if termination == "finished" and due != score:
        raise bad(f"the score should be {due:g}, as the last position says, but it is {score:g}")
    try:
        number = fields.get("number")
        opening = int(fields.get("opening", 0))
        values = (None if value is None else float(value) for value in fields.get("values", ()))
        record = GameRecord(
            game=fields["game"],
            players=(players[0], players[1]),
            actions=position.history,
            score=float(score),
            termination=termination,
            error=None if fields.get("error") is None else str(fields["error"]),
            opening=opening,
            seconds=tuple(float(each) for each in fields.get("seconds", ())),
            values=tuple(values),
            date=str(fields.get("date", "")),
            number=None if number is None else int(number),
            dead=dead,
            opinions=tuple(_opinion(each) for each in fields.get("opinions", ())),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise bad(
            "opening and number are whole numbers, seconds and values lists of numbers, opinions as Goishi writes them"
        ) from None
    if not 0 <= opening <= len(position.history):
        raise bad("the opening is longer than the game")
    return record


def replay(spec: str, moves: Sequence[str | int], source: str) -> Position:
    """The position after moves given by name or number. Raises BadRecord that says which move is wrong."""
    try:
        position = Position.start(registry.find(spec))
    except GoishiError as error:
        raise BadRecord(f"{source}: {error}") from None
    for count, move in enumerate(moves, start=1):
        try:
            position = position.play(action_of(position, move))
        except GoishiError as error:
            raise BadRecord(f"{source}: move {count}: {error}") from None
    return position


def action_of(position: Position, move: Any) -> int:
    """The action of a name such as `D4`, or a number as it stands. Raises IllegalMove for a name of nothing."""
    return move if isinstance(move, int) and not isinstance(move, bool) else position.action(str(move))


def read(path: Path) -> Iterator[GameRecord]:
    """The records of a file of JSON lines, empty lines skipped. Raises BadRecord that names file and line."""
    for number, line in numbered_lines(path):
        yield from_json(line, f"{path}, line {number}")


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a text file that are not blank, counted from 1. Raises BadRecord when it can't be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadRecord(f"{path} can't be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise BadRecord(f"{path} is no text in UTF-8.") from None
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def numbered(record: GameRecord, number: int) -> GameRecord:
    """The record as a game of a match."""
    return replace(record, number=number)


def _parameter(game: Game, key: str) -> str:
    """A parameter of a game as its spec has it, or else its default; empty where the game has none of that name."""
    given = dict(part.partition("=")[::2] for part in split(game.spec)[1].split(","))
    known = inspect.signature(game.module.setup).parameters if hasattr(game.module, "setup") else {}
    return given.get(key) or (str(known[key].default) if key in known else "")


def _opinion(fields: dict[str, Any]) -> Opinion:
    return Opinion(int(fields["player"]), str(fields["score"]), str(fields["why"]))


def _points(names: Any, position: Position) -> tuple[int, ...] | None:
    """The points of stones that a record calls dead; None where they are none, or the game knows no dead stones."""
    if names == []:
        return ()
    if not isinstance(names, list) or not scoring.has_points(position.game):
        return None
    try:
        points = tuple(position.action(str(name)) for name in names)
    except IllegalMove:
        return None
    return points if max(points) < position.stones.size else None


def _texts(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(isinstance(value, str) for value in values)
