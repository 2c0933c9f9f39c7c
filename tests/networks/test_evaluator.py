import threading
import time

import numpy as np
import pytest

from goishi.core import registry
from goishi.errors import BadModel, UsageError
from goishi.networks import evaluator, runtime, store


def open_evaluator(make_model, spec, symmetry="none", **options):
    game = registry.find(spec)
    return evaluator.NetworkEvaluator(
        game, runtime.open_runtime(make_model(spec), game, runtime.available()[0], "f32"), symmetry, **options
    )


class Counting:
    """An evaluator of known answers that notes the batches it was asked; a barrier of its own makes it slow."""

    def __init__(self, seconds=0.0):
        self.batches, self.seconds = [], seconds

    def __call__(self, states):
        self.batches.append(len(states))
        time.sleep(self.seconds)
        seen = states["board"].reshape(len(states), 9).astype(np.float32)
        return seen * 2 + 1, seen @ np.arange(9, dtype=np.float32) / 100


def same(ours, theirs, atol=0.0):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=atol, rtol=0)


def test_uniform_has_no_opinion():
    game = registry.find("connect4")
    logits, values = evaluator.uniform(game)(game.start(3))
    assert (logits.shape, values.shape) == ((3, 7), (3,))
    assert not logits.any()
    assert not values.any()


# The network's evaluator ----------------------------------------------------------------------------------------


def test_the_evaluator_runs_what_the_game_encodes(make_model, played):
    judge = open_evaluator(make_model, "connect4")
    states = played(judge.game, 8)
    planes = np.zeros((8, *judge.game.planes), np.float32)
    judge.game.kernels().encode(states, planes)
    expected = [array.copy() for array in judge.runtime.run(planes)]
    same(judge(states), expected)


@pytest.mark.parametrize("count", [0, 1, 3, 5, 37, 256, 257, 600])
def test_padding_and_splitting_change_no_answer(make_model, played, count):
    judge = open_evaluator(make_model, "tictactoe")
    states = played(judge.game, 600)
    whole = judge(states)
    logits, values = judge(states[:count])
    assert (logits.shape, values.shape) == ((count, 9), (count,))
    same((logits, values), (whole[0][:count], whole[1][:count]), 1e-5)


def test_answers_stay_as_they_are_after_the_next_call(make_model, played):
    judge = open_evaluator(make_model, "tictactoe")
    states = played(judge.game, 20)
    first = judge(states[:4])
    kept = [array.copy() for array in first]
    judge(states[10:14])
    same(first, kept)


def moved(game, states, one):
    """The positions turned by a symmetry, for games whose record is a board of points."""
    turned = states.copy()
    boards = states["board"].reshape(len(states), -1)
    turned["board"] = boards[:, game.point_symmetries[one]].reshape(states["board"].shape)
    return turned


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku:columns=7,rows=6,row=4", "connect4", "othello:size=6"])
def test_the_averaged_evaluation_turns_with_the_board(make_model, played, spec):
    judge = open_evaluator(make_model, spec, "average")
    states = played(judge.game, 12)
    logits, values = judge(states)
    for one in range(len(judge.game.symmetries)):
        turned_logits, turned_values = judge(moved(judge.game, states, one))
        np.testing.assert_allclose(turned_logits, logits[:, judge.game.symmetries[one]], atol=1e-5)
        np.testing.assert_allclose(turned_values, values, atol=1e-5)


def test_the_plain_evaluation_does_not_turn_with_the_board(make_model, played):
    judge = open_evaluator(make_model, "tictactoe")
    states = played(judge.game, 12)
    assert np.abs(judge(moved(judge.game, states, 1))[0] - judge(states)[0][:, judge.game.symmetries[1]]).max() > 1e-3


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "othello:size=6"])
def test_a_random_symmetry_is_one_of_the_symmetries(make_model, played, spec):
    plain = open_evaluator(make_model, spec)
    random = open_evaluator(make_model, spec, "random", rng=np.random.default_rng(3))
    game = plain.game
    states = np.repeat(played(game, 9)[8:9], 64)
    choices = []
    for one in range(len(game.symmetries)):
        logits, values = plain(moved(game, states[:1], one))
        back = np.empty(game.actions, np.float32)
        back[game.symmetries[one]] = logits[0]
        choices.append(np.append(back, values[0]))
    logits, values = random(states)
    answers = np.hstack([logits, values[:, None]])
    drawn = {int(np.abs(np.array(choices) - answer).max(axis=1).argmin()) for answer in answers}
    for answer in answers:
        assert np.abs(np.array(choices) - answer).max(axis=1).min() < 1e-5
    assert drawn == set(range(len(game.symmetries)))


def test_the_same_seed_draws_the_same_symmetries(make_model, played):
    states = played(registry.find("tictactoe"), 30)
    judges = [open_evaluator(make_model, "tictactoe", "random", rng=np.random.default_rng(5)) for _ in range(2)]
    same(judges[0](states), judges[1](states))


def test_an_unknown_symmetry_is_refused(make_model):
    with pytest.raises(UsageError, match="average"):
        open_evaluator(make_model, "tictactoe", "mirror")


def test_load_finds_a_model_by_path(make_model, tmp_path, played):
    game = registry.find("tictactoe")
    store.save(tmp_path / "mine.onnx", make_model("tictactoe", steps=5))
    judge = evaluator.load(tmp_path / "mine.onnx", game, runtime.available()[0], "f32")
    assert judge.model.steps == 5
    same(judge(played(game, 7)), open_evaluator(make_model, "tictactoe")(played(game, 7)), 1e-6)
    with pytest.raises(BadModel, match="no model"):
        evaluator.load("nothing-like-it", game)


