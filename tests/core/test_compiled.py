"""Compiled rules are kept on disk, found by the next process, and missed after an edit."""

import json
import os
import subprocess
import sys

import pytest

GAME = """
from goishi.core.board import Board
from helper import counted

def setup(goal=3, begins=1):
    global State, actions, planes, board, GOAL, BEGINS
    GOAL, BEGINS = goal, begins
    State = [("board", "i1", (1, 9)), ("player", "i1"), ("stones", "i2")]
    actions, planes, board = 9, (1, 1, 9), Board(1, 9, "cells")

def start(state):
    state.board[:] = 0
    state.player = BEGINS
    state.stones = 0

def legal(state, mask):
    for i in range(9):
        mask[i] = state.board[0, i] == 0

def play(state, action):
    state.board[0, action] = state.player
    state.stones = counted(state.stones)
    state.player = -state.player

def over(state):
    return state.stones >= GOAL

def score(state):
    return 1

def encode(state, planes):
    planes[0, 0, 0] = state.stones
"""

USE_EVERY_KERNEL = """
import json, sys
import numpy as np
from goishi.core import registry
from goishi.core.measure import perft, rollout
answers = {}
for spec in sys.argv[1:]:
    game = registry.find(spec)
    kernels = game.kernels()
    states = game.start(4)
    counts = perft(game, 5)
    kernels.encode(states, np.zeros((4, *game.planes), np.float32))
    values = rollout(kernels, states, 1)
    kernels.finish(states, np.ones(4, np.uint64), np.zeros(4, np.int32))
    compiled = [kernel for kernel in kernels if hasattr(kernel, "stats")]
    misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in compiled)
    hits = sum(sum(kernel.stats.cache_hits.values()) for kernel in compiled)
    answers[spec] = {"counts": counts, "values": values.tolist(), "misses": misses, "hits": hits}
print(json.dumps(answers))
"""


@pytest.fixture
def run(tmp_path):
    """Plays specs in a new process with a cache of this test's own."""
    (tmp_path / "helper.py").write_text(
        "def counted(stones):\n    return step(stones)\n\ndef step(n):\n    return n + 1\n"
    )
    (tmp_path / "mini.py").write_text(GAME)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def process(*specs):
        words = [sys.executable, "-c", USE_EVERY_KERNEL, *specs]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        answers = json.loads(done.stdout)
        return [answers[spec] for spec in specs]

    return process


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku:size=5,row=4", "./mini.py"])
def test_a_second_process_compiles_nothing(run, spec):
    (first,), (second,) = run(spec), run(spec)
    assert (first["misses"], first["hits"]) == (5, 0)
    assert (second["misses"], second["hits"]) == (0, 5)
    assert second["counts"] == first["counts"]
    assert second["values"] == first["values"]


def test_an_edit_of_the_file_compiles_anew(run, tmp_path):
    (before,) = run("./mini.py")
    (tmp_path / "mini.py").write_text(GAME.replace(">= GOAL", ">= GOAL - 1"))
    (after,) = run("./mini.py")
    assert (before["counts"], after["counts"]) == ([9, 72, 504, 0, 0], [9, 72, 0, 0, 0])
    assert after["misses"] == 5


def test_an_edit_of_a_function_that_the_file_imports_compiles_anew(run, tmp_path):
    run("./mini.py")
    helper = tmp_path / "helper.py"
    helper.write_text(helper.read_text().replace("n + 1", "n + 3  # faster"))
    (after,) = run("./mini.py")
    assert after["counts"] == [9, 0, 0, 0, 0]
    assert after["misses"] == 5


def test_two_specs_of_one_file_share_no_code(run):
    specs = ["./mini.py:goal=2", "./mini.py:goal=4"]
    alone = [run(spec)[0] for spec in specs]
    together = run(*specs)
    assert [answer["misses"] for answer in together] == [0, 0]
    assert [answer["counts"] for answer in together] == [[9, 72, 0, 0, 0], [9, 72, 504, 3024, 0]]
    assert [answer["counts"] for answer in alone] == [answer["counts"] for answer in together]


def test_specs_that_differ_in_their_first_position_alone_share_their_code(run):
    (first,), (second,) = run("./mini.py"), run("./mini.py:begins=-1")
    assert (first["misses"], second["misses"]) == (5, 0)
    assert second["counts"] == first["counts"]
    assert second["values"] == [-value for value in first["values"]]
