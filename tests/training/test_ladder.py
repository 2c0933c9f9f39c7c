"""The ladder: who plays whom, who is best, what a match may cost."""

import itertools
import json

import numpy as np
import pytest

from goishi.arena.in_step import RandomSide
from goishi.core import registry
from goishi.errors import BadRun
from goishi.networks.evaluator import uniform
from goishi.training.ladder import FILE, Ladder, Match
from goishi.training.settings import Rating

RNG = np.random.default_rng(0)


@pytest.fixture
def made(tmp_path):
    """A ladder over tic-tac-toe whose networks know nothing."""
    (tmp_path / "models").mkdir()
    return ladder_in(tmp_path)


def ladder_in(folder, **settings):
    game = registry.find("tictactoe")
    options = {"rollouts": 1600, "games": 8, "visits": 4} | settings
    return Ladder(game, Rating(**options), folder, lambda _: uniform(game))


def fill(ladder, *rows):
    for player, opponent, points, games in rows:
        ladder.add(Match(player, opponent, points, games, 1.0))
        ladder.choose()


def test_fixed_players_rise_by_four_up_to_the_one_of_the_settings(tmp_path):
    assert ladder_in(tmp_path).anchors == ["random", "rollout:25", "rollout:100", "rollout:400", "rollout:1600"]
    assert ladder_in(tmp_path, rollouts=20).anchors == ["random", "rollout:20"]
    assert ladder_in(tmp_path, rollouts=0).anchors == ["random"]


def test_a_model_climbs_to_the_first_fixed_player_that_it_does_not_clearly_beat(made):
    assert made.anchor("000001") == "random"
    fill(made, ("000001", "random", 40, 40))
    assert made.anchor("000001") == "rollout:25"
    fill(made, ("000001", "rollout:25", 38, 40))
    assert made.anchor("000001") == "rollout:100"
    fill(made, ("000001", "rollout:100", 24, 40))
    assert made.anchor("000001") == "rollout:100"


def test_a_new_model_begins_where_the_best_one_stands(made):
    fill(made, ("000001", "random", 40, 40), ("000001", "rollout:25", 38, 40), ("000001", "rollout:100", 24, 40))
    assert made.anchor("000002") == "rollout:100"
    fill(made, ("000002", "000001", 36, 40))
    assert made.anchor("000002") == "rollout:400"
    assert made.anchor("000003") == "rollout:100"  # without a result it could not connect one that nobody has met


def test_a_model_that_got_worse_plays_weaker_fixed_players(made):
    fill(made, ("000001", "random", 40, 40), ("000001", "rollout:25", 38, 40), ("000001", "rollout:100", 20, 40))
    fill(made, ("000002", "000001", 6, 40))
    assert made.anchor("000002") == "rollout:25"


def test_above_the_strongest_fixed_player_there_is_nobody(made):
    fill(made, *[("000001", anchor, 40, 40) for anchor in made.anchors])
    assert made.anchor("000001") == "rollout:1600"


def test_a_new_model_meets_the_best_and_one_that_is_not_far_below(made):
    assert made.earlier(RNG) == []
    fill(made, ("000001", "random", 30, 40))
    assert made.earlier(RNG) == ["000001"]
    fill(made, ("000002", "000001", 40, 40), ("000003", "000002", 24, 40), ("000004", "000003", 20, 40))
    met = {tuple(made.earlier(RNG)) for _ in range(50)}
    assert met == {("000003", "000002"), ("000003", "000004")}


def test_the_best_gives_way_only_to_one_that_is_surely_better(made):
    fill(made, ("000001", "random", 30, 40))
    assert made.best == "000001"
    fill(made, ("000002", "000001", 21, 40))
    assert made.elo["000002"][0] > made.elo["000001"][0]
    assert made.best == "000001"
    fill(made, ("000003", "000001", 30, 40))
    assert made.best == "000003"


