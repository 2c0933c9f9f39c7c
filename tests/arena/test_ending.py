"""How a game of Go ends: may one pass, what is left to take, and what each point is called."""

import numpy as np
import pytest

from goishi.arena.ending import cleanup, count, may_pass, settled, statuses
from goishi.core import registry

STONES = {"X": 1, "O": -1, ".": 0}
WALL = """
    ...XO....
    .O.XO....
    ...XO....
    ...XO....
    ...XO....
    ...XO....
    ...XO....
    ...XO....
    ...XO....
"""  # Black 35 with a dead stone at B8, White 45
OPEN = """
    ...X.....
    .O.X...X.
    ...X.....
    ...X.....
    ...XO....
    ...XO....
    ...XO....
    ...XO....
    ...XO....
"""
SEKI = """
    X.OX.....
    X.OX.....
    XXOX.....
    OOXX.....
    .OX......
    OOX......
    .OX......
    OOXX.....
    .O.X.....
"""  # the three white stones at the top and those in the corner live without two eyes


def arranged(diagram, player=1, rules="chinese", komi=0.0, passes=0, moves=60):
    game = registry.find("go:size=9")
    state = game.start()[0]
    state.rules = game.module.flags(game.module.preset(rules))
    state.komi = game.module.half_points(komi)
    stones = np.array([[STONES[point] for point in row] for row in diagram.split()], np.int8)
    game.module.arrange(state, stones, player)
    state.passes, state.moves = passes, moves
    return game, state


@pytest.mark.parametrize(
    ("rules", "dead", "margin"),
    [("chinese", 1, 36 - 45), ("japanese", 1, 27 + 1 - 36), ("tromp-taylor", 0, 9 - 46)],
)
def test_dead_stones_are_counted_as_the_rules_say(rules, dead, margin):
    ending = count(*arranged(WALL, rules=rules))
    assert ending.dead.sum() == dead
    assert ending.margin == margin
    assert not ending.seki.any()


def test_each_point_has_one_name():
    found = np.reshape(statuses(*arranged(WALL)), (9, 9))
    assert found[1, 1] == "dead"
    assert (found[:, 3:5] == "alive").all()
    assert (found[:, 5:] == "white_territory").all()
    assert (found[:, 0] == "black_territory").all()
    found = np.reshape(statuses(*arranged(SEKI)), (9, 9))
    assert set(found[:3, :3].ravel()) == {"seki", "dame"}
    assert (found[3:, 1] == "alive").all()
    assert (found[4::2, 0] == "white_territory").all()
    assert settled(*arranged(SEKI))


@pytest.mark.parametrize(
    ("komi", "rules", "passes", "may"),
    [
        (-20, "chinese", 1, True),  # it wins
        (-20, "tromp-taylor", 1, False),  # it loses by the stones that stand, and there is one to take
        (-40, "tromp-taylor", 1, True),
        (20, "chinese", 1, True),  # it loses, and nothing is left to do
        (20, "chinese", 0, True),
        (-40, "tromp-taylor", 0, True),
    ],
)
def test_one_passes_on_a_settled_board_but_not_before_what_decides_is_taken(komi, rules, passes, may):
    assert may_pass(*arranged(WALL, komi=komi, rules=rules, passes=passes)) == may


def test_one_does_not_pass_while_there_is_something_to_fight_for_or_too_early():
    assert settled(*arranged(WALL))
    assert not settled(*arranged(OPEN))
    assert not may_pass(*arranged(OPEN, komi=80))
    assert not may_pass(*arranged(WALL, komi=80, moves=3))
    assert not may_pass(*arranged(9 * "......... ", player=-1, komi=-0.5, passes=1, moves=1))
    assert may_pass(*arranged(9 * "......... ", player=-1, komi=0.5, passes=1, moves=1))  # wins at move 2


def test_cleaning_up_takes_every_dead_stone_and_then_stops():
    game, state = arranged(WALL, rules="tromp-taylor")
    for _ in range(6):
        mask = cleanup(game, state)
        if not mask.any():
            break
        assert set(np.flatnonzero(mask)) <= {1, 9, 11, 19}  # beside B8
        game.module.play(state, np.flatnonzero(mask)[0])
        game.module.play(state, 81)
    assert game.stones(state)[1, 1] == 0
    assert may_pass(*arranged(WALL.replace(".O.X", "...X"), rules="tromp-taylor"))


def test_a_network_may_say_whose_the_points_are():
    game, state = arranged(OPEN)
    owners = np.ones((9, 9), np.float32)
    assert count(game, state, owners).dead.sum() == (game.stones(state) == -1).sum()
