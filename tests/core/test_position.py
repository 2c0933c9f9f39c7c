"""A position is never changed, and refuses what is not legal."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadGame, IllegalMove


@pytest.fixture
def position():
    return Position.start(registry.find("tictactoe"))


def test_play_leaves_the_position_as_it_was(position):
    before = position.states.tobytes()
    after = position.play(4)
    again = position.play(0)
    assert position.states.tobytes() == before
    assert (position.history, after.history, again.history) == ((), (4,), (0,))
    assert (position.player, after.player) == (1, -1)
    assert after.stones[1, 1] == 1
    assert again.stones[1, 1] == 0


def test_the_mask_can_not_be_written(position):
    with pytest.raises(ValueError, match="read-only"):
        position.mask[0] = False


@pytest.mark.parametrize("action", [4, -1, 9, 1000])
def test_an_illegal_move_is_refused_and_changes_nothing(position, action):
    position = position.play(4)
    before = position.states.tobytes()
    with pytest.raises(IllegalMove):
        position.play(action)
    assert position.states.tobytes() == before


def test_nothing_may_be_played_when_the_game_is_over(position):
    final = Position.after(position.game, [0, 3, 1, 4, 2])
    assert (final.over, final.score, final.value, final.actions) == (True, 1, -1, [])
    with pytest.raises(IllegalMove, match="over"):
        final.play(8)


def test_after_names_the_move_that_is_illegal(position):
    with pytest.raises(IllegalMove, match="a1"):
        Position.after(position.game, [0, 1, 0])


def test_actions_are_the_mask_in_order(position):
    assert position.play(3).actions == [0, 1, 2, 4, 5, 6, 7, 8]
    assert np.flatnonzero(position.play(3).mask).tolist() == position.play(3).actions


LAPS = """\
import numpy as np
State = [("board", "i1", (1, 4)), ("player", "i1"), ("at", "i1"), ("shut", "i1")]
actions = 4
planes = (1, 1, 4)
board = None


def start(state):
    state.board[:] = 0
    state.player = 1
    state.at = 0
    state.shut = -1


def legal(state, mask):
    for action in range(4):
        mask[action] = action != state.at and action != state.shut


def play(state, action):
    state.at = action
    state.shut = -1
    state.player = -state.player


def over(state):
    return False


def score(state):
    return 0


def encode(state, planes):
    planes[0, 0, state.at] = 1


def key(state):
    return np.uint64(state.at % 3)


def forbid(state, action):
    state.shut = action
"""


@pytest.fixture
def laps(tmp_path):
    path = tmp_path / "laps.py"
    path.write_text(LAPS)
    return Position.start(registry.find(str(path)))


def test_what_a_key_names_does_not_recur_in_the_whole_game(laps):
    # Point 0 and 3 have the key 0 and may always be entered; the others once.
    position = laps.play(1)
    assert position.actions == [0, 2, 3]
    position = position.play(0).play(3)
    assert position.actions == [0, 2]
    assert position.state.shut == 1
    assert position.play(2).actions == [0, 3]


def test_a_position_without_those_before_it_begins_a_game_of_its_own(laps):
    position = laps.play(1).play(2)
    alone = Position(position.game, position.states)
    assert (position.earlier, alone.earlier) == ({1, 2}, {2})


@pytest.mark.parametrize("name", ["key", "forbid"])
def test_a_key_without_its_forbid_is_no_game(tmp_path, name):
    path = tmp_path / "half.py"
    path.write_text(LAPS.replace(f"def {name}(", "def other("))
    with pytest.raises(BadGame, match="go together"):
        registry.find(str(path))
