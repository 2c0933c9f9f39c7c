"""Record files of every kind that is read, as SGF trees: SGF itself, GIB (Tygem), NGF (Cyberoro), PSQ (Piskvork)."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from goishi.arena import sgf
from goishi.arena.sgf import Node, Tree
from goishi.arena.sgf_game import normal_result
from goishi.core.board import fixed_handicap
from goishi.errors import BadRecord

SUFFIXES = (".sgf", ".sgfs", ".gib", ".ngf", ".psq")
MOST_BYTES = 256 * 2**20  # of a file
HEAD = 65536  # letters in which a file shows its kind

GIB_LINE = re.compile(r"\\\[([A-Z]{1,20})=([^\\]*+)\\\]")
GIB_STONE = re.compile(r"^STO +\d+ +\d+ +([12]) +(\d+) +(\d+)", re.M)
GIB_START = re.compile(r"^INI +\d+ +\d+ +(\d+)", re.M)
GIB_RESULTS = {0: "B+", 1: "W+", 3: "B+R", 4: "W+R", 7: "B+T", 8: "W+T"}
NGF_MOVE = re.compile(r"^PM[A-Z]{2}([BW])([B-T])([B-T])", re.M)
PSQ_HEAD = re.compile(r"Piskvorky (\d+)x(\d+), *\d+:\d+, *(\d+)")
PSQ_MOVE = re.compile(r"(\d+),(\d+),\d+\s*")


def read_file(path: Path) -> Iterator[Tree]:
    """The games of a record file, one after the other. Raises BadRecord that names the file and the place."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadRecord(f"{path} is larger than {MOST_BYTES // 2**20} MiB; split it into several files.")
        data = path.read_bytes()
    except OSError as error:
        raise BadRecord(f"{path} can't be read: {error.strerror or error}.") from None
    yield from read(data, str(path))


def read(data: bytes, source: str = "record") -> Iterator[Tree]:
    """The games in a file's bytes, whatever its kind, which is told by what it holds. Raises BadRecord."""
    text, charset = sgf.decode(data)
    head = text[:HEAD].lstrip()
    if head.startswith("Piskvorky "):
        root = _psq(text, source)
    elif "\\[GIBOKIND=" in head or head.startswith("\\HS"):
        root = _gib(text)
    elif NGF_MOVE.search(head) and "(;" not in head:
        root = _ngf(text)
    else:
        yield from sgf.read(text, source, charset)
        return
    yield Tree(root, source, charset=charset)


def _gib(text: str) -> Node:
    fields = dict(GIB_LINE.findall(text))
    main = dict(re.findall(r"([A-Z]{1,12}):([^,]*)", fields.get("GAMEINFOMAIN", "")))
    tag = dict(re.findall(r"(?:^|,)\s*([A-Z])([^,]*)", fields.get("GAMETAG", "")))
    names = {}
    for color in ("BLACK", "WHITE"):
        found = re.fullmatch(r"(.*?)\s*(?:\(([^()]*)\))?", " ".join(fields.get(f"GAME{color}NAME", "").split()))
        names[color] = found.groups("") if found else ("", "")
    result = GIB_RESULTS.get(_number(main.get("GRLT") or tag.get("W")), "")
    margin = _number(main.get("ZIPSU") or tag.get("Z")) / 10
    komi = main.get("GONGJE") or tag.get("G") or fields.get("GAMEGONGJE")
    date = re.search(r"(\d{4})\D+(\d{1,2})\D+(\d{1,2})", tag.get("C") or fields.get("GAMEDATE", ""))
    start = GIB_START.search(text)
    return _tree(
        (("B" if color == "1" else "W", int(column), int(row)) for color, column, row in GIB_STONE.findall(text)),
        handicap=_number(start[1]) if start else 0,
        PB=names["BLACK"][0],
        BR=names["BLACK"][1],
        PW=names["WHITE"][0],
        WR=names["WHITE"][1],
        KM=f"{_number(komi) / 10:g}" if komi else "",
        RE=f"{result}{margin:g}" if result in ("B+", "W+") and margin > 0 else result,
        DT=f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}" if date else "",
        GN=fields.get("GAMENAME", ""),
        PC=fields.get("GAMEPLACE", ""),
    )


def _ngf(text: str) -> Node:
    first = NGF_MOVE.search(text)
    head = [line.strip() for line in text[: first.start() if first else 0].splitlines()]
    date = re.search(r"^(?:GI)?(\d{4})-?(\d\d?)-?(\d\d?)\b", "\n".join(head), re.M)
    known = {"DT": f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}" if date else ""}
    size, handicap = 19, 0
    if len(head) >= 11 and re.fullmatch(r"\d{1,2}", head[1]):  # older files have other lines
        size, handicap = int(head[1]), _number(head[5])
        for color, line in (("W", head[2]), ("B", head[3])):
            name, _, rank = line.rpartition(" ")
            known |= {f"P{color}": name.strip() or rank, f"{color}R": rank if name else ""}
        komi = _number(head[7])
        known |= {"PC": head[4], "KM": f"{komi + (0.5 if handicap == 0 else 0):g}", "RE": normal_result(head[10])}
    moves = ((color, ord(column) - ord("B"), ord(row) - ord("B")) for color, column, row in NGF_MOVE.findall(text))
    return _tree(moves, size=size, handicap=handicap, **known)


def _psq(text: str, source: str) -> Node:
    lines = text.lstrip().splitlines()
    head = PSQ_HEAD.match(lines[0])
    if head is None or head[3] not in ("0", "1"):
        raise BadRecord(f"{source}: its first line is not as in `Piskvorky 15x15, 11:11, 0`.")
    moves: list[tuple[str, int, int]] = []
    for line in lines[1:]:
        move = PSQ_MOVE.fullmatch(line)
        if move is None:
            break
        moves.append(("BW"[len(moves) % 2], int(move[1]) - 1, int(move[2]) - 1))
    names = [Path(line.strip()).stem for line in lines[1 + len(moves) : 3 + len(moves)] if line.strip()]
    black, white = names if len(names) == 2 and not names[0].lstrip("-").isdigit() else ("", "")
    size = head[1] if head[1] == head[2] else f"{head[1]}:{head[2]}"
    return _tree(moves, GM="4", SZ=size, PB=black, PW=white)


def _tree(moves: Iterable[tuple[str, int, int]], size: int = 19, handicap: int = 0, **known: str) -> Node:
    """A tree of moves (color, column, row); values that are not told are left out."""
    properties = {"FF": "4", "GM": "1", "SZ": str(size), **known}
    root = Node({name: [value] for name, value in properties.items() if value})
    if handicap >= 2:
        points = fixed_handicap(size, size, handicap)
        root.properties |= {"HA": [str(handicap)]}
        if points:
            root.properties["AB"] = [sgf.point(action % size, action // size) for action in points]
    node = root
    for color, column, row in moves:
        value = sgf.point(column, row) if column in range(52) and row in range(52) else f"{column},{row}"
        node.children.append(Node({color: [value]}))
        node = node.children[0]
    return root


def _number(text: str | None) -> int:
    found = re.match(r"\s*(-?\d{1,6})", text or "")
    return int(found[1]) if found else -1 if not text else 0
