"""SGF as text and as a tree: a reader that survives what is out there, and a writer that adds nothing to it.

`read` takes the bytes of a file and gives one Tree a game; `write` turns trees into text. What the properties mean is
`sgf_game`'s. Nothing here calls itself: OGS opens a parenthesis at every move, so trees are as deep as games are long.
"""

import gc
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from goishi.errors import BadRecord

MOST_NODES = 500_000  # of a game
MOST_LETTERS = 8 * 2**20  # of a value
MOST_REMARKS = 20  # that a game keeps


class Remark(NamedTuple):
    """Something odd in a record that was read all the same."""

    what: str
    """The same words wherever it is found, so that they can be counted."""
    where: str = ""
    """The place and the details."""

    def __str__(self) -> str:
        return f"{self.what} ({self.where})" if self.where else self.what


class Node:
    """One node of a game: its properties as they stood, and the nodes that follow, the main line first.

    properties  the values of each property, by its capital letters, in the order of the file, without escapes
    """

    __slots__ = ("children", "properties")

    def __init__(self, properties: dict[str, list[str]] | None = None, children: "list[Node] | None" = None):
        self.properties = {} if properties is None else properties
        self.children = [] if children is None else children

    def get(self, name: str, default: str = "") -> str:
        """The first value of a property."""
        values = self.properties.get(name)
        return values[0] if values else default

    def main_line(self) -> "Iterator[Node]":
        """This node, its first child, and so on."""
        node = self
        while True:
            yield node
            if not node.children:
                return
            node = node.children[0]

    def walk(self) -> "Iterator[Node]":
        """This node and all below it, each before its children."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def copy(self) -> "Node":
        """A tree of its own with the same properties."""
        top = Node()
        stack = [(self, top)]
        while stack:
            node, twin = stack.pop()
            twin.properties = {name: list(values) for name, values in node.properties.items()}
            twin.children = [Node() for _ in node.children]
            stack.extend(zip(node.children, twin.children, strict=True))
        return top

    def __eq__(self, other: object) -> bool:
        """Do both trees have the same shape, the same properties in the same order, and the same values?"""
        if not isinstance(other, Node):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            a, b = stack.pop()
            if list(a.properties.items()) != list(b.properties.items()) or len(a.children) != len(b.children):
                return False
            stack.extend(zip(a.children, b.children, strict=True))
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Node({self.properties!r}, children={len(self.children)})"


@dataclass
class Tree:
    """One game of a file."""

    root: Node
    source: str = "record"
    """The file, or what else the text is from, for sentences about it."""
    line: int = 1
    """Where the game begins."""
    charset: str = "utf-8"
    """How the bytes were read."""
    remarks: list[Remark] = field(default_factory=list)
    """What was odd, at most MOST_REMARKS."""

    def remark(self, what: str, where: str = "") -> None:
        """Notes something odd."""
        if len(self.remarks) < MOST_REMARKS:
            self.remarks.append(Remark(what, where))


# ------------------------------------------------------------------ reading

START = re.compile(r"\(\s*+;|\(\s*+(?=[A-Za-z]{1,16}\s*+\[)")
START_WITHOUT = re.compile(r";(?=\s*+(?:FF|GM|SZ|[BW])\s*+\[)")  # a parenthesis
PAGE = re.compile(r"\s*+<(?:!doctype|html|head|\?xml)", re.I)
SPECIAL = re.compile(r"[;()\[]")
QUICK = re.compile(r"\s*+;([A-Z]{1,2})\[([^\]\\]{0,8})\](?!\s*+\[)")  # a node and its first property, most often a move
TOKEN = re.compile(r"\s*+(?:([;()])|([A-Za-z0-9]*+)\s*+\[([^\]\\]*+(?:\\.[^\]\\]*+)*+)(\]?))", re.S)
ESCAPE = re.compile(r"\\(.)", re.S)
LAST_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Z]{1,8}[0-9]?\Z")
SMALL = re.compile("[a-z]+")
KNOWN_SMALL = ("b", "w", "c", "ab", "aw", "ae", "ff", "gm", "sz", "km", "ha", "re", "pb", "pw", "br", "wr", "dt", "ru")
TEXTS = ("C", "GC")  # half a comment is worth keeping


def read(data: bytes | str, source: str = "record", charset: str = "utf-8") -> Iterator[Tree]:
    """The games of an SGF text, one after the other, so that a file of 50,000 needs no more memory than one.

    Raises BadRecord, whose sentence begins with `source` and the place, where there is no game or one is too large.
    Everything else that is wrong is a remark of the game's: what could be read is kept.
    """
    text, charset = (_one_break(data), charset) if isinstance(data, str) else decode(data)
    places = _Places(text)
    position, found = 0, 0
    if PAGE.match(text):
        raise BadRecord(f"{source} is a web page and no game record; download the record itself.")
    while True:
        start = START.search(text, position) or (None if found else START_WITHOUT.search(text))
        if start is None:
            break
        found += 1
        tree = Tree(Node(), source, places.line(start.start()), charset)
        collecting = gc.isenabled()
        gc.disable()  # a growing tree has no cycles, and would be walked again and again in search of some
        try:
            position = _read_game(text, start, tree, places)
        finally:
            if collecting:
                gc.enable()
        yield tree
    if not found:
        raise BadRecord(f"{source} {_what_else(text)}.")


def _read_game(text: str, start: re.Match[str], tree: Tree, places: "_Places") -> int:
    """Reads one game into the tree; answers where it ends."""
    node = tree.root
    name = ""
    values: list[str] | None = None  # of the property read last, whose list may go on
    branches: list[Node | None] = [None]  # the node before each open parenthesis
    nodes = 1
    position, end = start.end(), len(text)

    def odd(what: str, place: int) -> None:
        if len(tree.remarks) < MOST_REMARKS:  # places take time to tell
            tree.remark(what, f"skipped at {places.of(place)}")

    while position < end:
        quick = QUICK.match(text, position)
        token = quick or TOKEN.match(text, position)
        if token is None:
            begin, (position, junk) = position, _skip_junk(text, position)
            if junk:
                odd("text between properties", begin)
            values = None
            continue
        position = token.end()
        if quick or token[1] == ";":
            child = Node({token[1]: [token[2]]} if quick else None)
            node.children.append(child)
            node, values = child, None
            nodes += 1
            if nodes > MOST_NODES:
                raise _too_much(tree, places.of(position), "the game", MOST_NODES, "nodes")
            continue
        mark, letters, raw, closed = token.groups()
        if mark == "(":
            branches.append(node)
            values = None
        elif mark == ")":
            before = branches.pop()
            if before is None:
                return position
            node, values = before, None
        else:
            if len(raw) > MOST_LETTERS:
                raise _too_much(tree, places.of(token.start(3)), "a value", MOST_LETTERS, "letters")
            if letters:
                name = letters if letters.isupper() else _capitals(letters)
                values = node.properties.setdefault(name, []) if name else None
            if values is None:
                odd("value without a property", token.start(3))
            elif closed or name in TEXTS:
                values.append(ESCAPE.sub(_unescaped, raw) if "\\" in raw else raw)
            elif not values:
                del node.properties[name]
            if not closed:
                position = end
    tree.remark("cut off", f"the file ends at {places.of(end)}, inside the game")
    return position


def _too_much(tree: Tree, place: str, what: str, most: int, unit: str) -> BadRecord:
    return BadRecord(f"{tree.source}, {place}: {what} has more than {most:,} {unit}; split it.")


def _skip_junk(text: str, position: int) -> tuple[int, bool]:
    """Where the next token begins after text that is none (the rest of `C[a [b] c]`); was it more than blanks?"""
    begin = position
    while True:
        stop = SPECIAL.search(text, position)
        end = stop.start() if stop else len(text)
        if stop and stop[0] == "[":
            before = text[position:end].rstrip()
            known = LAST_NAME.search(before, max(0, len(before) - 10))
            if known is None:
                position = stop.end()
                continue
            end = position + known.start()
        return end, end > position and (position > begin or not text[begin:end].isspace())


def _capitals(letters: str) -> str:
    """The name of a property that is not all capitals: FF[1] writes `SiZe`, some programs `sz`; empty for no name."""
    name = SMALL.sub("", letters)
    return "" if name.isdigit() else name or (letters.upper() if letters in KNOWN_SMALL else "")


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _what_else(text: str) -> str:
    """What a text without a game is, to go on after the name of a file."""
    head = text[:4000].lstrip().lower()
    if not head:
        return "is empty"
    if head.startswith("[header]"):
        return "is a record in UGI, which is not read; save it as SGF"
    return "holds no game: there is no `(;` in it"


class _Places:
    """Lines and columns of a text, quick when they are asked for in order."""

    def __init__(self, text: str):
        self._text = text
        self._position, self._line = 0, 1

    def line(self, position: int) -> int:
        """The line, from 1."""
        if position < self._position:
            self._position, self._line = 0, 1
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line

    def of(self, position: int) -> str:
        """As a person says it."""
        line = self.line(position)
        return f"line {line}, column {position - self._text.rfind(chr(10), 0, position)}"


# ------------------------------------------------------------------ charsets

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
DECLARED = re.compile(rb"(?<![A-Z])C[a-z]*A[a-z]*\s*\[\s*([\w.:\- ]{1,40}?)\s*\]")
CODECS = {
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "cp936", "ms936", "euccn", "windows936", "gb"), "gb18030"),
    **dict.fromkeys(("shiftjis", "sjis", "xsjis", "cp932", "ms932", "windows31j", "mskanji"), "cp932"),
    **dict.fromkeys(("euckr", "cp949", "ms949", "ksc56011987", "ksc5601", "uhc", "windows949"), "cp949"),
    **dict.fromkeys(("big5", "cp950", "big5hkscs"), "big5hkscs"),
    **dict.fromkeys(("eucjp", "xeucjp"), "euc_jp"),
    **dict.fromkeys(("iso2022jp", "jis"), "iso2022_jp"),
    **dict.fromkeys(("latin1", "iso88591", "ascii", "usascii", "windows1252", "cp1252"), "cp1252"),
    **{f"windows{number}": f"cp{number}" for number in (1250, 1251, 1253, 1254, 1257)},
    **{f"cp{number}": f"cp{number}" for number in (1250, 1251, 1253, 1254, 1257)},
    **{f"iso8859{part}": f"iso8859-{part}" for part in (2, 5, 7, 9, 15)},
    "koi8r": "koi8_r",
    "utf8": "utf-8",
}
"""Names that CA is seen with, small letters and figures alone, and the codec that reads them."""
SAMPLE = 65536  # bytes that are enough to tell a charset

COMMON = {
    "gb18030": "段级胜负黑白目子围棋手中国赛杯局日本韩战名人王李张陈刘周林柯吴杨赵黄马罗谢朱江郭孙唐时古连常聂俞孟檀"
    "范丁芈小大明天一二三四五六七八九十世不是的了在有我他这个上来到们为和你地出道也年得就那要下以生会自之"
    "过家学对可心多文东海龙风云山水星飞金玉石新星光青成华平安志伟建军强杰浩宇宏春秋红雨雪月夜心剑侠神仙老"
    "师先生高手第届决赛预选对无方超让贴盘比用快长好没看走打吃活死劫官布定式",
    "cp949": "가강개거결경고공관교구국권규균급기길김나남내년노는다단대덤도동두라로료류리마만매면명모목무문미민바박"
    "반방배백범변별병보복본부분불비빈빙사산삼상서석선설성세소손송수순승시식신실심아안양어에여연열영예오온"
    "완왕용우욱운원월위유윤은을음의이인일임자작장재저전정제조종주준중지진집차찬창채천철청초최추충타탁태판"
    "패표프하한해허혁현형혜호홍화환황회효후훈휘흑희월시간단적대국제한수십초",
    "cp932": "段級黒白勝負目半囲碁戦名人本因坊棋聖王座天元対局中押時間切先番手日月年第回決定井山木村田小林高大石川"
    "藤佐坂趙張武宮加林海峰羽根淳依紀基秀行裕太一二三四五六七八九十郎子之男夫正和雄弘治清",
}
"""What is written most in records, by the codec; a wrong codec hits it by chance only."""


def decode(data: bytes) -> tuple[str, str]:
    """The text of a record with its line breaks as `\\n`, and the codec that read it. Bytes that fit none are replaced.

    In this order: a byte order mark, UTF-8 if it is valid, the declared charset if it fits, and what fits best.
    """
    for mark, codec in BOMS:
        if data.startswith(mark):
            return _one_break(data[len(mark) :].decode(codec, "replace")), codec
    declared = DECLARED.search(data[:SAMPLE])
    named = CODECS.get(re.sub(r"[^a-z0-9]", "", declared[1].decode("ascii").lower()), "") if declared else ""
    codec = _codec(data, named)
    return _one_break(data.decode(codec, "replace")), codec


def _codec(data: bytes, named: str) -> str:
    if _fits(data, "utf-8") and not (named == "iso2022_jp" and b"\x1b" in data):
        return "utf-8"
    wide = named in ("gb18030", "cp932", "cp949", "big5hkscs", "euc_jp", "iso2022_jp")
    if wide and _fits(data, named):  # one byte a letter always fits, which proves nothing
        return named
    first = re.search(rb"[\x80-\xff]", data)
    sample = data[first.start() : first.start() + SAMPLE] if first else b""
    codecs = dict.fromkeys(("utf-8", *COMMON, "cp1252", *filter(None, [named])))
    return max(codecs, key=lambda codec: _likeness(sample, codec) + (codec == named))


def _fits(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _likeness(sample: bytes, codec: str) -> float:
    """How much the sample looks like a text in this charset: the mean over its letters that are not ASCII."""
    if codec.startswith(("cp125", "iso8859", "koi8")):  # foreign letters stand alone between ASCII ones
        foreign = len(re.findall(rb"[\x80-\xff]", sample))
        alone = len(re.findall(rb"(?<![\x80-\xff])[\xc0-\xff](?![\x80-\xff])", sample))
        return (3 * alone - 2 * foreign) / max(foreign, 1)
    letters = [letter for letter in sample.decode(codec, "replace") if letter > "\x7f"]
    return sum(_weight(letter, codec) for letter in letters) / max(len(letters), 1)


def _weight(letter: str, codec: str) -> int:
    if codec == "utf-8":
        return -3 if letter == "\ufffd" else 4 if letter >= "\u0800" else 3
    if letter == "\ufffd" or "\ue000" <= letter <= "\uf8ff":
        return -8
    if letter in COMMON.get(codec, ""):
        return 4
    if "\u3000" <= letter <= "\u303f" or "\uff01" <= letter <= "\uff5e":  # punctuation of the Far East
        return 1
    if "\uac00" <= letter <= "\ud7a3":  # Hangul that is not common
        return 0
    if "\u3041" <= letter <= "\u30fe":  # kana
        return 3 if codec in ("cp932", "euc_jp") else -1
    lead = letter.encode("shift_jis" if codec == "cp932" else "gb2312", "replace")[0]
    common = 0x88 <= lead <= 0x97 if codec == "cp932" else 0xB0 <= lead <= 0xD7 if codec == "gb18030" else False
    return 1 if common else -2


def _one_break(text: str) -> str:
    """Every kind of line break as one."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\n\r", "\n").replace("\r", "\n")


# ------------------------------------------------------------------ writing


def write(*roots: Node) -> str:
    """SGF of trees, one after the other. `read` gives equal trees, unless values hold the line break `\\r`."""
    parts: list[str] = []
    stack: list[Node | str] = []
    for root in reversed(roots):
        stack += [")\n", root, "("]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        parts.append(";" + "".join(map(_property, item.properties.items())))
        if len(item.children) == 1:
            stack += [item.children[0], "\n"]
        else:
            for child in reversed(item.children):
                stack += [")", child, "\n("]
    return "".join(parts)


def _property(item: tuple[str, Sequence[str]]) -> str:
    name, values = item
    return name + "".join(f"[{escape(value, name)}]" for value in values)


def escape(value: str, name: str = "") -> str:
    """A value as it stands in the text; in labels a colon of their own is told from the one after the point."""
    value = value.replace("\\", "\\\\").replace("]", "\\]")
    if name in ("LB", "AR", "LN") and value.count(":") > 1:
        point, _, rest = value.partition(":")
        value = f"{point}:{rest.replace(':', chr(92) + ':')}"
    return value


def point(column: int, row: int) -> str:
    """A point as SGF writes it, both counted from 0 at the top left, up to 51."""
    return LETTERS[column] + LETTERS[row]


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
