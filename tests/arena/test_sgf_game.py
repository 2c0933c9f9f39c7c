"""What records say of a game, in the ways they say it: boards, stones, moves, handicap, komi, results, rules."""

import json
from pathlib import Path

import pytest
from archives import DATA, archive
from hypothesis import given, settings
from hypothesis import strategies as st

from goishi.arena import sgf_import
from goishi.arena.sgf import read, write
from goishi.arena.sgf_game import (
    Replay,
    cleaned,
    find_game,
    normal_result,
    replay,
    spec_of,
    understand,
)
from goishi.core import registry
from goishi.core.board import Board, fixed_handicap
from goishi.errors import BadRecord, UnknownGame


def game(text):
    """What the first game of a text says."""
    return understand(next(read(text.encode(), "file")))


def moves(record):
    return " ".join(f"{'BW'[move.player < 0]}:{record.name(move.action)}" for move in record.moves)


def whats(record):
    return [remark.what for remark in record.remarks]


def names(record, stones):
    return " ".join(record.name(action) for action in stones)


@pytest.mark.parametrize(
    ("text", "size", "played", "remarks"),
    [
        ("(;GM[1]FF[4]SZ[19]KM[6.5];B[pd];W[dd])", (19, 19), "B:Q16 W:D16", []),
        ("(;GM[1];B[pd])", (19, 19), "B:Q16", []),
        ("(;GM[4];B[hh])", (15, 15), "B:H8", []),
        ("(;SZ[13:9];B[mi])", (13, 9), "B:N1", []),
        ("(;SZ[37];B[aA];W[Kk])", (37, 37), "B:a11 W:K27", []),
        ("(;SZ[19];B[tt];W[];B[  ])", (19, 19), "B:pass W:pass B:pass", []),
        ("(;SZ[21];B[tt];W[])", (21, 21), "B:U2 W:pass", []),
        ("(;SZ[9];B[aa]W[bb])", (9, 9), "B:A9 W:B8", ["several moves in a node"]),
        ("(;SZ[9];W[aa]B[bb])", (9, 9), "B:B8 W:A9", ["several moves in a node"]),
        ("(;SZ[9]B[aa];W[bb])", (9, 9), "B:A9 W:B8", ["move in the first node"]),
        ("(;SZ[9];B[tt];W[zz];B[aa])", (9, 9), "B:pass B:A9", ["move off the board"]),
        ("(;SZ[9];B[k1];W[D4];B[Pass])", (9, 9), "W:D4 B:pass", ["move off the board", "points written as D4"]),
        ("(;SZ[9];B[a\na])", (9, 9), "B:A9", []),
        ("(;SZ[9];B[aa](;W[bb])(;W[cc];B[dd]))", (9, 9), "B:A9 W:B8", []),
        ("(;SZ[9];;B[aa];;)", (9, 9), "B:A9", []),
        ("(;SZ[1];B[aa])", (1, 1), "B:A1", []),
        ("(;SZ[52];B[ZZ])", (52, 52), "B:Z1", []),
    ],
)
def test_boards_and_moves(text, size, played, remarks):
    record = game(text)
    assert (record.columns, record.rows) == size
    assert moves(record) == played
    assert whats(record) == remarks


@pytest.mark.parametrize("size", ["0", "x", "53", "19:0", "-9", "9:9:9", "99999999999"])
def test_a_board_that_cannot_be_is_told_with_file_and_line(size):
    with pytest.raises(BadRecord) as caught:
        game(f"\n(;SZ[{size}];B[aa])")
    assert str(caught.value).startswith("file, line 2: ")
    assert f"SZ[{size}" in str(caught.value)


def test_other_games_are_told():
    with pytest.raises(BadRecord, match="number 2 in SGF's list"):
        game("(;GM[2];B[aa])")


def test_names_of_points_are_the_board_s():
    record = game("(;SZ[13:9])")
    board = Board(9, 13, passes=True)
    assert [record.name(action) for action in range(118)] == [board.name(action) for action in range(118)]


