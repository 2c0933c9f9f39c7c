"""Openings of matches."""

from pathlib import Path

import numpy as np
import pytest

from goishi.arena import openings
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadRecord, UsageError

GOMOKU = registry.find("gomoku:size=15,row=5")
DATA = Path("../shared/data/gomoku")


def find(spec, game, count, seed=0):
    return openings.find(spec, game, count, np.random.default_rng(seed))


def test_random_openings_are_distinct_by_symmetry_while_there_are_enough():
    keys = set()
    for opening in find("random:2", GOMOKU, 100):
        images = {Position.after(GOMOKU, s[list(opening)].tolist()).states.tobytes() for s in GOMOKU.symmetries}
        assert not keys & images
        keys |= images


def test_random_openings_come_from_the_seed():
    assert find("random:4", GOMOKU, 5, seed=1) == find("random:4", GOMOKU, 5, seed=1)
    assert find("random:4", GOMOKU, 5, seed=1) != find("random:4", GOMOKU, 5, seed=2)


def test_random_openings_are_never_over_and_leave_no_win_at_once_while_there_are_such():
    game = registry.find("tictactoe")
    drawn = find("random:4", game, 12)
    assert not any(openings.wins_at_once(Position.after(game, opening)) for opening in drawn[:4])
    assert not any(Position.after(game, opening).over for opening in find("random:6", game, 60))


def test_random_openings_are_not_decided_while_there_are_such():
    game = registry.find("gomoku:size=6,row=4")
    assert not any(openings.decided(Position.after(game, opening)) for opening in find("random:8", game, 40))


@pytest.mark.parametrize(
    ("moves", "decided"),
    [
        ("3 3 4 4", False),
        ("3 3 4 4 5", True),  # 2 and 6 both win for the first player, whatever comes now
        ("3 3 4 4 5 5", True),  # the player to move wins at once
        ("1 7 1 7 1", False),  # one threat, which can be answered
    ],
)
def test_a_position_is_decided_if_nobody_can_keep_off_a_win(moves, decided):
    position = Position.start(registry.find("connect4"))
    for move in moves.split():
        position = position.play(position.action(move))
    assert openings.decided(position) == decided


def test_a_small_game_repeats_its_openings_when_they_run_out():
    game = registry.find("tictactoe")
    drawn = find("random:1", game, 20)
    assert len(drawn) == 20
    assert len(set(drawn)) == 9
    assert len({opening[0] for opening in drawn[:3]} & {4}) == 1  # corner, edge and center come first


def test_a_game_that_is_over_sooner_is_told():
    with pytest.raises(UsageError, match="choose fewer plies"):
        find("random:9", registry.find("tictactoe"), 1)


@pytest.mark.parametrize("spec", ["random", "random:x", "random:0", "random:101", "nofile.txt"])
def test_a_wrong_spec_is_told(spec):
    with pytest.raises(UsageError):
        find(spec, GOMOKU, 2)


def test_a_file_has_names_or_offsets_from_the_center(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# mine\nH8 J9  k7 # a comment\n\n0,0, 1,-1, 2,1\r\n-7,-7,7,7\n")
    listed = find(str(path), GOMOKU, 4)
    assert listed[0] == listed[1] == listed[3]
    assert listed[2] == (0, 224)


def test_the_center_of_an_even_board_is_right_below_the_middle(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("0,0\n")
    game = registry.find("gomoku:size=6,row=4")
    assert find(str(path), game, 1) == [(3 * 6 + 3,)]


def test_an_opening_off_the_board_is_left_out_and_told(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("0,0 , 1,1\n8,0, 1,1\n")
    heard = []
    assert len(openings.read(path, GOMOKU, heard.append)) == 1
    assert "line 2" in heard[0]
    path.write_text("8,0\n")
    with pytest.raises(BadRecord, match="no opening that fits"):
        openings.read(path, GOMOKU, heard.append)


@pytest.mark.parametrize(
    ("text", "words"),
    [("H8 H8\n", "line 1: H8 may not be played"), ("\nH8 xx\n", "line 2: 'xx' is no point"), ("", "no opening")],
)
def test_a_broken_file_is_told_by_line(tmp_path, text, words):
    path = tmp_path / "openings.txt"
    path.write_text(text)
    with pytest.raises(BadRecord, match=words):
        find(str(path), GOMOKU, 1)


def test_an_opening_that_ends_the_game_is_refused(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("a1 a2 b1 b2 c1\n")
    with pytest.raises(BadRecord, match="over after this opening"):
        find(str(path), registry.find("tictactoe"), 1)


def test_offsets_need_a_board_with_points(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("0,0\n")
    with pytest.raises(BadRecord, match="takes names of moves"):
        find(str(path), registry.find("connect4"), 1)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data folder ../shared/data is not there")
@pytest.mark.parametrize(
    ("name", "fitting"), [("openings_piskvork.txt", 40), ("openings_gomocup_freestyle15_2024.txt", 12)]
)
def test_published_lists_are_read(name, fitting):
    assert len(openings.read(DATA / name, GOMOKU)) == fitting
