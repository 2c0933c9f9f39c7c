"""A room as a pure object: messages in, messages out, players played by the test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import GoishiError, UnknownGame
from goishi.players.player import Decision
from goishi.search.search import Result
from goishi.web.catalogue import HUMAN, Catalogue
from goishi.web.room import Room, hints_message, joining_chain, last_point, winning_points


class FirstMove:
    """Plays the lowest legal action and knows whether it was closed."""

    name = "first"

    def __init__(self):
        self.closed = False

    def choose(self, position, limit=None):
        return Decision(position.actions[0])

    def close(self):
        self.closed = True


class Bench:
    """Makes FirstMove players and remembers them."""

    def __init__(self):
        self.made = []

    def __call__(self, spec, game):
        self.made.append(FirstMove())
        return self.made[-1]


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def room(bench):
    return Room(Catalogue(), bench)


def opening(game="tictactoe", opponent="random", **more):
    return {"type": "open", "game": game, "opponent": opponent, **more}


def think(room):
    """Runs the room's task, if there is one, and answers what it says."""
    task = room.task()
    return room.finish(task, task.run()) if task else []


def only_error(answers):
    assert [answer["type"] for answer in answers] == ["error"]
    return answers[0]["text"]


def test_opening_tells_the_board_and_the_position(room):
    opened, state = room.handle(opening("connect4"))
    assert opened["board"] == {"rows": 6, "columns": 7, "style": "drop", "passes": False}
    assert opened["names"] == ["1", "2", "3", "4", "5", "6", "7"]
    assert opened["sides"] == ["Red", "Yellow"]
    assert state["stones"] == [0] * 42
    assert state["yours"]
    assert not state["undo"]


def test_coordinates_run_to_the_last_column_and_row(room):
    opened, _ = room.handle(opening("gomoku:size=15,row=5"))
    assert opened["columns"] == list("ABCDEFGHJKLMNOP")
    assert opened["row_labels"] == [str(n) for n in range(15, 0, -1)]
    opened, _ = room.handle(opening("othello:size=6"))
    assert (opened["columns"], opened["row_labels"]) == (list("abcdef"), list("123456"))


def test_the_opponent_answers_a_move(room):
    room.handle(opening())
    (state,) = room.handle({"type": "play", "action": 4})
    assert state["thinking"]
    assert not state["yours"]
    (state,) = think(room)
    assert state["played"] == [4, 0]
    assert state["yours"]
    assert room.task() is None


def test_an_opponent_who_begins_moves_first(room):
    _, state = room.handle(opening(begins="opponent"))
    assert state["thinking"]
    assert think(room)[0]["played"] == [0]


def test_nobody_moves_for_the_opponent(room):
    room.handle(opening(begins="opponent"))
    assert "not your turn" in only_error(room.handle({"type": "play", "action": 3}))


def test_an_illegal_move_changes_nothing(room):
    room.handle(opening(opponent=HUMAN))
    room.handle({"type": "play", "action": 4})
    before = room.state()
    for action in (4, -1, 9, 10**30, 1.0, True, None, "b2", [4]):
        only_error(room.handle({"type": "play", "action": action}))
    assert room.state() == before


@pytest.mark.parametrize(
    ("moves", "begins", "result"),
    [
        ([0, 3, 1, 4, 2], "you", "You win after 5 moves."),
        ([0, 3, 1, 4, 2], "opponent", "You lose after 5 moves."),
        ([0, 4, 8, 1, 7, 6, 2, 5, 3], "you", "A draw."),
    ],
)
def test_a_finished_game_says_who_won(room, moves, begins, result):
    _, state = room.handle(opening(begins=begins, moves=moves))
    assert state["over"]
    assert state["result"] == result
    assert room.task() is None


def test_two_people_are_called_by_their_sides(room):
    _, state = room.handle(opening(opponent=HUMAN, moves=[0, 3, 1, 4, 2]))
    assert state["result"] == "X wins after 5 moves."
    assert state["line"] == [0, 1, 2]


def test_undo_takes_back_to_the_persons_own_turn(room):
    room.handle(opening())
    room.handle({"type": "play", "action": 4})
    think(room)
    (state,) = room.handle({"type": "undo"})
    assert state["played"] == []
    assert state["yours"]


def test_undo_while_the_opponent_thinks_takes_back_one_move_and_ignores_its_answer(room):
    room.handle(opening())
    room.handle({"type": "play", "action": 4})
    task = room.task()
    (state,) = room.handle({"type": "undo"})
    assert state["played"] == []
    assert room.finish(task, task.run()) == []
    assert room.state()["played"] == []


