"""What holds of every search, whatever it searches."""

import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from handmade import Hashed, TableGame, below, check_tree, everyone, row

from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import UsageError
from goishi.networks.evaluator import uniform
from goishi.search import choose
from goishi.search.search import THESIS, Limit, Search, SearchSettings
from goishi.search.tree import UNKNOWN

PLAIN = SearchSettings(leaves=1, early_stop=False)
SETTINGS = {
    "thesis": replace(THESIS, early_stop=False),
    "in-flight": replace(PLAIN, leaves=8),
    "penalty": replace(PLAIN, leaves=8, in_flight="prior"),
    "one leaf": PLAIN,
    "no solver": replace(PLAIN, leaves=16, solver=False),
    "gumbel": SearchSettings(mode="gumbel", leaves=8),
    "uct": SearchSettings(mode="uct", leaves=8, early_stop=False),
}
DRAWN = [2, 6, 7, 8, 0, 1]
GAMES = ["tictactoe", "connect4", "gomoku:size=6,row=4", "othello:size=6", "hex:size=4"]


def after(game, plies, seed):
    """A position after random moves, still going on."""
    rng = np.random.default_rng(seed)
    position = Position.start(game)
    while len(position.history) < plies:
        following = position.play(int(rng.choice(position.actions)))
        if following.over:
            break
        position = following
    return position


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_visits_values_and_priors_add_up_at_every_node(spec, settings):
    game = registry.find(spec)
    evaluator = Hashed(game)
    search = Search(game, evaluator, settings, trees=3)
    states = np.concatenate([after(game, plies, seed=plies).states for plies in (0, 2, 5)])
    for result in search.run(states, Limit(visits=300)):
        assert result.visits.sum() == 300 or result.proven is not None
        assert abs(result.policy.sum() - 1) < 1e-5
        assert result.best >= 0
    check_tree(search, evaluator)


@pytest.mark.parametrize("in_flight", ["visits", "prior"])
def test_priors_are_bit_identical_after_a_batch(in_flight):
    game = registry.find("connect4")
    search = Search(game, Hashed(game), replace(PLAIN, leaves=16, in_flight=in_flight))
    search.begin(0, game.start(), 2000)
    seen = {}
    while search.busy().any():
        search.wave()
        nodes, edges, _ = search.pool
        for node in everyone(search):
            if nodes.count[node] > 0:
                part = slice(nodes.first[node], nodes.first[node] + nodes.count[node])
                priors = edges.prior[part][np.argsort(edges.action[part])].tobytes()
                key = search.states[node].tobytes() + bytes(str(_path(nodes, edges, node)), "ascii")
                assert seen.setdefault(key, priors) == priors
        if len(seen) > 400:
            break


def _path(nodes, edges, node):
    path = []
    while nodes.parent[node] >= 0:
        path.append(int(edges.action[nodes.edge[node]]))
        node = nodes.parent[node]
    return path[::-1]


@pytest.mark.parametrize("in_flight", ["visits", "prior"])
def test_leaves_of_a_batch_are_never_sent_twice(in_flight):
    game = registry.find("connect4")
    inner, sizes = Hashed(game), []

    def evaluator(states):
        sizes.append(len(states))
        return inner(states)

    search = Search(game, evaluator, replace(PLAIN, leaves=16, in_flight=in_flight))
    search.run(game.start(), Limit(visits=1000))
    assert max(sizes) == 16
    assert sum(sizes) == search.result().evaluations <= 1001
    assert sum(sizes) == sum(1 for node in everyone(search) if not search.pool.nodes.over[node])
    assert np.mean(sizes) > 12


def test_one_forced_line_does_not_spin():
    table = {str(i): (1 if i % 2 == 0 else -1, 0.0, {0: (1.0, str(i + 1))}) for i in range(100)}
    table["100"] = (1, 0.0, {})
    for settings in (replace(THESIS, early_stop=False), replace(PLAIN, leaves=16)):
        game = TableGame(1, table)
        result = Search(game, game, settings).run(game.state("0"), Limit(visits=320))[0]
        assert result.visits.sum() == 320 or result.proven == 0


