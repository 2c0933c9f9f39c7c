"""What the tree of an SGF record says of a game: the board, the stones at its start, the moves, komi, rules, result.

Records in the wild say much of it in odd ways. Each guess is a remark of the record's, and nothing here knows a game's
rules: whether the moves are legal is found out by `replay`, with a game from the registry.

A point is the action `row * columns + column`, row 0 at the top, as on a `points` board; the pass comes after the last.
Players are +1 Black and -1 White.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

import goishi
from goishi.arena import sgf
from goishi.arena.sgf import Node, Remark, Tree
from goishi.core import registry
from goishi.core.board import GO_LETTERS, fixed_handicap
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadRecord, IllegalMove, UnknownGame

GO, GOMOKU = 1, 4  # SGF's numbers of games
LARGEST = 52  # columns and rows that two letters can name
MOST_HANDICAP = 25
MOST_KOMI = 1000
COLORS = {1: "Black", -1: "White"}


class Move(NamedTuple):
    """One stone, or a pass."""

    player: int
    action: int
    node: Node
    """Where it stands, with its comment and clock."""


class Setup(NamedTuple):
    """Stones put or taken by hand in the middle of the game."""

    after: int
    """How many moves came before."""
    black: tuple[int, ...]
    white: tuple[int, ...]
    empty: tuple[int, ...]


@dataclass(frozen=True)
class SgfGame:
    """The main line of a record, understood."""

    kind: int
    """1 Go, 4 Gomoku: SGF's GM."""
    columns: int
    rows: int
    black: tuple[int, ...] = ()
    """Black's stones before the first move, those of a handicap among them."""
    white: tuple[int, ...] = ()
    player: int = 1
    """Who moves first."""
    moves: tuple[Move, ...] = ()
    setups: tuple[Setup, ...] = ()
    """Stones put by hand later; a game that has them is not one under rules."""
    handicap: int = 0
    """As HA tells it, 0 where it is none."""
    handicap_from: str = ""
    """Where the stones come from: setup, free (Black's first moves), fixed (the usual points), or nothing."""
    komi: float | None = None
    """Points for White; None where the record does not tell."""
    komi_read: float | None = None
    """The number in the record, where komi is a guess from it."""
    rules: str = ""
    """As Goishi names them; empty for rules it has no name for."""
    rules_read: str = ""
    result: str = ""
    """`B+3.5`, `W+R`, `B+T`, `W+F`, `B+`, `0`, `Void`, `?`; empty where it is not understood or not told."""
    result_read: str = ""
    players: tuple[str, str] = ("", "")
    """Black's name and White's."""
    ranks: tuple[str, str] = ("", "")
    date: str = ""
    """As 2026-11-30 where it can be read so."""
    event: str = ""
    place: str = ""
    program: str = ""
    """That wrote the record."""
    comment: str = ""
    """On the game as a whole."""
    remarks: tuple[Remark, ...] = ()
    source: str = field(default="record", compare=False)

    @property
    def winner(self) -> int | None:
        """+1 Black, -1 White, 0 nobody; None where it is not known."""
        return {"B": 1, "W": -1, "0": 0}.get(self.result[:1])

    @property
    def margin(self) -> float | None:
        """Points by which the winner won, where they were counted."""
        number = self.result[2:]
        return 0.0 if self.result == "0" else float(number) if number[:1].isdigit() else None

    @property
    def passing(self) -> int:
        """The action of a pass."""
        return self.rows * self.columns

    def to_json(self) -> dict[str, Any]:
        """For programs: moves as [color, point], points as people name them (D4)."""
        return {
            "source": self.source,
            "game": "go" if self.kind == GO else "gomoku",
            "columns": self.columns,
            "rows": self.rows,
            "black": self.players[0],
            "white": self.players[1],
            "ranks": self.ranks,
            "date": self.date,
            "event": self.event,
            "place": self.place,
            "komi": self.komi,
            "komi_read": self.komi if self.komi_read is None else self.komi_read,
            "rules": self.rules,
            "rules_read": self.rules_read,
            "result": self.result,
            "result_read": self.result_read,
            "handicap": self.handicap,
            "handicap_from": self.handicap_from,
            "black_stones": [self.name(action) for action in self.black],
            "white_stones": [self.name(action) for action in self.white],
            "to_move": "BW"[self.player < 0],
            "moves": [["BW"[move.player < 0], self.name(move.action)] for move in self.moves],
            "remarks": [str(remark) for remark in self.remarks],
        }

    def row(self) -> dict[str, Any]:
        """The record as a row of a table of records."""
        return {
            "record": self.source,
            "size": f"{self.columns}x{self.rows}",
            "black": " ".join(filter(None, (self.players[0], self.ranks[0]))),
            "white": " ".join(filter(None, (self.players[1], self.ranks[1]))),
            "komi": self.komi,
            "result": self.result or self.result_read,
            "date": self.date,
            "moves": len(self.moves),
            "odd": len(self.remarks),
        }

    def name(self, action: int) -> str:
        """The point's name for a person, such as D4."""
        if action == self.passing:
            return "pass"
        row, column = divmod(action, self.columns)
        letters = GO_LETTERS if self.columns <= len(GO_LETTERS) else sgf.LETTERS
        return f"{letters[column]}{self.rows - row}"


