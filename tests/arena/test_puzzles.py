"""Puzzle files and the Connect Four solver."""

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from goishi.arena.connect4_solver import Solver, followed
from goishi.arena.puzzles import puzzles, read
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadRecord, UsageError
from goishi.players.simple import solve

DATA = Path("../shared/data")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder ../shared/data is not there")
OTHELLO = (
    "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X; "
    "G8:+18; H1:+12; H7:+6; A2:+6; A3:+4; B1:-4; A4:-22; G2:-24;"
)


def plain_value(position):
    if position.over:
        return position.value
    return max(-plain_value(position.play(action)) for action in position.actions)


@pytest.fixture(scope="module")
def solver():
    return Solver()


def test_the_solver_sees_wins_and_losses_that_are_near(solver):
    assert solver.value([0, 6, 0, 6, 0, 6]) == 1
    assert solver.value([2, 2, 3, 3]) == 1  # the open three of 2, 3 and 1 or 4
    assert solver.value([2, 2, 3, 3, 4]) == -1
    assert solver.exceeds([3], 0, positions=1000) is None


def test_the_solver_agrees_with_plain_search_near_the_end(solver):
    game = registry.find("connect4")
    rng = np.random.default_rng(4)
    agreed = 0

    while agreed < 30:
        position = Position.start(game)
        while not position.over and len(position.history) < 36:
            position = position.play(int(rng.choice(position.actions)))
        if not position.over:
            assert solver.value(position.history) == plain_value(position)
            agreed += 1


def test_a_mirrored_position_has_the_same_value(solver):
    rng = np.random.default_rng(9)
    game = registry.find("connect4")
    for _ in range(20):
        position = Position.start(game)
        while not position.over and len(position.history) < 20:
            position = position.play(int(rng.choice(position.actions)))
        if not position.over:
            assert solver.value(position.history) == Solver().value([6 - column for column in position.history])


@needs_data
@pytest.mark.parametrize(("name", "every"), [("L1_R1", 1), ("L2_R1", 1), ("L2_R2", 1), ("L3_R1", 1), ("L1_R2", 10)])
def test_the_solver_finds_the_sign_of_published_scores(solver, name, every):
    for line in (DATA / "connect4" / f"Test_{name}.dev").read_text().splitlines()[::every]:
        moves, score = line.split()
        assert solver.value([int(column) - 1 for column in moves]) == np.sign(int(score))


def test_a_connect_four_move_is_right_if_it_keeps_the_sign(tmp_path, solver):
    game, path, rng = registry.find("connect4"), tmp_path / "set.txt", np.random.default_rng(2)
    lines, expected = [], []
    while len(lines) < 30:
        position = Position.start(game)
        while not position.over and len(position.history) < 24:
            position = position.play(int(rng.choice(position.actions)))
        if position.over:
            continue
        sign = solver.value(position.history)
        lines.append("".join(str(column + 1) for column in position.history) + f" {5 * sign}")
        children = [position.play(action) for action in position.actions]
        expected += [(child.value if child.over else solver.value(child.history)) <= -sign for child in children]
    path.write_text("\n".join(lines))
    verdicts = [task.judge(action) for task in read(path) for action in task.position.actions]
    assert verdicts == expected
    assert len(set(verdicts)) == 2


def test_whoever_can_answer_in_the_same_column_is_judged_right_without_a_search():
    game, rng, held = registry.find("connect4"), np.random.default_rng(6), 0
    while held < 8:
        position = Position.start(game)
        while not position.over and len(position.history) < 34:
            position = position.play(int(rng.choice(position.actions)))
        stones = position.stones[::-1].T.astype(object)  # columns from the bottom
        bits = np.array([[1 << 7 * column + row for row in range(6)] for column in range(7)], object)
        mine, both = np.uint64((bits * (stones == position.player)).sum()), np.uint64((bits * (stones != 0)).sum())
        for above in (-1, 0):
            if not position.over and followed(mine, both, above):
                assert plain_value(position) <= above
                held += 1


def test_a_question_may_be_broken_off_from_another_thread():
    solver = Solver()
    solver.value([0, 6, 0, 6, 0, 6])
    answers = []
    asking = threading.Thread(target=lambda: answers.append(solver.exceeds([3], 0)))
    asking.start()
    while not solver._asked:
        time.sleep(0.01)
    solver.stop()
    asking.join(10)
    assert answers == [None]


def test_what_takes_the_solver_too_long_is_counted_apart(tmp_path):
    path = tmp_path / "set.txt"
    path.write_text("4 -2\n44 0\n")  # in the first nothing can be spoilt
    figures = puzzles(path, "random", solver_positions=1000)
    assert (figures["right"], figures["unjudged"], figures["share"]) == (1, 1, 1.0)


