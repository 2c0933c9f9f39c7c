"""Matches and rating tables."""

import json
import threading

import pytest

from goishi.arena.record import read
from goishi.arena.tournament import match, rate
from goishi.core import registry
from goishi.errors import BadRecord, UsageError
from goishi.players import maker

GAME = registry.find("tictactoe")
PERFECT, RANDOM = maker("perfect", GAME), maker("random", GAME)
KEYS = [
    "game",
    "a",
    "b",
    "games",
    "wins",
    "draws",
    "losses",
    "score",
    "score_low",
    "score_high",
    "elo",
    "elo_low",
    "elo_high",
]
KEYS += ["distinct_games", "seconds_a", "seconds_b", "errors"]


def test_the_figures_are_those_that_programs_read():
    figures = match(GAME, PERFECT, RANDOM, 40, "random:1").to_json()
    assert list(figures) == KEYS
    assert (figures["game"], figures["a"], figures["b"], figures["games"]) == ("tictactoe", "perfect", "random", 40)
    assert figures["wins"] + figures["draws"] == 40
    assert figures["losses"] == figures["errors"] == 0
    assert figures["score_low"] < figures["score"] < figures["score_high"]
    assert figures["elo"] > 100
    json.dumps(figures, allow_nan=False)


def test_perfect_against_perfect_draws_every_game():
    result = match(GAME, PERFECT, PERFECT, 30, "none")
    assert (result.wins, result.draws, result.losses) == (0, 30, 0)


def test_every_opening_is_played_twice_with_colors_swapped():
    result = match(GAME, PERFECT, RANDOM, 20, "random:2", seed=3)
    for one, other in zip(result.finished[::2], result.finished[1::2], strict=True):
        assert one.record.actions[:2] == other.record.actions[:2]
        assert one.record.players == ("perfect", "random")
        assert other.record.players == ("random", "perfect")


def test_scores_are_as_the_first_named_player_sees_them_with_either_color():
    result = match(GAME, RANDOM, PERFECT, 20, "random:1")
    assert result.wins == 0
    assert result.losses > 10
    assert result.to_json()["score"] < 0.3


def test_games_that_are_all_the_same_give_no_elo_and_a_warning(lowest):
    heard = []
    result = match(GAME, lambda seed: lowest("a"), lambda seed: lowest("b"), 10, "none", warn=heard.append)
    figures = result.to_json()
    assert (figures["elo"], figures["elo_low"], figures["elo_high"], figures["distinct_games"]) == (None, None, None, 2)
    assert figures["note"] == heard[0]
    assert "Only 2 of 10 games are distinct" in heard[0]


def test_a_clean_score_has_a_null_elo_and_a_finite_bound():
    game = registry.find("connect4")
    result = match(game, maker("rollout:visits=200,threads=1", game), maker("random", game), 10, "random:2")
    figures = result.to_json()
    assert (figures["score"], figures["elo"]) == (1, None)
    assert figures["elo_low"] > 0
    assert "note" not in figures


def test_a_crashing_player_loses_that_game_and_the_match_goes_on(scripted):
    broken = scripted("broken", [RuntimeError("no"), 99] + [RuntimeError("no")] * 4)
    result = match(GAME, lambda seed: broken, RANDOM, 6, "random:1")
    assert (result.games, result.losses) == (6, 6)
    assert result.to_json()["errors"] == 6
    assert result.errors[0] == "Game 1: broken crashed and loses this game: RuntimeError: no."
    assert "chose 99" in result.errors[1]
    assert broken.closed


def test_the_same_seed_gives_the_same_games():
    def games(seed, threads):
        result = match(GAME, RANDOM, RANDOM, 20, "random:1", seed=seed, threads=threads)
        return sorted((game.number, game.record.actions) for game in result.finished)

    assert games(1, 2) == games(1, 2)
    assert games(1, 1) == games(1, 1)
    assert games(1, 1) != games(2, 1)


def test_games_may_be_played_several_at_a_time(lowest):
    seen = set()

    class Waiting(lowest):
        def __init__(self, barrier):
            super().__init__()
            self.barrier = barrier

        def choose(self, position, limit=None):
            if not position.history:
                self.barrier.wait(timeout=20)  # only passed when two games are at this point
            seen.add(threading.get_ident())
            return super().choose(position, limit)

    barrier = threading.Barrier(2)
    result = match(GAME, lambda seed: Waiting(barrier), lambda seed: Waiting(barrier), 4, "none", threads=2)
    assert (result.games, len(seen)) == (4, 2)