def understand(tree: Tree) -> SgfGame:
    """The game of a tree. Raises BadRecord, which names file and line, for a board that cannot be."""
    return _Reader(tree).game()


class _Reader:
    """Reads one tree; `remarks` grows on the way."""

    def __init__(self, tree: Tree):
        self.tree, self.root = tree, tree.root
        self.remarks = list(tree.remarks)

    def game(self) -> SgfGame:
        root, text = self.root, self.text
        kind = _whole(root.get("GM")) or GO
        if kind not in (GO, GOMOKU):
            raise self.bad(f"the game is number {kind} in SGF's list; Goishi reads 1 (Go) and 4 (Gomoku)")
        self.columns, self.rows = self.size(kind)
        self.actions = _actions(self.columns, self.rows)
        self.black: dict[int, None] = {}  # in the order of the record
        self.white: dict[int, None] = {}
        self.moves: list[Move] = []
        self.setups: list[Setup] = []
        self.to_move = 0
        node, children, known, moves = root, [root], self.actions.get, self.moves
        while children:  # root.main_line(), and most nodes are one move
            node = children[0]
            properties, children = node.properties, node.children
            if len(properties) == 1 and node is not root:
                ((name, values),) = properties.items()
                player = 1 if name == "B" else -1 if name == "W" else 0
                action = known(values[0]) if player and len(values) == 1 else None
                if action is not None:
                    moves.append(Move(player, action, node))
                    continue
            if not properties.keys().isdisjoint(SETUP):
                self.set_up(node)
            if "B" in properties or "W" in properties:
                self.move(node)
        handicap, handicap_from = self.handicap(kind)
        komi, komi_read = self.komi(kind, handicap)
        return SgfGame(
            kind=kind,
            columns=self.columns,
            rows=self.rows,
            handicap=handicap,
            handicap_from=handicap_from,
            player=self.first_player(handicap),
            black=tuple(self.black),
            white=tuple(self.white),
            moves=tuple(self.moves),
            setups=tuple(self.setups),
            komi=komi,
            komi_read=komi_read,
            rules=self.rules(),
            rules_read=text("RU"),
            result=self.result(),
            result_read=text("RE"),
            players=(text("PB"), text("PW")),
            ranks=(text("BR"), text("WR")),
            date=self.date(),
            event=text("EV") or text("GN"),
            place=text("PC"),
            program=" ".join(root.properties.get("AP", [])),
            comment=root.get("GC"),
            remarks=tuple(self.remarks),
            source=self.tree.source,
        )

    def text(self, name: str) -> str:
        """A SimpleText of the root: one line."""
        return " ".join(self.root.get(name).split())

    def remark(self, what: str, where: str = "") -> None:
        if len(self.remarks) < sgf.MOST_REMARKS and (what, where) not in self.remarks:
            self.remarks.append(Remark(what, where))

    def bad(self, why: str) -> BadRecord:
        return BadRecord(f"{self.tree.source}, line {self.tree.line}: {why}.")

    # -------------------------------------------------------------- board and stones

    def size(self, kind: int) -> tuple[int, int]:
        """Columns and rows."""
        given = self.root.get("SZ").strip()
        if "SZ" not in self.root.properties or not given:
            return (15, 15) if kind == GOMOKU else (19, 19)
        found = re.fullmatch(r"(\d{1,4})(?:\s*[:x*,]\s*(\d{1,4}))?", given)
        if found is None:
            raise self.bad(f"SZ[{given[:20]}] is no size of a board; it is SZ[19] or SZ[columns:rows]")
        columns, rows = int(found[1]), int(found[2] or found[1])
        if not (1 <= columns <= LARGEST and 1 <= rows <= LARGEST):
            raise self.bad(f"a board has 1 to {LARGEST} columns and rows, and not SZ[{given}]")
        return columns, rows

    def point(self, value: str) -> int | None:
        """The action of a value; None off the board, and for a pass."""
        action = action_of(value, self.columns, self.rows)
        if action is not None and value[1:2].isdigit():
            self.remark("points written as D4")
        return action

    def points(self, node: Node, name: str) -> tuple[int, ...]:
        """The points of a list, each once; those of its rectangles come last."""
        single: dict[int, None] = {}
        rectangles = np.zeros((self.rows, self.columns), bool)
        for value in dict.fromkeys(node.properties.get(name, ())):
            first, colon, last = value.partition(":")
            corner, opposite = self.point(first), self.point(last if colon else first)
            if corner is None or opposite is None:
                if value.strip():
                    self.remark("stone off the board", f"{name}[{value[:20]}] left out")
            elif not colon:
                single[corner] = None
            else:
                rows, columns = zip(divmod(corner, self.columns), divmod(opposite, self.columns), strict=True)
                rectangles[min(rows) : max(rows) + 1, min(columns) : max(columns) + 1] = True
        return tuple(single | dict.fromkeys(np.flatnonzero(rectangles).tolist()))

    def set_up(self, node: Node) -> None:
        black, white, empty = (self.points(node, name) for name in ("AB", "AW", "AE"))
        if self.moves:
            if black or white or empty:
                self.setups.append(Setup(len(self.moves), black, white, empty))
                self.remark("stones put by hand later", f"after move {len(self.moves)}")
            return
        for stones, own, other in ((black, self.black, self.white), (white, self.white, self.black)):
            own |= dict.fromkeys(stones)
            for action in stones:
                other.pop(action, None)
        for action in empty:
            self.black.pop(action, None)
            self.white.pop(action, None)
        player = node.get("PL").strip()[:1].lower()
        if player:
            self.to_move = {"b": 1, "1": 1, "w": -1, "2": -1}.get(player, 0)

    def move(self, node: Node) -> None:
        """The moves of a node; more than one are taken in turn, Black's first."""
        black, white = node.properties.get("B", ()), node.properties.get("W", ())
        if len(black) + len(white) > 1:
            self.remark("several moves in a node", f"at move {len(self.moves) + 1}")
        if node is self.root:
            self.remark("move in the first node")
        for pair in zip_longest(black, white):
            for player, value in zip((1, -1), pair, strict=True):
                if value is not None:
                    self.stone(player, value, node)

    def stone(self, player: int, value: str, node: Node) -> None:
        """One move, unless it is off the board."""
        action = self.point(value)
        if action is None:
            if not is_pass(value, self.columns, self.rows):
                self.remark("move off the board", f"{'B' if player > 0 else 'W'}[{value[:20]}] left out")
                return
            action = self.rows * self.columns
        self.moves.append(Move(player, action, node))

    # -------------------------------------------------------------- handicap

    def handicap(self, kind: int) -> tuple[int, str]:
        """How many stones, and where they come from: the record's stones, Black's first moves, or the usual points."""
        given = self.text("HA")
        count = _whole(given)
        if count is None and given:
            self.remark("handicap not understood", f"HA[{given[:20]}]")
        if kind != GO or count is None or count < 2:
            return 0, ""
        if self.black:
            if count != len(self.black):
                self.remark("handicap and stones differ", f"HA[{count}], {len(self.black)} stones")
            return count, "setup"
        first = self.moves[:count]
        alone = count <= MOST_HANDICAP and len(first) == count and all(move.player == 1 for move in first)
        if alone and all(move.action < self.rows * self.columns for move in first):
            self.black = {move.action: None for move in first}
            del self.moves[:count]
            self.setups = [setup._replace(after=max(0, setup.after - count)) for setup in self.setups]
            return count, "free"
        played = {move.action for move in self.moves}
        layouts = [fixed_handicap(self.columns, self.rows, count, ends) for ends in (False, True)]
        usual = min(layouts, key=lambda points: len(played & set(points)))  # old files of Fox have the other one
        if usual and not self.white and (not self.moves or self.moves[0].player == -1):
            self.black = dict.fromkeys(usual)
            self.remark("handicap without stones", f"HA[{count}]: set on the usual points")
            return count, "fixed"
        self.remark("handicap without stones", f"HA[{count}]: taken as none")
        return 0, ""

    def first_player(self, handicap: int) -> int:
        if self.to_move:
            return self.to_move
        if self.moves and not (self.setups and self.setups[0].after == 0):
            return self.moves[0].player
        return -1 if handicap or (self.black and not self.white) else 1

    # -------------------------------------------------------------- words

    def komi(self, kind: int, handicap: int) -> tuple[float | None, float | None]:
        """Komi, and the number it is guessed from."""
        given = self.text("KM")
        found = re.match(r"[+-]?\d{1,6}(?:[.,]\d{1,6})?", given)
        if found is None or kind != GO:
            if given:
                self.remark("komi not understood", f"KM[{given[:20]}]")
            return None, None
        number = float(found[0].replace(",", "."))
        fox = any("fox" in value.lower() for value in self.root.properties.get("AP", ()))
        if number == 0 and fox and not handicap:
            self.remark("komi of 0 taken as not told", "Fox writes so")
            return None, 0.0
        hundredths = 100 < abs(number) <= 2000 and number % 25 == 0 and "ogs:" not in self.text("PC").lower()
        komi = number / 100 if hundredths else number
        if komi * 4 % 2 == 1:  # quarters: half a komi in stones
            komi *= 2
        if abs(komi) > MOST_KOMI:
            self.remark("komi too large", f"KM[{given[:20]}] taken as not told")
            return None, number
        if komi * 2 % 1:
            self.remark("komi that is not whole or half", f"KM[{given[:20]}]")
        if komi != number:
            self.remark("komi guessed", f"KM[{given[:20]}] read as {komi:g}")
            return komi, number
        return komi, None

    def rules(self) -> str:
        """The name that Goishi has for them; servers mean their own by some words."""
        given = self.text("RU")
        words = re.sub(r"[^a-z\u4e00-\u9fff]", "", given.lower())
        name = RULES.get(words, "")
        place = self.text("PC").lower() + self.text("AP").lower()
        if "(cgos)" in place or self.text("GN").lower().startswith("cgos"):
            return "cgos"
        if name == "chinese":
            return "chinese-ogs" if "ogs:" in place else "chinese-kgs" if "cgoban:3" in place else name
        if given and not name:
            self.remark("rules not known", f"RU[{given[:30]}]")
        return name

    def result(self) -> str:
        given = self.text("RE")
        result = normal_result(given)
        if given and not result:
            self.remark("result not understood", f"RE[{given[:40]}]")
        return result

    def date(self) -> str:
        given = self.text("DT")
        found = re.search(r"(?<!\d)(\d{4})\s*[-./年]\s*(\d{1,2})\s*[-./月]\s*(\d{1,2})(?!\d)", given)
        if found and 1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31:
            return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}"
        return given


