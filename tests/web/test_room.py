"""A table without a web: every message, and every outcome of thinking."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import GoishiError
from goishi.players.player import Decision
from goishi.search.search import Result
from goishi.web.catalogue import HUMAN, Catalogue
from goishi.web.room import Room, hints_message, joining_chain, last_point, winning_points

CATALOGUE = Catalogue(games=["hex:size=3", "othello:size=4"])  # small ones, soon played out


class First:
    """Plays the first legal move; tells who closed and who stopped it."""

    def __init__(self, spec):
        self.name, self.closed, self.stopped = spec, 0, 0

    def choose(self, position, limit=None):
        return Decision(position.actions[0])

    def stop(self):
        self.stopped += 1

    def close(self):
        self.closed += 1


@pytest.fixture
def made():
    return []


@pytest.fixture
def room(made):
    def make(spec, game):
        made.append(First(spec))
        return made[-1]

    return Room(CATALOGUE, make)


def opening(game="tictactoe", opponent="random", **more):
    return {"type": "open", "game": game, "opponent": opponent, **more}


def think(room):
    """Runs what is to be thought about; the messages."""
    task = room.task()
    return room.finish(task, task.run())


def state_of(room):
    """All that a wrong message must leave alone."""
    return room.position, room.hints, room.opened(), room.state()


def sentence(messages):
    """The text of the one error that was answered."""
    assert [message["type"] for message in messages] == ["error"]
    text = messages[0]["text"]
    assert text.strip()
    assert "Traceback" not in text
    assert "\n" not in text
    return text


def game_with_a_pass():
    """An Othello 4x4 game whose last action is a pass, and the pass's number."""
    game = registry.find("othello:size=4")
    last = game.board.actions - 1
    todo = [Position.start(game)]
    while todo:
        position = todo.pop()
        if position.over:
            continue
        if position.actions == [last]:
            return [*position.history, last]
        todo += [position.play(action) for action in position.actions]
    raise AssertionError("no game with a pass")


def test_open_tells_what_stays_and_what_changes(room):
    opened, state = room.handle(opening())
    assert opened["type"] == "opened"
    assert opened["game"] == registry.find("tictactoe").spec
    assert opened["title"] == "Tic-tac-toe"
    assert opened["board"] == {"rows": 3, "columns": 3, "style": "cells", "passes": False}
    assert opened["names"][:4] == ["a1", "b1", "c1", "a2"]
    assert (opened["columns"], opened["row_labels"]) == (["a", "b", "c"], ["1", "2", "3"])
    assert (opened["opponent"], opened["begins"], opened["hints"]) == ("random", "you", False)
    assert state["type"] == "state"
    assert (state["played"], state["stones"], state["actions"]) == ([], [0] * 9, list(range(9)))
    assert (state["last"], state["turn"], state["yours"], state["thinking"]) == (-1, 1, True, False)
    assert (state["over"], state["winner"], state["line"], state["result"]) == (False, 0, [], "")
    assert state["undo"] is False


def test_rows_are_labelled_from_the_bottom_where_points_are_named_as_in_go(room):
    opened = room.handle(opening("gomoku:size=9,row=5"))[0]
    assert opened["columns"] == list("ABCDEFGHJ")
    assert opened["row_labels"] == [str(row) for row in range(9, 0, -1)]
    opened = room.handle(opening("connect4"))[0]
    assert (opened["columns"], opened["row_labels"]) == (list("1234567"), [])


def test_a_move_is_answered_by_the_opponents(room):
    room.handle(opening())
    assert room.task() is None
    (state,) = room.handle({"type": "play", "action": 4})
    assert (state["thinking"], state["yours"], state["actions"], state["last"]) == (True, False, [], 4)
    (state,) = think(room)
    assert state["played"] == [4, 0]
    assert (state["yours"], state["undo"], state["stones"][0]) == (True, True, -1)
    assert room.task() is None


def test_the_opponent_begins_when_asked_to(room):
    state = room.handle(opening(begins="opponent"))[1]
    assert state["thinking"] is True
    (state,) = think(room)
    assert (state["played"], state["yours"], state["undo"]) == ([0], True, False)
    assert sentence(room.handle({"type": "undo"})) == "There is no move of yours to take back."


