"""A training run in its folder: it learns, it is killed, it goes on."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from goishi.arena.in_step import RandomSide, SearchSide, paired, play_in_step
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadRun, UsageError
from goishi.networks import evaluator, store
from goishi.search import Search, SearchSettings
from goishi.training.progress import read_metrics
from goishi.training.replay import read_games
from goishi.training.run import train

QUICK = ["learning.rows=400", "learning.batch=64", "learning.window=400", "games.at_once=32", "search.visits=8"]
QUICK += ["rating.every=2", "rating.games=8", "rating.rollouts=20", "rating.share=1"]
QUICK += ["learning.largest_window=20000"]


def start(folder, *words, minutes=0.2):
    code = "import sys; from goishi.training.run import train; train(sys.argv[1] or None, sys.argv[2], minutes=float(sys.argv[3]), sets=sys.argv[4:])"  # noqa: E501
    command = [sys.executable, "-c", code, *(words or ("tictactoe",)), str(folder), str(minutes)]
    return subprocess.Popen([*command, *QUICK], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finished_games(folder):
    game = registry.find("tictactoe")
    return {
        path.name: [g.actions for g in read_games(path, game)] for path in sorted(Path(folder, "samples").glob("*"))
    }


def wait_for(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "first"
    train("tictactoe", folder, sets=[*QUICK, "generations=12"], quiet=True)
    return folder


def test_a_short_run_leaves_all_its_parts(run):
    for name in ("config.toml", "checkpoint.npz", "newest.onnx", "metrics.jsonl", "curve.png"):
        assert (run / name).stat().st_size > 0
    assert list((run / "tensorboard").iterdir())
    assert not list(run.rglob("*.new"))
    model = store.read(run / "newest.onnx")
    assert model.game == "tictactoe"
    assert model.steps > 0


def test_it_learns(run):
    rows = read_metrics(run)
    assert rows[-1]["value_loss"] < rows[0]["value_loss"]
    assert rows[-1]["policy_entropy"] < rows[0]["policy_entropy"]
    game = registry.find("tictactoe")
    judge = evaluator.load(run / "newest.onnx", game)
    learned = SearchSide(Search(game, judge, SearchSettings(mode="gumbel", leaves=1), 100), 8)
    games = play_in_step(game, (learned, RandomSide(np.random.default_rng(0))), *paired([()] * 50))
    points = [(1 + one.score * (1 if one.first == 0 else -1)) / 2 for one in games]
    assert np.mean(points) > 0.85  # five seeds of the run: .89 to .96; without learning: .71 to .80


def test_metrics_are_flat_and_grow(run):
    rows = read_metrics(run)
    assert all(not isinstance(value, dict | list) for row in rows for value in row.values())
    for key in ("step", "seconds", "games", "positions", "generation"):
        values = [row[key] for row in rows]
        assert values == sorted(values)


def test_every_game_on_disk_ends_as_its_record_says(run):
    game = registry.find("tictactoe")
    for path in sorted((run / "samples").glob("*.games")):
        records = [json.loads(line) for line in (run / "games" / f"{path.stem}.jsonl").read_text().splitlines()]
        games = list(read_games(path, game))
        assert len(records) == len(games)
        for record, played in zip(records, games, strict=True):
            position = Position.after(game, played.actions)
            assert position.over
            assert position.score == played.score == record["score"]


def test_ratings_are_in_the_metrics_and_the_best_model_is_the_ladders(run):
    table = json.loads((run / "ratings.json").read_text(encoding="utf-8"))
    assert (run / "best.onnx").read_bytes() == (run / "models" / f"{table['best']}.onnx").read_bytes()
    players = {player for match in table["matches"] for player in match[:2]}
    assert {"random", "rollout:20"} < players
    assert players == set(table["elo"])
    rated = [row for row in read_metrics(run) if "elo" in row]
    assert {f"{row['generation']:06}" for row in rated} <= {path.stem for path in (run / "models").iterdir()}
    assert all(row["elo_error"] > 0 for row in rated)


def test_a_run_goes_on_with_its_ratings_whether_it_was_killed_or_is_an_old_one(run, tmp_path):
    table = json.loads((run / "ratings.json").read_text(encoding="utf-8"))
    killed, old = tmp_path / "killed", tmp_path / "old"
    for folder in (killed, old):
        shutil.copytree(run, folder)
        (folder / "best.onnx").unlink()
    (old / "ratings.json").unlink()  # such a run kept its results in the checkpoint
    with np.load(old / "checkpoint.npz", allow_pickle=False) as archive:
        arrays = dict(archive)
    facts = json.loads(str(arrays["facts"]))
    facts["run"] |= {"results": [match[:4] for match in table["matches"]], "best": table["best"], "elo": {}}
    np.savez(old / "checkpoint.npz", **(arrays | {"facts": np.array(json.dumps(facts))}))
    for folder in (killed, old):
        train(None, folder, sets=["generations=14"], quiet=True)
        again = json.loads((folder / "ratings.json").read_text(encoding="utf-8"))
        count = len(table["matches"])
        assert [match[:4] for match in again["matches"][:count]] == [match[:4] for match in table["matches"]]
        assert "000014" in {match[0] for match in again["matches"][count:]}
        assert (folder / "best.onnx").exists()


def test_a_run_that_is_over_says_how_to_go_on(run):
    with pytest.raises(UsageError, match=r"for more: goishi train --run .* --set generations=24"):
        train(None, run, quiet=True)
    with pytest.raises(UsageError, match=r"for more: goishi train --run .* --minutes \d"):
        train(None, run, minutes=0.001, quiet=True)


def test_a_folder_keeps_its_game_and_its_preset(run):
    with pytest.raises(UsageError, match="trains tictactoe"):
        train("connect4", run, minutes=1, quiet=True)
    with pytest.raises(UsageError, match="leave --preset out"):
        train("tictactoe", run, preset="small", minutes=1, quiet=True)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="holds no run"):
        train("tictactoe", tmp_path, minutes=1, quiet=True)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_new_folder_needs_a_game(tmp_path):
    with pytest.raises(UsageError, match="name the game"):
        train(None, tmp_path / "new", minutes=1, quiet=True)


def test_a_path_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadRun, match="file"):
        train("tictactoe", tmp_path / "file" / "run", minutes=1, quiet=True)


def test_a_broken_checkpoint_is_told_and_nothing_is_lost(run, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(run, folder)
    before = finished_games(folder)
    content = (folder / "checkpoint.npz").read_bytes()
    for broken in (content[: len(content) // 2], b"", b"<html>" * 100):
        (folder / "checkpoint.npz").write_bytes(broken)
        with pytest.raises(BadRun, match="checkpoint"):
            train(None, folder, minutes=50, sets=["generations=0"], quiet=True)
    assert finished_games(folder) == before


def test_two_processes_do_not_train_in_one_folder(tmp_path):
    folder = tmp_path / "run"
    first = start(folder)
    try:
        wait_for(lambda: (folder / "newest.onnx").exists())
        with pytest.raises(BadRun, match="Another process"):
            train(None, folder, minutes=1, quiet=True)
    finally:
        first.kill()
        first.wait()


def test_ctrl_c_keeps_every_finished_game(tmp_path):
    folder = tmp_path / "run"
    process = start(folder, minutes=5)
    wait_for(lambda: (folder / "metrics.jsonl").exists() and (folder / "metrics.jsonl").stat().st_size > 0)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    assert finished_games(folder)


def kill_and_go_on(folder, kills, rng, longest):
    """Kills a run so many times; each time everything that was on disk before must be there after the next start."""
    known: dict[str, list] = {}
    generation = steps = 0
    for index in range(kills):
        process = start(folder, minutes=60)
        if index == 0:
            wait_for(lambda: bool(list(folder.glob("samples/*"))))
        time.sleep(rng.uniform(0.3, longest))
        assert process.poll() is None, "the run ended by itself"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        games = finished_games(folder)
        for name, actions in known.items():
            assert games[name][: len(actions)] == actions, f"finished games of {name} were lost"
        known = games
        for name in ("newest.onnx", "best.onnx"):
            if (folder / name).exists():
                store.read(folder / name)
        if (folder / "checkpoint.npz").exists():
            facts = json.loads(str(np.load(folder / "checkpoint.npz", allow_pickle=False)["facts"]))
            assert facts["run"]["generation"] >= generation
            assert facts["trainer"]["steps"] >= steps
            generation, steps = facts["run"]["generation"], facts["trainer"]["steps"]
    return known


def test_a_killed_run_loses_no_finished_game_and_goes_on(tmp_path):
    folder = tmp_path / "run"
    known = kill_and_go_on(folder, 3, random.Random(0), 12)
    rows = read_metrics(folder)
    last_step = rows[-1]["step"] if rows else 0
    process = start(folder, minutes=60)
    wait_for(lambda: len(read_metrics(folder)) > len(rows))
    process.kill()
    process.wait()
    rows = read_metrics(folder)
    assert rows[-1]["step"] > last_step
    assert rows[-1]["games"] >= sum(map(len, known.values()))


@pytest.mark.slow
def test_twenty_kills_lose_nothing(tmp_path):
    folder = tmp_path / "run"
    known = kill_and_go_on(folder, 20, random.Random(1), 15)
    rows = read_metrics(folder)
    steps = [row["step"] for row in rows]
    assert steps == sorted(steps)
    assert sum(map(len, known.values())) > 500


def test_a_full_disk_ends_the_run_with_a_sentence(tmp_path, monkeypatch):
    from goishi.training import run as module

    original = module.write

    def full(path, content):
        if path.name == "checkpoint.npz":
            raise OSError(28, "No space left on device")
        original(path, content)

    monkeypatch.setattr(module, "write", full)
    with pytest.raises(BadRun, match="No space left on device; what was finished is kept"):
        train("tictactoe", tmp_path / "run", minutes=1, sets=QUICK, quiet=True)
    assert finished_games(tmp_path / "run")


def test_a_model_can_be_the_start_of_a_run(run, tmp_path):
    train(
        "tictactoe", tmp_path / "next", sets=[*QUICK, "generations=1"], start_from=str(run / "newest.onnx"), quiet=True
    )
    assert (tmp_path / "next" / "newest.onnx").exists()


def test_the_same_seed_makes_the_same_first_generation(tmp_path):
    games = []
    for name in ("a", "b"):
        process = start(tmp_path / name, minutes=5)
        wait_for(lambda name=name: len(list((tmp_path / name / "samples").glob("*"))) > 2)
        process.kill()
        process.wait()
        first = finished_games(tmp_path / name)
        games.append([first[key] for key in sorted(first) if key.startswith("000001")])
    assert games[0] == games[1]