NAMED = re.compile(r"([A-HJ-Za-hj-z])([0-9]{1,2})")  # D4
SETUP = ("AB", "AW", "AE", "PL")
RULES = {
    **dict.fromkeys(("chinese", "cn", "china", "中国", "中国规则"), "chinese"),
    "chinesekgs": "chinese-kgs",
    "chineseogs": "chinese-ogs",
    **dict.fromkeys(("japanese", "jp", "japan", "日本", "日本规则"), "japanese"),
    **dict.fromkeys(("korean", "kr", "korea", "韩国", "韩国规则"), "korean"),
    **dict.fromkeys(("aga", "bga", "french"), "aga"),
    **dict.fromkeys(("nz", "newzealand"), "new-zealand"),
    **dict.fromkeys(("tromptaylor", "tt", "cgos"), "tromp-taylor"),
    **dict.fromkeys(("goe", "ing"), "ing"),
}
"""Small letters of RU, and the rules that Goishi has."""


def action_of(value: str, columns: int, rows: int) -> int | None:
    """The action of a point as SGF writes it, or people (D4); None off the board, and for a pass."""
    known = _actions(columns, rows)
    action = known.get(value)
    if action is None and value:
        value = "".join(value.split())
        named = NAMED.fullmatch(value) if value[1:2].isdigit() else None
        if named is None:
            return known.get(value)
        column, row = GO_LETTERS.index(named[1].upper()), rows - int(named[2])
        return row * columns + column if column < columns and 0 <= row < rows else None
    return action


