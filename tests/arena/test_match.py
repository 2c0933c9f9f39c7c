"""One game between two players."""

import pytest

from goishi.arena.match import play, play_out
from goishi.core import registry
from goishi.errors import EngineFailure, EngineTimeout, IllegalMove
from goishi.players import Decision, find

GAME = registry.find("tictactoe")


def test_the_caller_sees_each_turn_as_it_is_played(scripted):
    turns = play(GAME, [scripted("a", [0, 1, 2]), scripted("b", [3, 4])])
    first = next(turns)
    assert (first.player, first.decision.action, len(first.position.history)) == (0, 0, 0)
    assert [turn.player for turn in turns] == [1, 0, 1, 0]


def test_perfect_against_perfect_is_a_draw():
    for seed in range(10):
        record = play_out(GAME, [find("perfect", GAME, seed), find("perfect", GAME, seed + 100)])
        assert (record.score, record.termination) == (0, "finished")


def test_the_one_who_moves_first_in_the_game_is_the_first_player_whatever_the_opening(scripted):
    record = play_out(GAME, [scripted("a", [1, 2]), scripted("b", [3, 4])], opening=[0])
    assert record.players == ("a", "b")
    assert record.actions == (0, 3, 1, 4, 2)
    assert (record.score, record.opening, len(record.seconds)) == (1, 1, 4)


@pytest.mark.parametrize(
    ("step", "termination", "words"),
    [
        (0, "illegal move", "b chose a1, which may not be played here, and loses this game."),
        (-1, "illegal move", "b chose -1"),
        (99, "illegal move", "b chose 99"),
        (Decision("A1"), "illegal move", "b chose A1"),
        (ValueError("out of\nideas"), "crash", "b crashed and loses this game: ValueError: out of ideas."),
        (EngineFailure("It ended."), "crash", "b loses this game: It ended."),
        (EngineTimeout("It slept."), "timeout", "b loses this game: It slept."),
        (IllegalMove("It passes."), "illegal move", "b loses this game: It passes."),
        (Decision(3, resigns=True), "resignation", None),
    ],
)
def test_a_player_that_fails_or_resigns_loses_this_game(step, termination, words, scripted):
    record = play_out(GAME, [scripted("a", [0]), scripted("b", [step])])
    assert (record.score, record.termination, record.actions) == (1, termination, (0,))
    assert (record.error or "").startswith(words or "")
    assert (record.error is None) == (words is None)


def test_an_interrupt_is_no_crash_of_the_player(scripted, lowest):
    with pytest.raises(KeyboardInterrupt):
        play_out(GAME, [scripted("a", [KeyboardInterrupt()]), lowest()])


def test_an_illegal_opening_is_an_error(lowest):
    with pytest.raises(IllegalMove):
        play_out(GAME, [lowest(), lowest()], opening=[4, 4])


def test_who_passes_in_othello_is_asked_and_the_score_is_the_first_players():
    game = registry.find("othello:size=4")
    for seed in range(5):
        record = play_out(game, [find("random", game, seed), find("perfect", game, seed)])
        assert record.score == -1
        assert record.position(game).score == record.score


def test_values_of_the_search_are_recorded():
    record = play_out(GAME, [find("uniform:visits=20", GAME), find("random", GAME)])
    assert all(value is not None for value in record.values[::2])
    assert all(value is None for value in record.values[1::2])