@pytest.mark.parametrize("in_flight", ["visits", "prior"])
def test_one_leaf_a_batch_is_plain_puct(in_flight):
    """Against the formula written out once more, in Python."""
    game = registry.find("gomoku:size=5,row=4")
    settings = replace(PLAIN, in_flight=in_flight, exploration_growth=0.45, solver=False)
    evaluator = Hashed(game)
    result = Search(game, evaluator, settings).run(game.start(), Limit(visits=400))[0]
    assert result.visits.tolist() == _plain_puct(game, evaluator, settings, 400)


def _plain_puct(game, evaluator, settings, visits):
    def make(position):
        node = {"position": position, "n": np.zeros(game.actions), "w": np.zeros(game.actions), "children": {}}
        if position.over:
            return node, position.value
        logits, values = evaluator(position.states)
        weights = np.where(position.mask, np.exp(logits[0] - logits[0][position.mask].max()), 0)
        node["p"], node["total"] = (weights / weights.sum()).astype(np.float32), float(values[0])
        return node, float(values[0])

    root, _ = make(Position.start(game))
    for _ in range(visits):
        node, path = root, []
        while True:
            if node["position"].over:
                value = node["position"].value
                break
            n, s = node["n"], node["n"].sum()
            c = settings.exploration + settings.exploration_growth * np.log((s + 500) / 500)
            reduction = settings.root_fpu_reduction if node is root else settings.fpu_reduction
            unvisited = node["total"] / (1 + s) - reduction * np.sqrt(node["p"][n > 0].astype(float).sum())
            q = np.where(n > 0, node["w"] / np.maximum(n, 1), unvisited)
            score = np.where(node["position"].mask, q + c * node["p"] * np.sqrt(max(1, s)) / (1 + n), -np.inf)
            action = int(np.argmax(score))
            path.append((node, action))
            if action not in node["children"]:
                node["children"][action], value = make(node["position"].play(action))
                break
            node = node["children"][action]
        for parent, action in reversed(path):
            value = -value
            parent["n"][action] += 1
            parent["w"][action] += value
            parent["total"] += value
    return root["n"].astype(int).tolist()


@pytest.mark.parametrize("settings", [SETTINGS["in-flight"], SETTINGS["penalty"], SETTINGS["gumbel"]])
def test_a_tree_grows_alike_whatever_the_number_of_trees_in_step(settings):
    game = registry.find("connect4")
    states = np.concatenate([after(game, plies, seed=1).states for plies in range(9)])
    together = Search(game, Hashed(game), settings, trees=9).run(states, Limit(visits=200))
    for i in range(9):
        alone = Search(game, Hashed(game), settings).run(states[i : i + 1], Limit(visits=200))[0]
        assert alone.visits.tolist() == together[i].visits.tolist()
        assert alone.evaluations == together[i].evaluations
        assert alone.line == together[i].line


def test_the_same_seed_gives_the_same_noisy_search():
    game = registry.find("connect4")
    for settings in (replace(PLAIN, dirichlet_share=0.25), SearchSettings(mode="gumbel", gumbel_noise=True)):
        drawn = [
            Search(game, Hashed(game), settings, rng=np.random.default_rng(seed))
            .run(game.start(), Limit(visits=4))[0]
            .visits.tolist()
            for seed in (0, *range(10))
        ]
        assert drawn[0] == drawn[1]
        assert any(visits != drawn[0] for visits in drawn)


@pytest.mark.parametrize("mode", ["puct", "uct", "gumbel"])
def test_colors_swapped_the_search_is_the_same(mode):
    """The evaluator sees planes only, which are the mover's own."""
    game = registry.find("gomoku:size=6,row=4")
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(int(np.prod(game.planes)), game.actions + 1)).astype(np.float32)

    def evaluator(states):
        planes = np.zeros((len(states), *game.planes), np.float32)
        game.kernels().encode(states, planes)
        out = planes.reshape(len(states), -1) @ weights
        return out[:, 1:], np.tanh(out[:, 0])

    position = after(game, 6, seed=3)
    swapped = position.states.copy()
    for field in ("board", "player"):
        swapped[field] *= -1
    settings = replace(SETTINGS["gumbel"] if mode == "gumbel" else PLAIN, mode=mode)
    one, other = (Search(game, evaluator, settings).run(s, Limit(visits=300))[0] for s in (position.states, swapped))
    assert one.visits.tolist() == other.visits.tolist()
    assert one.value == other.value