def is_pass(value: str, columns: int, rows: int) -> bool:
    """Is this value of a move a pass?"""
    word = value.strip().lower()
    return word in ("", "pass") or (word == "tt" and max(columns, rows) <= 19)


@lru_cache(maxsize=64)
def _actions(columns: int, rows: int) -> dict[str, int]:
    """The action of each point as SGF writes it."""
    return {sgf.point(column, row): row * columns + column for row in range(rows) for column in range(columns)}


def normal_result(given: str) -> str:
    """A result as SGF writes it, from what people and programs write; empty where it says nothing certain."""
    text = " ".join(given.lower().split()).rstrip(".!。 ")
    if text in ("0", "draw", "jigo", "tie", "d", "d+j", "0+0", "和棋", "持碁", "和局", "무승부"):
        return "0"
    if text in ("void", "no result", "noresult", "無勝負", "无胜负"):
        return "Void"
    if text in ("?", "unknown", "unfinished", "has adjourned"):
        return "?"
    found = re.fullmatch(r"(b|w|black|white|黑|黒|白|흑|백)\s*\+\s*(.*)", text)
    found = found or re.fullmatch(r"(b|w|black|white)(?: (?:wins|won)(?: by| on)? ?(.*))?", text)
    if found:
        return _won(found[1], found[2] or "")
    found = re.fullmatch(r"(black|white) (resigns|resigned|forfeits|lost on time)\b.*", text)
    if found:
        return _won({"black": "w", "white": "b"}[found[1]], found[2].removeprefix("lost on "))
    found = re.fullmatch(r"(黑|黒|白|흑|백)方?\s*(.*?)\s*(?:胜|勝ち?|승)\s*(.*)", text)
    if found:
        return _won(found[1], (found[2] + " " + found[3]).strip())
    return ""