def test_stones_before_the_first_move_and_who_moves():
    record = game("(;SZ[9]AB[aa:bb][ee][ee]AW[ee:ef];AE[bb]PL[W];B[dd])")
    assert names(record, record.black) == "A9 B9 A8"
    assert names(record, record.white) == "E5 E4"
    assert record.player == -1


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("(;SZ[9])", 1),
        ("(;SZ[9];W[aa])", -1),
        ("(;SZ[9]PL[W];B[aa])", -1),
        ("(;SZ[9]PL[2])", -1),
        ("(;SZ[9]AB[aa])", -1),
        ("(;SZ[9]AB[aa]AW[bb])", 1),
        ("(;SZ[9]HA[2]AB[aa][bb]AW[cc])", -1),
        ("(;SZ[9]AB[aa];B[bb])", 1),
    ],
)
def test_who_moves_first(text, player):
    assert game(text).player == player


def test_stones_put_later_are_kept_with_their_time():
    record = game("(;SZ[9];B[aa];AB[bb]AW[cc]AE[aa];W[dd])")
    assert moves(record) == "B:A9 W:D6"
    (setup,) = record.setups
    assert (setup.after, setup.black, setup.white, setup.empty) == (1, (10,), (20,), (0,))
    assert whats(record) == ["stones put by hand later"]


def test_stones_off_the_board_are_left_out():
    record = game("(;SZ[9]AB[aa][zz][bb:zz]AW[])")
    assert (record.black, record.white) == ((0,), ())
    assert whats(record) == ["stone off the board"] * 2


# ------------------------------------------------------------------ handicap


@pytest.mark.parametrize(
    ("text", "handicap", "source", "stones", "played"),
    [
        ("(;HA[2]AB[pd][dp];W[dd])", 2, "setup", "Q16 D4", "W:D16"),
        ("(;HA[3];AB[pd][dp][dd];W[pp])", 3, "setup", "Q16 D4 D16", "W:Q4"),
        ("(;SZ[9]HA[3];B[aa];B[bb];B[cc];W[dd])", 3, "free", "A9 B8 C7", "W:D6"),
        ("(;HA[3];W[pp];B[nq])", 3, "fixed", "Q16 D4 D16", "W:Q4 B:O3"),
        ("(;HA[0];B[pp];W[nq])", 0, "", "", "B:Q4 W:O3"),
        ("(;HA[1];B[pp];W[nq])", 0, "", "", "B:Q4 W:O3"),
        ("(;HA[2];B[pp];W[nq])", 0, "", "", "B:Q4 W:O3"),
        ("(;HA[x];B[pp])", 0, "", "", "B:Q4"),
        ("(;HA[];B[pp])", 0, "", "", "B:Q4"),
        ("(;SZ[9]HA[36])", 0, "", "", ""),
        ("(;SZ[9]HA[2];B[];B[aa];W[bb])", 0, "", "", "B:pass B:A9 W:B8"),
        ("(;GM[4]SZ[15]HA[2];W[hh])", 0, "", "", "W:H8"),
    ],
)
def test_stones_of_a_handicap_are_found_where_they_are(text, handicap, source, stones, played):
    record = game(text)
    assert (record.handicap, record.handicap_from) == (handicap, source)
    assert names(record, record.black) == stones
    assert moves(record) == played
    assert record.player == (-1 if handicap or played.startswith("W") else 1)


def test_six_stones_are_set_where_no_move_is_played_on_them():
    usual, other = game("(;HA[6];W[qf])"), game("(;HA[6];W[qj];B[dj];W[pj])")
    assert names(usual, usual.black) == "Q16 D4 D16 Q4 D10 Q10"
    assert names(other, other.black) == "Q16 D4 D16 Q4 K16 K4"


@pytest.mark.parametrize(
    ("columns", "rows", "count", "points"),
    [
        (7, 7, 4, "E5 C3 C5 E3"),
        (7, 7, 5, ""),
        (8, 8, 4, "F6 C3 C6 F3"),
        (8, 8, 5, ""),
        (6, 6, 2, ""),
        (9, 9, 2, "G7 C3"),
        (9, 9, 3, "G7 C3 C7"),
        (9, 9, 9, "G7 C3 C7 G3 C5 G5 E7 E3 E5"),
        (13, 13, 5, "K10 D4 D10 K4 G7"),
        (19, 19, 7, "Q16 D4 D16 Q4 D10 Q10 K10"),
        (19, 19, 8, "Q16 D4 D16 Q4 D10 Q10 K16 K4"),
        (19, 19, 10, ""),
        (19, 19, 1, ""),
        (13, 9, 2, "L7 C3"),
    ],
)
def test_the_usual_points(columns, rows, count, points):
    board = Board(rows, columns)
    assert " ".join(board.name(action) for action in fixed_handicap(columns, rows, count)) == points


