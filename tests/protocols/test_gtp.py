"""The Go Text Protocol: framing, state, clocks, moves; in the engine and in its process."""

import io
import subprocess
import sys
import time

import numpy as np
import pytest

from goishi.core.position import Position
from goishi.core.registry import find
from goishi.errors import UsageError
from goishi.protocols.gtp import Gtp
from goishi.protocols.stdio import serve

PLAYER = "rollout:visits=60"
TROMP_TAYLOR = (
    '{"friendlyPassOk":false,"hasButton":false,"ko":"POSITIONAL","scoring":"AREA","suicide":true,"tax":"NONE",'
    '"whiteHandicapBonus":"0"}'
)
NO_RULE = "? no rule 'nothing'; there are ko, scoring, tax, suicide, whiteHandicapBonus, friendlyPassOk, hasButton"
KNOWN = ", ".join(find("go:size=5").module.PRESETS)
NO_NAME = "? There are no rules '{}'; there are {}."


def talk(session, spec="go:size=9", player="random"):
    """Speaks the lines of a session; what stands behind > is what a reply must be, blanks at its end cut off."""
    engine = Gtp(spec, player)
    for line in filter(None, map(str.strip, session.strip().split("\n"))):
        said, _, wanted = line.partition(" > ")
        reply = engine.answer(said)
        if wanted:
            assert reply is not None, said
            assert reply.endswith("\n\n"), said
            assert reply.rstrip() == wanted.strip(), said
    return engine


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("name\r\n", "= Goishi\n\n"),
        ("na\x01me", "= Goishi\n\n"),
        ("\tname", "= Goishi\n\n"),
        ("name # x", "= Goishi\n\n"),
        ("7 name", "=7 Goishi\n\n"),
        ("7name", "=7 Goishi\n\n"),
        ("0014 name", "=14 Goishi\n\n"),
        ("# x", None),
        ("", None),
        ("   ", None),
        ("foo", "? unknown command\n\n"),
        ("7 foo", "?7 unknown command\n\n"),
        ("50", "?50 unknown command\n\n"),
        ("NAME", "? unknown command\n\n"),
        ("8 clear_board", "=8 \n\n"),
        ("known_command genmove", "= true\n\n"),
        ("known_command nothing", "= false\n\n"),
        ("known_command", "= false\n\n"),
    ],
)
def test_framing(line, reply):
    assert Gtp("go:size=5", PLAYER).answer(line) == reply


def test_state_survives_as_programs_expect():
    talk(
        """
        1 komi 6.5 > =1
        2 boardsize 5 > =2
        3 clear_board > =3
        4 get_komi > =4 6.5
        5 play b i5 > ?5 invalid color or coordinate
        6 play b d4 > =6
        7 play w d4 > ?7 illegal move
        8 undo > =8
        9 undo > ?9 cannot undo
        10 query_boardsize > =10 5
        11 boardsize 9 7 > =11
        12 query_boardsize > =12 9 7
        13 get_komi > =13 6.5
        14 boardsize 26 > ?14 unacceptable size
        15 query_boardsize > =15 9 7
        16 boardsize x > ?16 boardsize not an integer
        17 komi nan > ?17 unacceptable komi
        18 komi 6.3 > ?18 unacceptable komi
        18 komi inf > ?18 unacceptable komi
        18 komi 1e400 > ?18 unacceptable komi
        19 komi x > ?19 komi not a float
        20 komi -3.5 > =20
        21 get_komi > =21 -3.5
        """
    )


def test_handicap_is_all_or_nothing():
    talk(
        """
        set_free_handicap c3 c3 > ? repeated vertex
        set_free_handicap c3 > ? invalid handicap
        set_free_handicap c3 pass > ? invalid coordinate
        set_free_handicap c3 j10 > ? invalid coordinate
        list_stones black > =
        set_free_handicap c3 g7 > =
        list_stones b > = G7 C3
        undo > ? cannot undo
        fixed_handicap 2 > ? board not empty
        clear_board > =
        fixed_handicap 10 > ? invalid handicap
        fixed_handicap > ? invalid handicap
        place_free_handicap 1 > ? invalid handicap
        fixed_handicap 4 > = G7 C3 C7 G3
        play w e5 > =
        """
    )


