"""The check accepts right games and tells in one sentence what is wrong with others."""

import re
import sys

import pytest

from goishi.core import registry
from goishi.core.check import (
    CLAIMS,
    COMPILE_SECONDS,
    COMPILES,
    Report,
    _crashed,
    _endless,
    check,
    check_file,
    examine,
)
from goishi.errors import UnknownGame

GAME = """\
from goishi.core.board import Board

State = [("board", "i1", (3, 3)), ("player", "i1"), ("stones", "i1")]
actions = 9
planes = (2, 3, 3)
board = Board(3, 3, "cells")


def start(state):
    state.board[:] = 0
    state.player = 1
    state.stones = 0


def legal(state, mask):
    for action in range(9):
        mask[action] = state.board[action // 3, action % 3] == 0


def play(state, action):
    state.board[action // 3, action % 3] = state.player
    state.stones += 1
    state.player = -state.player


def over(state):
    return state.stones >= 9


def score(state):
    return 1 if state.board[1, 1] == 1 else -1


def encode(state, planes):
    for row in range(3):
        for column in range(3):
            planes[0, row, column] = state.board[row, column] == state.player
            planes[1, row, column] = state.board[row, column] == -state.player
"""


@pytest.fixture
def write(tmp_path):
    """The game's file with edits, as a path."""

    def edited(*edits):
        text = GAME
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "mini.py"
        path.write_text(text)
        return str(path)

    return edited


def broken(report: Report) -> str:
    """The first broken claim and its sentence; each has one."""
    found = [claim for claim in report.claims if not claim.ok]
    assert found, report
    for claim in found:
        assert "\n" not in claim.detail
        assert "Traceback" not in claim.detail
        assert claim.detail.endswith(".")
    return f"{found[0].claim}: {found[0].detail}"


def test_a_right_game_keeps_every_claim(write):
    report = check(registry.find(write()))
    assert report.ok, report
    assert len(report.claims) == 15


COUNT_UP = "    state.stones += 1\n"
WRONG = {
    "start forgets a field": ((("    state.stones = 0\n", ""),), "start leaves stones"),
    "a player of three": (
        (("    state.player = -state.player\n", "    state.player = 3\n"),),
        "state.player is 3 after",
    ),
    "no move and not over": ((("stones >= 9", "stones >= 10"),), "legal allows nothing and over says False"),
    "no end": (
        (("board[action // 3, action % 3] == 0", "player != 0"), (COUNT_UP, "")),
        "went on for 10,000 moves",
    ),
    "a score of two": (
        (("return 1 if state.board[1, 1] == 1 else -1", "return 2"),),
        "score is 2 after .*must be .1, 0 or -1",
    ),
    "over changes the record": (
        (("    return state.stones >= 9", "    state.board[0, 0] = -state.board[0, 0]\n    return state.stones >= 9"),),
        "over or score changes the record",
    ),
    "encode changes the record": (
        (("def encode(state, planes):\n", "def encode(state, planes):\n    state.stones += 1\n"),),
        "encode changes the record",
    ),
    "play by chance": (
        (("from goishi", "import random\nfrom goishi"), (COUNT_UP, "    state.stones += random.choice((1, 2, 3))\n")),
        "play gives two results",
    ),
    "planes that are no numbers": (
        (("planes[0, row, column] = state.board[row, column] == state.player", "planes[0, row, column] = 1e999"),),
        "no number",
    ),
    "a corner that counts": ((("board[1, 1] == 1 else", "board[0, 0] == 1 else"),), "result differs under symmetry 1"),
    "a column in the planes": (
        (("planes[1, row, column] = ", "planes[1, row, 0] = column; planes[0, row, column] = "),),
        "planes differ under symmetry",
    ),
    "no board to show": (
        (
            ('("board", "i1", (3, 3))', '("grid", "i1", (3, 3))'),
            *[("state.board", "state.grid")] * 6,
        ),
        "no field `board`; write show",
    ),
    "an exception": (
        (("action % 3] = state.player", "action % 3 + 1] = state.player"),),
        r"mini.py, line 21, in play: IndexError: index 3 is out of bounds",
    ),
    "an unknown name": (((COUNT_UP, "    state.stones += more\n"),), "mini.py, line 22, in play: NameError"),
    "an overflow": (
        (("def over(state):\n", "def over(state):\n    state.stones * state.player * 127\n"),),
        "mini.py, line 27, in over: RuntimeWarning: overflow",
    ),
    "what numba does not know": (
        ((COUNT_UP, "    state.stones += any(n for n in (0, 1))\n"),),
        r"the rules compile: play: numba can't compile this",
    ),
    "a wrong type for numba": (
        (
            (COUNT_UP, "    bump(state)\n"),
            ("def over", "def bump(state):\n    state.stones += 1 if state.stones < 99 else 'a'\n\n\ndef over"),
        ),
        r"play: numba can't compile this: .*\(mini.py, line \d+\)",
    ),
    "a statement that numba does not know": (
        ((COUNT_UP, "    with open(__file__):\n        state.stones += 1\n"),),
        "play: numba can't compile this: .*context manager",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_broken_promise_is_told_in_a_sentence(write, name):
    edits, told = WRONG[name]
    assert re.search(told, broken(check(registry.find(write(*edits)))))


def test_a_game_without_symmetries_says_so(write):
    path = write(("board[1, 1] == 1 else", "board[0, 0] == 1 else"), ("actions", "symmetric = False\nactions"))
    report = check(registry.find(path))
    assert report.ok, report


def test_a_difference_between_compiled_and_plain_is_told(write):
    # an int8 shifted stays one in NumPy and widens in numba
    path = write(("= state.board[row, column] == state.player", "= state.player << 7"))
    assert "compiled and plain encode differ" in broken(check(registry.find(path)))


def test_check_file_says_the_same_in_a_process_of_its_own(write):
    report = check_file(write())
    assert report.ok, report
    assert report.claims[0].claim == "the file is a game"
    assert len(report.claims) == 16


def test_a_file_that_prints_disturbs_nothing(write):
    assert check_file(write(("def over(state):\n", "print('hello')\n\n\ndef over(state):\n"))).ok


def test_an_unknown_game_is_not_a_broken_one():
    with pytest.raises(UnknownGame, match="gomoku"):
        check_file("gomuko")


def test_a_syntax_error_is_told_with_its_line(write):
    assert "line 26" in broken(check_file(write(("def over(state):", "def over(state:"))))


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            [(COUNT_UP, "    while state.stones < 100:\n        state.player = 1\n")],
            r"plain Python: play did not return within 1 s.*line 2[23]\.",
        ),
        (
            [("def start", "while True:\n    pass\n\n\ndef start")],
            r"is a game: the file did not return within 1 s.*line (8|9|10)\.",
        ),
        (
            [(COUNT_UP, "    bump(state)\n\n\ndef bump(state):\n    while True:\n        state.stones = 1\n")],
            r"plain Python: play did not return within 1 s.*in bump\.",
        ),
        (
            [(COUNT_UP, "    sum(itertools.repeat(1))\n"), ("from goishi", "import itertools\nfrom goishi")],
            r"plain Python: play did not return within 1 s.*line 23\.",
        ),
        (
            # an int8 shifted stays one in NumPy and widens in numba
            [(COUNT_UP, COUNT_UP + "    while state.player << 7 > 0:\n        state.stones = 1\n")],
            r"compiled and plain rules agree: the compiled rules did not return within 1 s, where the plain ones did",
        ),
    ],
    ids=["play", "file", "helper", "python held up", "compiled"],
)
def test_an_endless_loop_ends_with_a_sentence(write, edits, told):
    assert re.search(told, broken(check_file(write(*edits), seconds=1)))


