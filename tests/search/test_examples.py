"""The worked examples: trees by hand, with the numbers that the formulas give."""

from dataclasses import replace

import numpy as np
import pytest
from handmade import TableGame, below, check_tree, row

from goishi.search import choose
from goishi.search.search import THESIS, Limit, Search, SearchSettings
from goishi.search.tree import UNKNOWN, make_tree

X, Y = 0, 1
TABLE = {
    "R": (1, 0.1, {0: (0.5, "Ra"), 1: (0.3, "Rb"), 2: (0.2, "Rc")}),
    "Ra": (-1, 0.2, {X: (0.6, "Rax"), Y: (0.4, "Ray")}),
    "Rb": (-1, -0.3, {X: (0.5, "Rbx"), Y: (0.5, "Rby")}),
    "Rc": (-1, 0.0, {}),
    "Rax": (1, -1.0, {}),
    "Ray": (1, 0.4, {X: (1.0, "Rayx")}),
    "Rbx": (1, 0.1, {X: (1.0, "Rbxx")}),
    "Rby": (1, -0.2, {X: (1.0, "Rbyx")}),
    "Rayx": (-1, 0.0, {}),
    "Rbxx": (-1, 0.0, {}),
    "Rbyx": (-1, -1.0, {}),
}
STEPS = [
    ([1, 0, 0], [-0.2, 0, 0]),
    ([1, 1, 0], [-0.2, 0.3, 0]),
    ([1, 2, 0], [-0.2, 0.4, 0]),
    ([1, 2, 1], [-0.2, 0.4, 0]),
    ([2, 2, 1], [-1.2, 0.4, 0]),
    ([2, 3, 1], [-1.2, 0.2, 0]),
    ([2, 3, 2], [-1.2, 0.2, 0]),
    ([2, 4, 2], [-1.2, 1.2, 0]),
    ([2, 5, 2], [-1.2, 1.2, 0]),
    ([2, 6, 2], [-1.2, 1.2, 0]),
]
ONE = replace(THESIS, leaves=1)


def grow(game, settings, visits):
    search = Search(game, game, settings)
    search.begin(0, game.state("R"), visits)
    while search.busy().any():
        search.wave()
    return search


@pytest.mark.parametrize("in_flight", ["visits", "prior"])
@pytest.mark.parametrize("least_visits", [0.0, 1.0])
def test_ten_simulations_of_the_thesis_go_as_by_hand(least_visits, in_flight):
    game = TableGame(3, TABLE)
    settings = replace(ONE, least_visits=least_visits, in_flight=in_flight)
    for visits, (n, w) in enumerate(STEPS, 1):
        search = grow(game, settings, visits)
        got_n, got_w = row(search)
        assert got_n == n
        assert got_w == pytest.approx(w, abs=1e-6)
    inner = {(0,): ([1, 0], [1, 0]), (1,): ([3, 2], [-0.1, -0.8]), (1, 0): ([2], [0]), (1, 1): ([1], [1])}
    for path, (n, w) in inner.items():
        got_n, got_w = row(search, below(search, *path))
        assert got_n == n
        assert got_w == pytest.approx(w, abs=1e-6)
    result = search.result()
    assert result.visits.tolist() == [2, 6, 2]
    assert result.evaluations == 5
    assert result.best == 1
    assert result.policy == pytest.approx([0.2, 0.6, 0.2])
    assert result.values == pytest.approx([-0.6, 0.2, 0], abs=1e-6)
    assert result.priors == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    assert result.raw_value == pytest.approx(0.1)
    assert result.value == pytest.approx((0.1 + 0.0) / 11, abs=1e-6)
    check_tree(search, game)


def test_the_evaluator_sees_each_position_once_and_in_order():
    game = TableGame(3, TABLE)
    grow(game, ONE, 10)
    assert game.judged == [["R"], ["Ra"], ["Rb"], ["Rbx"], ["Rby"]]


@pytest.mark.parametrize("in_flight", ["visits", "prior"])
def test_the_solver_proves_the_draw_after_nine_simulations(in_flight):
    game = TableGame(3, TABLE)
    settings = replace(ONE, solver=True, in_flight=in_flight)
    search = grow(game, settings, 1000)
    n, w = row(search)
    assert n == [2, 5, 2]
    assert w == pytest.approx([-1.2, 1.2, 0], abs=1e-6)
    nodes = search.pool.nodes
    assert {
        name: int(nodes.proven[below(search, *path)]) for name, path in {"R": (), "Ra": (0,), "Rb": (1,)}.items()
    } == {
        "R": 0,
        "Ra": 1,
        "Rb": 0,
    }
    result = search.result()
    assert result.proven == 0
    assert result.value == 0
    assert result.best in (1, 2)
    assert result.line[:3] == [1, 0, 0]
    check_tree(search)