def test_the_best_stays_through_a_regression(made):
    fill(made, ("000001", "random", 40, 40), ("000002", "000001", 35, 40))
    fill(made, *[(f"{index:06}", "000002", 10, 40) for index in range(3, 12)])
    assert made.best == "000002"


def test_a_best_one_that_was_only_lucky_is_found_out(made):
    fill(made, ("000001", "random", 30, 40), ("000002", "random", 39, 40))
    assert made.best == "000002"
    fill(made, ("000003", "000002", 20, 40), ("000003", "000001", 8, 40))
    fill(made, ("000004", "000002", 25, 40), ("000004", "000001", 6, 40))
    assert made.best == "000001"


def test_errors_do_not_grow_with_the_distance_of_random(made):
    fill(made, ("000001", "random", 40, 40), ("000001", "rollout:25", 20, 40))
    assert made.elo["random"][0] == 0
    assert made.elo["000001"][0] > 500
    assert made.elo["000001"][1] < 60 < made.elo["random"][1]


def test_a_rating_fills_the_table_on_disk_and_keeps_the_model(made, tmp_path):
    made.rate("000001", b"a model", lambda: 1e6, pytest.fail)
    made.rate("000002", b"another", lambda: 1e6, pytest.fail)
    assert (tmp_path / "models" / "000001.onnx").read_bytes() == b"a model"
    assert next(match.opponent for match in made.matches if match.player == "000002") == "000001"
    again = ladder_in(tmp_path)
    assert (again.matches, again.best, again.elo) == (made.matches, made.best, made.elo)
    assert again.rated("000002")
    assert not again.rated("000003")


def test_results_that_come_from_elsewhere_are_on_disk_at_once(made, tmp_path):
    made.take([Match("000001", "random", 30, 40, 0.0), Match("000001", "rollout", 20, 40, 0.0)], "000001")
    assert ladder_in(tmp_path).elo == made.elo
    assert ladder_in(tmp_path).best == "000001"


@pytest.mark.parametrize(
    ("seconds", "opponents"),
    [(10, []), (37, []), (41, ["000001"]), (121, ["000001", "000002", "rollout:100"])],
)
def test_all_matches_together_take_their_share_of_the_time_and_no_more(made, seconds, opponents):
    # So far 2 seconds for fixed players and 1 for models; a match with the next fixed player will take 4, a model's 1.
    fill(made, ("000001", "random", 8, 8), ("000001", "rollout:25", 8, 8), ("000002", "000001", 4, 8))
    clock = itertools.count(seconds)
    made.rate("000003", b"", lambda: next(clock), pytest.fail)
    assert [match.opponent for match in made.matches[3:]] == opponents


def test_the_last_model_of_a_run_meets_the_best_in_any_case(made, tmp_path):
    fill(made, ("000001", "random", 8, 8), ("000002", "000001", 4, 8))
    made.rate("000003", b"", lambda: 0.0, pytest.fail)
    assert not made.rated("000003")
    made.rate("000003", b"", lambda: 0.0, pytest.fail, last=True)
    assert made.matches[-1][:2] == ("000003", "000001")
    assert len(made.matches) == 3


def test_games_that_repeat_make_no_rating(made, monkeypatch):
    monkeypatch.setattr("goishi.training.ladder.random_openings", lambda game, count, *_: [()] * count)
    monkeypatch.setattr("goishi.training.ladder.RandomSide", lambda _: RandomSide(Still()))
    said = []
    made.rate("000001", b"", lambda: 1e6, said.append)
    assert "random: fewer than 80% of the games are distinct" in said[0]
    assert [match.games for match in made.matches] == [0]  # it counts for the time alone
    assert not made.elo
    assert not made.best


class Still:
    """A generator without chance."""

    def random(self, shape):
        return np.ones(shape)


def test_a_broken_table_is_told(made, tmp_path):
    for content in (b"{", b"[]", b'{"best": "", "matches": [1]}', json.dumps({"best": "x"}).encode()):
        (tmp_path / FILE).write_bytes(content)
        with pytest.raises(BadRun, match=FILE):
            ladder_in(tmp_path)
