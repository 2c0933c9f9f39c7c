"""The specs of players."""

import pytest

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadModel, UsageError
from goishi.players import Decision, find, maker
from goishi.players.player import parse

GAME = registry.find("tictactoe")


@pytest.mark.parametrize(
    ("spec", "kind", "argument", "options"),
    [
        ("random", "random", "", {}),
        ("uniform:visits=800", "uniform", "", {"visits": 800}),
        ("rollout: visits=10 , seconds=0.5", "rollout", "", {"visits": 10, "seconds": 0.5}),
        ("net:runs/a/best.onnx,visits=7,mode=gumbel", "net", "runs/a/best.onnx", {"visits": 7, "mode": "gumbel"}),
        (r"policy:C:\models\x.onnx,temperature=1", "policy", r"C:\models\x.onnx", {"temperature": 1.0}),
    ],
)
def test_a_spec_is_read_into_its_parts(spec, kind, argument, options):
    assert parse(spec) == (kind, argument, options)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("randon", "did you mean random?"),
        ("xyz", "there are random, perfect"),
        ("uniform:visit=8", "did you mean visits?"),
        ("uniform:visits=many", "visits is a whole number"),
        ("uniform:visits=0", "from 1 to"),
        ("uniform:visits", "visits is a whole number"),
        ("uniform:seconds=nan", "seconds is a number"),
        ("uniform:mode=alphabeta", "mode is one of puct, gumbel, uct"),
        ("uniform:leaves=100000", "leaves is a whole number from 1 to 1,024"),
        ("rollout:resign=0.9", "resign is a number from -1 to"),
        ("random:visits=3", "it takes none"),
        ("net", "net needs a model first"),
        ("net:visits=3", "net needs a model first"),
        ("runs/six/best.onnx", "write net:runs/six/best.onnx"),
        ("gtp:gnugo --mode gtp", "no board with points such as D4"),
        ("gomocup:pbrain-x", "no part of this version"),
        ("rollout:pass=never", "pass is one of own, opponent"),
        ("rollout:pass=opponent", "are for Go; tictactoe has no points to count"),
    ],
)
def test_a_wrong_spec_is_told_in_one_sentence_that_helps(spec, words):
    with pytest.raises(UsageError) as caught:
        find(spec, GAME)
    assert words in str(caught.value)


def test_a_missing_model_is_told_when_the_player_is_prepared():
    with pytest.raises(BadModel, match="no model 'nowhere'"):
        maker("net:nowhere", GAME)


def test_two_players_of_one_seed_choose_alike():
    position = Position.start(GAME)
    chosen = [[find("random", GAME, seed).choose(position).action for _ in range(2)] for seed in range(20)]
    assert all(one == other for one, other in chosen)
    assert len({one for one, _ in chosen}) > 3


def test_a_decision_is_an_action_unless_more_is_said():
    assert Decision(3) == (3, None, False)