# Wrappers change nothing but the speed --------------------------------------------------------------------------


def test_cached_answers_are_the_same(make_model, played):
    judge = open_evaluator(make_model, "tictactoe")
    remembering = evaluator.cached(judge, 200)
    states = played(judge.game, 300)
    expected = judge(states)
    rng = np.random.default_rng(2)
    for _ in range(60):
        rows = rng.integers(len(states), size=rng.integers(1, 40))
        same(remembering(states[rows]), (expected[0][rows], expected[1][rows]), 1e-5)
    assert remembering.hits > 500


def test_a_cache_counts_and_forgets(played):
    inner = Counting()
    remembering = evaluator.cached(inner, 1000)
    states = np.unique(played(registry.find("tictactoe"), 60))
    count = len(states)
    remembering(states)
    remembering(states)
    assert (remembering.hits, remembering.misses, inner.batches) == (count, count, [count])
    remembering.clear()
    assert (remembering.hits, remembering.misses) == (0, 0)
    remembering(states)
    assert inner.batches == [count, count]


def test_a_position_twice_in_a_batch_is_evaluated_once(played):
    inner = Counting()
    states = np.unique(played(registry.find("tictactoe"), 10))[:3]
    rows = [0, 1, 0, 2, 1]
    same(evaluator.cached(inner, 10)(states[rows]), Counting()(states[rows]))
    assert inner.batches == [3]


def test_a_cache_keeps_its_bound_and_what_is_in_use(played):
    inner = Counting()
    remembering = evaluator.cached(inner, 50)
    states = np.unique(played(registry.find("tictactoe"), 2000))
    favorite = states[:1]
    remembering(favorite)
    for i in range(1, 400):
        remembering(favorite)
        remembering(states[i : i + 1])
    assert len(remembering._slots) == 50
    assert remembering.misses == 400
    assert remembering.hits == 399  # the favorite was never thrown out


def test_an_empty_batch_is_answered(played):
    logits, values = evaluator.cached(Counting(), 10)(registry.find("tictactoe").start(0))
    assert (logits.shape, values.shape) == ((0, 9), (0,))


def test_what_was_asked_before_a_clear_is_not_remembered_after_it():
    game = registry.find("tictactoe")
    begun, go_on = threading.Event(), threading.Event()

    def slow(states):
        begun.set()
        go_on.wait(10)
        return np.zeros((len(states), 9), np.float32), np.ones(len(states), np.float32)

    remembering = evaluator.cached(slow, 10)
    thread = threading.Thread(target=remembering, args=(game.start(),))
    thread.start()
    begun.wait(10)
    remembering.clear()
    go_on.set()
    thread.join()
    remembering(game.start())
    assert (remembering.hits, remembering.misses) == (0, 1)


def in_threads(count, ask):
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def test_shared_merges_callers_and_gives_each_its_own(played):
    inner = Counting(seconds=0.002)
    merged = evaluator.shared(inner, 0.05)
    states = played(registry.find("tictactoe"), 100)
    expected = Counting()(states)
    wrong = []

    def ask(i):
        for turn in range(20):
            part = slice(i * 10 + turn % 5, i * 10 + turn % 5 + 1 + turn % 4)
            logits, values = merged(states[part])
            if not (np.array_equal(logits, expected[0][part]) and np.array_equal(values, expected[1][part])):
                wrong.append(part)

    in_threads(8, ask)
    assert not wrong
    assert len(inner.batches) < 80  # of 160 calls


def test_a_caller_alone_never_waits(played):
    merged = evaluator.shared(Counting(), 5.0)
    states = played(registry.find("tictactoe"), 3)
    begin = time.perf_counter()
    for _ in range(10):
        merged(states)
    assert time.perf_counter() - begin < 1


def test_a_failure_reaches_every_caller_and_the_next_call_works(played):
    states = played(registry.find("tictactoe"), 3)
    fail = threading.Event()
    fail.set()

    def sometimes(batch):
        time.sleep(0.01)
        if fail.is_set():
            raise RuntimeError("out of order")
        return Counting()(batch)

    merged = evaluator.shared(sometimes, 0.05)
    caught = []

    def ask(i):
        try:
            merged(states)
        except RuntimeError as error:
            caught.append(str(error))

    in_threads(4, ask)
    assert caught == ["out of order"] * 4
    fail.clear()
    same(merged(states), Counting()(states))


# Ownership and score --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_the_outlook_is_what_the_network_tells_of_each_position(make_model, played, count):
    judge = open_evaluator(make_model, "go:size=5")
    states = played(judge.game, 300)
    planes = np.zeros((256, *judge.game.planes), np.float32)
    judge.game.kernels().encode(states[:256], planes)
    ownership, score = judge.outlook(states[:count])
    assert (ownership.shape, score.shape) == ((count, 25), (count,))
    assert np.abs(ownership).max(initial=0) <= 1
    expected = judge.runtime.outlook().run(planes)
    same((ownership[:256], score[:256]), [array[:count] for array in expected], 1e-4)


def test_wrappers_pass_the_outlook_on(make_model, played):
    judge = open_evaluator(make_model, "go:size=5")
    states = played(judge.game, 4)
    for wrapped in (evaluator.cached(judge, 10), evaluator.shared(judge, 0.01)):
        same(evaluator.outlook(wrapped, states), judge.outlook(states))


def test_evaluators_that_know_no_owners_have_no_outlook(make_model):
    judge = open_evaluator(make_model, "tictactoe")
    game = judge.game
    for one in (judge, evaluator.uniform(game), Counting(), evaluator.cached(Counting(), 5)):
        assert evaluator.outlook(one, game.start(2)) is None
