"""The game that docs/new-game.md writes is one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from goishi.core import registry
from goishi.core.check import check
from goishi.core.position import Position

DOCUMENT = Path(__file__).parents[2] / "docs" / "new-game.md"
FILE, DEBUGGING = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def connect6(tmp_path_factory):
    path = tmp_path_factory.mktemp("game") / "connect6.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_it_takes_at_most_sixty_lines():
    assert len(FILE.splitlines()) <= 60


def test_it_passes_the_check(connect6):
    report = check(registry.find(f"{connect6}:size=7"))
    assert report.ok, [claim for claim in report.claims if not claim.ok]


def test_a_player_moves_twice_in_a_row_after_the_first_stone(connect6):
    position = Position.start(registry.find(f"{connect6}:size=7"))
    players = [position.player]
    for action in range(6):
        position = position.play(action * 8)
        players.append(position.player)
    assert players == [1, -1, -1, 1, 1, -1, -1]


def test_six_in_a_row_win_with_either_stone_of_a_turn(connect6):
    position = Position.start(registry.find(f"{connect6}:size=7"))
    for move in ["A1", "A7", "B7", "B1", "C1", "C7", "D7", "D1", "E1", "E7"]:
        position = position.play(position.action(move))
    assert not position.over
    won = position.play(position.action("F7"))  # the second stone of the turn: the opponent would move
    assert (won.score, won.player, won.value) == (-1, 1, -1)
    position = Position.start(registry.find(f"{connect6}:size=7"))
    for move in ["A1", "A7", "B7", "B1", "C1", "C7", "D7", "D1", "E1", "F7", "G6", "F1"]:
        position = position.play(position.action(move))
    assert (position.score, position.player, position.value) == (1, 1, 1)  # the first stone: the winner is to move


def test_the_code_for_a_debugger_runs(connect6):
    words = [sys.executable, "-W", "error", "-c", DEBUGGING]
    done = subprocess.run(words, capture_output=True, text=True, cwd=connect6.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-2:] == ["-1", "2"]