def test_the_sign_comes_from_who_moves_where_a_player_moves_twice():
    table = {
        "R": (1, 0.0, {0: (0.5, "again"), 1: (0.5, "other")}),
        "again": (1, 0.6, {0: (1.0, "won")}),
        "other": (-1, 0.6, {0: (1.0, "lost")}),
        "won": (1, 1.0, {}),
        "lost": (-1, 1.0, {}),
    }
    game = TableGame(2, table)
    search = Search(game, game, replace(PLAIN, mode="uct", solver=False))
    search.begin(0, game.state("R"), 2)  # each once
    while search.busy().any():
        search.wave()
    assert search.result().values == pytest.approx([0.6, -0.6])
    search = Search(game, game, PLAIN)
    result = search.run(game.state("R"), Limit(visits=20))[0]
    assert (result.proven, result.best, result.line) == (1, 0, [0, 0])
    check_tree(search, game)


def test_a_forced_pass_of_othello_keeps_the_sign():
    """A position whose mover must pass is worth to him minus what it is worth to the other."""
    game = registry.find("othello:size=4")
    rng = np.random.default_rng(5)
    passing = None
    for _ in range(2000):
        position = Position.start(game)
        while not position.over and passing is None:
            before = position
            position = position.play(int(rng.choice(position.actions)))
            if not position.over and len(position.actions) == 1 and position.name(position.actions[0]) == "pass":
                passing = position
            if not position.over and position.player == before.player:
                passing = before
        if passing is not None:
            break
    assert passing is not None
    search = Search(game, uniform(game), replace(PLAIN, leaves=8))
    result = search.run(passing.states, Limit(visits=100_000))[0]
    assert result.proven is not None
    assert result.proven == _minimax(passing)
    check_tree(search)


def _minimax(position, known=None):
    known = {} if known is None else known
    if position.over:
        return int(np.sign(position.value))
    key = position.states.tobytes()
    if key not in known:
        best = -1
        for action in position.actions:
            child = position.play(action)
            sign = 1 if child.player == position.player else -1
            best = max(best, sign * _minimax(child, known))
            if best == 1:
                break
        known[key] = best
    return known[key]


def test_a_one_move_win_is_proven_by_the_first_visit_to_it():
    game = registry.find("gomoku:size=9,row=5")
    position = Position.after(game, [40, 0, 41, 1, 42, 2, 43, 3])
    result = Search(game, uniform(game), PLAIN).run(position.states, Limit(visits=1000))[0]
    assert result.proven == 1
    assert result.value == 1
    assert result.best in (39, 44)
    assert result.visits[result.best] == 1
    assert result.policy[result.best] == 1
    assert result.line == [result.best]


def test_moves_that_lose_at_once_are_not_played():
    game = registry.find("connect4")
    position = Position.after(game, [3, 2, 3, 2, 3, 2])  # both have three; the first player to move wins
    assert Search(game, uniform(game), PLAIN).run(position.states, Limit(visits=50))[0].best == 3
    threatened = Position.after(game, [0, 3, 1, 3, 6, 3])  # the second threatens the column
    result = Search(game, uniform(game), PLAIN).run(threatened.states, Limit(visits=400))[0]
    assert result.best == 3


@pytest.mark.parametrize(
    ("spec", "played", "value", "settings"),
    [
        ("tictactoe", (0, 4), 0, "in-flight"),
        ("tictactoe", (4, 0), 0, "penalty"),
        ("tictactoe", (), 0, "uct"),
        ("hex:size=3", (), 1, "in-flight"),
        ("hex:size=3", (4,), -1, "in-flight"),
        ("connect4:columns=4,rows=4,row=3", (), 1, "in-flight"),
        ("connect4:columns=5,rows=4,row=3", (), 1, "penalty"),
        ("gomoku:size=4,row=3", (), 1, "in-flight"),
        ("gomoku:size=3,row=3", (0,), 0, "one leaf"),
        ("othello:size=4", (), -1, "in-flight"),
    ],
)
def test_solved_positions_are_proven(spec, played, value, settings):
    game = registry.find(spec)
    position = Position.after(game, played)
    search = Search(game, uniform(game), SETTINGS[settings])
    result = search.run(position.states, Limit(visits=2_000_000))[0]
    assert result.proven == value
    assert result.value == value
    child = position.play(result.best)
    if value == 1 and not child.over:
        assert Search(game, uniform(game), PLAIN).run(child.states, Limit(visits=1_000_000))[0].proven == -1