def _won(color: str, how: str) -> str:
    winner = "B" if color[0] in "b黑黒흑" else "W"
    if re.match(r"r$|resign|中盘|中盤|中押|불계", how):
        return winner + "+R"
    if re.match(r"t$|time|超时|超時|時間|시간", how):
        return winner + "+T"
    if re.match(r"f$|forfeit|illegal", how):
        return winner + "+F"
    number = re.match(r"(\d{1,4}(?:[.,]\d{1,4})?)\s*(目半|집반)?", how)
    if number and not re.match(r"[\d.,]+\s*子", how):
        points = float(number[1].replace(",", ".")) + (0.5 if number[2] else 0)
        return f"{winner}+{points:g}" if points else winner + "+"
    return winner + "+" + ("0.5" if how in ("半目", "반집") else "")


def _whole(text: str) -> int | None:
    found = re.fullmatch(r"\s*\+?(\d{1,4})\s*(?:[.]0+)?", text)
    return int(found[1]) if found else None


# ------------------------------------------------------------------ clean


def cleaned(tree: Tree, record: SgfGame) -> Node:
    """The tree as the standard wants it, with the guesses of its record written out; variations and comments stay.

    `understand` finds the same game in it. Stones of a handicap and other stones before the first move stand in the
    root, moves never do, a node has one move, a pass is empty, and what is off the board is gone.
    """
    root = tree.root.copy()
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        _clean_node(node, record, node is root)
    words: dict[str, str] = {"KM": "" if record.komi is None else f"{record.komi:.15g}"}
    words["KM"] += ".0" if words["KM"].lstrip("-").isdigit() else ""
    words["HA"] = str(record.handicap) if record.handicap else ""
    words["RE"] = record.result or record.result_read
    words["DT"] = record.date
    words["RU"] = "Chinese-KGS" if record.rules == "chinese-kgs" else record.rules_read  # AP told where it is from
    for name, word in words.items():
        if word:
            root.properties[name] = [word]
        else:
            root.properties.pop(name, None)
    _gather_stones(root, record)
    root.properties = head(record.kind, record.columns, record.rows) | {
        name: values for name, values in root.properties.items() if name not in HEAD
    }
    return root