def test_two_moves_of_one_color_are_legal_and_undo_takes_back_one():
    talk(
        """
        play b e5 > =
        play b e6 > =
        play w pass > =
        list_stones b > = E6 E5
        last_move > = white pass
        gg-undo 2 > =
        list_stones b > = E5
        gg-undo 2 > ? cannot undo
        list_stones b > = E5
        undo > =
        last_move > ? no previous move known
        """
    )


def test_undo_restores_the_position_exactly():
    engine = Gtp("go:size=5", PLAYER)
    rng = np.random.default_rng(0)
    position, states = Position.start(engine._game), []
    for _ in range(30):
        states.append(engine._position.states.tobytes())
        action = int(rng.choice(position.actions[:-1] or position.actions))
        engine.answer(f"play {'b' if position.player > 0 else 'w'} {position.name(action)}")
        position = position.play(action)
    while states:
        engine.answer("undo")
        assert engine._position.states.tobytes() == states.pop()


def test_a_move_is_played_and_a_won_game_is_ended_by_a_pass():
    engine = talk("genmove b")
    assert engine._position.player == -1
    talk("play b e5\nplay w pass\ngenmove b > = pass\nfinal_score > = B+73.5\nfinal_status_list dead > =")


def test_the_first_pass_is_not_answered_by_a_losing_one():
    engine = talk("komi 100\nplay w pass")
    reply = engine.answer("genmove b")
    assert "pass" not in reply


@pytest.mark.parametrize(
    "settings",
    [
        "time_settings 0 1 1",
        "time_settings 2 0 0",
        "kgs-time_settings byoyomi 1 1 3",
        "kata-time_settings fischer 1 1",
        "kata-time_settings fischer-capped 1 1 5 -1",
    ],
)
def test_clocks_bound_a_move(settings):
    engine = talk("genmove b\nclear_board", player="rollout:visits=1000000,seconds=1")
    assert engine.answer(settings) == "= \n\n"
    assert engine.answer("time_left b 1 0") == "= \n\n"
    clock, began = engine._clocks[1], time.monotonic()
    engine.answer("genmove b")
    assert clock.after(time.monotonic() - began) is not None, "it lost on time"


@pytest.mark.parametrize(
    "line",
    ["time_settings 1 2", "time_settings a b c", "kata-time_settings fischer", "time_left b nan 0", "time_left x 1 1"],
)
def test_bad_clocks_are_refused(line):
    assert Gtp("go:size=5", PLAYER).answer(line).startswith("? ")


def test_gomoku_speaks_it_too():
    engine = talk("play b h8\nplay w h8 > ? illegal move\nshowboard", "gomoku:size=15,row=5")
    assert engine.answer("genmove w").startswith("= ")
    assert "komi" not in engine.answer("list_commands")


def test_the_process_answers_all_that_was_read_and_says_nothing_else():
    lines = "1 name\n\n# x\n2 protocol_version\n3 boardsize 5\n4 genmove b\n5 foo\n"
    command = [sys.executable, "-m", "goishi", "gtp", "--game", "go:size=9", "--player", "rollout:visits=20"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=True)
    replies = done.stdout.split("\n\n")
    assert replies[:3] == ["=1 Goishi", "=2 2", "=3 "]
    assert replies[3].startswith("=4 ")
    assert replies[4:] == ["?5 unknown command", ""]


def test_a_reader_that_is_gone_ends_it():
    class Gone(io.BytesIO):
        def write(self, data):
            raise BrokenPipeError

    serve(Gtp("go:size=5", "random"), io.BytesIO(b"name\nname\n"), Gone())


def test_quit_is_answered_and_ends_it():
    out = io.BytesIO()
    serve(Gtp("go:size=5", "random"), io.BytesIO(b"quit\nname\n"), out)
    assert out.getvalue() == b"= \n\n"


@pytest.mark.parametrize("count", range(2, 9))
def test_free_handicap_places_exactly_as_many_stones_as_asked(count):
    engine = Gtp("go:size=5", PLAYER)
    stones = engine.answer(f"place_free_handicap {count}")[2:].split()
    assert len(set(stones)) == count
    assert sorted(engine.answer("list_stones b")[2:].split()) == sorted(stones)
    assert engine.answer("get_handicap") == f"= {count}\n\n"
    assert engine._position.player == -1


