"""What goes on while lines come in: analysis, pondering, moves; loading; clocks; and the process as a whole."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sessions import Client

from goishi.players.player import Decision
from goishi.protocols import gtp_play
from goishi.protocols.gtp import Gtp
from goishi.protocols.stdio import serve
from goishi.search.clock import Clock

LONG = "uniform:visits=100000000"
COMMAND = [sys.executable, "-m", "goishi", "gtp", "--game", "go:size=5", "--player"]
FOR_PROGRAMS = ("=", "?", "info", "play", "komi=", "opp_komi=", "Tuning")


def seconds_until_answer(client, line, waits=0):
    began = time.monotonic()
    client.send(line)
    for _ in range(waits + 1):
        while client.line():
            pass
    return time.monotonic() - began


def test_any_line_ends_an_analysis_within_50_milliseconds():
    client = Client(Gtp("go:size=5", LONG))
    client.ask("name")
    taken = []
    for number, line in enumerate(["name", "", "# a remark", "8 play b c3", "foo"]):
        client.send(f"{number} lz-analyze b 5")
        assert client.line() == f"={number}"
        assert client.line().startswith("info move ")
        taken.append(seconds_until_answer(client, line))
        if line not in ("", "# a remark"):
            assert client.line()[0] in "=?"
            assert client.line() == ""
    assert min(taken) < 0.05, taken
    assert max(taken) < 1
    client.send("quit")
    client.close()


def test_lines_that_wait_already_end_an_analysis_at_once():
    client = Client(Gtp("go:size=5", LONG))
    client.send("lz-analyze 100000", "1 kata-analyze", "2 name")
    heard = [client.line() for _ in range(6)]
    assert heard[0] == "="
    assert heard[-2:] == ["=2 Goishi", ""] or client.ask("3 name") is not None
    client.close()


def test_a_move_is_not_ended_by_the_next_line_but_by_an_interrupt():
    engine = Gtp("go:size=5", "uniform:visits=3000")
    client = Client(engine)
    client.send("genmove b", "name", "kata-get-param maxVisits")
    assert client.line().startswith("= ")
    assert client.line() == ""
    assert [client.line() for _ in range(4)] == ["= Goishi", "", "= 3000", ""]
    client.ask(f"kata-set-param maxVisits {1 << 29}")
    client.send("genmove w")
    time.sleep(0.3)
    assert client.heard.empty()
    assert seconds_until_answer(client, "# interrupt") < 1
    client.close()


def test_an_interrupt_that_waits_already_is_for_the_move_before_it_alone():
    client = Client(Gtp("go:size=5", LONG))
    client.send("genmove b", "# interrupt", "kata-set-param maxVisits 30", "genmove w")
    assert client.line().startswith("= ")
    assert [client.line() for _ in range(3)] == ["", "= ", ""]
    assert client.line().startswith("= ")
    client.line()
    client.close()


def test_pondering_ends_with_the_next_line_and_changes_no_answer():
    engine = Gtp("go:size=5", "uniform:visits=50", ponder=True)
    client = Client(engine)
    client.ask("genmove b")
    while engine._pondering is None or not engine._ready().player._search.pool.nodes.visits.max() > 500:
        time.sleep(0.01)
    assert seconds_until_answer(client, "name") < 0.5
    assert engine._pondering is None
    stones = client.ask("list_stones b")
    assert len(stones[0].split()) == 2
    client.ask("kata-set-param ponderingEnabled false")
    client.ask("genmove w")
    assert engine._pondering is None
    client.close()


def test_pondering_ends_in_a_program_that_calls_answer_itself():
    engine = Gtp("go:size=5", "uniform:visits=20", ponder=True)
    for color in "bwbw":
        assert engine.answer(f"genmove {color}")[0] == "="
    assert engine.answer("name") == "= Goishi\n\n"
    engine.close()


def test_all_but_moves_is_answered_while_the_player_loads(monkeypatch):
    loaded = threading.Event()
    maker = gtp_play.maker

    def slow(*words):
        loaded.wait(60)
        return maker(*words)

    monkeypatch.setattr(gtp_play, "maker", slow)
    engine = Gtp("go:size=5", "uniform:visits=10")
    for line in ("name", "list_commands", "boardsize 5", "komi 6.5", "play b c3", "undo", "showboard", "final_score"):
        assert engine.answer(line)[0] == "=", line
    threading.Timer(0.2, loaded.set).start()
    assert engine.answer("genmove b")[0] == "="


def test_a_player_that_cannot_play_says_why(tmp_path, capsys):
    engine = Gtp("go:size=5", f"net:{tmp_path}/none.onnx")
    assert engine.answer("genmove b").startswith("? ")
    assert "none.onnx" in engine.answer("reg_genmove b")
    for line in capsys.readouterr().err.splitlines():
        assert not line.startswith(FOR_PROGRAMS)


# ------------------------------------------------------------------ giving up, passing


class Despair:
    """Sees itself lost, whatever it does."""

    name = "despair"

    def __init__(self, game):
        self.game = game
        self.asked = 0

    def choose(self, position, limit=None):
        self.asked += 1
        return Decision(position.actions[0], resigns=True)

    def close(self):
        pass


def test_a_resignation_is_said_once_in_a_game(monkeypatch):
    monkeypatch.setattr(gtp_play, "maker", lambda spec, game: lambda seed: Despair(game))
    engine = Gtp("go:size=5", "random")
    assert engine.answer("genmove b") == "= resign\n\n"
    assert engine.answer("list_stones b") == "= \n\n"
    assert engine.answer("genmove b") == "= A5\n\n"
    assert engine.answer("genmove w") == "= resign\n\n"
    assert engine.answer("kata-set-param allowResignation false") == "= \n\n"
    assert engine.answer("clear_board") == "= \n\n"
    assert engine.answer("genmove b") == "= A5\n\n"
    engine.answer("kata-set-param allowResignation true")
    engine.answer("clear_board")
    assert engine.answer("genmove b") == "= resign\n\n"


def test_a_lost_game_is_given_up_after_three_turns_and_played_on_when_asked():
    engine = Gtp("go:size=5", "rollout:visits=60")
    engine.answer("komi -60")
    engine.answer("set_position b a1 b b2 b c3 b d4 b e5 b a3 b c1 b c5 b e3")
    answers = [engine.answer(f"genmove {color}").split()[1] for color in "bwbwbwbwbw"]
    assert answers.count("resign") == 1
    assert answers.index("resign") == 7  # a quarter of the board, then the third turn


def test_nobody_resigns_when_told_not_to():
    engine = Gtp("go:size=5", "rollout:visits=30", resign=None)
    engine.answer("komi 100")
    for color in "bwbwbwbwbwbw":
        assert "resign" not in engine.answer(f"genmove {color}")


def test_the_cleanup_takes_dead_stones_off_before_it_passes():
    engine = Gtp("go:size=5,rules=japanese", "rollout:visits=200")
    engine.answer("set_position b a4 b b4 b c4 b d4 b e4 b a2 b b2 b c2 b d2 b e2 w c3")
    for line in ("play b pass", "play w pass"):
        assert engine.answer(line)[0] == "="
    assert engine.answer("final_status_list dead") == "= C3\n\n"
    for _ in range(8):
        if engine.answer("kgs-genmove_cleanup b") == "= pass\n\n":
            break
        engine.answer("play w pass")
    assert engine.answer("list_stones w") == "= \n\n"


def test_a_game_that_two_passes_have_ended_goes_on_when_asked():
    engine = Gtp("go:size=5", "rollout:visits=50")
    for line in ("play b c3", "play w pass", "play b pass", "play w c2", "undo", "undo"):
        assert engine.answer(line)[0] == "=", line
    assert engine.answer("genmove b")[0] == "="
    engine.answer("play w pass")
    engine.answer("play b pass")
    assert engine.answer("genmove w")[0] == "="


# ------------------------------------------------------------------ clocks


@pytest.mark.parametrize(
    ("settings", "clock"),
    [
        ("time_settings 3 0 0", Clock("absolute", 3)),
        ("time_settings 0 1 1", Clock("canadian", 0, period=1, stones=1, left=1)),
        ("time_settings 1 3 5", Clock("canadian", 1, period=3, stones=5)),
        ("kgs-time_settings byoyomi 1 1 3", Clock("byoyomi", 1, period=1, periods=3)),
        ("kata-time_settings fischer 1 1", Clock("fischer", 1, 1)),
        ("kata-time_settings fischer-capped 1 1 3 -1", Clock("fischer", 1, 1, most_main=3)),
    ],
)
def test_a_game_is_not_lost_on_time_with_half_a_second_of_lag(settings, clock):
    """Six moves of a real search under a judge's clock that hears of each move up to half a second late."""
    engine = Gtp("go:size=5", "uniform", resign=None)
    engine.answer("boardsize 5")
    engine._ready()
    assert engine.answer(settings) == "= \n\n"
    rng, judged = np.random.default_rng(0), clock
    for _ in range(6):
        in_main = judged.left is None
        left = judged.main if in_main else judged.left
        stones = 0 if in_main else judged.stones_left if judged.system == "canadian" else judged.periods
        engine.answer(f"time_left b {int(left)} {stones}")
        began = time.monotonic()
        assert "resign" not in engine.answer("genmove b")
        judged = judged.after(time.monotonic() - began + rng.uniform(0, 0.5))
        assert judged is not None, "it lost on time"
        engine.answer("play w pass" if rng.random() < 0.3 else "undo")