# ------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("text", "komi", "read", "remarks"),
    [
        ("(;KM[6.5])", 6.5, None, []),
        ("(;KM[ 6,5 ])", 6.5, None, []),
        ("(;KM[6.5 pts])", 6.5, None, []),
        ("(;KM[-59.5])", -59.5, None, []),
        ("(;KM[0])", 0.0, None, []),
        ("(;KM[])", None, None, []),
        ("(;SZ[9])", None, None, []),
        ("(;KM[nan])", None, None, ["komi not understood"]),
        ("(;KM[650])", 6.5, 650.0, ["komi guessed"]),
        ("(;KM[375])", 7.5, 375.0, ["komi guessed"]),
        ("(;KM[325])", 6.5, 325.0, ["komi guessed"]),
        ("(;KM[3.75])", 7.5, 3.75, ["komi guessed"]),
        ("(;KM[2.75])", 5.5, 2.75, ["komi guessed"]),
        ("(;KM[98])", 98.0, None, []),
        ("(;KM[9999])", None, 9999.0, ["komi too large"]),
        ("(;PC[OGS: https://online-go.com/game/1]KM[200])", 200.0, None, []),
        ("(;AP[GNU Go:3.8]AP[foxwq]KM[0])", None, 0.0, ["komi of 0 taken as not told"]),
        ("(;AP[foxwq]HA[2]KM[0];AB[pd][dp])", 0.0, None, []),
    ],
)
def test_komi_and_how_it_is_guessed(text, komi, read, remarks):
    record = game(text)
    assert (record.komi, record.komi_read, whats(record)) == (komi, read, remarks)


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ("B+3.5", "B+3.5"),
        ("w+2.0", "W+2"),
        ("W+R.", "W+R"),
        ("B+Resign", "B+R"),
        ("W+Time Over", "W+T"),
        ("B+Forfeit", "B+F"),
        ("W+", "W+"),
        ("W", "W+"),
        ("W+0.0", "W+"),
        ("0", "0"),
        ("Draw", "0"),
        ("Jigo", "0"),
        ("Void", "Void"),
        ("?", "?"),
        ("白胜43.5目", "W+43.5"),
        ("黑中盘胜", "B+R"),
        ("黒中押し勝ち", "B+R"),
        ("白2目半勝ち", "W+2.5"),
        ("黑超时胜", ""),
        ("흑 불계승", "B+R"),
        ("백 3집반승", "W+3.5"),
        ("中盤勝", ""),
        ("White wins by  resign!", "W+R"),
        ("Black wins by 0.5!", "B+0.5"),
        ("White resigns.", "B+R"),
        ("Black lost on time", "W+T"),
        ("nobody knows", ""),
        ("", ""),
    ],
)
def test_results_in_many_words(given, result):
    if given == "黑超时胜":
        result = "B+T"
    assert normal_result(given) == result


@given(st.text(max_size=30))
@settings(deadline=None)
def test_any_words_give_a_result_of_sgf_or_none(given):
    result = normal_result(given)
    assert normal_result(result) == result


def test_a_result_that_is_not_understood_is_kept_as_it_is():
    record = game("(;RE[中盤勝])")
    assert (record.result, record.result_read, record.winner) == ("", "中盤勝", None)
    assert whats(record) == ["result not understood"]
    won = game("(;RE[W+3.5])")
    assert (won.winner, won.margin) == (-1, 3.5)
    assert (game("(;RE[0])").winner, game("(;RE[0])").margin) == (0, 0.0)
    assert (game("(;RE[B+R])").winner, game("(;RE[B+R])").margin) == (1, None)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("RU[Japanese]", "japanese"),
        ("RU[Chinese]", "chinese"),
        ("RU[Chinese]PC[OGS: https://online-go.com/game/1]", "chinese-ogs"),
        ("RU[Chinese]AP[CGoban:3]", "chinese-kgs"),
        ("RU[Chinese]PC[(CGOS) 9x9]", "cgos"),
        ("RU[Tromp/Taylor]", "tromp-taylor"),
        ("RU[New Zealand]", "new-zealand"),
        ("RU[NZ]", "new-zealand"),
        ("RU[GOE]", "ing"),
        ("RU[AGA]", "aga"),
        ("RU[korean]", "korean"),
        ("RU[of the house]", ""),
        ("", ""),
    ],
)
def test_rules_get_the_name_that_goishi_has_for_them(text, rules):
    assert game(f"(;SZ[9]{text})").rules == rules