def test_several_first_moves_of_black_are_a_handicap_unless_told_otherwise():
    told = """
        kata-set-rules chinese > =
        komi 0.5 > =
        play b c3 > =
        play b g7 > =
        play b g3 > =
        play w e5 > =
        get_handicap > = 3
        undo > =
        play b c7 > =
        play w e5 > =
        get_handicap > = 4
        """
    talk(told)
    engine = talk("kata-set-param assumeMultipleStartingBlackMovesAreHandicap false")
    for line in ("play b c3", "play b g7", "play w e5"):
        engine.answer(line)
    assert engine.answer("get_handicap") == "= 0\n\n"


def test_rules_are_names_or_json_and_change_what_was_played():
    simple = '{"friendlyPassOk":true,"hasButton":false,"ko":"SIMPLE","scoring":"AREA","suicide":false,"tax":"NONE",'
    talk(
        f"""
        kata-get-rules > = {TROMP_TAYLOR}
        kata-set-rules Chinese > =
        kata-get-rules > = {simple}"whiteHandicapBonus":"N"}}
        kata-set-rule ko SITUATIONAL > =
        kata-set-rule whiteHandicapBonus N-1 > =
        kata-set-rule friendlyPassOk false > =
        kata-set-rule ko spight > ? ko is SIMPLE, POSITIONAL, SITUATIONAL
        kata-set-rule suicide maybe > ? suicide is true, false
        kata-set-rule nothing true > {NO_RULE}
        kata-set-rule ko > ? a rule's name and its value are wanted
        kata-set-rules {{"ko": 7}} > ? ko is SIMPLE, POSITIONAL, SITUATIONAL
        kata-set-rules {{"ko" > ? these rules are neither a name nor JSON
        kata-set-rules [1] > {NO_NAME.format("[1]", KNOWN)}
        kata-set-rules {{"scoring":"TERRITORY"}} > =
        kata-set-rule tax NONE > =
        kgs-rules new_zealand > =
        kata-set-rules tromp taylor > =
        kata-get-rules > = {TROMP_TAYLOR}
        """
    )


def test_another_ko_rule_is_heard_in_the_middle_of_a_game():
    """White takes the ko; three passes later the board of before may come again by the simple ko alone."""
    engine = talk(
        """
        kata-set-rules chinese
        set_position b b3 b a2 b b1 w c3 w d2 w c1 w b2
        play b c2
        play w b2 > ? illegal move
        play w pass
        play b pass
        """,
        "go:size=5",
    )
    position = engine._position.history
    engine.answer("play w b2")
    assert engine.answer("is_legal b c2") == "= 0\n\n"
    for line in ("undo", "kata-set-rules tromp-taylor"):
        assert engine.answer(line)[0] == "="
    assert engine._position.history == position
    assert engine.answer("play w b2") == "? illegal move\n\n"
    engine.answer("kata-set-rules chinese")
    assert engine.answer("play w b2")[0] == "="


def test_liberties_captures_and_the_last_moves_are_told():
    talk(
        """
        set_position w a5 b b5 > =
        set_position b a4 b a4 > ? invalid color or coordinate
        set_position b a4 b > ? invalid color or coordinate
        findlib a5 > = A4
        countlib b5 > = 2
        findlib e1 > ? vertex must not be empty
        findlib pass > ? invalid coordinate
        play b a4 > =
        captures b > = 1
        captures w > = 0
        captures x > ? invalid color
        list_stones w > =
        move_history > = black A4
        """,
        "go:size=5",
    )


def test_a_chain_without_liberties_cannot_be_set_up_and_the_board_stays():
    engine = talk("play b c3", "go:size=5")
    assert engine.answer("set_position w a5 b a4 b b5")[0] == "?"
    assert engine.answer("list_stones b") == "= C3\n\n"


def test_parameters_are_told_changed_and_checked():
    talk(
        """
        kata-get-param maxVisits > = 60
        kata-set-param maxVisits 10 > =
        kata-get-param maxVisits > = 10
        kata-set-param maxVisits 0 > =
        kata-get-param maxVisits > = 60
        kata-set-param maxVisits many > ? maxVisits not an integer
        kata-set-param maxTime 0.5 > =
        kata-get-param maxTime > = 0.5
        kata-set-param maxTime nan > ? maxTime not a float
        kata-set-param ponderingEnabled yes > ? true or false is wanted
        kata-set-param resignThreshold -0.8 > =
        kata-set-param resignThreshold 1 > ? resignThreshold goes from -1 to -0.01
        kata-set-param resignConsecTurns 0 > ? resignConsecTurns goes from 1 to 1000
        kata-set-param playoutDoublingAdvantage 0.0 > =
        kata-set-param playoutDoublingAdvantage 1.5 > ? this engine has 0 alone here
        kata-set-param maxVisits > ? a parameter's name and its value are wanted
        level 8 > =
        kata-get-param maxVisits > = 15
        level 11 > ? level goes from 1 to 10
        """,
        "go:size=5",
        PLAYER,
    )


