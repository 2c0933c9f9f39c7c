"""The Go Text Protocol: framing, state, clocks, moves; in the engine and in its process."""

import io
import subprocess
import sys
import time

import numpy as np
import pytest

from goishi.core.position import Position
from goishi.protocols.gtp import Gtp
from goishi.protocols.stdio import serve

PLAYER = "rollout:visits=60"


def talk(session, spec="go:size=9", player=PLAYER):
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
        2 boardsize 13 > =2
        3 clear_board > =3
        4 get_komi > =4 6.5
        5 play b i5 > ?5 invalid color or coordinate
        6 play b d4 > =6
        7 play w d4 > ?7 illegal move
        8 undo > =8
        9 undo > ?9 cannot undo
        10 query_boardsize > =10 13
        11 boardsize 9 7 > =11
        12 query_boardsize > =12 9 7
        13 get_komi > =13 6.5
        14 boardsize 26 > ?14 unacceptable size
        15 query_boardsize > =15 9 7
        16 boardsize x > ?16 boardsize not an integer
        17 komi nan > ?17 unacceptable komi
        18 komi 6.3 > ?18 unacceptable komi
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


def test_every_listed_command_answers_once_to_anything():
    engine = Gtp("go:size=5", "random")
    rng = np.random.default_rng(1)
    words = ["b", "w", "a1", "pass", "E5", "0", "-1", "3", "nan", "99999999999", "", "é", "dead", "x y", "1e400"]
    names = [name for name in engine.answer("list_commands")[2:].split() if name not in ("quit", "boardsize")]
    for _ in range(3000):
        line = f"{rng.choice(names)} {' '.join(rng.choice(words, rng.integers(0, 4)))}"
        reply = engine.answer(line)
        assert reply[0] in "=?", line
        assert reply.endswith("\n\n"), line
        assert "\n\n" not in reply[:-2], line


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
