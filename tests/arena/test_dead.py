"""Dead stones by random games: on boards whose right answers people or another program gave."""

import json
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest

from goishi.arena.dead import dead_stones, estimate, judged_ownership, ownership
from goishi.core import registry
from goishi.errors import UsageError
from goishi.networks.evaluator import Outlook, uniform

DATA = Path("../shared/data/rules")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder ../shared/data/rules is not there")
LETTERS = {"b": 1, "W": -1, "B": 1, "x": 1, "o": -1, "w": -1}


def grid(rows):
    return np.array([[LETTERS.get(letter, 0) for letter in row] for row in rows], np.int8)


def members(name):
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.isfile():
                yield member.name, archive.extractfile(member).read().decode()


def autoscore():
    """Stones, which are dead, which of them are certain, and a network's ownership, as players agreed."""
    for name, text in members("ogs_autoscore_fixtures"):
        if name.endswith(".json"):
            fields = json.loads(text)
            stones, wanted = grid(fields["board"]), fields.get("sealed_ownership", fields["correct_ownership"])
            wanted = [row.ljust(stones.shape[1])[: stones.shape[1]] for row in wanted]
            certain = np.array([[letter != "*" for letter in row] for row in wanted])
            network = (np.array(fields["black"]) + np.array(fields["white"])) / 2
            yield stones, (stones != 0) & (grid(wanted) == -stones), certain, network


def estimator():
    for name, text in members("ogs_score_estimator_games"):
        if name.endswith(".game"):
            rows = [line.split() for line in text.splitlines() if re.fullmatch(r"[-01\s]+", line) and line.strip()]
            stones, removed = np.split(np.array(rows, np.int8), 2)
            yield stones, (stones != 0) & (removed != 0), np.ones(stones.shape, bool), None


def arranged(stones, rules="chinese"):
    """A finished game with these stones."""
    game = registry.find(f"go:columns={stones.shape[1]},rows={stones.shape[0]}")
    state = game.start()[0]
    state.rules = game.module.flags(game.module.preset(rules))
    game.module.arrange(state, stones)
    state.passes = 2
    return game, state


def share(cases, by_network=False):
    """Boards on which every stone is judged right, boards, and the share of stones judged right."""
    right, boards, stones_right, stones_all = 0, 0, 0, 0
    for stones, dead, certain, network in cases:
        found = dead_stones(*arranged(stones), owners=network if by_network else None)
        agreed = (found == dead)[(stones != 0) & certain]
        right, boards = right + agreed.all(), boards + 1
        stones_right, stones_all = stones_right + agreed.sum(), stones_all + agreed.size
    return right, boards, stones_right / max(1, stones_all)


@needs_data
def test_dead_stones_of_9x9_boards_are_found():
    right, boards, stones = share(case for case in estimator() if case[0].shape == (9, 9))
    assert boards == 22
    assert right == 22
    assert stones == 1


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(("cases", "least", "count", "stones"), [(estimator, 49, 54, 0.99), (autoscore, 25, 31, 0.99)])
def test_the_share_of_right_answers_does_not_fall(cases, least, count, stones):
    right, boards, found = share(cases())
    assert boards == count
    assert right >= least
    assert found >= stones


@needs_data
def test_a_networks_ownership_finds_the_dead_stones_that_players_agreed_on():
    right, boards, found = share(autoscore(), by_network=True)
    assert boards == 31
    assert right >= 23
    assert found > 0.99


@needs_data
def test_points_in_seki_and_false_eyes_of_the_goscorer_cases_are_told():
    right, shares = 0, []
    for name, text in members("goscorer_cases_dev"):
        if not name.endswith(".txt") or "LICENSE" in name:
            continue
        board, wanted = (
            re.search(rf"^{title}:\n((?:\S+\n)+?)(?=[A-Z ]+:)", text, re.M)[1].split()
            for title in ("BOARD", "TERRITORY")
        )
        stones, dead = (
            grid([row.lower() for row in board]),
            np.array([[letter in "bw" for letter in row] for row in board]),
        )
        if not 2 <= min(stones.shape) <= max(stones.shape) <= 25:
            continue
        owners = np.array([[{"z": 1, "a": -1}.get(letter, 0) for letter in row] for row in wanted])
        game = registry.find(f"go:columns={stones.shape[1]},rows={stones.shape[0]}")  # nothing is compiled
        state = np.zeros(1, game.State)[0]
        state.rules, state.board[:] = game.module.flags(game.module.preset("japanese")), stones
        free = (stones == 0) | dead
        agreed = (game.module.settle(state, dead)[0] == owners)[free]
        right += agreed.all()
        shares.append(agreed.mean())
    assert len(shares) == 33  # the others are wider than 25 points, or a single line
    assert right >= 19
    assert np.mean(shares) > 0.96


def corner():
    """A dead stone in Black's half of a 9x9 board."""
    return grid([".o.xo...." if row == 4 else "...xo...." for row in range(9)])


def test_stones_in_the_others_territory_are_dead_unless_all_live_by_the_rules():
    for rules, dead in (("chinese", 1), ("japanese", 1), ("tromp-taylor", 0), ("cgos", 0)):
        game, state = arranged(corner(), rules)
        before = state.tobytes()
        found = dead_stones(game, state)
        assert found.sum() == dead
        assert found[4, 1] == bool(dead)
        assert state.tobytes() == before


def test_a_network_may_say_who_owns_what():
    game, state = arranged(corner())
    assert not dead_stones(game, state, owners=np.array(corner(), np.float32)).any()


def test_an_evaluators_ownership_is_turned_to_the_first_players():
    game, state = arranged(corner())

    class Knows:
        def __call__(self, states):
            raise AssertionError("only the outlook is asked for")

        def outlook(self, states):
            assert not states["passes"].any()  # the game goes on
            own = states["board"].reshape(len(states), -1) * states["player"][:, None] * np.float32(0.5)
            return Outlook(own, np.zeros(len(states), np.float32))

    found = judged_ownership(game, state, Knows())
    assert np.array_equal(found, corner() * np.float32(0.5))
    assert judged_ownership(game, state, uniform(game)) is None


def test_ownership_is_repeatable_and_the_other_sides_after_colors_are_swapped():
    game, state = arranged(corner())
    first, again = ownership(game, state, seed=3), ownership(game, state, seed=3)
    assert first.dtype == np.float32
    assert (first == again).all()
    assert np.abs(first).max() <= 1
    swapped = ownership(*arranged(-corner()), seed=3)
    assert np.abs(first + swapped).mean() < 0.2


def test_a_game_without_territory_has_no_dead_stones():
    game = registry.find("tictactoe")
    with pytest.raises(UsageError, match="Go"):
        ownership(game, game.start()[0])


def test_a_network_has_a_say_where_random_games_leave_a_point_open():
    class Black:
        """Expects all points to be the first player's."""

        def __call__(self, states):
            return uniform(registry.find("go:size=5"))(states)

        def outlook(self, states):
            sides = states["player"].astype(np.float32)
            return Outlook(np.repeat(sides[:, None], 25, axis=1), 25 * sides)

    game = registry.find("go:size=5")
    state = game.start()[0]
    alone, together = estimate(game, state), estimate(game, state, evaluator=Black())
    is_open = np.abs(alone) < 0.2
    assert is_open.any()
    assert np.allclose(together, np.where(is_open, (alone + 1) / 2, alone))
    assert (estimate(game, state, evaluator=uniform(game)) == alone).all()