@pytest.mark.parametrize("left", ["0 0", "-5 0", "0.4 0", "99999999999 0", "1e308 1", "0 9999999999999"])
def test_odd_times_left_do_no_harm(left):
    engine = Gtp("go:size=5", "uniform:visits=30")
    assert engine.answer(f"time_left b {left}")[0] in "=?"
    engine._ready()
    for settings in ("time_settings 10 0 0", "time_settings 0 1 1", "kgs-time_settings byoyomi 5 1 2"):
        engine.answer(settings)
        assert engine.answer(f"time_left b {left}")[0] == "="
        began = time.monotonic()
        assert engine.answer("genmove b")[0] == "="
        assert time.monotonic() - began < 0.5


# ------------------------------------------------------------------ the process


def start(player, *words):
    return subprocess.Popen(
        [*COMMAND, player, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.skipif(not hasattr(signal, "SIGTERM") or sys.platform == "win32", reason="no SIGTERM here")
@pytest.mark.parametrize("line", ["genmove b", "lz-analyze 10"])
def test_sigterm_ends_it_within_a_second(line):
    with start(LONG) as process:
        process.stdin.write(f"name\n{line}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "= Goishi\n"
        time.sleep(0.5)
        began = time.monotonic()
        process.terminate()
        assert process.wait(5) == 0
        assert time.monotonic() - began < 1


def test_the_end_of_input_ends_an_analysis_and_quit_the_process():
    for lines in ("lz-analyze 10\n", "lz-analyze 10\nquit\n", "genmove b\nquit\n"):
        done = subprocess.run([*COMMAND, "uniform:visits=50"], input=lines, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("=")
        assert done.stdout.endswith("\n\n")


def test_a_closed_stdout_ends_it():
    with start("uniform:visits=50") as process:
        process.stdout.close()
        process.stdin.write("name\nname\n")
        process.stdin.flush()
        assert process.wait(20) == 0
        process.stdin.close()


def test_a_pipe_that_nobody_empties_holds_all_answers_back_and_loses_none():
    with start("uniform:visits=50") as process:
        threading.Thread(target=lambda: (process.stdin.write("1 list_commands\n" * 200), process.stdin.close())).start()
        time.sleep(1)
        assert process.poll() is None
        assert process.stdout.read().count("=1 all_legal\n") == 200
        assert process.wait(10) == 0


def test_what_stderr_says_is_taken_for_no_answer(tmp_path):
    """Both streams as one, as some programs read them: what is no reply begins with no word that they look for."""
    lines = "1 genmove b\n2 loadsgf none.sgf\n3 play b z9\n4 final_score\n5 quit\n"
    command = [*COMMAND, f"net:{tmp_path}/none.onnx"]
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    replies = [line for line in done.stdout.splitlines() if line]
    others = [line for line in replies if line[0] not in "=?"]
    assert [line[:2] for line in replies if line[0] in "=?"] == ["?1", "?2", "?3", "=4", "=5"]
    for line in others:
        assert line.startswith("goishi: ")
        assert " -> " not in line


def test_what_goes_wrong_inside_is_one_answer_and_the_state_stays(monkeypatch, capsys):
    engine = Gtp("go:size=5", "random")
    monkeypatch.setattr(type(engine), "_margin", lambda *_: 1 / 0)
    assert engine.answer("9 final_score") == "?9 division by zero\n\n"
    assert all(line.startswith("goishi: ") for line in capsys.readouterr().err.splitlines())
    assert engine.answer("name") == "= Goishi\n\n"


def test_a_reader_that_is_gone_in_the_middle_of_an_analysis_ends_it():
    class Gone(io.BytesIO):
        def write(self, data):
            raise BrokenPipeError

    lines, write = os.pipe()
    os.write(write, b"lz-analyze 1\n")
    with open(lines, "rb", buffering=0) as source:
        serve(Gtp("go:size=5", LONG), source, Gone())
        os.close(write)