def test_open_with_moves_goes_on_where_the_game_was(room):
    state = room.handle(opening(moves=[4, 0, 8]))[1]
    assert (state["played"], state["thinking"], state["undo"]) == ([4, 0, 8], True, True)
    state = room.handle(opening(moves=[0, 3, 1, 4, 2]))[1]
    assert (state["over"], state["winner"], state["line"]) == (True, 1, [0, 1, 2])
    assert room.task() is None


def test_new_starts_the_same_game_again(room):
    room.handle(opening(opponent="perfect", moves=[4, 0], hints=True))
    (state,) = room.handle({"type": "new"})
    assert state["played"] == []
    assert (room.opponent, room.hints) == ("perfect", True)


def test_undo_takes_back_the_move_and_its_answer(room):
    room.handle(opening(moves=[4, 0, 8, 1]))
    (state,) = room.handle({"type": "undo"})
    assert (state["played"], state["yours"]) == ([4, 0], True)
    (state,) = room.handle({"type": "undo"})
    assert (state["played"], state["undo"]) == ([], False)
    sentence(room.handle({"type": "undo"}))


def test_undo_while_the_opponent_thinks_makes_its_move_come_too_late(room, made):
    room.handle(opening(moves=[4, 0, 8]))
    task = room.task()
    outcome = task.run()
    (state,) = room.handle({"type": "undo"})
    room.stop_outdated()
    assert made[0].stopped == 1
    assert state["played"] == [4, 0]
    before = state_of(room)
    assert room.finish(task, outcome) == []
    assert room.finish(task, GoishiError("It broke.")) == []
    assert state_of(room) == before


def test_undo_after_the_end_goes_on_before_my_last_move(room):
    room.handle(opening(moves=[0, 3, 1, 4, 2]))
    (state,) = room.handle({"type": "undo"})
    assert (state["played"], state["over"], state["yours"]) == ([0, 3, 1, 4], False, True)


def test_friends_take_back_one_move_and_nobody_thinks(room):
    room.handle(opening(opponent="human"))
    for ply, action in enumerate([4, 0, 8]):
        (state,) = room.handle({"type": "play", "action": action})
        assert state["yours"] is True
        assert state["turn"] == (-1) ** (ply + 1)
        assert room.task() is None
    (state,) = room.handle({"type": "undo"})
    assert state["played"] == [4, 0]


@pytest.mark.parametrize("mine", [True, False])
def test_undo_counts_a_pass_as_a_move_of_whoever_passed(room, mine):
    moves = game_with_a_pass()
    game = registry.find("othello:size=4")
    passed = Position.after(game, moves[:-1]).player  # the side that has to pass
    person = passed if mine else -passed
    state = room.handle(opening(game.spec, begins="you" if person == 1 else "opponent", moves=moves))[1]
    assert (state["last"], state["over"]) == (-1, False)
    expected = len(moves) - (1 if mine else 2)
    (state,) = room.handle({"type": "undo"})
    assert state["played"] == moves[:expected]
    assert state["turn"] == person
    assert state["yours"] is True
    if mine:
        assert state["actions"] == [game.board.actions - 1]
    assert room.opened()["names"][-1] == "pass"


WRONG = [
    *(None, 3, "undo", [], {}, {"type": None}, {"type": []}, {"type": ["open"]}, {"type": "resign"}),
    *({"type": "play"}, {"type": "play", "action": "b2"}, {"type": "play", "action": True}),
    *({"type": "play", "action": 1.0}, {"type": "play", "action": -1}, {"type": "play", "action": 9}),
    *({"type": "play", "action": 10**30}, {"type": "play", "action": 4}, {"type": "play", "action": [1]}),
    *({"type": "hints"}, {"type": "hints", "on": 1}, {"type": "hints", "on": "yes"}),
    *({"type": "open"}, opening("chess"), opening("../x.py"), opening([]), opening({}), opening(None)),
    *(opening(opponent="gtp:gnugo"), opening(opponent=[]), opening(opponent={}), opening(opponent=None)),
    *(opening("x" * 10_000), opening(opponent="x" * 10_000), opening(opponent=["random"])),
    *(opening(begins="me"), opening(begins=[]), opening(moves="12"), opening(moves=["4"]), opening(moves=[True])),
    *(opening(moves=[4, 4]), opening(moves=[-1]), opening(moves=[99]), opening(moves=[10**30]), opening(moves=[0.5])),
    *(opening(moves=[0, 3, 1, 4, 2, 5]), opening(moves=[0] * 10_001), opening(moves=None), opening(moves={})),
]


