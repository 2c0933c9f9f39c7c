"""Outside engines: started, told the position, watched. The engines are real processes; most of them misbehave."""

import json
import os
import re
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

from goishi.arena.match import play_out
from goishi.arena.tournament import match
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import EngineFailure, EngineTimeout, MissingProgram, UsageError
from goishi.players import Decision, find, maker, program
from goishi.players.player import parse
from goishi.search.clock import Limit

SCRIPT = Path(__file__).parent / "fake_engine.py"
GOMOKU = "gomoku:size=5,row=4"


class Lowest:
    """Plays the lowest action: on a board, from the top left."""

    name = "lowest"

    def choose(self, position, limit=None):
        return Decision(position.actions[0])

    def close(self):
        pass


@pytest.fixture
def spec(tmp_path):
    """The spec of a fake engine with a fault, which writes what it hears into `log`."""

    def make(fault="", keys=""):
        words = [sys.executable, "-I", "-S", str(SCRIPT), str(tmp_path / "log"), fault]
        return f"gtp{keys}:{shlex.join(words)}"

    return make


@pytest.fixture
def heard(tmp_path):
    """What the fake engines heard since the last time it was asked for, without the start's questions."""
    read = 0

    def get():
        nonlocal read
        lines = (tmp_path / "log").read_text().splitlines()
        new, read = lines[read:], len(lines)
        return [line for line in new if line not in ("name", "list_commands") and not line.startswith("#")]

    return get


@pytest.fixture
def engine(spec):
    """A fake engine as a player of a game; closed at the end."""
    made = []

    def make(game, fault="", keys=",timeout=20"):
        made.append(find(spec(fault, keys), registry.find(game)))
        return made[-1]

    yield make
    for player in made:
        player.close()


def after(game, *moves):
    position = Position.start(registry.find(game))
    for move in moves:
        position = position.play(position.action(move))
    return position


def processes(tmp_path):
    return [int(line[2:]) for line in (tmp_path / "log").read_text().splitlines() if line.startswith("# ")]


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{process}/status").read_text() if Path("/proc").exists() else True


# ------------------------------------------------------------------ the spec