def test_a_proven_loss_is_not_chosen_again():
    game = TableGame(3, TABLE)
    search = grow(game, replace(ONE, solver=True), 5)
    nodes, edges, _ = search.pool
    assert edges.proof[nodes.first[search.desk.roots[0]] : nodes.first[search.desk.roots[0]] + 3].tolist() == [
        -1,
        UNKNOWN,
        0,
    ]
    assert nodes.proven[below(search, 0)] == 1
    assert search.result().best != 0


def fan(logits, values, root_value):
    """A root whose every visit to action i returns Q = values[i]: a chain of positions below each."""
    table = {"R": (1, root_value, {i: (np.exp(logit), f"{i}.0") for i, logit in enumerate(logits)})}
    for i, value in enumerate(values):
        for depth in range(12):
            player = -1 if depth % 2 == 0 else 1
            table[f"{i}.{depth}"] = (player, value * player, {0: (1.0, f"{i}.{depth + 1}")})
        table[f"{i}.12"] = (-1, 0.0, {})
    return TableGame(len(logits), table)


GUMBEL = SearchSettings(mode="gumbel", leaves=1, solver=False)
LOGITS, DRAW, QS = [1, 0.5, 0, -0.5], [0.2, -0.3, 0.9, 0.1], [0.1, 0.3, -0.2, 0]


def gumbel_search(visits, leaves=1, draw=DRAW):
    game = fan(LOGITS, QS, 0.05)
    search = Search(game, game, replace(GUMBEL, leaves=leaves))
    search.begin(0, game.state("R"), visits)
    search.desk.noise[0] = draw
    return game, search


def test_sequential_halving_visits_as_by_hand():
    game, search = gumbel_search(8)
    order, before = [], [0, 0, 0, 0]
    while search.busy().any():
        search.wave()
        now = row(search)[0]
        order += [i for i in range(4) if now[i] > before[i]]
        before = now
    assert order == [0, 2, 1, 3, 1, 0, 1, 0]
    result = search.result()
    assert result.visits.tolist() == [3, 3, 1, 1]
    assert result.best == 1
    assert result.policy == pytest.approx([0.0082, 0.9917, 0.0000, 0.0001], abs=6e-5)
    assert result.values == pytest.approx(QS, abs=1e-6)
    check_tree(search, game)


def test_a_round_of_sequential_halving_is_one_batch():
    game, search = gumbel_search(64, leaves=4)
    while search.busy().any():
        search.wave()
    assert sorted(game.judged[1]) == ["0.0", "1.0", "2.0", "3.0"]
    assert [len(batch) for batch in game.judged[:4]] == [1, 4, 4, 4]
    check_tree(search, game)


def test_v_mix_and_the_inner_rule_are_as_by_hand():
    game = fan(LOGITS, QS, 0.05)
    search = Search(game, game, GUMBEL)
    search.begin(0, game.state("R"), 1)
    search.wave()
    pool, root = search.pool, int(search.desk.roots[0])
    nodes, edges, _ = pool
    nodes.visits[root] = 4
    edges.visits[:4], edges.total[:4] = [2, 0, 1, 0], [0.2, 0, -0.2, 0]
    value, most = choose.mixed_value(pool, root)
    assert value == pytest.approx(0.0270, abs=6e-5)
    assert most == 2
    search.desk.left[0] = 0
    search.desk.done[0] = 1
    assert search.result().policy == pytest.approx([0.8893, 0.0808, 0.0001, 0.0297], abs=6e-5)
    assert choose.gumbel_inner(pool, root) == 0


@pytest.mark.parametrize(
    ("n", "w", "mixed"), [((1, 0, 0, 0), (0.1, 0, 0, 0), 0.0750), ((1, 0, 1, 0), (0.1, 0, -0.2, 0), 0.0295)]
)
def test_v_mix_divides_by_the_mass_of_the_visited_actions(n, w, mixed):
    game = fan(LOGITS, QS, 0.05)
    search = Search(game, game, GUMBEL)
    search.begin(0, game.state("R"), 1)
    search.wave()
    search.pool.edges.visits[:4], search.pool.edges.total[:4] = n, w
    assert choose.mixed_value(search.pool, 0)[0] == pytest.approx(mixed, abs=6e-5)