def _gather_stones(root: Node, record: SgfGame) -> None:
    """Puts what stands before the first move into the root, unless variations part before it."""
    before = [root]
    while len(before[-1].children) == 1 and before[-1].children[0].properties.keys().isdisjoint(("B", "W")):
        before.append(before[-1].children[0])
    if len(before[-1].children) > 1 and before[-1].children[0].properties.keys().isdisjoint(("B", "W")):
        return
    told = any("PL" in node.properties for node in before)
    for node in before:
        for name in SETUP:
            node.properties.pop(name, None)
    black = () if record.handicap_from == "free" else record.black
    for name, stones in (("AB", black), ("AW", record.white)):
        if stones:
            root.properties[name] = [_value(record, action) for action in stones]
    if told:
        root.properties["PL"] = ["BW"[record.player < 0]]
    kept = [node for node in before[1:] if node.properties]
    last = before[-1].children
    for node, following in zip([root, *kept], [[node] for node in kept] + [last], strict=True):
        node.children = following


def head(kind: int, columns: int, rows: int) -> dict[str, list[str]]:
    """The first properties of a record that Goishi writes."""
    size = str(columns) if columns == rows else f"{columns}:{rows}"
    words = ("4", "UTF-8", str(kind), size, f"Goishi:{goishi.__version__}")
    return {name: [word] for name, word in zip(HEAD, words, strict=True)}


HEAD = ("FF", "CA", "GM", "SZ", "AP")


def _clean_node(node: Node, record: SgfGame, is_root: bool) -> None:
    moves = []
    for pair in zip_longest(node.properties.pop("B", ()), node.properties.pop("W", ())):
        for color, value in zip("BW", pair, strict=True):
            if value is not None:
                action = action_of(value, record.columns, record.rows)
                if action is not None:
                    moves.append((color, _value(record, action)))
                elif is_pass(value, record.columns, record.rows):
                    moves.append((color, ""))
    for name in ("AB", "AW", "AE"):
        if name in node.properties:
            known = [value for value in node.properties[name] if _corners(value, record)]
            if known:
                node.properties[name] = known
            else:
                del node.properties[name]
    if moves and not is_root:
        color, value = moves.pop(0)
        node.properties = {color: [value], **node.properties}
    for color, value in moves:
        node.children = [Node({color: [value]}, node.children)]
        node = node.children[0]


