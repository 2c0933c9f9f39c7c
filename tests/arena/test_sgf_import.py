"""GIB, NGF and PSQ files as SGF trees, against what pysgf reads in them."""

import tarfile
from pathlib import Path

import pytest

from goishi.arena import sgf_import
from goishi.arena.sgf_game import understand
from goishi.errors import BadRecord

DATA = Path(__file__).parents[3] / "shared" / "data"
GIB = r"""\HS
\[GIBOKIND=Global\]
\[GAMEWHITENAME=lee jw (10K)\]
\[GAMEBLACKNAME=jy512\]
\[GAMEINFOMAIN=GBKIND:3,GRLT:1,ZIPSU:35,DUM:5,GONGJE:65,TCNT:0\]
\[GAMETAG=S1,R3,D5,G0,W1,Z35,T30-3-1200,C2016:03:26:17:29,I:lee\]
\HE
\GS
INI 0 1 3 &4
STO 0 2 2 15 15
STO 0 3 1 13 16
"""
NGF = """Rated game
19
LQC         9DP
CYY         7D*
www.cyberoro.com
0
0
7
20170316 [09:37]
5
White wins by  resign!
2
PMABBREER
PMACWEEEE
"""
PSQ = "Piskvorky 20x15, 11:11, 0\n8,8,0\n9,8,1375\n1,15,20\npbrain-a.exe\npbrain-b.exe\n0\n"


def read(data, name="file"):
    return understand(next(sgf_import.read(data if isinstance(data, bytes) else data.encode(), name)))


def moves(record):
    return [("BW"[move.player < 0], record.name(move.action)) for move in record.moves]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_gib(ends):
    record = read(GIB.replace("\n", ends))
    assert (record.columns, record.players, record.ranks) == (19, ("jy512", "lee jw"), ("", "10K"))
    assert (record.handicap, record.komi, record.result, record.date) == (3, 6.5, "W+3.5", "2016-03-26")
    assert [record.name(action) for action in record.black] == ["Q16", "D4", "D16"]
    assert moves(record) == [("W", "Q4"), ("B", "O3")]
    assert record.remarks == ()


@pytest.mark.parametrize(
    ("main", "tag", "result", "komi"),
    [
        ("GRLT:0,ZIPSU:110,GONGJE:0", "", "B+11", 0.0),
        ("GRLT:3,ZIPSU:0,GONGJE:75", "", "B+R", 7.5),
        ("GRLT:8,ZIPSU:0,GONGJE:-55", "", "W+T", -5.5),
        ("GRLT:255", "", "", None),
        ("", "G65,W4,Z0", "W+R", 6.5),
        ("", "", "", None),
    ],
)
def test_results_and_komi_of_gib(main, tag, result, komi):
    record = read(f"\\HS\n\\[GAMEINFOMAIN={main}\\]\n\\[GAMETAG={tag}\\]\nINI 0 1 0 &4\n")
    assert (record.result, record.komi) == (result, komi)


def test_ngf():
    record = read(NGF)
    assert (record.columns, record.players, record.ranks) == (19, ("CYY", "LQC"), ("7D*", "9DP"))
    assert (record.handicap, record.komi, record.result, record.date) == (0, 7.5, "W+R", "2017-03-16")
    assert moves(record) == [("B", "R16"), ("W", "D16")]
    record = read(NGF.replace("cyberoro.com\n0\n0\n7", "cyberoro.com\n2\n0\n0"))
    assert (record.handicap, record.komi, len(record.black)) == (2, 0.0, 2)
    assert len(moves(read("GIx\nGI2006-9-5\nPMABBREER\nnoise\nPMACWEEEE\n"))) == 2


def test_psq():
    record = read(PSQ)
    assert (record.kind, record.columns, record.rows, record.players) == (4, 20, 15, ("pbrain-a", "pbrain-b"))
    assert moves(record) == [("B", "H8"), ("W", "J8"), ("B", "A1")]
    assert read(PSQ.replace("pbrain-a.exe\npbrain-b.exe\n0", "-1")).players == ("", "")
    with pytest.raises(BadRecord, match="its first line is not as in `Piskvorky 15x15, 11:11, 0`"):
        read(PSQ.replace(", 0\n8", ", 2\n8"))


def test_real_files_of_other_programs_are_read_as_pysgf_reads_them(tmp_path):
    pysgf = pytest.importorskip("pysgf", reason="needs pysgf")
    archive = DATA / "sgf_messy" / "sgf_messy.tar.xz"
    if not archive.exists():
        pytest.skip("needs shared/data/sgf_messy")
    compared = 0
    with tarfile.open(archive) as file:
        for member in file:
            name = Path(member.name).name
            if not name.endswith((".gib", ".ngf")):
                continue
            path = tmp_path / name
            path.write_bytes(file.extractfile(member).read())
            ours = read(path.read_bytes(), name)
            node = root = pysgf.GoGame.parse_file(str(path))
            theirs = []
            while node.children:
                node = node.children[0]
                theirs += [(move.player, move.gtp()) for move in node.moves]
            assert moves(ours) == theirs, name
            assert sorted(map(ours.name, ours.black)) == sorted(move.gtp() for move in root.placements), name
            compared += 1
    assert compared == 6