def test_right_moves_are_counted_and_illegal_ones_are_wrong(tmp_path, scripted):
    path = tmp_path / "set.obf"
    path.write_text(f"{OTHELLO}\n" * 4)
    game = registry.find("othello")
    best, other = game.board.action("G8"), game.board.action("H1")
    figures = puzzles(path, scripted("s", [best, other, 0, 10_000]))
    assert (figures["positions"], figures["right"], figures["share"], figures["player"]) == (4, 1, 0.25, "s")
    assert set(figures) == {"file", "player", "positions", "right", "share", "unjudged", "seconds"}


def test_equal_best_moves_are_all_right(tmp_path):
    path = tmp_path / "set.obf"
    path.write_text(OTHELLO.replace("H1:+12", "H1:+18"))
    puzzle = read(path)[0]
    board = registry.find("othello").board
    assert [puzzle.judge(board.action(name)) for name in ("G8", "H1", "H7")] == [True, True, False]


def test_json_lines_serve_any_game_and_may_have_sets(tmp_path, scripted):
    path = tmp_path / "mine.jsonl"
    lines = [
        {"game": "tictactoe", "moves": ["a1", "a2", "b1", "b2"], "best": ["c1"], "set": "wins"},
        {"game": "tictactoe", "moves": [0, 3, 1], "best": [2], "set": "blocks"},
        {"game": "gomoku:size=5,row=4", "moves": ["A1", "A5", "B1", "B5", "C1", "C5"], "best": ["D1"], "set": "wins"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    heard = []
    figures = puzzles(path, "uniform:visits=200", progress=lambda *told: heard.append(told))
    assert figures["right"] == 3
    assert figures["by_set"] == {
        "wins": {"positions": 2, "right": 2, "share": 1.0, "unjudged": 0},
        "blocks": {"positions": 1, "right": 1, "share": 1.0, "unjudged": 0},
    }
    assert ("solved", 3, 3) in heard
    assert heard[-3:] == [("judged", done, 3) for done in (1, 2, 3)]
    assert puzzles(path, "rollout:seconds=0.02,leaves=1")["positions"] == 3
    with pytest.raises(UsageError, match="several games"):
        puzzles(path, scripted("s", [0]))


def test_json_lines_may_leave_the_game_to_the_caller(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"moves": ["a1", "a2", "b1", "b2"], "best": ["c1"]}\n')
    assert puzzles(path, "perfect", "tictactoe")["share"] == 1
    with pytest.raises(BadRecord, match="names no game"):
        puzzles(path, "perfect")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.txt", "44 1\n4x 1\n", "line 2: a Connect Four puzzle is"),
        ("a.txt", "44 1\n\n4444444 1\n", "line 3: 4 may not be played here"),
        ("a.txt", "1212121 1\n", "line 1: the game is over"),
        ("a.txt", "<html>\n", "line 1: this is no puzzle"),
        ("a.txt", "", "has no puzzles"),
        ("a.obf", OTHELLO[1:], "line 1: the board has 63 squares"),
        ("a.obf", OTHELLO.replace("G8", "A8"), "line 1: A8 may not be played here"),
        ("a.obf", OTHELLO.replace("G8", "Z8"), "line 1: 'Z8' is no point"),
        ("a.obf", OTHELLO.replace("+18", "good"), "line 1: G8 needs its value"),
        ("a.obf", OTHELLO.partition(";")[0] + ";", "line 1: no move has a value"),
        ("a.obf", OTHELLO + "\n44 1\n", "line 2: an Othello puzzle is"),
        ("a.jsonl", "{\n", "line 1: this is no JSON object"),
        ("a.jsonl", '{"game": "tictactoe"}\n', "line 1: a puzzle needs `moves`"),
        ("a.jsonl", '{"game": "tictactoe", "moves": ["a1"], "best": ["a1"]}\n', "line 1: a move of `best` may not"),
        ("a.jsonl", '{"game": "tictactoe", "moves": ["a1", "a1"], "best": ["b1"]}\n', "line 1: move 2: a1 may not"),
        ("a.jsonl", '{"game": "chess", "moves": [], "best": ["b1"]}\n', "line 1: There is no game"),
    ],
)
def test_a_broken_file_is_told_by_line_and_reason(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadRecord) as caught:
        read(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_wrong_game_are_told(tmp_path):
    with pytest.raises(BadRecord, match="There is no file"):
        puzzles(tmp_path / "none.txt", "random")
    (tmp_path / "a.txt").write_text("44 1\n")
    with pytest.raises(UsageError, match="a puzzle for connect4"):
        puzzles(tmp_path / "a.txt", "random", "connect4:columns=8")


@needs_data
def test_a_folder_has_a_set_for_each_of_its_files():
    figures = puzzles(DATA / "othello", "random", seed=1)
    assert [each["positions"] for each in figures["by_set"].values()] == [110, 19]
    assert 0.1 < figures["share"] < 0.6


@needs_data
def test_every_published_connect_four_position_is_read():
    assert len(read(DATA / "connect4")) == 1200


def test_tic_tac_toe_is_solved_once_for_all_players():
    game = registry.find("tictactoe")
    assert solve(game) is solve(game)