def _corners(value: str, record: SgfGame) -> bool:
    return all(action_of(corner, record.columns, record.rows) is not None for corner in value.split(":", 1))


def _value(record: SgfGame, action: int) -> str:
    row, column = divmod(action, record.columns)
    return sgf.point(column, row)


# ------------------------------------------------------------------ under rules


class Replay(NamedTuple):
    """How far a record goes under the rules of a game."""

    position: Position
    """After the moves that are legal."""
    played: int
    """How many."""
    problem: str = ""
    """Why the next move can't be played, with its number; empty where all could."""


def spec_of(record: SgfGame, game: str = "") -> str:
    """The spec of a game on the record's board: by its kind, or of `game`, a spec that tells no size."""
    base = game or ("gomoku" if record.kind == GOMOKU else "go")
    square = record.columns == record.rows
    size = f"size={record.columns}" if square else f"columns={record.columns},rows={record.rows}"
    has_parameters = ":" in (base.rpartition(".py")[2] if ".py" in base else base)
    return f"{base}{',' if has_parameters else ':'}{size}"


def find_game(record: SgfGame, game: str = "") -> Game | None:
    """The game for a record's board; None where there is none of that name or size, unless `game` asks for it."""
    try:
        return registry.find(spec_of(record, game))
    except UnknownGame:
        if game:
            raise
        return None


def start(record: SgfGame, game: Game) -> Position:
    """The first position, with the record's stones. Raises BadRecord where the game can't begin so."""
    board = game.board
    if board is None or board.style != "points" or (board.columns, board.rows) != (record.columns, record.rows):
        raise BadRecord(f"{record.source}: {game.spec} has no board of {record.columns}x{record.rows} points.")
    position = Position.start(game)
    if not (record.black or record.white) and record.player == position.player:
        return position
    return _with_stones(position, record, record.black, record.white, (), record.player)


def replay(record: SgfGame, game: Game) -> Replay:
    """Plays a record's moves as far as the rules of `game` let them be. Raises BadRecord as `start` does."""
    position = start(record, game)
    setups = list(record.setups)
    for number, move in enumerate(record.moves):
        while setups and setups[0].after == number:
            position = _with_stones(position, record, *setups.pop(0)[1:], move.player)
        try:
            position = _play(position, move, record)
        except IllegalMove as error:
            what = f"{COLORS[move.player]} {record.name(move.action)}"
            return Replay(position, number, f"move {number + 1}, {what}: {error}")
    for setup in setups:
        position = _with_stones(position, record, *setup[1:], position.player)
    return Replay(position, len(record.moves))


def _play(position: Position, move: Move, record: SgfGame) -> Position:
    if position.player != move.player and not position.over:
        raise IllegalMove(f"It is {COLORS[position.player]}'s turn.")
    if move.action >= position.game.actions:
        raise IllegalMove("This game knows no pass.")
    return (_resumed(position, move.player) if position.over else position).play(move.action)


def _resumed(position: Position, player: int) -> Position:
    """The position, to go on from where passes had ended it and the players disagreed on what is dead."""
    resume: Any = getattr(position.game.module, "resume", None)
    if resume is None:
        return position
    states = np.array(position.states, position.game.State)
    resume(states[0], player)
    return Position(position.game, states, position.history, position.earlier)


def _with_stones(
    position: Position,
    record: SgfGame,
    black: Sequence[int],
    white: Sequence[int],
    empty: Sequence[int],
    player: int,
) -> Position:
    """The position with stones put and taken, as the beginning of a game: the game's own `begin` makes it one."""
    begin: Any = getattr(position.game.module, "begin", None)
    if begin is None:
        raise BadRecord(f"{record.source}: the record begins with stones, and {position.game.name} has no `begin`.")
    states = np.array(position.states, position.game.State)
    cells = states[0]["board"].reshape(-1)
    for color, stones in ((1, black), (-1, white), (0, empty)):
        cells[list(stones)] = color
    begin(states[0], player, record.handicap)
    return Position(position.game, states)