def test_undo_leaves_the_opponents_first_move(room):
    room.handle(opening(begins="opponent"))
    think(room)
    assert not room.state()["undo"]
    assert "take back" in only_error(room.handle({"type": "undo"}))


def test_undo_between_two_people_takes_back_one_move(room):
    room.handle(opening(opponent=HUMAN, moves=[0, 1]))
    assert room.handle({"type": "undo"})[0]["played"] == [0]


def test_undo_reopens_a_finished_game(room):
    room.handle(opening(moves=[0, 3, 1, 4, 2]))
    (state,) = room.handle({"type": "undo"})
    assert state["played"] == [0, 3, 1, 4]
    assert not state["over"]


def test_new_keeps_the_settings(room):
    room.handle(opening(begins="opponent", moves=[0, 1]))
    (state,) = room.handle({"type": "new"})
    assert state["played"] == []
    assert state["thinking"]


def test_a_lost_connection_is_taken_up_by_the_moves(room, bench):
    room.handle(opening("gomoku:size=6,row=4", moves=[14, 20]))
    again = Room(Catalogue(), bench)
    _, state = again.handle(opening("gomoku:size=6,row=4", moves=room.state()["played"]))
    assert state == room.state()


@pytest.mark.parametrize(
    "message",
    [
        None,
        7,
        "undo",
        [],
        {},
        {"type": "fly"},
        {"type": ["open"]},
        {"type": "undo"},
        opening("chess"),
        opening("gomoku:size=0"),
        opening("gomoku:size=6,row=9"),
        opening("gomoku:size=1000"),
        opening(None),
        opening("x" * 10_000),
        opening(opponent="grandmaster"),
        opening(opponent={}),
        opening(opponent=["random"]),
        opening(begins="nobody"),
        opening(begins=[]),
        opening(moves="12"),
        opening(moves=[0, 0]),
        opening(moves=[0.5]),
        opening(moves=[99]),
        opening(moves=[0, 3, 1, 4, 2, 5]),
    ],
)
def test_a_wrong_message_gets_one_sentence(room, message):
    text = only_error(room.handle(message))
    assert text.endswith(".")
    assert "Traceback" not in text
    assert len(text) < 400


def test_a_wrong_opening_leaves_the_game_as_it_is(room):
    room.handle(opening(moves=[4, 0]))
    before = room.state()
    only_error(room.handle(opening("chess")))
    assert room.state() == before


@pytest.mark.parametrize("spec", ["./mygame.py", "/tmp/evil.py:size=3", "tictactoe.py", "../games/hex.py"])
def test_a_browser_never_names_a_file(spec):
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


@given(
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["open", "play", "undo", "new", "hints", "", 3]) | json_values},
            optional={
                "game": st.sampled_from(["tictactoe", "connect4"]) | json_values,
                "opponent": st.sampled_from(["random", HUMAN]) | json_values,
                "begins": st.sampled_from(["you", "opponent"]) | json_values,
                "moves": st.lists(st.integers(-1, 9), max_size=4) | json_values,
                "action": st.integers(-2, 10) | json_values,
                "on": st.booleans() | json_values,
            },
        ),
        max_size=8,
    )
)
@settings(max_examples=100, deadline=None)
def test_no_messages_whatever_break_a_room(messages):
    room = Room(Catalogue(), Bench())
    for message in messages:
        for answer in room.handle(message):
            assert answer["type"] in ("opened", "state", "error")
        think(room)


def test_an_opponent_that_fails_is_told_and_the_game_can_go_on(room):
    room.handle(opening())
    room.handle({"type": "play", "action": 4})
    state, error = room.finish(room.task(), GoishiError("The engine is gone."))
    assert error["text"] == "Your opponent cannot go on: The engine is gone."
    assert not state["thinking"]
    assert room.task() is None
    assert room.handle({"type": "undo"})[0]["yours"]


def test_an_illegal_move_of_the_opponent_is_told(room):
    room.handle(opening())
    room.handle({"type": "play", "action": 4})
    state, error = room.finish(room.task(), Decision(4))
    assert "cannot go on" in error["text"]
    assert state["played"] == [4]


def test_a_change_of_game_closes_its_players(room, bench):
    room.handle(opening(begins="opponent"))
    think(room)
    room.handle(opening("connect4", begins="opponent"))
    assert not bench.made[0].closed  # it might be thinking; the next task sees to it
    think(room)
    assert bench.made[0].closed
    assert len(bench.made) == 2