def test_the_same_position_gets_the_same_answer_from_reg_genmove():
    engine = talk("play b c3", "go:size=5", PLAYER)
    first = engine.answer("reg_genmove w")
    engine.answer("genmove w")
    engine.answer("undo")
    assert engine.answer("reg_genmove w") == first
    assert engine.answer("list_stones w") == "= \n\n"


def test_records_are_written_and_read_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = talk(
        """
        komi 5.5
        kata-set-rules japanese
        fixed_handicap 2
        play w e5
        play b pass
        play w f6
        printsgf a game.sgf > =
        printsgf a game.sgf/b.sgf > ? cannot open 'a game.sgf/b.sgf'
        """
    )
    text = engine.answer("printsgf")
    for part in ("SZ[9]", "KM[5.5]", "HA[2]", "RU[Japanese]", "AB[", "W[ee]", "B[]"):
        assert part in text
    states = engine._position.states.tobytes()
    fresh = Gtp("go:size=5", PLAYER)
    assert fresh.answer("loadsgf a game.sgf") == "= \n\n"
    assert fresh._position.states.tobytes() == states
    assert fresh.answer("get_komi") == "= 5.5\n\n"
    assert fresh.answer("loadsgf a game.sgf 3") == "= \n\n"
    assert fresh.answer("move_history") == "= black pass\nwhite E5\n\n"
    assert fresh.answer("loadsgf a game.sgf 1") == "= \n\n"
    assert fresh.answer("undo") == "? cannot undo\n\n"
    assert fresh.answer("list_stones b") == "= G7 C3\n\n"


@pytest.mark.parametrize(
    "content",
    [
        b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
        b"",
        b"(;GM[1]SZ[40];B[aa])",
        b"(;GM[4]SZ[5];B[aa])",
        b"(;GM[1]SZ[5];B[aa];W[aa])",
        b"(;GM[1]SZ[5]KM[6.1];B[aa])",
    ],
)
def test_a_file_that_is_no_game_for_this_engine_changes_nothing(content, tmp_path):
    path = tmp_path / "game.sgf"
    path.write_bytes(content)
    engine = talk("komi 6.5\nplay b c3\nplay w d4", "go:size=5")
    before = engine._position
    for file in (path, tmp_path, tmp_path / "none.sgf"):
        assert engine.answer(f"loadsgf {file}") == f"? cannot open or parse '{file}'\n\n"
    assert engine._position is before
    assert engine.answer("get_komi") == "= 6.5\n\n"
    assert engine.answer("play b e5") == "= \n\n"


def test_stones_put_by_hand_in_a_record_stand(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_bytes(b"(;GM[1]SZ[5]KM[7]RU[NZ]AB[aa][ee]PL[W];W[cc];B[dd];AE[aa]AW[ab];W[bb])")
    engine = talk(f"loadsgf {path} > =\nlist_stones w > = A4 B4 C3\nlist_stones b > = D2 E1", "go:size=5")
    assert "NZ" in engine.answer("printsgf")


def test_gogui_sets_up_and_plays_all_moves_or_none():
    talk(
        """
        gogui-setup b a1 w b2 > =
        gogui-setup_player w > =
        gogui-play_sequence w c3 b c3 > ? illegal move
        list_stones w > = B2
        gogui-play_sequence w c3 b c4 > =
        gogui-play_sequence w c3 b > ? invalid color or coordinate
        list_stones b > = C4 A1
        goishi-ownership x > = ...
        """.replace("        goishi-ownership x > = ...\n", ""),
        "go:size=5",
    )


@pytest.mark.parametrize("spec", ["connect4", "go:size=9,handicap=2"])
def test_what_gtp_cannot_speak_is_refused_at_once(spec):
    with pytest.raises(UsageError):
        Gtp(spec, PLAYER)


def test_games_without_go_points_are_named_as_on_their_boards():
    talk("genmove b\nundo\nplay b d3 > =\nplay b d3 > ? illegal move\nlist_stones b > = D3 D4 E4 D5", "othello:size=8")