@pytest.mark.parametrize("message", WRONG, ids=lambda message: str(message)[:70])
def test_a_wrong_message_is_answered_by_a_sentence_and_changes_nothing(room, message):
    room.handle(opening("tictactoe", "perfect", moves=[4, 0]))
    before = state_of(room)
    text = sentence(room.handle(message))
    assert text.endswith(".")
    assert len(text) < 200
    assert state_of(room) == before


def test_a_move_out_of_turn_or_after_the_end_is_refused(room):
    room.handle(opening(moves=[4]))
    assert sentence(room.handle({"type": "play", "action": 0})) == "It is not your turn yet."
    room.handle(opening(moves=[0, 3, 1, 4, 2]))
    assert sentence(room.handle({"type": "play", "action": 8})) == "The game is over."


@pytest.mark.parametrize("kind", ["play", "undo", "new", "hints"])
def test_nothing_but_open_is_answered_before_a_game_is_open(room, kind):
    assert "open first" in sentence(room.handle({"type": kind, "action": 0, "on": True}))
    assert room.task() is None


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
    room = Room(CATALOGUE, lambda spec, game: First(spec))
    for message in some:
        for answer in room.handle(message):
            assert answer["type"] in ("opened", "state", "error")
        if task := room.task():
            room.finish(task, task.run())


@pytest.mark.parametrize("outcome", [GoishiError("Its network is broken."), Decision(4), Decision(99), Decision(-1)])
def test_an_opponent_that_cannot_go_on_tells_and_undo_still_works(room, outcome):
    room.handle(opening(moves=[4]))
    state, error = room.finish(room.task(), outcome)
    assert (state["thinking"], state["yours"], state["undo"], state["played"]) == (False, False, True, [4])
    assert error["text"].startswith("Your opponent cannot go on: ")
    assert room.task() is None
    sentence(room.handle({"type": "play", "action": 0}))
    (state,) = room.handle({"type": "undo"})
    assert (state["played"], state["yours"]) == ([], True)
    (state,) = room.handle({"type": "play", "action": 0})
    assert state["thinking"] is True
    assert think(room)[0]["played"] == [0, 1]


def result_of(position, visits):
    counts = np.zeros(position.game.actions, np.int32)
    priors = np.zeros(position.game.actions, np.float32)
    values = np.zeros(position.game.actions, np.float32)
    for action, count in visits.items():
        counts[action] = count
        priors[action] = 0.25
        values[action] = 0.5
    return Result(counts, priors, values, priors, 0.125, max(visits, key=visits.get), [], None, 10, 0.1)


def test_hints_name_the_favorite_moves_with_shares_priors_and_values(room):
    room.handle(opening(moves=[4, 0]))
    assert room.task() is None
    assert room.handle({"type": "hints", "on": True}) == []
    task = room.task()
    assert task.kind == "hints"
    (hints,) = room.finish(task, Decision(8, result_of(task.position, {8: 750, 1: 249, 2: 1})))
    assert (hints["type"], hints["ply"], hints["player"], hints["value"]) == ("hints", 2, 1, 0.125)
    assert hints["moves"] == [
        {"action": 8, "name": "c3", "share": 0.75, "prior": 0.25, "value": 0.5},
        {"action": 1, "name": "b1", "share": 0.249, "prior": 0.25, "value": 0.5},
    ]
    assert room.task() is None  # once a position