@pytest.mark.parametrize(
    ("considered", "visits", "counts"),
    [
        (2, 4, [2, 2]),
        (3, 7, [3, 2, 2]),
        (4, 8, [4, 2, 2]),
        (4, 16, [4, 4, 2, 2, 2, 2]),
        (5, 12, [5, 2, 2, 2, 1]),
        (8, 16, [8, 4, 2, 2]),
        (16, 16, [16]),
        (16, 32, [16, 8, 4, 4]),
        (16, 64, [16, 8, 8, 4, 4, 4, 4, *[2] * 8]),
        (1, 3, [1, 1, 1]),
    ],
)
def test_the_schedule_of_sequential_halving(considered, visits, counts):
    expected = [level for level, count in enumerate(counts) for _ in range(count)]
    schedule = np.zeros(visits, np.int32)
    choose.halving_schedule(considered, schedule)
    assert schedule.tolist() == expected


def one_node(settings):
    """Example D's node, its three children still to be visited by nobody else: P, N, W by hand."""
    pool = make_tree(8, 8)
    nodes, edges, _ = pool
    nodes.count[0], nodes.opened[0], nodes.parent[0], nodes.visits[0] = 3, 3, -1, 17
    edges.prior[:3], edges.visits[:3], edges.total[:3] = [0.5, 0.3, 0.2], [10, 4, 2], [2, 1, 0.2]
    edges.action[:3], edges.proof[:3], edges.child[:3] = [0, 1, 2], UNKNOWN, -1
    return pool, settings.rules()


def test_leaves_of_a_batch_are_kept_apart_as_by_hand():
    plain = replace(THESIS, exploration=1.5)
    pool, rules = one_node(plain)
    edges = pool.edges
    picks, saved = [], edges.prior.copy()
    for _ in range(4):
        picks.append(int(choose.puct(pool, 0, rules)))
        edges.prior[picks[-1]] *= np.float32(rules.prior_penalty)
    assert picks == [1, 2, 0, 1]
    edges.prior[:] = saved

    pool, rules = one_node(replace(plain, in_flight="visits"))
    picks = []
    for _ in range(4):
        picks.append(int(choose.puct(pool, 0, rules)))
        pool.edges.flight[picks[-1]] += 1
        pool.nodes.flight[0] += 1
    assert picks == [1, 1, 2, 1]


@pytest.mark.parametrize(
    ("growth", "base", "start", "visits", "c"),
    [
        (1.0, 19652.0, 1.25, 1, 1.2501),
        (1.0, 19652.0, 1.25, 1001, 1.2997),
        (1.0, 19652.0, 1.25, 19653, 1.9432),
        (0.45, 500.0, 1.0, 100, 1.0820),
        (0.45, 500.0, 1.0, 500, 1.3119),
        (0.45, 500.0, 1.0, 5000, 2.0791),
        (0.0, 500.0, 1.4142, 5000, 1.4142),
    ],
)
def test_c_grows_as_published(growth, base, start, visits, c):
    rules = SearchSettings(exploration=start, exploration_growth=growth, exploration_base=base).rules()
    assert choose.exploration_rate(visits, rules) == pytest.approx(c, abs=6e-5)


def test_an_unvisited_action_is_worth_the_mean_less_a_reduction():
    pool, _ = one_node(THESIS)
    nodes, edges, _ = pool
    nodes.parent[0] = 7  # not a root
    nodes.visits[0], nodes.total[0] = 10, 1.0
    edges.visits[:3], edges.total[:3] = [9, 0, 0], [-0.0415 * 9, 0, 0]  # just below -.0414
    rules = SearchSettings(exploration=0.0, exploration_growth=0.0).rules()
    assert choose.puct(pool, 0, rules) == 1
    edges.total[0] = -0.0413 * 9
    assert choose.puct(pool, 0, rules) == 0


def test_ties_go_to_the_larger_prior_then_to_the_lower_action():
    pool, rules = one_node(THESIS)
    pool.nodes.visits[0] = 1
    pool.edges.visits[:3], pool.edges.total[:3] = 0, 0
    for priors, best in (([0.3, 0.5, 0.2], 1), ([0.2, 0.4, 0.4], 1), ([1 / 3] * 3, 0)):
        pool.edges.prior[:3] = priors
        assert choose.puct(pool, 0, rules) == best


def test_a_limit_bounds_visits_exactly():
    game = TableGame(3, TABLE)
    for visits in range(1, 8):
        result = Search(game, game, replace(ONE, early_stop=False)).run(game.state("R"), Limit(visits=visits))[0]
        assert result.visits.sum() == visits