@pytest.mark.parametrize(
    ("spec", "argument", "options"),
    [
        ("gtp:gnugo --mode gtp --level 10", "gnugo --mode gtp --level 10", {}),
        ('gtp:"/my engines/go" -c a=b,c=d:e', '"/my engines/go" -c a=b,c=d:e', {}),
        ("gtp,timeout=600, pass=opponent: katago gtp", "katago gtp", {"timeout": 600.0, "pass": "opponent"}),
        ("GTP,seconds=0.5:x", "x", {"seconds": 0.5}),
    ],
)
def test_all_after_the_colon_is_the_command_line_and_keys_stand_before_it(spec, argument, options):
    assert parse(spec) == ("gtp", argument, options)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gtp", "needs a command line"),
        ("gtp:  ", "needs a command line"),
        ('gtp:gnugo --mode "gtp', "quote is not closed"),
        ("gtp,time=3:gnugo", "did you mean timeout?"),
        ("gtp,visits=3:gnugo", "no key 'visits'"),
        ("gtp,timeout=0:gnugo", "timeout is a number from 0.1"),
    ],
)
def test_a_wrong_spec_is_told_in_a_sentence(spec, words):
    with pytest.raises(UsageError, match=words):
        maker(spec, registry.find(GOMOKU))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gnugo", "no program 'gnugo' on this machine; Debian and Ubuntu have it in the package gnugo"),
        ("katago", "PyPI package katrain"),
        ("pachi", "Debian's package of the name pachi is another program"),
        ("/opt/go engines/nogo", "install it, or give its whole path"),
    ],
)
def test_a_missing_program_is_told_with_what_brings_it(name, words, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(program, "FOLDERS", ())
    with pytest.raises(MissingProgram, match=words):
        maker(f"gtp:{shlex.quote(name)} --mode gtp", registry.find(GOMOKU))


def test_debians_games_are_looked_for_beside_the_path(tmp_path, monkeypatch):
    assert "/usr/games" in program.FOLDERS
    (tmp_path / "somego").write_text("#!/bin/sh\n")
    (tmp_path / "somego").chmod(0o755)
    monkeypatch.setattr(program, "FOLDERS", (str(tmp_path),))
    assert program.find("somego") == str(tmp_path / "somego")


def test_a_file_that_may_not_be_run_is_told(tmp_path):
    (tmp_path / "go.sh").write_text("echo")
    with pytest.raises(MissingProgram, match=r"go\.sh is no program that may be run"):
        program.find(str(tmp_path / "go.sh"))
    (tmp_path / "go.sh").chmod(0o755)
    with pytest.raises(EngineFailure, match="can't be started: Exec format error"):
        find(f"gtp:{tmp_path / 'go.sh'}", registry.find(GOMOKU))


def test_no_shell_reads_the_command_line(engine, heard, tmp_path, spec):
    player = find(f"{spec()} '$(touch {tmp_path}/made)' '; touch {tmp_path}/made'", registry.find(GOMOKU))
    player.close()
    assert not (tmp_path / "made").exists()


def test_a_board_without_points_can_not_be_told(spec):
    with pytest.raises(UsageError, match="no board with points"):
        find(spec(), registry.find("tictactoe"))


# ------------------------------------------------------------------ what an engine hears


def test_an_engine_hears_the_game_and_then_only_the_new_moves(engine, heard):
    player = engine("go:size=5")
    rules = {"friendlyPassOk": False, "hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": True}
    rules |= {"tax": "NONE", "whiteHandicapBonus": "0"}
    begin = ["boardsize 5", "clear_board", f"kata-set-rules {json.dumps(rules)}", "komi 7.5"]
    assert heard() == begin
    assert player.choose(after("go:size=5")) == Decision(20)
    assert heard() == ["genmove b"]
    player.choose(after("go:size=5", "A1", "C3"))
    assert heard() == ["play w C3", "genmove b"]
    player.choose(after("go:size=5", "A1", "C3", "B1", "pass", "D4"))
    assert heard() == ["play w pass", "play b D4", "genmove w"]


def test_rules_are_told_by_name_where_json_is_refused(engine, heard):
    engine("go:size=5", "knows rules by name")
    assert heard()[3:] == ["kata-set-rules tromp-taylor", "komi 7.5"]
    game = registry.find("go:size=5")
    states = game.start()
    states["rules"] = game.module.flags(game.module.preset("aga"))
    with pytest.raises(EngineFailure, match=r"`\? rules are chinese or tromp-taylor` to `kata-set-rules french`"):
        engine("go:size=5", "knows rules by name").choose(Position(game, states))


def test_a_move_taken_back_is_undone_and_another_game_begins_anew(engine, heard):
    player = engine(GOMOKU)
    assert heard() == ["boardsize 5", "clear_board"]
    player.choose(after(GOMOKU, "C3", "C4", "D3"))
    assert heard() == ["play b C3", "play w C4", "play b D3", "genmove w"]
    player.choose(after(GOMOKU, "C3", "C4", "D4"))
    assert heard() == ["undo", "undo", "play b D4", "genmove w"]
    player.choose(after(GOMOKU, "E5"))
    assert heard() == ["boardsize 5", "clear_board", "play b E5", "genmove w"]


@pytest.mark.parametrize("fault", ["can't undo", "without=undo"])
def test_where_nothing_can_be_undone_the_game_is_told_again(engine, heard, fault):
    player = engine(GOMOKU, fault)
    player.choose(after(GOMOKU, "C3", "C4", "D3"))
    heard()
    player.choose(after(GOMOKU, "C3", "C4", "D4"))
    told = heard()
    assert told[-6:] == ["boardsize 5", "clear_board", "play b C3", "play w C4", "play b D4", "genmove w"]
    assert told[:-6] == (["undo"] if fault == "can't undo" else [])


def test_handicap_stones_are_set_before_the_moves(engine, heard):
    game = "go:size=7,rules=chinese,handicap=2"
    engine(game)
    told = heard()
    assert '"whiteHandicapBonus": "N"' in told[2]
    assert told[3:] == ["komi 7.5", "set_free_handicap E5 C3"]
    engine(game, "without=set_free_handicap+kata-set-rules")
    assert heard() == ["boardsize 7", "clear_board", "komi 7.5", "play b E5", "play b C3"]


def test_a_rectangle_is_told_by_its_own_command_or_not_at_all(engine, heard):
    engine("gomoku:columns=5,rows=4,row=4")
    assert heard()[0] == "rectangular_boardsize 5 4"
    with pytest.raises(EngineFailure, match="Fake plays on square boards only"):
        engine("gomoku:columns=5,rows=4,row=4", "without=rectangular_boardsize")


def test_seconds_a_move_are_told_as_one_period(engine, heard):
    player = engine(GOMOKU, keys=",seconds=1.5")
    heard()
    player.choose(after(GOMOKU))
    assert heard() == ["time_settings 0 2 1", "time_left b 2 1", "genmove b"]
    player.choose(after(GOMOKU, "A1", "E5"))
    assert heard() == ["play w E5", "time_left b 2 1", "genmove b"]
    player.choose(after(GOMOKU, "A1", "E5", "B1", "E4"), Limit(seconds=9))
    assert heard()[-3:] == ["time_settings 0 9 1", "time_left b 9 1", "genmove b"]


def test_a_komi_of_the_position_alone_is_told(engine, heard):
    player = engine("go:size=5")
    position = after("go:size=5")
    states = position.states.copy()
    states["komi"] = -3
    heard()
    player.choose(Position(position.game, states))
    assert "komi -1.5" in heard()


def test_a_position_that_was_set_up_is_refused(engine):
    player = engine("go:size=5")
    position = after("go:size=5", "C3")
    for history in ((), (0, 0)):
        with pytest.raises(UsageError, match="only games from their beginning"):
            player.choose(Position(position.game, position.states, history))


# ------------------------------------------------------------------ engines that misbehave


@pytest.mark.parametrize(
    ("fault", "termination", "words"),
    [
        ("ends at the third move", "crash", "ended with exit status 3 .* last words: 'out of memory'"),
        ("is killed", "crash", "ended by signal 9"),
        ("hangs", "timeout", "did not answer `genmove b` within 1 s"),
        ("prints without end", "timeout", "within 1 s; it says 'still thinking'"),
        ("answers without end", "crash", "answers `genmove b` without end"),
        ("says no", "crash", r"answers `\? can't think` to `genmove b`"),
        ("wrong id", "crash", "gave the answer 77 when `genmove b` was command"),
        ("off the board", "crash", "answers 'z99' to `genmove b`, which is no move"),
        ("rubbish", "crash", "which is no move"),
        ("says nothing", "crash", "answers '' to `genmove b`"),
        ("refuses a move", "crash", r"answers `\? illegal move` to `play w .5`, which the rules of gomoku.* allow"),
        ("occupied point", "illegal move", "chose A1, which may not be played here"),
        ("passes", "illegal move", "passes, which this game does not know"),
        ("resigns", "resignation", ""),
    ],
)
def test_an_engine_that_misbehaves_loses_the_game_with_the_reason(engine, fault, termination, words):
    player = engine(GOMOKU, fault, ",timeout=1")
    record = play_out(registry.find(GOMOKU), [player, Lowest()])
    assert (record.score, record.termination) == (-1, termination)
    if not words:
        assert record.error is None
        return
    assert re.search(words, record.error), record.error
    assert record.error.startswith(f"{player.name} ")
    assert "\n" not in record.error


@pytest.mark.parametrize("fault", ["", "prints noise", "gives no id", "floods stderr"])
def test_an_engine_that_is_only_odd_plays_on(engine, fault):
    record = play_out(registry.find(GOMOKU), [engine(GOMOKU, fault), Lowest()])
    assert (record.score, record.termination, record.error) == (1, "finished", None)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("ends at once", "does not speak GTP: it ended with exit status 1 .* last words: 'no weights, no game'"),
        ("never reads", "does not speak GTP: it did not answer `name` within 0.5 s"),
        ("closes its output", "does not speak GTP: it closed its output"),
        ("small boards only", r"can't play gomoku:size=5,row=4: it answers `\? unacceptable size` to `boardsize 5`"),
        ("without=list_commands", r"answers `\? unknown command`"),
    ],
)
def test_an_engine_that_can_not_begin_is_an_error_at_once(engine, fault, words, tmp_path):
    with pytest.raises(EngineFailure, match=words):
        engine(GOMOKU, fault, ",timeout=0.5")
    assert not any(is_alive(process) for process in processes(tmp_path))