def test_a_draw_is_exactly_zero_everywhere():
    game = registry.find("tictactoe")
    position = Position.after(game, DRAWN)  # three squares left, and no line can be made
    search = Search(game, uniform(game), PLAIN)
    result = search.run(position.states, Limit(visits=100))[0]
    assert result.proven == 0
    assert not result.values.any()
    assert not search.pool.nodes.total.any()


def test_a_won_line_is_played_to_its_end_by_the_shortest_way():
    game = registry.find("connect4:columns=4,rows=4,row=3")
    position = Position.start(game)
    search = Search(game, uniform(game), replace(PLAIN, leaves=8))
    result = search.run(position.states, Limit(visits=100_000))[0]
    nodes = search.pool.nodes
    assert result.proven == 1
    for length, action in enumerate(result.line):
        position = position.play(action)
        node = below(search, *result.line[: length + 1])
        assert nodes.distance[node] == len(result.line) - length - 1
        assert nodes.proven[node] == (-1 if position.player == -1 else 1)
    assert position.over


def test_noise_is_in_the_roots_prior_only_and_the_raw_one_comes_back():
    game = registry.find("connect4")
    evaluator = Hashed(game)
    clean = Search(game, evaluator, PLAIN).run(game.start(), Limit(visits=60))[0].priors
    search = Search(game, evaluator, replace(PLAIN, dirichlet_share=0.25, root_temperature=1.3))
    result = search.run(game.start(), Limit(visits=60))[0]
    assert np.array_equal(result.priors, clean)
    nodes, edges, _ = search.pool
    root = search.desk.roots[0]
    part = slice(nodes.first[root], nodes.first[root] + nodes.count[root])
    noisy = edges.prior[part].copy()
    assert not np.allclose(noisy, clean[edges.action[part]], atol=1e-3)
    assert abs(noisy.sum() - 1) < 1e-6
    again = search.run(game.start(), Limit(visits=120))[0]  # new noise on the same root
    assert not np.array_equal(edges.prior[part], noisy)
    assert np.array_equal(again.priors, clean)
    action = int(again.visits.argmax())
    old = search.states[below(search, action)].copy()
    search.advance(0, action)
    assert search.states[search.desk.roots[0]] == old
    search.run(search.states[search.desk.roots[0]].reshape(1), Limit(visits=200))
    search._restore(0)
    check_tree(search, evaluator)


def test_no_noise_unless_asked():
    settings = SearchSettings()
    assert settings.dirichlet_share == 0
    assert settings.root_temperature == 1
    assert not settings.gumbel_noise


def test_dirichlet_noise_has_its_mean_and_spread():
    rng = np.random.default_rng(0)
    priors = np.array([0.7, 0.2, 0.1], np.float32)
    drawn = np.array([choose.dirichlet_noise(priors, 0.25, 10.83, rng) for _ in range(10_000)])
    assert np.allclose(drawn.mean(axis=0), 0.75 * priors + 0.25 / 3, atol=0.002)
    variance = 0.25**2 * (1 / 3) * (2 / 3) / (10.83 + 1)
    assert np.allclose(drawn.var(axis=0), variance, rtol=0.06)
    assert np.allclose(drawn.sum(axis=1), 1, atol=1e-6)


def test_the_root_temperature_flattens_the_prior():
    priors = np.array([0.8, 0.15, 0.05], np.float32)
    soft = choose.soften(priors, 1.25)
    assert soft == pytest.approx(priors**0.8 / (priors**0.8).sum(), abs=1e-6)


