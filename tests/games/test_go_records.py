"""Go's rules on real games: they replay, their scores recompute, their repetitions are found."""

import lzma
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest

from goishi.arena import sgf_game, sgf_import
from goishi.core import registry
from goishi.core.position import Position

DATA = Path("../shared/data")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder ../shared/data is not there")
FILES = [
    *("go9/" + name for name in ("cgos9", "goquest9", "pro9", "ogs9_handicap")),
    *(f"go9/ogs9_{band}_{part}" for band in ("a_dan", "b_sdk", "c_ddk") for part in ("train", "valid")),
    *("go19/" + name for name in ("tom9d_train", "tom9d_valid", "fox_9d", "fox_pro")),
]
FEW = 150
BATCH = 1000


def read(path):
    """Games of a file with one SGF a line: properties of the root, stones set up and moves as (player, action)."""
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    for line in text.decode().splitlines():
        root, *moves = re.split(r";(?=[BW]\[)", line[2:])
        properties = dict(re.findall(r"([A-Z]+)\[([^\]]*)\]", root))
        size = int(properties["SZ"])
        setup = [
            (1 if color == "B" else -1, point(place, size))
            for color, places in re.findall(r"A([BW])((?:\[[^\]]*\])+)", root)
            for place in re.findall(r"\[([^\]]*)\]", places)
        ]
        yield (
            properties,
            setup,
            [(1 if move[0] == "B" else -1, point(move[2 : move.index("]")], size)) for move in moves],
        )


def point(letters, size):
    """The action of `ab`; the pass is empty, or `tt` on boards up to 19x19."""
    if letters in ("", "tt"):
        return size * size
    return (ord(letters[1]) - 97) * size + ord(letters[0]) - 97


def begun(game, setup, rules="cgos", komi=0.0):
    states, stones = game.start(), np.zeros(game.planes[1] * game.planes[2], np.int8)
    states["rules"] = game.module.flags(game.module.preset(rules))
    states["komi"] = round(2 * komi)
    for player, action in setup:
        stones[action] = player
    game.module.arrange(states[0], stones.reshape(game.planes[1:]))
    return states


def replay(size, games, rules, komi=lambda properties: 0.0):
    """The last states of games played side by side, each move checked; what two passes end is taken up again."""
    game = registry.find(f"go:size={size}")
    kernels = game.kernels()
    states = np.concatenate([begun(game, setup, rules, komi(properties)) for properties, setup, _ in games])
    longest = max(len(moves) for _, _, moves in games)
    for ply in range(longest):
        rows = np.array([i for i, (_, _, moves) in enumerate(games) if len(moves) > ply], np.int32)
        played = [games[i][2][ply] for i in rows]
        players = np.array([player for player, _ in played], np.int8)
        states["ko"][rows[states["player"][rows] != players]] = -1  # a side moves twice: a pass was left out
        states["player"][rows] = players
        states["passes"][rows] = np.minimum(states["passes"][rows], 1)
        actions = np.array([action for _, action in played], np.int32)
        over = np.zeros(len(rows), np.bool_)
        values, masks = np.zeros(len(rows), np.float32), np.zeros((len(rows), game.actions), np.bool_)
        kernels.look(states, rows, players, over, values, masks)
        legal = masks[np.arange(len(rows)), actions]
        wrong = [(games[i][0].get("GN"), ply + 1) for i in rows[~legal]]
        assert not wrong, f"illegal: {wrong}"
        kernels.play(states, rows, actions, rows)
    return states


def batches(path, count=None):
    batch = []
    for number, game in enumerate(read(path)):
        if number == count:
            break
        batch.append(game)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@pytest.mark.parametrize("name", FILES)
def test_real_games_replay(name):
    for batch in batches(DATA / f"{name}.sgfs.xz", FEW):
        replay(9 if name.startswith("go9") else 19, batch, "chinese")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_all_real_games_replay(name):
    for batch in batches(DATA / f"{name}.sgfs.xz"):
        replay(9 if name.startswith("go9") else 19, batch, "chinese")