@pytest.mark.parametrize(("name", "words"), [("gnugo", "gtp:gnugo --mode gtp"), ("KataGo", "gtp:katago gtp")])
def test_a_program_that_is_not_asked_for_gtp_is_told_how(name, words, tmp_path):
    (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / name).chmod(0o755)
    with pytest.raises(UsageError, match=f"does not ask for GTP; write {words}"):
        maker(f"gtp:{tmp_path / name}", registry.find(GOMOKU))
    with pytest.raises(EngineFailure, match="exit status 1"):
        find(f"gtp:{tmp_path / name} --mode gtp", registry.find(GOMOKU))


def test_a_pachi_that_speaks_no_gtp_may_be_the_other_program(tmp_path):
    (tmp_path / "pachi").write_text("#!/bin/sh\necho no display >&2\n")
    (tmp_path / "pachi").chmod(0o755)
    with pytest.raises(EngineFailure, match=r"'no display'. .*Debian's package of the name pachi is another program"):
        find(f"gtp:{tmp_path / 'pachi'}", registry.find(GOMOKU))


def test_a_match_goes_on_with_the_engine_started_anew_but_not_for_ever(spec, tmp_path):
    game = registry.find(GOMOKU)
    make = maker(spec("ends at the third move", ",timeout=20"), game)
    result = match(game, make, lambda seed: Lowest(), 14, "random:1")
    assert (result.games, result.losses, len(result.errors)) == (14, 14, 14)
    assert "exit status 3" in result.errors[4]
    assert "failed in 5 games one after the other and is not started again" in result.errors[5]
    assert len(processes(tmp_path)) == 5


