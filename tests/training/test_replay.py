"""Samples on disk and in memory."""

import json
import struct
import zlib

import numpy as np
import pytest

from goishi.core import registry
from goishi.training.replay import MAGIC, Replay, SampleFile, pack, read_games, unpack, window_size
from goishi.training.selfplay import PlayedGame


@pytest.fixture(scope="module")
def game():
    return registry.find("tictactoe")


def played(game, rows=3, score=1.0):
    states = game.start(rows)
    states["stones"] = np.arange(rows)
    policies = np.linspace(0, 1, rows * 9).reshape(rows, 9).astype(np.float16)
    return PlayedGame(
        (4, 0, 8)[:rows], score, 1, False, False, True, states, policies, np.full(rows, score, np.float32),
        np.linspace(-1, 1, rows).astype(np.float32),
    )  # fmt: skip


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_game_comes_back_from_disk_as_it_was(game, tmp_path):
    file = SampleFile(tmp_path / "a.games")
    for score in (1.0, -1.0, 0.0):
        file.add(played(game, score=score))
    file.close()
    games = list(read_games(tmp_path / "a.games", game))
    assert [g.score for g in games] == [1.0, -1.0, 0.0]
    assert same(games[0], played(game))


def played_go(lead=-3.5):
    game = registry.find("go:size=5")
    states = game.start(3)
    states["player"] = 1, -1, 1
    owners = np.arange(25, dtype=np.int8) % 3 - 1
    policies, floats = np.zeros((3, 26), np.float16), np.ones(3, np.float32)
    return game, PlayedGame(
        (4, 0, 8), -1.0, 0, False, False, False, states, policies, floats, floats, owners, lead, True
    )


def test_owners_and_score_come_back_from_disk_and_into_the_replay_as_the_rows_player_sees_them(tmp_path):
    game, played = played_go()
    file = SampleFile(tmp_path / "a.games")
    file.add(played)
    file.close()
    (read,) = read_games(tmp_path / "a.games", game)
    assert same(read, played)
    replay = Replay(game, 4)
    replay.add(read)
    assert np.array_equal(replay.owners[:3], [played.owners, -played.owners, played.owners])
    assert replay.leads[:3].tolist() == [-3.5, 3.5, -3.5]


def test_games_without_owners_leave_none_of_those_that_lay_there_before():
    game, played = played_go()
    replay = Replay(game, 3)
    replay.add(played)
    replay.add(played._replace(owners=None, lead=None))
    assert np.isnan(replay.leads).all()
    assert not replay.owners.any()


def test_samples_of_a_version_that_knew_no_owners_are_read():
    game, played = played_go()
    plain = played._replace(owners=None, lead=None, varied=False)
    facts = {name: getattr(plain, name) for name in ("actions", "score", "opening", "resigned", "wrong", "right")} | {
        "rows": 3
    }
    text = json.dumps(facts).encode()
    arrays = b"".join(array.tobytes() for array in (plain.states, plain.policies, plain.results, plain.values))
    assert same(unpack(zlib.compress(struct.pack("<I", len(text)) + text + arrays), game), plain)


def test_every_cut_of_a_file_keeps_the_games_before_it_and_can_be_gone_on_with(game, tmp_path):
    path = tmp_path / "a.games"
    whole = MAGIC + pack(played(game)) + pack(played(game, score=-1.0))
    first = len(MAGIC) + len(pack(played(game)))
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        expected = (length >= first) + (length == len(whole))
        assert len(list(read_games(path, game))) == expected
        file = SampleFile(path)
        file.add(played(game, score=0.0))
        file.close()
        assert [g.score for g in read_games(path, game)][-1] == 0.0
        assert len(list(read_games(path, game))) == expected + 1


def test_a_damaged_byte_costs_no_more_than_the_games_from_there_on(game, tmp_path):
    path = tmp_path / "a.games"
    whole = MAGIC + pack(played(game)) + pack(played(game, score=-1.0))
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(whole), 60):
        broken = bytearray(whole)
        broken[position] ^= 0x55
        path.write_bytes(broken)
        for read in read_games(path, game):
            assert same(read, played(game)) or same(read, played(game, score=-1.0))


def test_the_replay_keeps_the_newest_rows(game):
    replay = Replay(game, 10)
    for score in (1.0, -1.0, 0.0, 1.0):
        replay.add(played(game, rows=3, score=score))
    assert replay.made == 12
    drawn = replay.draw(500, 3, np.random.default_rng(0))
    assert set(replay.results[drawn]) == {1.0}
    everything = replay.draw(5000, 100, np.random.default_rng(0))
    assert set(everything.tolist()) == set(range(10))


def test_a_window_never_reaches_rows_that_were_not_made(game):
    replay = Replay(game, 100)
    replay.add(played(game, rows=3))
    assert set(replay.draw(200, 50, np.random.default_rng(0)).tolist()) == {0, 1, 2}


@pytest.mark.parametrize(
    ("rows", "smallest", "size"),
    [(500_000, 250_000, 337_564), (1_000_000, 250_000, 474_968), (4_000_000, 250_000, 1_028_903), (100, 250_000, 100)],
)
def test_the_window_grows_as_in_katago(rows, smallest, size):
    assert window_size(rows, smallest, 0.65, 10_000_000) == pytest.approx(size, abs=1)


def test_the_window_is_bounded():
    assert window_size(10_000_000, 20_000, 0.65, 500_000) <= 500_000