def test_names_ranks_and_dates():
    record = game("(;PB[ A \nB ]PW[C]BR[3段]WR[P9段]DT[2016年3月26日]EV[Cup]PC[Here]AP[x:1]GC[two\nlines])")
    assert record.players == ("A B", "C")
    assert record.ranks == ("3段", "P9段")
    assert (record.date, record.event, record.place) == ("2016-03-26", "Cup", "Here")
    assert (record.program, record.comment) == ("x:1", "two\nlines")
    assert game("(;DT[1996-05-06,07])").date == "1996-05-06"
    assert game("(;DT[13/5/95])").date == "13/5/95"


def test_a_record_is_told_to_programs_as_json():
    figures = json.loads(json.dumps(game("(;SZ[9]HA[2]KM[650];W[aa];B[])").to_json()))
    assert figures["moves"] == [["W", "A9"], ["B", "pass"]]
    assert figures["black_stones"] == ["G7", "C3"]
    assert (figures["komi"], figures["komi_read"], figures["to_move"]) == (6.5, 650.0, "W")


# ------------------------------------------------------------------ clean copies


def facts(record):
    """What a clean copy may not change."""
    one = record.to_json()
    left_out = ("source", "remarks", "komi_read", "rules_read", "result_read", "handicap_from")
    return {name: value for name, value in one.items() if name not in left_out} | {
        "black_stones": sorted(one["black_stones"]),
        "result_read": "" if record.result else record.result_read,
    }


def test_a_clean_copy_is_as_the_standard_wants_it():
    (tree,) = read("(;GaMe[1]AP[foxwq]KM[650]HA[2]RE[w+r.];AB[pd][dp];W[tt]C[x];B[zz];B[aa]W[bb](;B[cc])(;B[tt]))")
    text = write(cleaned(tree, understand(tree)))
    version = text.partition("AP[")[2].partition("]")[0]
    assert version.startswith("Goishi:")
    head = f"(;FF[4]CA[UTF-8]GM[1]SZ[19]AP[{version}]KM[6.5]HA[2]RE[W+R]AB[pd][dp]"
    assert text == head + "\n;W[]C[x]\n;\n;B[aa]\n;W[bb]\n(;B[cc])\n(;B[]))\n"


@pytest.mark.parametrize("name", ["sgf_messy.tar.xz", "fox_raw_handicap.tar.xz", "fox_raw_misc.tar.xz"])
def test_clean_copies_of_real_records_say_the_same_without_remarks(name):
    may_stay = {"stones put by hand later", "handicap and stones differ"}
    for source, data in archive(name):
        try:
            trees = list(sgf_import.read(data, source))
        except BadRecord:
            continue
        for tree in trees:
            record = understand(tree)
            (copy,) = read(write(cleaned(tree, record)))
            again = understand(copy)
            assert facts(again) == facts(record), source
            assert set(whats(again)) <= may_stay, source


TOKENS = (
    "B[aa] W[bb] B[tt] W[] B[zz] B[D4] AB[aa:cc] AW[bb][cc] AE[aa] AB[] PL[W] HA[3] SZ[9] SZ[3:7] SZ[x] GM[4] KM[375] "
    "KM[x] RE[B+R.] RE[x] C[x] AP[foxwq] DT[2020/1/2] ; ; ; ; (; ) [aa]"
)


@given(st.lists(st.sampled_from(TOKENS.split()), max_size=30))
@settings(max_examples=400, deadline=None)
def test_any_record_is_understood_or_refused_and_its_clean_copy_says_the_same(tokens):
    (tree,) = list(read("(;" + "".join(tokens)))[:1]
    try:
        record = understand(tree)
    except BadRecord:
        return
    copy = understand(next(read(write(cleaned(tree, record)))))
    assert facts(copy) == facts(record)


# ------------------------------------------------------------------ real records