def test_progress_hears_of_every_game_and_an_error_in_it_ends_a_match_of_several_threads():
    heard = []
    match(GAME, RANDOM, RANDOM, 6, "none", progress=lambda record, result: heard.append(result.games))
    assert heard == [1, 2, 3, 4, 5, 6]

    def full(record, result):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        match(GAME, RANDOM, RANDOM, 1000, "none", threads=2, progress=full)


@pytest.mark.parametrize("games", [0, 1, 7, -2, 2_000_000])
def test_an_odd_number_of_games_is_refused(games):
    with pytest.raises(UsageError, match="must be even"):
        match(GAME, RANDOM, RANDOM, games)


def test_games_are_kept_one_line_each_and_as_sgf(tmp_path):
    game = registry.find("gomoku:size=5,row=4")
    random = maker("random", game)
    result = match(game, random, random, 4, "random:2", out=tmp_path / "deep" / "match")
    records = list(read(tmp_path / "deep" / "match" / "games.jsonl"))
    assert [record.actions for record in records] == [each.record.actions for each in result.finished]
    assert [record.number for record in records] == [0, 1, 2, 3]
    assert (tmp_path / "deep" / "match" / "game-0004.sgf").read_text().startswith("(;FF[4]")


def test_a_match_that_was_killed_goes_on_where_it_was(tmp_path):
    class Killed(Exception):
        pass

    def kill(record, result):
        if result.games == 5:
            raise Killed

    with pytest.raises(Killed):
        match(GAME, PERFECT, RANDOM, 12, "random:1", out=tmp_path, progress=kill)
    path = tmp_path / "games.jsonl"
    kept = path.read_text()
    path.write_text(kept + '{"game": "tic')  # half a line
    heard = []
    result = match(GAME, PERFECT, RANDOM, 12, "random:1", out=tmp_path, progress=lambda r, m: heard.append(r.number))
    assert heard == list(range(5, 12))
    assert result.games == 12
    assert path.read_text().startswith(kept)
    assert len(list(read(path))) == 12
    again = match(GAME, PERFECT, RANDOM, 12, "random:1", out=tmp_path, progress=lambda r, m: heard.append(99))
    assert again.to_json() == result.to_json() | {key: again.to_json()[key] for key in ("seconds_a", "seconds_b")}
    assert 99 not in heard


def test_a_folder_of_another_match_is_refused(tmp_path):
    match(GAME, PERFECT, RANDOM, 2, "random:1", out=tmp_path)
    with pytest.raises(BadRecord, match="line 1: this game belongs to another match"):
        match(GAME, RANDOM, RANDOM, 2, "random:1", out=tmp_path)
    with pytest.raises(BadRecord, match="another match"):
        match(GAME, PERFECT, RANDOM, 2, "random:1", out=tmp_path, seed=5)


def test_a_folder_that_can_not_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't hold the games"):
        match(GAME, RANDOM, RANDOM, 2, out=tmp_path / "file")


def test_a_table_has_all_pairings_and_random_as_its_anchor():
    table = rate(GAME, [PERFECT, RANDOM, maker("uniform:visits=30,temperature=0.5", GAME)], 12, "random:1")
    assert len(table.matches) == 3
    assert table.games == [24, 24, 24]
    figures = table.to_json()
    assert (figures["anchor"], figures["games"]) == ("random", 36)
    assert figures["players"][-1] == {"player": "random", "elo": 0, "elo_low": 0, "elo_high": 0} | {
        key: figures["players"][-1][key] for key in ("score", "games")
    }
    best = figures["players"][0]
    assert best["elo_low"] < best["elo"] < best["elo_high"]
    json.dumps(figures, allow_nan=False)


def test_a_table_of_games_that_are_alike_gives_no_ratings(lowest):
    table = rate(GAME, [lambda seed: lowest("a"), lambda seed: lowest("b"), RANDOM], 10, "none")
    assert table.elo == [None, None, None]
    assert table.note.startswith("a against b: Only 2 of 10")


def test_a_table_needs_two_players():
    with pytest.raises(UsageError, match="two players"):
        rate(GAME, [RANDOM], 10)
