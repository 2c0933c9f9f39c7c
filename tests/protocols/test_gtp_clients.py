"""The clients that people use: what each sends and what it gets. A file of golden/gtp is one session."""

import json
import re
from pathlib import Path

import pytest
from sessions import Client, replay

from goishi.protocols.gtp import Gtp

ROOT = Path(__file__).parents[2]
SESSIONS = sorted((ROOT / "tests" / "golden" / "gtp").glob("*.txt"))
TRANSCRIPTS = ROOT.parent / "shared" / "tools" / "transcripts"
RECORDED = [
    pytest.param("sabaki_gnugo", marks=pytest.mark.slow),  # on 13x13 as well, which is compiled first
    *("gogui_twogtp_gnugo", "gtp2ogs_katago", "cgos_client_gnugo"),
]
VERTEX = "(?:[A-HJ-Z][0-9]{1,2}|pass)"


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_client_gets_what_it_needs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    replay(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_session_goes_through_with_its_own_moves(name):
    path = TRANSCRIPTS / f"{name}.txt"
    if not path.exists():
        pytest.skip("the recordings of other engines' sessions are not here")
    sent, answers = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# engine started"):
            sent.append(None)
            answers.append("")
        elif line.startswith("< "):
            sent.append(line[2:].replace("\\r", "\r"))
        elif re.match(r"> [=?]", line):
            answers.append(line[4:].strip())
    for line, answer in zip(sent, answers, strict=True):
        if line is None or "engine" not in locals():
            engine = Gtp("go:size=9", "random")
        if line is None:
            continue
        words = line.split()
        if words[0] == "genmove":
            line = f"play {words[1]} {answer}"
        assert engine.answer(line)[0] == "=", line


def analysis(line, player="rollout:visits=200", before=()):
    engine = Gtp("go:size=5", player)
    for each in ("play b c3", *before):
        assert engine.answer(each)[0] == "="
    head, *rows, last = engine.answer(line).removesuffix("\n\n").split("\n")
    assert head == "="
    assert re.fullmatch(f"play {VERTEX}", last)
    assert rows[-1].startswith("info move ")
    return rows[-1]


def entries(row):
    """As Sabaki reads it: an entry begins with `info`, keys and values strictly in turn, then a line of vertices."""
    found = []
    for entry in re.split(r"\s*info\s+", row.strip())[1:]:
        head, pv = re.fullmatch(rf"(.+?) pv ((?:{VERTEX})(?: {VERTEX})*)", entry).groups()
        words = head.split()
        assert len(words) % 2 == 0
        found.append(dict(zip(words[::2], words[1::2], strict=True)) | {"pv": pv})
    return found


def test_lz_numbers_are_whole_for_lizzie():
    told = entries(analysis("lz-genmove_analyze w 10"))
    assert [list(entry) for entry in told] == [["move", "visits", "winrate", "prior", "lcb", "order", "pv"]] * len(told)
    for place, entry in enumerate(told):
        whole = {key: int(value) for key, value in entry.items() if key not in ("move", "pv")}
        assert whole["order"] == place
        assert 0 <= whole["winrate"] <= 10_000
        assert entry["pv"].split()[0] == entry["move"]
    assert 100 < sum(int(entry["visits"]) for entry in told) <= 200  # fewer where nothing can change the choice
    assert int(told[0]["visits"]) == max(int(entry["visits"]) for entry in told)


def test_kata_entries_end_with_their_line_for_sabaki():
    told = entries(analysis("kata-genmove_analyze w 10"))
    assert abs(sum(float(entry["prior"]) for entry in told)) <= 1.001
    for entry in told:
        assert float(entry["winrate"]) == pytest.approx((1 + float(entry["utility"])) / 2, abs=1e-5)
        assert float(entry["lcb"]) <= float(entry["winrate"])


def test_what_is_asked_for_besides_comes_where_it_belongs():
    keys = ("pvVisits", "pvEdgeVisits", "rootInfo", "ownership")
    row = analysis(f"kata-genmove_analyze w 10 maxmoves 2 noResultValue true {' '.join(f'{key} true' for key in keys)}")
    order = [row.index(f" {key} ") for key in ("order 0 pv", *keys[:2], "info", *keys[2:])]
    assert order == sorted(order)
    assert row.count("info move") == 2
    owners = row.partition(" ownership ")[2].split()
    assert len(owners) == 25
    assert all(-1 <= float(each) <= 1 for each in owners)


def test_moves_that_nobody_looked_at_are_told_when_so_many_are_wanted():
    told = entries(analysis("kata-genmove_analyze w minmoves 20", "uniform:visits=5"))
    assert len(told) == 20
    assert {entry["visits"] for entry in told} >= {"0", "1"}


def test_avoided_moves_are_not_played_and_allowed_ones_alone():
    corner = "a1,a2,a3,a4,a5,b1,b2,b3,b4,b5,c1,c2,d1,d2,d3,d4,d5,e1,e2,e3,e4,e5,pass"
    assert {entry["move"] for entry in entries(analysis(f"kata-genmove_analyze w avoid w {corner} 1"))} == {"C4", "C5"}
    assert {entry["move"] for entry in entries(analysis("lz-genmove_analyze w allow w c4,a1 3"))} == {"C4", "A1"}


@pytest.mark.parametrize(
    "line",
    [
        "kata-analyze b 50 foo bar",
        "kata-analyze b nan",
        "kata-analyze b -5",
        "kata-analyze minmoves",
        "kata-analyze maxmoves x",
        "kata-analyze maxmoves -1",
        "kata-analyze rootInfo yes",
        "kata-analyze ownershipStdev true",
        "kata-analyze avoid b z9 1",
        "kata-analyze avoid x a1 1",
        "kata-analyze avoid b a1 0",
        "kata-analyze allow b a1 1 avoid b a2 1",
        "kata-analyze allow b a1 1 allow b a2 1",
        "lz-analyze b 50 ownership true",
        "lz-genmove_analyze b 50 rootInfo true",
    ],
)
def test_an_option_that_is_not_understood_is_refused_before_anything_is_said(line):
    assert Gtp("go:size=5", "uniform:visits=5").answer(line)[0] == "?"


def test_a_player_without_search_refuses_to_analyze():
    assert Gtp("go:size=5", "random").answer("7 lz-analyze") == "?7 random does not tell what it thinks\n\n"


def test_floats_of_analyze_have_a_decimal_point():
    row = analysis("genmove_analyze w 10")
    for entry in entries(row):
        for key in ("winrate", "utility", "prior", "lcb", "weight"):
            assert "." in entry[key], key


def test_an_interval_longer_than_the_search_gives_one_report_to_cgos():
    engine = Gtp("go:size=5", "uniform:visits=50")
    lines = engine.answer("lz-genmove_analyze b 100000").split("\n")
    assert [line.split(" ")[0] for line in lines] == ["=", "info", "play", "", ""]


def test_cgos_gets_one_json_with_lines_that_leave_the_move_out():
    engine = Gtp("go:size=5", "rollout:visits=100")
    _, report, move, *_ = engine.answer("cgos-genmove_analyze b").split("\n")
    report = json.loads(report)
    assert move == f"play {report['moves'][0]['move']}"
    assert 0 <= report["winrate"] <= 1
    assert len(report["ownership"]) == 25
    assert 50 < sum(each["visits"] for each in report["moves"]) == report["visits"] <= 100


def test_a_search_plays_nothing_and_a_cancelled_one_says_so():
    client = Client(Gtp("go:size=5", "uniform:visits=100000000"))
    client.send("kata-search_cancellable b", "list_stones b", "kata-search_analyze_cancellable b 1", "stop")
    heard = [client.line() for _ in range(5)]
    assert heard == ["= cancelled", "", "= ", "", "="]
    rest = list(iter(client.line, ""))
    assert rest[-1] == "play cancelled"
    assert client.line() == "= "
    client.send("quit")
    client.close()