def test_the_clock_does_not_run_while_numba_compiles(write):
    game, claim, allowed = registry.find(write()), [""], dict[str, set[float | None]]()
    for _ in examine(
        game,
        enter=lambda name: claim.append(name),
        beat=lambda seconds=None: allowed.setdefault(claim[-1], set()).add(seconds),
    ):
        pass
    assert allowed.pop(COMPILES) == {COMPILE_SECONDS}
    assert set().union(*allowed.values()) == {None}
    assert [len(kernel.signatures) for kernel in game.kernels()[1:5]] == [1] * 4, (
        "none is compiled again by a later claim"
    )


@pytest.mark.parametrize("claim", [claim for claim, _, _ in CLAIMS])
def test_only_claims_about_compiled_rules_blame_them(claim):
    about_compiled = claim in [each[0] for each in CLAIMS[-4:]]
    assert ("the compiled rules did not return" in _endless([], claim, 3)) == about_compiled
    assert ("the compiled rules crashed" in _crashed([], claim, -11)) == about_compiled


@pytest.mark.skipif(sys.platform == "win32", reason="a process dies in another way there")
def test_a_crash_is_told_in_a_sentence(write):
    path = write(("def over(state):\n", "import os\n\n\ndef over(state):\n    os.abort()\n"))
    assert re.search(r"crashed \(status -?\d+\) at mini.py, line 3\d, in over", broken(check_file(path)))


EXTRAS = """

def draw(state, random):
    for action in range(9):
        if state.board[action // 3, action % 3] == 0:
            return action
    return 0


def owners(state, owners):
    for point in range(9):
        owners[point] = state.board[point // 3, point % 3]


def lead(state):
    return state.board.sum() + 0.5
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", None),
        ("            return action", "            return 8 - action", "draw gives what is not legal"),
        ("owners[point] = state", "owners[point] = 2 * state", "owners"),
        ("        owners[point]", "        state.stones = 0\n        owners[point]", "owners changes the record"),
        ("board.sum() + 0.5", "board.sum() + 1e999", "lead is no number of points"),
    ],
)
def test_the_optional_rules_are_checked_too(tmp_path, old, new, expected):
    path = tmp_path / "extras.py"
    path.write_text(GAME + (EXTRAS.replace(old, new) if old else EXTRAS))
    broken = [claim.detail for claim in check(registry.find(str(path))).claims if not claim.ok]
    assert bool(broken) == bool(expected)
    assert not expected or broken[0].startswith(expected)