def test_hints_are_for_my_turn_and_come_again_at_each(room):
    room.handle(opening(hints=True))
    assert room.opened()["hints"] is True
    think(room)
    room.handle({"type": "play", "action": 4})
    assert room.task().kind == "move"
    think(room)
    assert room.task().kind == "hints"
    room.handle({"type": "hints", "on": False})
    assert room.task() is None


def test_hints_that_come_too_late_or_are_switched_off_are_not_shown(room):
    room.handle(opening(hints=True))
    task = room.task()
    decision = Decision(4, result_of(task.position, {4: 9}))
    room.handle({"type": "hints", "on": False})
    assert room.finish(task, decision) == []
    room.handle({"type": "hints", "on": True})
    task = room.task()
    room.handle({"type": "play", "action": 4})
    assert room.finish(task, decision) == []


def test_hints_that_fail_say_so_and_the_game_goes_on(room):
    room.handle(opening(hints=True))
    assert sentence(room.finish(room.task(), GoishiError("No memory left.")))
    assert room.task() is None
    assert room.handle({"type": "play", "action": 4})[0]["played"] == [4]


def test_hints_without_visits_show_priors_and_without_a_search_nothing():
    position = Position.start(registry.find("tictactoe"))
    result = result_of(position, {4: 0, 8: 0})
    moves = hints_message(position, Decision(4, result))["moves"]
    assert [(move["action"], move["share"], move["value"]) for move in moves] == [(4, 0.25, None), (8, 0.25, None)]
    assert hints_message(position, Decision(4))["moves"] == []
    assert hints_message(position, Decision(4))["value"] is None


@pytest.mark.parametrize(
    ("spec", "moves", "line", "result"),
    [
        ("tictactoe", [0, 3, 1, 4, 2], [0, 1, 2], "You win after 5 moves."),
        ("tictactoe", [0, 2, 1, 4, 8, 6], [2, 4, 6], "You lose after 6 moves."),
        ("tictactoe", [0, 1, 3, 2, 4, 5, 7, 8], [2, 5, 8], "You lose after 8 moves."),
        ("tictactoe", [0, 1, 2, 4, 3, 5, 7, 6, 8], [], "A draw."),
        ("connect4", [0, 1, 0, 1, 0, 1, 0], [14, 21, 28, 35], "You win after 7 moves."),
        ("connect4", [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], [17, 23, 29, 35], "You win after 11 moves."),
        ("gomoku:size=6,row=4", [0, 6, 1, 7, 2, 8, 3], [0, 1, 2, 3], "You win after 7 moves."),
        ("hex:size=3", [0, 1, 3, 4, 6], [0, 3, 6], "You win after 5 moves."),
        ("hex:size=3", [0, 3, 1, 4, 8, 5], [3, 4, 5], "You lose after 6 moves."),
    ],
)
def test_a_finished_game_lights_up_the_winning_points_and_says_how_it_ended(room, spec, moves, line, result):
    state = room.handle(opening(spec, moves=moves))[1]
    assert state["over"] is True
    assert (state["line"], state["result"]) == (line, result)
    assert (state["actions"], state["thinking"], state["yours"]) == ([], False, False)


def test_two_lines_at_once_light_up_together(room):
    state = room.handle(opening(moves=[1, 3, 2, 5, 4, 6, 8, 7, 0]))[1]
    assert state["line"] == [0, 1, 2, 4, 8]
    moves = [0, 35, 1, 34, 2, 32, 9, 31, 15, 29, 21, 28, 3]  # the top row, and the column below D6
    assert room.handle(opening("gomoku:size=6,row=4", moves=moves))[1]["line"] == [0, 1, 2, 3, 9, 15, 21]


def test_friends_read_the_winners_name(room):
    state = room.handle(opening("connect4", "human", moves=[0, 1, 0, 1, 0, 1, 0]))[1]
    assert state["result"] == "Red wins after 7 moves."


def test_othello_counts_the_discs(room):
    game = registry.find("othello:size=4")
    for seed in range(30):
        rng = np.random.default_rng(seed)
        position = Position.start(game)
        while not position.over:
            position = position.play(int(rng.choice(position.actions)))
        state = room.handle(opening(game.spec, moves=list(position.history)))[1]
        black, white = state["stones"].count(1), state["stones"].count(-1)
        expected = f"You win, {black} discs to {white}." if black > white else f"You lose, {black} discs to {white}."
        assert state["result"] == (expected if black != white else f"A draw, {black} discs each.")
        assert state["line"] == []