def test_a_game_that_goes_well_forgives_the_failures_before(engine, tmp_path):
    player = engine(GOMOKU, "ends at the third move")
    for _ in range(8):
        player.choose(after(GOMOKU, "C3", "C4"))
        player.choose(after(GOMOKU, "E5", "E4"))
        with pytest.raises(EngineFailure):
            player.choose(after(GOMOKU, "E5", "E4"))
    assert len(processes(tmp_path)) == 8


def test_closing_asks_the_engine_to_leave_and_ends_it_where_it_does_not(engine, heard, tmp_path, monkeypatch):
    player = engine(GOMOKU)
    player.close()
    player.close()
    monkeypatch.setattr(program, "LEAVE_SECONDS", 0.3)
    engine(GOMOKU, "does not leave").close()
    assert heard().count("quit") == 2
    assert not any(is_alive(process) for process in processes(tmp_path))
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if "stdout" in name or "stderr" in name]


def test_what_an_engine_has_started_ends_with_it(tmp_path):
    script = tmp_path / "wrapper.sh"
    script.write_text(f"#!/bin/sh\n{sys.executable} -I -S {SCRIPT} {tmp_path}/log hangs\necho left\n")
    script.chmod(0o755)
    player = find(f"gtp,timeout=1:{script}", registry.find(GOMOKU))
    position = after(GOMOKU)
    player.choose(position)
    player.choose(position)
    with pytest.raises(EngineTimeout):
        player.choose(position)
    time.sleep(0.1)
    assert not any(is_alive(process) for process in processes(tmp_path))


def test_the_engine_works_in_our_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    find(f"gtp:{sys.executable} -I -S {SCRIPT} beside", registry.find(GOMOKU)).close()
    assert (tmp_path / "beside").exists()


# ------------------------------------------------------------------ what it says of a finished game


@pytest.mark.parametrize(
    ("fault", "score", "margin"),
    [
        ("", "W+7.5", -7.5),
        ("can't score", "It answers `? cannot score` to `final_score`.", None),
        ("odd score", "It answers 'Black won' to `final_score`.", None),
        ("hangs over the score", "It did not answer `final_score` within 1 s.", None),
    ],
)
def test_an_engine_is_asked_for_the_score(engine, fault, score, margin):
    judgement = engine("go:size=5", fault, ",timeout=1").judge(after("go:size=5", "pass", "pass"))
    assert (judgement.score, judgement.margin) == (score, margin)


def test_an_engine_that_does_not_score_is_not_asked(engine):
    assert engine("go:size=5", "without=final_score").judge(after("go:size=5", "pass", "pass")) is None
    assert engine(GOMOKU).judge(after(GOMOKU)) is None


# ------------------------------------------------------------------ a real one


def test_our_own_engine_plays_another_game_through_gtp():
    game = registry.find(GOMOKU)
    own = f"{shlex.quote(sys.executable)} -m goishi gtp --game {GOMOKU} --player random"
    player = find(f"gtp:{own}", game)
    record = play_out(game, [player, Lowest()])
    player.close()
    assert (record.termination, record.error) == ("finished", None)
