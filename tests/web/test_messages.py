"""Whatever a browser sends: a room answers with one sentence, changes nothing, and names no file and no command."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goishi.errors import UnknownGame
from goishi.players.player import Decision
from goishi.web.catalogue import HUMAN, Catalogue
from goishi.web.room import Room


class First:
    """Plays the lowest legal action."""

    name = "first"

    def choose(self, position, limit=None):
        return Decision(position.actions[0])

    def close(self):
        pass


@pytest.fixture
def room():
    return Room(Catalogue(), lambda spec, game: First())


def opening(game="tictactoe", opponent="random", **more):
    return {"type": "open", "game": game, "opponent": opponent, **more}


def only_error(answers):
    assert [answer["type"] for answer in answers] == ["error"]
    return answers[0]["text"]


WRONG = [
    None,
    7,
    "undo",
    [],
    {},
    {"type": "fly"},
    {"type": ["open"]},
    {"type": "hints", "on": 1},
    {"type": "play"},
    {"type": "play", "action": 0},
    {"type": "play", "action": 10**30},
    {"type": "play", "action": -1},
    {"type": "play", "action": True},
    {"type": "play", "action": 1.0},
    {"type": "play", "action": "b2"},
    opening("chess"),
    opening("gomoku:size=0"),
    opening("gomoku:size=6,row=9"),
    opening("gomoku:size=1000"),
    opening("gomoku:size"),
    opening(None),
    opening("x" * 10_000),
    opening(opponent="grandmaster"),
    opening(opponent="x" * 10_000),
    opening(opponent={}),
    opening(opponent=["random"]),
    opening(begins="nobody"),
    opening(begins=[]),
    opening(moves="12"),
    opening(moves=[0, 0]),
    opening(moves=[0.5]),
    opening(moves=[99]),
    opening(moves=[-1]),
    opening(moves=[0, 3, 1, 4, 2, 5]),
    opening(moves=[0] * 20_000),
]


@pytest.mark.parametrize("message", WRONG, ids=range(len(WRONG)))
def test_a_wrong_message_gets_one_sentence_and_changes_nothing(room, message):
    room.handle(opening(opponent=HUMAN, moves=[0, 4]))
    before = room.opened(), room.state()
    text = only_error(room.handle(message))
    assert text.endswith((".", "?"))
    assert len(text) < 400
    assert (room.opened(), room.state()) == before


@pytest.mark.parametrize("spec", ["./mygame.py", "/tmp/evil.py:size=3", "tictactoe.py", "../games/hex.py"])
def test_a_browser_never_names_a_file_of_rules(spec):
    with pytest.raises(UnknownGame):
        Catalogue().find(spec)


@pytest.mark.parametrize("spec", ["gtp:sh -c true", "net:/etc/passwd", "rollout:visits=100000000", "policy:../x.onnx"])
def test_a_browser_never_names_a_player_that_is_not_on_offer(room, spec):
    assert "no opponent" in only_error(room.handle(opening(opponent=spec)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
messages = st.fixed_dictionaries(
    {"type": st.sampled_from(["open", "play", "undo", "new", "hints"]) | json_values},
    optional={
        "game": st.sampled_from(["tictactoe", "connect4"]) | json_values,
        "opponent": st.sampled_from(["random", HUMAN]) | json_values,
        "begins": st.sampled_from(["you", "opponent"]) | json_values,
        "moves": st.lists(st.integers(-1, 9), max_size=4) | json_values,
        "action": st.integers(-2, 10) | json_values,
        "on": st.booleans() | json_values,
    },
)


@given(st.lists(messages, max_size=8))
@settings(max_examples=100, deadline=None)
def test_no_messages_whatever_break_a_room(some):
    room = Room(Catalogue(), lambda spec, game: First())
    for message in some:
        for answer in room.handle(message):
            assert answer["type"] in ("opened", "state", "error")
        if task := room.task():
            room.finish(task, task.run())