def test_gumbel_noise_has_its_mean_and_spread():
    game = registry.find("connect4")
    search = Search(game, uniform(game), SearchSettings(mode="gumbel", gumbel_noise=True))
    drawn = []
    for _ in range(2000):
        search.begin(0, game.start(), 4)
        drawn.append(search.desk.noise[0].copy())
    assert np.mean(drawn) == pytest.approx(0.5772, abs=0.04)
    assert np.var(drawn) == pytest.approx(np.pi**2 / 6, abs=0.1)


def test_without_noise_gumbel_plays_the_improved_policys_favorite():
    game = registry.find("connect4")
    result = Search(game, Hashed(game), SearchSettings(mode="gumbel")).run(game.start(), Limit(visits=64))[0]
    most = result.visits == result.visits.max()
    assert most[result.best]
    assert result.policy[result.best] == result.policy[most].max()
    assert result.visits.sum() == 64


@pytest.mark.parametrize("visits", [1, 2, 3, 5, 7, 16, 33, 100, *range(200, 300)])
def test_gumbel_takes_any_number_of_visits(visits):
    game = registry.find("tictactoe")
    result = Search(game, Hashed(game), SearchSettings(mode="gumbel", solver=False)).run(
        game.start(), Limit(visits=visits)
    )[0]
    assert result.visits.sum() == visits


def test_a_gumbel_search_after_a_move_counts_new_visits():
    game = registry.find("connect4")
    search = Search(game, Hashed(game), SearchSettings(mode="gumbel", leaves=1))
    position = Position.start(game)
    for _ in range(6):
        result = search.run(position.states, Limit(visits=100))[0]
        assert result.visits.sum() == 100 or result.proven is not None
        search.advance(0, result.best)
        position = position.play(result.best)
    check_tree(search)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "gumbel", "dirichlet_share": 0.25},
        {"mode": "gumbel", "root_temperature": 1.2},
        {"mode": "gumbel", "in_flight": "prior"},
        {"mode": "uct", "in_flight": "prior"},
        {"mode": "puct", "gumbel_noise": True},
        {"mode": "minimax"},
        {"fpu": "best"},
        {"in_flight": "losses"},
        {"leaves": 0},
        {"prior_penalty": 0.0},
        {"prior_penalty": 1.0},
        {"dirichlet_share": 1.5},
        {"root_temperature": 0.0},
    ],
)
def test_settings_that_exclude_each_other_are_refused(wrong):
    with pytest.raises(UsageError):
        SearchSettings(**wrong)


def test_a_search_without_a_limit_is_refused():
    game = registry.find("tictactoe")
    with pytest.raises(UsageError):
        Search(game, uniform(game)).run(game.start(), Limit())


def test_no_recursion_on_a_large_board():
    game = registry.find("gomoku:size=19,row=5")
    search = Search(game, Hashed(game), replace(PLAIN, leaves=8))
    search.run(game.start(), Limit(visits=20))  # compiled before the limit is set
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 100)
    try:
        result = search.run(game.start(), Limit(visits=3000))[0]
    finally:
        sys.setrecursionlimit(limit)
    assert result.visits.sum() == 3000
    check_tree(search)


def test_advance_keeps_what_is_below_the_move():
    game = registry.find("connect4")
    search = Search(game, Hashed(game), replace(PLAIN, leaves=4))
    position = Position.start(game)
    result = search.run(position.states, Limit(visits=500))[0]
    action = result.best
    child = below(search, action)
    before = row(search, child)
    kept = search.pool.nodes.visits[child]
    search.advance(0, action)
    assert search.pool.nodes.visits[search.desk.roots[0]] == kept == result.visits[action]
    assert row(search) == before
    search._reserve(10**6)  # moves the trees to a new pool
    assert row(search) == before
    position = position.play(action)
    again = search.run(position.states, Limit(visits=500))[0]
    assert again.visits.sum() == 500  # in total: those kept count
    assert again.evaluations <= 500 - (kept - 1)
    check_tree(search)
    unknown = Position.after(game, [0, 0, 0, 0])
    assert search.run(unknown.states, Limit(visits=50))[0].visits.sum() == 50


