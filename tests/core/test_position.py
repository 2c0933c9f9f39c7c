"""A position is never changed, and refuses what is not legal."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import IllegalMove


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
