"""Finished games of Go: their dead stones, and why an engine says another score."""

from dataclasses import replace

import numpy as np
import pytest

from goishi.arena import scoring
from goishi.arena.match import play_out
from goishi.arena.record import GameRecord, Opinion, from_json
from goishi.arena.tournament import match
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadRecord
from goishi.players import Decision
from goishi.players.engine import Judgement

GAME = registry.find("go:size=5")
BORDER = "C1 D1 C2 D2 C3 D3 C4 D4 C5 D5"  # fifteen points are Black's, ten White's
INVADED = f"{BORDER} pass A1 pass pass"  # a white stone in Black's corner that can't live: 15 to 10, or 5 to 11
DEAD = (20,)  # A1


def played(moves, rules="tromp-taylor", handicap=0):
    """The position after these moves by other rules than the game's own: they are in the record."""
    start = GAME.start()
    start["rules"], start["handicap"] = GAME.module.flags(GAME.module.preset(rules)), handicap
    position = Position(GAME, start)
    for move in moves.split():
        position = position.play(GAME.board.action(move))
    return position


class Script:
    """Plays the moves of INVADED, and says this of the end."""

    def __init__(self, name="script", judgement=None):
        self.name = name
        if judgement:
            self.judge = lambda position: judgement

    def choose(self, position, limit=None):
        return Decision(position.action(INVADED.split()[len(position.history)]))

    def close(self):
        pass


def test_dead_stones_are_taken_off_where_the_rules_say_so():
    assert scoring.count(played(INVADED)) == (-1, ())
    position = played(INVADED, "chinese")
    assert scoring.count(position) == (-1, DEAD)
    assert scoring.told(scoring.margin(position)) == "W+13.5"
    assert scoring.told(scoring.margin(position, DEAD)) == "W+2.5"
    assert scoring.told(0.0) == "0"


def test_other_games_are_scored_by_their_own_rules():
    game = registry.find("gomoku:size=5,row=4")
    moves = [game.board.action(name) for name in ["A1", "A5", "B1", "B5", "C1", "C5", "D1"]]
    assert scoring.count(Position.after(game, moves)) == (1, ())


def test_a_record_keeps_the_dead_stones_and_is_read_back(monkeypatch):
    monkeypatch.setattr(scoring, "dead_stones", lambda game, state: state.board < 0)  # all of White's
    record = play_out(GAME, [Script(), Script()])
    assert (record.score, record.result(), len(record.dead)) == (1, "B+17.5", 6)
    assert '"dead": ["D5", "D4", "D3", "D2", "A1", "D1"]' in record.to_json()
    assert "RE[B+17.5]" in record.to_sgf()
    assert replace(from_json(record.to_json()), seconds=record.seconds) == record


@pytest.mark.parametrize("dead", ['"A1"', '["Z9"]', '["pass"]', "[3]", "{}"])
def test_dead_stones_that_are_none_are_refused(dead):
    line = GameRecord("go:size=5", ("a", "b"), (25, 25), -1).to_json()
    with pytest.raises(BadRecord, match="dead is a list of points such as D4"):
        from_json(f'{line[:-1]}, "dead": {dead}}}')


@pytest.mark.parametrize(
    ("rules", "theirs", "score", "why"),
    [
        ("chinese", (), -13.5, "takes A1 for alive"),
        ("chinese", None, -13.5, "takes no stone for dead"),
        ("tromp-taylor", DEAD, -2.5, "takes A1 for dead"),
        ("chinese", DEAD, -1.5, "counts territory, not area"),
        ("tromp-taylor", DEAD, -1.5, "takes A1 for dead and counts territory, not area"),
        ("japanese", DEAD, -2.5, "counts area, not territory"),
        ("chinese", DEAD, 99, None),
    ],
)
def test_what_an_engine_does_otherwise_is_found_out(rules, theirs, score, why):
    position = played(INVADED, rules)
    ours = () if rules == "tromp-taylor" else DEAD
    assert scoring.explain(position, ours, Judgement("", score, theirs)) == why


def test_what_an_engine_says_of_each_point_explains_its_score():
    position = played(INVADED, "chinese")
    owners = np.array([[0, 0, 0, -1, -1]] + [[1, 1, 1, -1, -1]] * 3 + [[1, 1, 1, -1, 1]], np.int8)
    why = "counts E1 for Black and counts A5 B5 C5 for nobody"
    assert scoring.explain(position, DEAD, Judgement("", 13 - 9 - 7.5, DEAD, owners)) == why
    owners[:] = -1
    why = "counts A5 B5 C5 A4 B4 C4 and 9 more points for White"
    assert scoring.explain(position, DEAD, Judgement("", -25 - 7.5, None, owners)) == why


def test_the_bonus_for_a_handicap_explains_a_score_too():
    why = "gives White 0 points for the handicap, not 3"
    assert scoring.explain(played(INVADED, "chinese", 3), DEAD, Judgement("", -2.5, DEAD)) == why


@pytest.mark.parametrize(
    ("judgement", "opinion"),
    [
        (Judgement("W+13.5", -13.5, None), Opinion(1, "W+13.5")),
        (Judgement("W+2.5", -2.5, DEAD), Opinion(1, "W+2.5", "takes A1 for dead")),
        (Judgement("B+40", 40.0, None), Opinion(1, "B+40", scoring.UNEXPLAINED)),
        (Judgement("It is asleep.", None, None), Opinion(1, "", "It is asleep.")),
    ],
)
def test_a_game_records_what_an_engine_says_of_its_score(judgement, opinion):
    record = play_out(GAME, [Script(), Script("judge", judgement)])
    assert record.opinions == (opinion,)
    assert replace(from_json(record.to_json()), seconds=record.seconds) == record


def test_a_match_lists_the_scores_that_differ(tmp_path):
    judgement = Judgement("W+1.5", -1.5, DEAD)
    players = (lambda seed: Script()), (lambda seed: Script("gtp:gnugo", judgement))
    result = match(GAME, *players, 2, "none", out=tmp_path)
    figures = result.to_json()
    assert (figures["scores_compared"], figures["scores_unexplained"]) == (2, 0)
    assert figures["disagreements"] == [
        f"Game {number} ends W+13.5, but gtp:gnugo says W+1.5: it takes A1 for dead and counts territory, not area."
        for number in (1, 2)
    ]
    assert "start it with the same (GNU Go counts area with --chinese-rules)" in result.counts_otherwise
    assert match(GAME, *players, 2, "none", out=tmp_path).disagreements == result.disagreements


def test_a_match_without_engines_compares_nothing():
    result = match(GAME, lambda seed: Script(), lambda seed: Script(), 2, "none")
    assert "disagreements" not in result.to_json()
    assert result.counts_otherwise is None
