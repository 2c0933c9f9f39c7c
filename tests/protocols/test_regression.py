"""Suites of other engines: what counts as right, what is left unjudged, and what is wrong with a suite."""

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from goishi.cli import app
from goishi.errors import BadRecord
from goishi.protocols import regression
from goishi.protocols.gtp import Gtp

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "gtp" / "gnugo-3.8-regression.tar.xz"
SUITE = """
# a comment
boardsize 5
10 play black C3
20 list_stones black
#? [C3]
30 list_stones white
#? [C3]*
40 is_legal white C3
#? [!1]
50 query_boardsize
#? [5|7]*
60 owl_attack C3
#? [1 D4]
70 trymove black D4
80 list_stones black
#? [C3 D4]
clear_board
90 play white C3
#? [illegal.*]
100 get_komi
#? [7.5
"""


def checks(text, tmp_path):
    (tmp_path / "suite.tst").write_text(text)
    return list(regression.run(tmp_path / "suite.tst", Gtp("go:size=5", "uniform:visits=10")))


def test_answers_are_matched_whole_and_negated_by_an_exclamation_mark(tmp_path):
    found = checks(SUITE, tmp_path)
    assert [(check.command, check.right) for check in found] == [
        ("list_stones black", True),
        ("list_stones white", False),
        ("is_legal white C3", True),
        ("query_boardsize", True),
        ("owl_attack C3", None),
        ("list_stones black", None),  # an unknown command may have changed the board
        ("play white C3", False),
        ("get_komi", True),
    ]
    assert [check.known_to_fail for check in found[:4]] == [False, True, False, True]
    assert found[0].line == 5


def test_records_are_found_beside_the_suite(tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "one.sgf").write_text("(;GM[1]SZ[5];B[cc];W[dd];B[bb])")
    found = checks("loadsgf games/one.sgf 3\n1 list_stones white\n#? [D2]\n2 list_stones black\n#? [C3]\n", tmp_path)
    assert [check.right for check in found] == [True, True]


def test_a_missing_record_leaves_its_checks_unjudged(tmp_path):
    found = checks(
        "loadsgf games/none.sgf\n1 list_stones white\n#? [D2]\nboardsize 5\n2 get_komi\n#? [7.5]\n", tmp_path
    )
    assert [check.right for check in found] == [None, True]


def test_a_move_is_sought_among_those_that_a_suite_allows(tmp_path):
    (check,) = checks("boardsize 5\n1 restricted_genmove black A1 B1\n#? [A1|B1]\n", tmp_path)
    assert check.right


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#? [x]\n", "line 1: there is no command before"),
        ("get_komi\n#? [7.(5]\n", r"line 2: .* is no regular expression"),
    ],
)
def test_a_broken_suite_is_named_with_its_line(text, said, tmp_path):
    with pytest.raises(BadRecord, match=said):
        checks(text, tmp_path)


def test_the_command_runs_a_folder_of_suites(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.tst").write_text("boardsize 5\n1 get_komi\n#? [7.5]\n2 get_handicap\n#? [3]\n")
    words = ["puzzles", str(tmp_path), "--player", "uniform:visits=10", "--game", "go:size=5", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["positions"], figures["right"], figures["share"]) == (4, 2, 0.5)
    assert figures["by_set"]["two"]["right"] == 1


@pytest.mark.slow
def test_gnu_gos_own_suite_of_9x9_is_read_whole(tmp_path):
    if not ARCHIVE.exists():
        pytest.skip(f"needs {ARCHIVE.name} in shared/data/gtp")
    with tarfile.open(ARCHIVE) as file:
        file.extractall(tmp_path, filter="data")
    figures = regression.score(tmp_path / "regression" / "9x9.tst", "net:go9,visits=100", "go:size=9")
    assert figures["positions"] == 71
    assert figures["unjudged"] == 2
    assert figures["right"] >= 10