def test_a_room_at_rest_keeps_its_game_and_frees_its_players(room, bench):
    room.handle(opening(begins="opponent"))
    think(room)
    room.rest()
    assert bench.made[0].closed
    room.handle({"type": "play", "action": 4})
    assert think(room)[0]["played"] == [0, 4, 1]


def test_hints_are_asked_for_on_the_persons_turn_alone_and_once(room):
    room.handle(opening(hints=True))
    task = room.task()
    assert task.kind == "hints"
    (message,) = room.finish(task, task.run())
    assert message["type"] == "hints"
    assert room.task() is None
    room.handle({"type": "play", "action": 4})
    assert room.task().kind == "move"


def test_hints_that_come_too_late_are_not_shown(room):
    room.handle(opening())
    room.handle({"type": "hints", "on": True})
    task = room.task()
    room.handle({"type": "hints", "on": False})
    assert room.finish(task, task.run()) == []


def result_with(visits, priors, values, value):
    arrays = (np.array(visits, np.int32), np.array(priors, np.float32), np.array(values, np.float32))
    fields = dict.fromkeys(Result._fields)
    fields |= {"visits": arrays[0], "priors": arrays[1], "values": arrays[2], "policy": arrays[1], "value": value}
    return Result(**fields)


def test_hints_tell_the_shares_of_the_visits_best_first():
    position = Position.after(registry.find("tictactoe"), [0])
    result = result_with([0, 30, 0, 0, 70, 0, 0, 0, 0], [0.0] * 9, [0, 0.2, 0, 0, -0.1, 0, 0, 0, 0], -0.02)
    message = hints_message(position, Decision(4, result))
    assert [(move["name"], move["share"], move["value"]) for move in message["moves"]] == [
        ("b2", 0.7, -0.1),
        ("b1", 0.3, 0.2),
    ]
    assert (message["ply"], message["player"], message["value"]) == (1, -1, -0.02)


def test_hints_tell_the_priors_where_nothing_was_visited():
    position = Position.start(registry.find("tictactoe"))
    result = result_with([0] * 9, [0.1] * 8 + [0.2], [0.0] * 9, 0.0)
    moves = hints_message(position, Decision(8, result))["moves"]
    assert moves[0] == {"action": 8, "name": "c3", "share": 0.2, "prior": 0.2, "value": None}


def test_a_player_without_a_search_has_no_hints():
    message = hints_message(Position.start(registry.find("tictactoe")), Decision(0))
    assert (message["moves"], message["value"]) == ([], None)


def test_the_last_disc_is_where_it_fell():
    game = registry.find("connect4")
    assert last_point(Position.after(game, [3])) == 38
    assert last_point(Position.after(game, [3, 3])) == 31
    assert last_point(Position.start(game)) == -1


def test_both_lines_of_a_double_win_light_up():
    game = registry.find("gomoku:size=6,row=4")
    moves = [0, 35, 1, 34, 2, 32, 9, 31, 15, 29, 21, 28, 3]  # top row, and the column below D6
    assert winning_points(Position.after(game, moves)) == [0, 1, 2, 3, 9, 15, 21]


def test_the_chain_that_joins_the_edges_lights_up():
    stones = np.array([[0, 1, 0], [1, 1, 0], [1, -1, -1]], np.int8)
    chain = joining_chain(stones, 1)
    assert chain[0] == 1
    assert chain[-1] == 6
    assert joining_chain(-stones.T, -1) == sorted(point % 3 * 3 + point // 3 for point in chain)
    assert joining_chain(stones, -1) == []


def test_a_forced_pass_is_the_only_action(room):
    game = registry.find("othello:size=4")
    position = Position.start(game)
    rng = np.random.default_rng(3)
    while position.actions != [game.actions - 1]:  # a board of 16 squares has passes in most games
        position = Position.start(game) if position.over else position.play(int(rng.choice(position.actions)))
    begins = "you" if position.player == 1 else "opponent"
    opened, state = room.handle(opening("othello:size=4", opponent=HUMAN, begins=begins, moves=list(position.history)))
    assert [opened["names"][action] for action in state["actions"]] == ["pass"]
    assert room.handle({"type": "play", "action": state["actions"][0]})[0]["last"] == -1


def test_the_catalogue_offers_every_game_somebody_to_play_against():
    games = Catalogue().as_json()["games"]
    assert {game["name"] for game in games} >= set(registry.names())
    for game in games:
        for size in game["sizes"]:
            specs = [level["spec"] for offer in size["opponents"] for level in offer["levels"]]
            assert {"random", HUMAN} <= set(specs)
            assert all(0 <= offer["usual"] < len(offer["levels"]) for offer in size["opponents"])