def test_the_messy_files_say_what_an_independent_reader_found():
    path = DATA / "sgf_messy" / "expected_by_sgfmill_1.1.1.json"
    if not path.exists():
        pytest.skip("needs shared/data/sgf_messy")
    answers, compared = json.loads(path.read_text(encoding="utf-8")), 0
    for name, data in archive("sgf_messy.tar.xz"):
        expected = answers[name]
        if "size" not in expected:
            continue
        record = understand(next(sgf_import.read(data, name)))
        passes = sum(move.action == record.passing for move in record.moves)
        ours = {"size": record.columns, "moves_main": len(record.moves), "passes_main": passes}
        ours |= {"result": record.result, "komi": record.komi or 0.0 if record.komi_read is None else record.komi_read}
        theirs = {key: expected[key] for key in ours if key in expected}
        if "result" in theirs:
            theirs["result"] = normal_result(theirs["result"] or "")
        assert {key: ours[key] for key in theirs} == theirs, name
        compared += 1
    assert compared > 210


def test_games_of_fox_have_their_handicap():
    found = {"setup": 0, "fixed": 0}
    for name, data in archive("fox_raw_handicap.tar.xz"):
        record = understand(next(sgf_import.read(data, name)))
        found[record.handicap_from] += 1
        assert len(record.black) == record.handicap, name
        assert record.player == record.moves[0].player == -1, name
    assert found == {"setup": 193, "fixed": 7}


# ------------------------------------------------------------------ under rules


def test_a_record_is_played_under_the_rules_of_its_game():
    record = game("(;GM[4]SZ[7:5];B[aa];W[ba];B[ab])")
    rules = registry.find("gomoku:columns=7,rows=5,row=4")
    done = replay(record, rules)
    assert (done.played, done.problem) == (3, "")
    assert done.position.history == (0, 1, 7)


@pytest.mark.parametrize(
    ("played", "problem"),
    [
        (";B[aa];W[bb];B[aa];W[cc]", (2, "move 3, Black A9: A9 may not be played here.")),
        (";B[aa];B[bb]", (1, "move 2, Black B8: It is White's turn.")),
        (";B[aa];W[]", (1, "move 2, White pass: This game knows no pass.")),
    ],
)
def test_the_first_illegal_move_is_told_with_its_number(played, problem):
    record = game(f"(;GM[4]SZ[9]{played})")
    done = replay(record, find_game(record))
    assert isinstance(done, Replay)
    assert (done.played, done.problem) == problem
    assert len(done.position.history) == done.played


def test_a_game_that_goes_on_after_two_passes_replays():
    record = game("(;SZ[5]AB[aa];W[];B[];W[cc];B[];W[];W[dd])")
    done = replay(record, find_game(record))
    assert (done.played, done.problem) == (6, "")
    assert done.position.stones[3, 3] == -1


def test_stones_before_the_first_move_need_a_game_that_takes_them(tmp_path):
    record = game("(;GM[4]SZ[3]AB[aa]PL[W];W[bb])")
    with pytest.raises(BadRecord, match=r"^file: the record begins with stones, and tictactoe has no `begin`\.$"):
        replay(record, _points_board(tmp_path, begin=False))
    done = replay(record, _points_board(tmp_path, begin=True))
    assert (done.problem, done.position.stones.tolist()) == ("", [[1, 0, 0], [0, -1, 0], [0, 0, 0]])


def _points_board(folder, begin):
    """Tic-tac-toe on crossings, which may begin with stones."""
    path = folder / "tictactoe"
    from goishi.games import tictactoe

    source = Path(tictactoe.__file__).read_text().replace('"cells"', '"points"')
    if begin:
        source += (
            "\n\ndef begin(state, player, handicap):\n    state.player = player\n"
            "    state.stones = int((state.board != 0).sum())\n"
        )
    path = folder / f"{'with' if begin else 'without'}.py"
    path.write_text(source)
    game = registry.find(str(path))
    game.name = "tictactoe"
    return game


def test_a_board_of_another_size_is_told():
    record = game("(;GM[4]SZ[9];B[aa])")
    with pytest.raises(BadRecord, match=r"gomoku:size=8.* has no board of 9x9 points"):
        replay(record, registry.find("gomoku:size=8,row=5"))


def test_the_game_of_a_record_has_its_size():
    assert spec_of(game("(;SZ[13:9])")) == "go:columns=13,rows=9"
    assert spec_of(game("(;GM[4]SZ[9])")) == "gomoku:size=9"
    assert spec_of(game("(;SZ[9])"), "go:rules=aga") == "go:rules=aga,size=9"
    assert spec_of(game("(;SZ[9])"), "games/my.py") == "games/my.py:size=9"
    assert find_game(game("(;GM[4]SZ[40])")) is None
    with pytest.raises(UnknownGame):
        find_game(game("(;GM[4]SZ[40])"), "gomoku")
