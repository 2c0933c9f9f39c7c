"""Game records: JSON there and back, SGF."""

import contextlib
import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goishi.arena.match import play_out
from goishi.arena.record import GameRecord, from_json, read
from goishi.arena.sgf import read as read_sgf
from goishi.arena.sgf_game import replay as replay_sgf
from goishi.arena.sgf_game import understand
from goishi.core import registry
from goishi.errors import BadRecord
from goishi.players import find

GOMOKU = registry.find("gomoku:columns=7,rows=5,row=4")
WON = GameRecord(
    game="tictactoe",
    players=("net:a,visits=4", "Zoë"),
    actions=(0, 3, 1, 4, 2),
    score=1.0,
    opening=2,
    seconds=(0.25, 0.5, 0.125),
    values=(0.5, None, 1.0),
    date="2026-11-30",
    number=7,
)


@pytest.mark.parametrize(
    "record",
    [
        WON,
        dataclasses.replace(WON, actions=(0, 3), score=-1.0, termination="crash", error="a crashed: E: x", seconds=()),
        dataclasses.replace(WON, values=(), date="", number=None),
    ],
)
def test_a_record_comes_back_from_its_line(record):
    line = record.to_json()
    assert "\n" not in line
    assert from_json(line) == record


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6", "hex:size=4", "gomoku:size=9,row=5", "tictactoe"])
def test_played_games_of_every_kind_come_back(spec):
    game = registry.find(spec)
    for seed in range(5):
        record = play_out(game, [find("random", game, seed), find("random", game, seed + 50)])
        seconds = tuple(round(each, 4) for each in record.seconds)
        assert from_json(record.to_json()) == dataclasses.replace(record, seconds=seconds)


def changed(**fields):
    return json.dumps(json.loads(WON.to_json()) | fields)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "no line of JSON"),
        ("[" * 100_000, "no line of JSON"),
        ("[1]", "is a JSON object"),
        ("{}", "needs game, players, score, moves"),
        (changed(game="tictactoo"), "did you mean tictactoe?"),
        (changed(game=3), "game is a spec"),
        (changed(players=["a"]), "two names"),
        (changed(score=0.5), "score is 1, 0 or -1"),
        (changed(score=0), "score should be 1"),
        (changed(moves=["a1", "a1"]), "move 2: a1 may not be played here"),
        (changed(moves=["a1", "q9"]), "move 2: 'q9' is no point"),
        (changed(moves=["a1", None]), "move 2:"),
        (changed(moves=["a1"], opening=0), "not over"),
        (changed(termination="boredom"), "termination is one of"),
        (changed(opening=9), "opening is longer"),
        (changed(seconds=[[]]), "seconds and values"),
        (changed(number="x"), "whole numbers"),
    ],
)
def test_a_broken_record_is_told_by_its_place_and_reason(line, words):
    with pytest.raises(BadRecord) as caught:
        from_json(line, "games.jsonl, line 3")
    assert str(caught.value).startswith("games.jsonl, line 3: ")
    assert words in str(caught.value)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4), st.lists, max_leaves=4),
    st.sampled_from(sorted(json.loads(WON.to_json()))),
)
@settings(max_examples=200, deadline=None)
def test_nothing_in_a_field_raises_anything_but_a_bad_record(value, name):
    with contextlib.suppress(BadRecord):
        from_json(changed(**{name: value}))


def test_a_file_is_read_line_by_line_and_a_bad_line_is_named(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(WON.to_json() + "\n\n" + WON.to_json() + "\n", encoding="utf-8")
    assert list(read(path)) == [WON, WON]
    path.write_text(WON.to_json() + "\n{\n", encoding="utf-8")
    with pytest.raises(BadRecord, match=r"games\.jsonl, line 2: "):
        list(read(path))
    with pytest.raises(BadRecord, match="can't be read"):
        list(read(tmp_path / "none"))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadRecord, match="UTF-8"):
        list(read(path))


def test_sgf_has_points_from_the_top_left_and_the_result():
    actions = tuple(GOMOKU.board.action(name) for name in ("A5", "G1", "B5", "F1", "C5", "E1", "D5"))
    record = GameRecord(GOMOKU.spec, ("a [x]", "b\\"), actions, 1.0, opening=1, seconds=(0.5,) * 6, date="2026-11-30")
    sgf = record.to_sgf()
    assert sgf.startswith("(;FF[4]CA[UTF-8]GM[4]SZ[7:5]AP[Goishi:")
    assert r"PB[a [x\]]PW[b\\]DT[2026-11-30]RU[freestyle]RE[B+]" in sgf
    assert "\n;B[aa]C[opening]\n;W[ge]C[0.50 s]\n;B[ba]C[0.50 s]" in sgf
    assert sgf.endswith(";B[da]C[0.50 s])\n")


@pytest.mark.parametrize(
    ("score", "termination", "result"),
    [
        (-1.0, "resignation", "W+R"),
        (1.0, "illegal move", "B+F"),
        (-1.0, "crash", "W+F"),
        (1.0, "timeout", "B+T"),
        (0.0, "finished", "0"),
    ],
)
def test_sgf_tells_how_a_game_ended(score, termination, result):
    record = GameRecord("gomoku:size=9", ("a", "b"), (40,), score, termination)
    assert f"RE[{result}]" in record.to_sgf()


def test_sgf_has_the_rule_and_the_values_of_the_search():
    record = GameRecord("gomoku:size=9,rule=exact", ("a", "b"), (40,), 1.0, "resignation", seconds=(1,), values=(0.25,))
    assert "RU[exact]" in record.to_sgf()
    assert "C[value +0.25, 1.00 s]" in record.to_sgf()


def test_sgf_has_no_comments_where_none_are_wanted():
    record = GameRecord("gomoku:size=9", ("a", "b"), (40,), 1.0, "resignation", seconds=(1,), values=(0.25,))
    assert ";B[ee])" in record.to_sgf(comments=False)


@pytest.mark.skipif("go" not in registry.names(), reason="needs the game of Go")
def test_sgf_of_go_has_komi_rules_handicap_passes_and_the_margin():
    record = GameRecord("go:size=9,komi=0.5,rules=japanese,handicap=2", ("a", "b"), (0, 81, 81), 0.0)
    position = record.position()
    record = dataclasses.replace(record, actions=position.history, score=position.score)
    sgf = record.to_sgf()
    assert "KM[0.5]HA[2]RU[Japanese]RE[" in sgf
    assert sgf.index("HA[2]") < sgf.index("AB[gc][cg]") < sgf.index("\n;W[aa]\n;B[]\n;W[])")
    read = understand(next(read_sgf(sgf)))
    assert (read.komi, read.rules, read.handicap, read.winner) == (0.5, "japanese", 2, position.score)
    assert read.margin is not None
    assert replay_sgf(read, registry.find(record.game)).position.states.tobytes() == position.states.tobytes()


def test_sgf_is_refused_for_boards_without_points():
    with pytest.raises(BadRecord, match="stones on points"):
        WON.to_sgf()