def test_advance_to_a_move_that_was_never_tried_starts_anew():
    game = registry.find("gomoku:size=9,row=5")
    search = Search(game, Hashed(game), PLAIN)
    result = search.run(game.start(), Limit(visits=10))[0]
    action = int(np.flatnonzero(result.visits == 0)[0])
    search.advance(0, action)
    assert search.desk.roots[0] == -1
    position = Position.after(game, [action])
    assert search.run(position.states, Limit(visits=10))[0].visits.sum() == 10


def test_memory_stays_flat_over_a_thousand_searches():
    game = registry.find("connect4")
    search = Search(game, uniform(game), PLAIN, trees=2)
    position, rng, sizes = Position.start(game), np.random.default_rng(0), []
    for _ in range(1000):
        search.run(np.concatenate([position.states] * 2), Limit(visits=60))
        action = int(rng.choice(position.actions))
        position = position.play(action)
        if position.over:
            position = Position.start(game)
        for tree in range(2):
            search.advance(tree, action)
        sizes.append(len(search.pool.edges.prior))
    assert sizes[-1] == sizes[99]
    assert search.pool.used[0] <= len(search.pool.nodes.first)


@pytest.mark.parametrize("spec", ["connect4", "gomoku:size=6,row=4"])
def test_early_stop_never_changes_the_most_visited_move(spec):
    game = registry.find(spec)
    saved = 0
    for seed in range(25):
        position = after(game, seed % 12, seed)
        evaluator = Hashed(game, 3.0)
        whole = Search(game, evaluator, PLAIN).run(position.states, Limit(visits=200))[0]
        early = Search(game, evaluator, replace(PLAIN, early_stop=True)).run(position.states, Limit(visits=200))[0]
        saved += whole.visits.sum() - early.visits.sum()
        if whole.proven is None and early.proven is None:
            assert early.visits.argmax() == whole.visits.argmax()
    assert saved > 0


def test_a_single_legal_move_is_answered_at_once():
    table = {"R": (1, 0.0, {1: (1.0, "S")}), "S": (-1, 0.0, {0: (0.5, "T"), 1: (0.5, "T")}), "T": (1, 0.0, {})}
    game = TableGame(2, table)
    result = Search(game, game, SearchSettings()).run(game.state("R"), Limit(visits=1000))[0]
    assert (result.best, result.evaluations) == (1, 1)


def slow(game, seconds):
    inner = Hashed(game)

    def evaluator(states):
        time.sleep(seconds)
        return inner(states)

    return evaluator


def test_stop_from_another_thread_ends_a_search_within_50_ms():
    game = registry.find("connect4")
    search = Search(game, slow(game, 0.001), SearchSettings(early_stop=False))
    search.run(game.start(), Limit(visits=20))
    search.reset()
    asked = []

    def stop():
        asked.append(time.monotonic())
        search.stop()

    timer = threading.Timer(0.1, stop)
    timer.start()
    result = search.run(game.start(), Limit(seconds=30))[0]
    late = time.monotonic() - asked[0]
    timer.join()
    assert late < 0.05
    assert result.best >= 0
    check_tree(search)


def test_a_search_that_is_stopped_at_once_still_answers_with_a_legal_move():
    game = registry.find("connect4")
    search = Search(game, uniform(game), PLAIN)

    def evaluator(states):
        search.stop()
        return uniform(game)(states)

    search.evaluator = evaluator
    result = search.run(game.start(), Limit(visits=1000))[0]
    assert result.best in range(7)
    assert result.evaluations == 1


def test_stop_ends_a_search_of_ended_games_only():
    """Where all is known and nothing is proven, the search still listens."""
    game = registry.find("tictactoe")
    position = Position.after(game, [0, 1, 2, 4, 3, 5, 7])
    search = Search(game, uniform(game), replace(THESIS, early_stop=False))
    started = time.monotonic()
    result = search.run(position.states, Limit(seconds=0.1))[0]
    assert time.monotonic() - started < 0.2
    assert result.evaluations == 3
    assert result.visits.sum() > 100


def test_seconds_end_a_search():
    game = registry.find("connect4")
    search = Search(game, slow(game, 0.002), SearchSettings(early_stop=False))
    search.run(game.start(), Limit(visits=20))
    started = time.monotonic()
    result = search.run(game.start(), Limit(visits=10**6, seconds=0.2))[0]
    assert 0.05 < time.monotonic() - started < 0.3
    assert result.visits.sum() > 20