def test_the_joining_chain_goes_from_edge_to_edge_and_no_further():
    stones = np.zeros((4, 4), np.int8)
    stones[:, 1] = 1
    stones[3, 2] = stones[0, 3] = 1  # part of the group, not of the chain
    assert joining_chain(stones, 1) == [1, 5, 9, 13]
    assert joining_chain(-stones.T, -1) == [4, 5, 6, 7]
    assert joining_chain(stones, -1) == []


def test_a_dropped_piece_lies_on_top_of_its_column():
    game = registry.find("connect4")
    assert [last_point(Position.after(game, [3] * n)) for n in range(4)] == [-1, 38, 31, 24]
    assert winning_points(Position.start(game)) == []


def test_players_are_closed_when_the_opponent_changes(room, made):
    room.handle(opening(moves=[4]))
    think(room)
    assert [player.name for player in made] == ["random"]
    room.handle(opening(moves=[4]))
    think(room)  # the same one goes on
    assert (len(made), made[0].closed) == (1, 0)
    room.handle(opening(opponent="perfect", moves=[4]))
    think(room)
    assert [(player.name, player.closed) for player in made] == [("random", 1), ("perfect", 0)]
    room.handle(opening("connect4", "random", moves=[4]))
    room.task()
    assert made[1].closed == 1


def test_the_player_of_hints_is_closed_when_they_are_switched_off(room, made):
    room.handle(opening(hints=True))
    think(room)
    room.handle({"type": "hints", "on": False})
    room.task()
    assert [(player.name, player.closed) for player in made] == [("rollout:visits=5000", 1)]


@pytest.mark.parametrize("end", ["close", "rest"])
def test_close_and_rest_free_every_player_and_the_game_stays(room, made, end):
    room.handle(opening(moves=[4], hints=True))
    think(room)
    think(room)
    assert len(made) == 2
    getattr(room, end)()
    getattr(room, end)()
    assert [player.closed for player in made] == [1, 1]
    assert room.handle({"type": "play", "action": 8})[0]["played"] == [4, 0, 8]
    assert think(room)[0]["played"] == [4, 0, 8, 1]


def test_nobody_thinks_for_a_person_who_left(room, made):
    room.handle(opening(moves=[4]))
    task = room.task()
    task.run()
    room.leave()
    assert made[0].stopped == 1
    with pytest.raises(GoishiError):
        task.run()


GO = "go:size=5,rules=chinese-ogs"
WALLS = [action for row in range(5) for action in (5 * row + 1, 5 * row + 3)]  # Black's on column B, White's on D


def test_a_finished_game_of_go_is_counted_without_its_dead_stones(made):
    room = Room(Catalogue(games=[GO]), lambda spec, game: First(spec))
    room.handle(opening(GO, HUMAN, moves=[*WALLS, 4, 25, 25]))  # the last stone stands in White's corner
    state = room.state()
    assert state["over"]
    assert state["dead"] == [4]
    owners = np.array(state["owners"]).reshape(5, 5)
    assert owners.tolist() == [[1, 1, 0, -1, -1]] * 5
    assert state["winner"] == -1
    assert state["result"] == "White wins by 7.5 points."


def test_the_opponent_ends_a_game_of_go_that_it_has_won_when_the_person_passes():
    room = Room(Catalogue(games=[GO]), lambda spec, game: First(spec))
    room.handle(opening(GO, "random", moves=[*WALLS, 25]))
    think(room)
    assert room.state()["over"]
    assert room.state()["result"] == "You lose by 7.5 points."


def test_a_pass_in_an_open_game_is_answered_by_a_move():
    even = GO + ",komi=0"
    room = Room(Catalogue(games=[even]), lambda spec, game: First(spec))
    room.handle(opening(registry.find(even).spec, "random", moves=[11, 13, 25]))
    think(room)
    assert room.state()["played"] == [11, 13, 25, 0]
