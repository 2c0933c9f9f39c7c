"""How players of Go pass and give up: the book's termination strategies."""

import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import UsageError
from goishi.players import Decision, find, maker

GAME = registry.find("go:size=5")
PASS = GAME.actions - 1


class First:
    """Plays the lowest legal action and remembers that it was asked."""

    name = "first"
    asked = 0

    def choose(self, position, limit=None):
        self.asked += 1
        return Decision(position.actions[0])

    def close(self):
        self.asked = -1


def ending(player, **keys):
    from goishi.players.ending import EndingPlayer

    return EndingPlayer(player, GAME, **keys)


def after(*moves):
    return Position.after(GAME, [PASS if move == "pass" else GAME.board.action(move) for move in moves])


def test_it_passes_exactly_when_the_opponent_has_just_passed():
    player = First()
    polite = ending(player, pass_with_opponent=True)
    assert polite.choose(after("C3", "pass")) == Decision(PASS)
    assert player.asked == 0
    assert polite.choose(after("C3", "pass", "D4")).action != PASS
    assert polite.choose(after()).action != PASS
    assert player.asked == 2


def test_without_the_strategy_the_player_decides_itself():
    assert ending(First()).choose(after("C3", "pass")).action == 0


def behind(position):
    return -position.player * GAME.module.margin(position.state)


@pytest.mark.parametrize(
    ("moves", "more", "cutoff", "resigns"),
    [
        (("C3", "pass", "D4"), 0, 0, True),  # the margin itself is enough
        (("C3", "pass", "D4"), 0.5, 0, False),
        (("C3", "pass", "D4"), 0, 1, False),  # one own move is not more than one
        (("C3", "pass", "D4", "pass", "B2"), 0, 1, True),
        (("pass", "C3"), 0, 0, True),  # Black can be behind as well
    ],
)
def test_it_resigns_when_it_is_so_far_behind_after_more_than_so_many_own_moves(moves, more, cutoff, resigns):
    position = after(*moves)
    player = ending(First(), resign_margin=behind(position) + more, resign_after=cutoff)
    assert player.choose(position).resigns == resigns


def test_who_leads_does_not_resign():
    assert not ending(First(), resign_margin=0.5, resign_after=0).choose(after("C3", "pass")).resigns


def test_passing_is_asked_before_resigning():
    player = ending(First(), pass_with_opponent=True, resign_margin=0.5, resign_after=0)
    assert player.choose(after("pass", "C3", "A1", "D4")).resigns
    assert player.choose(after("A1", "C3", "B1", "D4", "C1", "D3", "E5", "pass")) == Decision(PASS)


def test_the_keys_of_a_spec_do_the_same_for_players_of_any_kind():
    player = find("rollout:visits=10,pass=opponent,resign_margin=5", GAME)
    assert player.choose(after("C3", "pass")).action == PASS
    assert (player.name, player.resign_margin, player.resign_after) == (
        "rollout:visits=10,pass=opponent,resign_margin=5",
        5,
        3,
    )
    player.close()


def test_what_else_the_player_can_do_it_still_can():
    class Judge(First):
        def judge(self, position):
            return "B+3.5"

    assert ending(Judge()).judge(after()) == "B+3.5"
    assert not hasattr(ending(First()), "judge")


def test_closing_closes_the_player():
    player = First()
    ending(player).close()
    assert player.asked == -1


def test_when_to_resign_says_nothing_without_the_margin():
    with pytest.raises(UsageError, match="give both"):
        maker("rollout:resign_after=5", GAME)


def test_other_games_have_no_points_to_count():
    with pytest.raises(UsageError, match="are for Go; connect4 has no points to count"):
        maker("rollout:resign_margin=5", registry.find("connect4"))