def test_fewer_states_leave_the_other_trees_idle():
    game = registry.find("connect4")
    search = Search(game, Hashed(game), PLAIN, trees=4)
    for index in range(4):
        search.begin(index, game.start(), 1000)
    for _ in range(10):
        search.wave()
    before = [row(search, index=index) for index in range(1, 4)]
    assert len(search.run(game.start(), Limit(visits=100))) == 1
    assert [row(search, index=index) for index in range(1, 4)] == before


def test_trees_begin_and_end_at_their_own_times():
    game = registry.find("connect4")
    search = Search(game, Hashed(game), PLAIN, trees=3)
    for index in range(3):
        search.begin(index, game.start(), 20 * (index + 1))
    wanted = [[20, 30], [40, 10], [60, 5]]
    while search.busy().any():
        was = search.busy()
        search.wave()
        for index in np.flatnonzero(was & ~search.busy()):
            assert search.result(index).visits.sum() == wanted[index].pop(0)
            if wanted[index]:
                search.begin(index, Position.after(game, [index]).states, wanted[index][0])
    assert wanted == [[], [], []]
    check_tree(search)


@pytest.mark.parametrize("settings", [SETTINGS["in-flight"], SETTINGS["penalty"], SETTINGS["gumbel"], SETTINGS["uct"]])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_broken_network_breaks_no_search(settings, bad):
    game = registry.find("connect4")
    inner = Hashed(game)

    def evaluator(states):
        logits, values = inner(states)
        logits[::2, 3], values[::3] = bad, bad
        return logits, values

    search = Search(game, evaluator, settings)
    result = search.run(game.start(), Limit(visits=300))[0]
    assert result.visits.sum() == 300
    assert np.isfinite(result.policy).all()
    assert np.isfinite(result.value)
    check_tree(search)


def test_a_position_that_is_over_is_answered_without_a_search():
    game = registry.find("tictactoe")
    position = Position.after(game, [0, 3, 1, 4, 2])
    for settings in SETTINGS.values():
        result = Search(game, uniform(game), settings).run(position.states, Limit(visits=100))[0]
        assert (result.best, result.value, result.evaluations, result.line) == (-1, -1, 0, [])


def test_the_caller_s_states_are_left_alone():
    game = registry.find("connect4")
    states = game.start(2)
    before = states.tobytes()
    Search(game, Hashed(game), PLAIN, trees=2).run(states, Limit(visits=50))
    assert states.tobytes() == before


def test_proofs_agree_with_a_full_search_of_small_games():
    game = registry.find("connect4:columns=4,rows=4,row=3")
    known = {}
    for seed in range(6):
        position = after(game, 4 + seed % 3, seed)
        search = Search(game, Hashed(game), replace(PLAIN, leaves=8))
        result = search.run(position.states, Limit(visits=20_000))[0]
        if result.proven is not None:
            assert result.proven == _minimax(position, known)
        nodes = search.pool.nodes
        for node in everyone(search)[:300]:
            if nodes.proven[node] != UNKNOWN and not nodes.over[node]:
                below_it = Position(game, search.states[node : node + 1].copy())
                assert nodes.proven[node] == _minimax(below_it, known)


class Slow:
    """One action is far better than the others, or all are alike; a batch takes two milliseconds."""

    def __init__(self, clear):
        self.clear = clear

    def __call__(self, states):
        time.sleep(0.002)
        logits = np.zeros((len(states), 25), np.float32)
        logits[:, 12] = 12 if self.clear else 0
        return logits, np.zeros(len(states), np.float32)


@pytest.mark.parametrize(("clear", "least", "most"), [(True, 0.2, 0.9), (False, 1.0, 3.0)])
def test_of_its_time_a_search_uses_little_for_a_clear_move_and_more_for_a_hard_one(clear, least, most):
    game = registry.find("gomoku:size=5,row=5")
    search = Search(game, Slow(clear), SearchSettings(leaves=1, solver=False))
    search.run(game.start(), Limit(visits=3))
    search.reset()
    began = time.monotonic()
    search.run(game.start(), Limit(seconds=1.0, most=2.0))
    assert least < time.monotonic() - began < most