def engine_games(count=None):
    """Raw records of games between engines, as `read` gives them; a side may move twice where a pass was left out."""
    with tarfile.open(DATA / "go19/ai_games_raw_sgf.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                for tree in sgf_import.read(archive.extractfile(member).read(), member.name):
                    record = sgf_game.understand(tree)
                    stones = [(1, action) for action in record.black] + [(-1, action) for action in record.white]
                    moves = [(move.player, move.action) for move in record.moves]
                    yield {"GN": member.name, "SZ": record.rows}, stones, moves
                    count = None if count is None else count - 1
                    if count == 0:
                        return


def test_games_between_engines_replay():
    replay(19, list(engine_games(FEW)), "chinese")


@pytest.mark.slow
def test_all_games_between_engines_replay_but_one_with_an_occupied_point():
    games = list(engine_games())
    assert len(games) == 7259
    bad = [game for game in games if "vs syknyk (43772425)" in game[0]["GN"]]
    for start in range(0, len(games), BATCH):
        replay(19, [game for game in games[start : start + BATCH] if game not in bad], "chinese")
    assert len(bad) == 1
    with pytest.raises(AssertionError, match="242"):
        replay(19, bad, "chinese")


def scored(count=None):
    """CGOS games that were counted, and Black's margin."""
    for properties, setup, moves in read(DATA / "go9/cgos9.sgfs.xz"):
        result = re.fullmatch(r"([BW])\+([\d.]+)|0|[Dd]raw", properties["RE"])
        if result:
            margin = float(result[2]) * (1 if result[1] == "B" else -1) if result[1] else 0.0
            yield (properties, setup, moves), margin
            count = None if count is None else count - 1
            if count == 0:
                return


def recomputes(count=None):
    games, margins = zip(*scored(count), strict=True)
    states = replay(9, games, "cgos", komi=lambda properties: float(properties["KM"]))
    module = registry.find("go:size=9").module
    assert [module.margin(state) for state in states] == list(margins)
    return len(games)


def test_scores_of_cgos_recompute():
    assert recomputes(300) == 300


@pytest.mark.slow
def test_every_score_of_cgos_recomputes():
    assert recomputes() == 3448


def first_repetition(setup, moves, size):
    """The number of the first move that positional superko forbids."""
    game = registry.find(f"go:size={size}")
    position = Position(game, begun(game, setup, "tromp-taylor"))
    for number, (player, action) in enumerate(moves, start=1):
        if position.player != player or position.over:
            states = position.states.copy()
            game.module.resume(states[0], player)
            position = Position(game, states, position.history, position.earlier)
        if not position.mask[action]:
            return number
        position = position.play(action)
    return None


def repetitions(count=None):
    expected = dict(
        line.split("\t") for line in (DATA / "rules/superko_games.tsv").read_text().splitlines()[1:][:count]
    )
    found = {
        properties["GN"]: str(first_repetition(setup, moves, int(properties["SZ"])))
        for properties, setup, moves in read(DATA / "rules/superko_games.sgfs.xz")
        if properties["GN"] in expected
    }
    assert found == expected
    return len(found)


def test_repetitions_are_found_at_the_right_move():
    assert repetitions(40) == 40


@pytest.mark.slow
def test_all_repetitions_are_found_at_the_right_move():
    assert repetitions() == 160


def test_illegal_moves_of_real_games_are_found():
    expected = dict(line.split("\t") for line in (DATA / "rules/illegal_move_games.tsv").read_text().splitlines()[1:])
    found = 0
    for properties, setup, moves in read(DATA / "rules/illegal_move_games.sgfs"):
        number, reason = expected[properties["GN"]].split(":")
        if reason == "setup_off":
            continue
        size, count = int(properties["SZ"]), int(number)
        replay(size, [(properties, setup, moves[: count - 1])], "chinese")
        with pytest.raises(AssertionError, match=f"{count}\\)"):
            replay(size, [(properties, setup, moves[:count])], "chinese")
        found += 1
    assert found == 12
