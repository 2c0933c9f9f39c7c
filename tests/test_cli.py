"""The command line as a person meets it: answers, what is said when something is wrong, exit status."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from goishi import __version__, cli, errors

COMMANDS = ["serve", "play", "train", "match", "rate", "puzzles", "gtp", "analysis", "sgf", "check", "games", "models"]
BENCHES = ["games", "network", "search", "selfplay", "train"]


@pytest.fixture
def goishi(capsys):
    """Runs one command in this process: (status, stdout, stderr)."""

    def run(*words):
        status = cli.status_of([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def complaint(answer, status):
    """The one sentence on stderr of a command that failed with this status."""
    got, out, err = answer
    assert (got, out) == (status, "")
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("goishi: ")
    assert lines[0][-1] in ".?", "a sentence ends"
    assert "Traceback" not in err
    return lines[0].removeprefix("goishi: ")


def parameters_of(command):
    return [parameter for parameter in command.params if parameter.name != "help"]


ALL = typer.main.get_command(cli.app)


def test_the_commands_are_these():
    assert list(ALL.commands) == [*COMMANDS, "bench"]
    assert list(ALL.commands["bench"].commands) == BENCHES


@pytest.mark.parametrize("words", [[name] for name in COMMANDS] + [["bench", name] for name in BENCHES], ids=" ".join)
def test_every_command_has_help_with_an_example_and_every_option_a_sentence(goishi, words):
    status, out, err = goishi(*words, "--help")
    assert (status, err) == (0, "")
    assert "Example:" in out
    assert f"goishi {' '.join(words)}" in out
    command = ALL
    for word in words:
        command = command.commands[word]
    for parameter in parameters_of(command):
        assert parameter.help, f"goishi {' '.join(words)}: {parameter.name} has no help"
        assert parameter.help[-1] in ".)" or parameter.help.endswith("..."), parameter.help


@pytest.mark.parametrize(
    "words",
    [["bench", name] for name in BENCHES]
    + [["games"], ["models"], ["match"], ["rate"], ["puzzles"], ["sgf"], ["check"]],
    ids=" ".join,
)
def test_what_gives_figures_gives_them_as_json_too(words):
    command = ALL
    for word in words:
        command = command.commands[word]
    assert "--json" in [option for parameter in command.params for option in parameter.opts]


def test_the_version_is_told(goishi):
    assert goishi("--version") == (0, f"{__version__}\n", "")


def test_no_words_show_the_help(goishi):
    _, out, _ = goishi()
    assert "Usage" in out


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell the processor's time of a child")
def test_help_takes_less_than_the_blink_of_an_eye():
    import resource

    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-m", "goishi", "--help"], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert (done.returncode, done.stderr) == (0, "")
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.7


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ("game", 2, "No such command"),
        ("games --jsn", 2, "--jsn"),
        ("match tictactoe random", 2, "goishi match --help"),
        ("match tictactoe random random --games many", 2, "--games"),
        ("play gomku", 2, "did you mean gomoku?"),
        ("play ./nothing.py", 2, "There is no file ./nothing.py."),
        ("check gomoku:size=0", 2, "2 to 25"),
        ("check gomoku:size=6,row=9", 2, "row goes from 2 to 6"),
        ("check gomoku:size=1000", 2, "2 to 25"),
        ("check gomoku:columns=1000,rows=1000", 2, "2 to 25"),
        ("check gomoku:sise=9", 2, "did you mean size?"),
        ("check gomoku:size=nine", 2, "size needs a whole number"),
        ("check tictactoe:size=4", 2, "it takes none"),
        ("match tictactoe random randm", 2, "did you mean random?"),
        ("match tictactoe random rollout:visits=0", 2, "visits is a whole number from 1"),
        ("match tictactoe random rollout:visit=10", 2, "did you mean visits?"),
        ("match tictactoe random net:nothing.onnx", 1, "There is no model"),
        ("match tictactoe random net", 2, "needs a model"),
        ("match tictactoe random random --games 3", 2, "even"),
        ("match tictactoe random random --openings nothing.txt", 2, "there is no file"),
        ("match tictactoe random random --openings random:x", 2, "random:4"),
        ("match gomoku:size=15 random perfect", 2, ""),
        ("rate tictactoe random", 2, "at least two players"),
        ("puzzles nothing.txt --player random", 1, "There is no file nothing.txt."),
        ("puzzles nothing.txt", 2, "--player"),
        ("models nothing", 2, "There is no folder nothing."),
        ("sgf", 2, "PATH"),
        ("sgf nothing.sgf", 2, "There is no file or folder nothing.sgf."),
        ("sgf . --check", 2, "There is no record"),
        ("serve --port 99999", 2, "65535"),
    ],
)
def test_wrong_words_are_one_sentence_that_helps(goishi, words, status, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in complaint(goishi(*words.split()), status)


def test_a_file_that_is_no_model_is_told(goishi, tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x00" * 100)
    assert "broken.onnx" in complaint(goishi("match", "tictactoe", "random", f"net:{broken}"), 1)


def test_a_game_with_a_syntax_error_is_told_with_its_line(goishi, tmp_path):
    game = tmp_path / "bad.py"
    game.write_text("x = 1\ndef start(state:\n    pass\n")
    assert "bad.py, line 2" in complaint(goishi("play", game), 1)
    status, out, _ = goishi("check", game)
    assert status == 1
    assert "line 2" in out


def test_a_game_with_an_endless_loop_is_told(goishi, tmp_path):
    game = tmp_path / "endless.py"
    source = (Path(cli.__file__).parent / "games" / "tictactoe.py").read_text()
    game.write_text(
        source.replace("def over(state):\n", "def over(state):\n    while state.stones > 2:\n        pass\n")
    )
    status, out, _ = goishi("check", game, "--seconds", "2")
    assert status == 1
    assert "over did not return within 2 s" in out
    assert "endless.py, line" in out


def test_games_lists_each_game_with_its_parameters(goishi):
    status, out, err = goishi("games", "--json")
    assert (status, err) == (0, "")
    games = {row["game"]: row for row in json.loads(out)["games"]}
    assert games["gomoku"]["parameters"]["row"] == 5
    assert games["tictactoe"]["actions"] == 9
    assert all(row["about"] for row in games.values())


def test_check_answers_with_its_status(goishi):
    status, out, err = goishi("check", "tictactoe")
    assert (status, err) == (0, "")
    assert out.endswith("tictactoe is right.\n")
    status, out, _ = goishi("check", "tictactoe", "--json")
    assert json.loads(out)["ok"] is True


def test_a_match_gives_the_figures_that_programs_read(goishi, tmp_path):
    words = [
        "match",
        "tictactoe",
        "rollout:visits=30",
        "random",
        "--games",
        "8",
        "--seed",
        "3",
        "--out",
        tmp_path,
        "--json",
    ]
    status, out, _ = goishi(*words)
    assert status == 0
    figures = json.loads(out.splitlines()[-1])
    keys = "game a b games wins draws losses score score_low score_high elo elo_low elo_high distinct_games"
    keys += " seconds_a seconds_b errors"
    assert set(keys.split()) <= set(figures)
    assert figures["wins"] + figures["draws"] + figures["losses"] == figures["games"] == 8
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 8


def test_a_person_sees_what_the_figures_of_a_match_mean(goishi):
    status, out, _ = goishi("match", "tictactoe", "perfect", "random", "--games", "10")
    assert status == 0
    assert "perfect against random" in out
    assert re.search(r"[01]\.\d{3} \(0\.\d{3} to 1\.000\)", out)
    assert "player named first" in out
    status, out, _ = goishi("rate", "tictactoe", "random", "perfect", "--games", "10")
    assert status == 0
    assert re.search(r"perfect +\+\d+ \([+-]\d+ to \+\d+\)", out)


def test_the_same_seed_plays_the_same_games(goishi):
    words = ["match", "tictactoe", "random", "random", "--games", "20", "--json"]
    same = [json.loads(goishi(*words, "--seed", seed)[1]) for seed in (5, 5, 6)]
    for figures in same:
        del figures["seconds_a"], figures["seconds_b"]
    assert same[0] == same[1] != same[2]


def test_rate_orders_the_players(goishi):
    status, out, _ = goishi("rate", "tictactoe", "random", "perfect", "--games", "20", "--json")
    assert status == 0
    assert [row["player"] for row in json.loads(out)["players"]] == ["perfect", "random"]


def test_puzzles_tell_the_share_of_right_moves(goishi, tmp_path):
    file = tmp_path / "puzzles.jsonl"
    file.write_text('{"game": "tictactoe", "moves": ["a1", "b1", "a2", "b2"], "best": ["a3"]}\n')
    status, out, _ = goishi("puzzles", file, "--player", "perfect", "--json")
    assert status == 0
    figures = json.loads(out)
    assert (figures["positions"], figures["right"], figures["share"], figures["unjudged"]) == (1, 1, 1.0, 0)


def test_puzzles_that_take_the_judge_too_long_are_told_as_unjudged(goishi, tmp_path):
    file = tmp_path / "puzzles.txt"
    file.write_text("44 0\n")
    words = ["puzzles", file, "--player", "random", "--solver-positions", "1000"]
    status, out, _ = goishi(*words, "--json")
    assert (status, json.loads(out)["unjudged"], json.loads(out)["share"]) == (0, 1, None)
    assert "unjudged" in goishi(*words)[1]


RECORD = "(;GM[4]SZ[9]PB[Ann [1\\]]PW[Bo]WR[2d]RE[B+Resign];B[ee];W[ed]C[x];B[ee])"


def test_a_record_is_shown_with_its_last_position(goishi, tmp_path):
    file = tmp_path / "a.sgf"
    file.write_text(RECORD)
    status, out, err = goishi("sgf", file)
    assert (status, err) == (0, "")
    assert "Gomoku 9x9" in out
    assert re.search(r"black +Ann \[1\]\s", out)
    assert re.search(r"result +B\+R\s", out)
    assert "move 3, Black E5: E5 may not be played here." in out
    assert re.search(r"^6 .*\(○\)", out, re.M)
    status, out, _ = goishi("sgf", file, "--json")
    (record,) = json.loads(out)["games"]
    assert (record["white"], record["moves"][1]) == ("Bo", ["W", "E6"])


def test_a_record_whose_board_no_game_has_is_shown_without_one(goishi, tmp_path):
    file = tmp_path / "a.sgf"
    file.write_text("(;GM[4]SZ[40];B[aa])")
    status, out, err = goishi("sgf", file)
    assert (status, err) == (0, "")
    assert "Gomoku 40x40" in out
    assert "●" not in out
    assert "2 to 25" in complaint(goishi("sgf", file, "--game", "gomoku"), 2)


def test_several_records_are_a_table(goishi, tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / f"{name}.sgf").write_text(RECORD)
    status, out, _ = goishi("sgf", tmp_path)
    assert status == 0
    assert out.count("Ann [1]") == 2
    (tmp_path / "c.sgf").write_text("<html>")
    monkeypatch.setattr(cli, "MOST_SHOWN", 1)
    status, out, err = goishi("sgf", tmp_path / "c.sgf", tmp_path / "b.sgf", tmp_path / "a.sgf")
    assert (status, err.count("\n")) == (1, 1)
    assert "c.sgf is a web page" in err


def test_records_are_checked_and_cleaned(goishi, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.sgf").write_text(RECORD)
    (tmp_path / "in" / "b.sgf").write_text("(;SZ[9]KM[375];B[ee]")
    status, out, err = goishi("sgf", tmp_path / "in", "--check")
    assert (status, err) == (0, "")
    assert "files 2, games 2, moves 4, odd 1" in out
    assert "komi guessed" in out
    status, out, err = goishi("sgf", tmp_path / "in", "--check", "--json", "--game", "gomoku")
    figures = json.loads(out)
    assert (status, err, len(figures["broken"])) == (1, "", 1)
    status, out, err = goishi("sgf", tmp_path / "in", "--clean", tmp_path / "out")
    assert (status, err) == (0, "")
    assert "written 2" in out
    assert "KM[7.5]" in (tmp_path / "out" / "b.sgf").read_text()
    (tmp_path / "in" / "c.sgf").write_text("<html>")
    status, out, err = goishi("sgf", tmp_path / "in", "--check")
    assert status == 1
    assert "c.sgf is a web page and no game record; download the record itself." in err
    assert "c.sgf is a web page" in complaint(goishi("sgf", tmp_path / "in" / "c.sgf"), 1)


def test_a_game_in_the_terminal_is_played_to_its_end(goishi, monkeypatch):
    words = iter(
        ["b2", "z9", "b2", "help", "moves", "hint", "undo", "b2", *"abc", *[c + r for c in "abc" for r in "123"]]
    )
    monkeypatch.setattr("builtins.input", lambda prompt: next(words))
    status, out, err = goishi("play", "tictactoe", "perfect")
    assert (status, err) == (0, "")
    assert "'z9' is no point of this board" in out
    assert "b2 may not be played here." in out
    assert "perfect would play" in out
    assert out.rstrip().splitlines()[-1] in ("A draw.", "perfect wins.")


@pytest.mark.parametrize("words", [[], ["quit"], ["b2", "resign"]])
def test_a_game_in_the_terminal_may_be_left(goishi, monkeypatch, words):
    words = iter(words)

    def read(prompt):
        try:
            return next(words)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)
    status, out, err = goishi("play", "tictactoe", "random", "--second", "--hints")
    assert (status, err) == (0, "")
    assert "random plays" in out


def test_a_terminal_without_the_stones_characters_still_plays():
    words = [sys.executable, "-m", "goishi", "play", "tictactoe", "random"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, input="b2\nquit\n", capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "random plays" in done.stdout


def test_our_errors_end_with_their_status():
    assert errors.GoishiError.status == 1
    assert errors.UnknownGame.status == 2


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (OSError(28, "No space left on device", "runs/a"), 1, "The disk is full; make room and call again (runs/a)."),
        (PermissionError(13, "Permission denied", "runs"), 1, "The permission to read or write is missing (runs)."),
        (OSError(98, "Address already in use"), 1, "--port"),
        (MemoryError(), 1, "memory"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (errors.BadModel("A sentence."), 1, "A sentence."),
    ],
)
def test_the_system_s_errors_are_sentences(goishi, monkeypatch, error, status, says):
    def fail():
        raise error

    monkeypatch.setattr("goishi.core.registry.names", fail)
    assert says in complaint(goishi("games"), status)


def test_a_reader_that_has_gone_is_no_error():
    words = f"{sys.executable} -m goishi games | true"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT between processes")
def test_ctrl_c_ends_a_command_with_130():
    words = [sys.executable, "-m", "goishi", "match", "gomoku:size=9", "rollout:visits=3000", "rollout:visits=3000"]
    process = subprocess.Popen([*words, "--games", "1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(10):  # Python loses an interrupt that falls into a callback; a person presses again
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
            break
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip().splitlines()[-1]) == (130, "", "goishi: Interrupted.")


def test_progress_does_not_disturb_the_answer():
    words = [sys.executable, "-m", "goishi", "match", "tictactoe", "random", "random", "--games", "4", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert json.loads(done.stdout)["games"] == 4
    assert not re.search(r"\x1b", done.stdout + done.stderr)
