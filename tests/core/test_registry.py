"""Specs lead to games, or to a sentence."""

import pytest

from goishi.core import registry
from goishi.core.game import split
from goishi.errors import BadGame, UnknownGame

MINIMAL = """
from goishi.core.board import Board
State = [("board", "i1", (1, 3)), ("player", "i1")]
actions, planes, board = 3, (1, 1, 3), Board(1, 3, "cells")
def start(state): state.board[:], state.player = 0, 1
def legal(state, mask):
    for i in range(3): mask[i] = state.board[0, i] == 0
def play(state, action): state.board[0, action], state.player = state.player, -state.player
def over(state): return state.board[0, 0] != 0 and state.board[0, 1] != 0 and state.board[0, 2] != 0
def score(state): return 0
def encode(state, planes): planes[0, 0, 0] = state.player
"""


def test_the_games_that_come_with_goishi():
    assert {"tictactoe", "connect4", "gomoku", "othello", "hex"} <= set(registry.names())


@pytest.mark.parametrize("spec", ["Gomoku:size=9,row=5", " gomoku : row=5 , size=9 ", "gomoku:size=9,,row=5,"])
def test_one_game_has_one_spec_however_it_is_written(spec):
    assert registry.find(spec).spec == "gomoku:size=9,row=5"


def test_one_spec_is_one_game_in_memory():
    assert registry.find("gomoku:size=9") is registry.find("gomoku:size=9")


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("gomuko", "gomoku"),
        ("", "tictactoe"),
        ("chess", "tictactoe"),
        ("gomoku:sise=9", "size"),
        ("gomoku:size", "size=15"),
        ("gomoku:size=nine", "whole number"),
        ("gomoku:size=9.5", "whole number"),
        ("tictactoe:size=3", "none"),
        ("missing.py", "missing.py"),
        ("missing.py:size=3", "missing.py"),
    ],
)
def test_a_wrong_spec_is_told_with_what_would_be_right(spec, hint):
    with pytest.raises(UnknownGame, match=hint) as caught:
        registry.find(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("gomoku", ("gomoku", "")),
        ("gomoku:size=9,row=5", ("gomoku", "size=9,row=5")),
        ("./my.game.py", ("./my.game.py", "")),
        ("my.py:size=3", ("my.py", "size=3")),
        (r"C:\games\my.py", (r"C:\games\my.py", "")),
        (r"C:\games\my.py:size=3", (r"C:\games\my.py", "size=3")),
        ("my.pyc:size=3", ("my.pyc", "size=3")),
    ],
)
def test_a_path_may_have_a_colon_of_its_own(spec, parts):
    assert split(spec) == parts


def test_a_file_is_a_game(tmp_path):
    path = tmp_path / "mini.py"
    path.write_text(MINIMAL)
    game = registry.find(str(path))
    assert (game.spec, game.actions, game.planes) == (str(path), 3, (1, 1, 3))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (("def over(state):", "def over(state:"), "line 9"),
        (("actions, planes", "actons, planes"), "actions"),
        (("def score(state): return 0", ""), "score"),
        (("def score(state): return 0", "score = 0"), "score must be a function"),
        (('("player", "i1")', '("turn", "i1")'), "player"),
        (('"i1", (1, 3)', '"i99", (1, 3)'), "State"),
        (("from goishi.core.board", "from goishi.core.bored"), "ModuleNotFoundError"),
        (("def start", "def setup(size=1): 1 / 0\ndef start"), "setup failed: ZeroDivisionError"),
    ],
)
def test_a_file_that_is_no_game_is_told_in_a_sentence(tmp_path, edit, told):
    path = tmp_path / "mini.py"
    assert edit[0] in MINIMAL
    path.write_text(MINIMAL.replace(*edit))
    with pytest.raises(BadGame, match=told) as caught:
        registry.find(str(path))
    assert "\n" not in str(caught.value)
