"""Trees written down once: the search chooses as it did. To renew them on purpose, delete the file and run the test."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from handmade import Hashed

from goishi.core import registry
from goishi.search.measure import opening_of, signature
from goishi.search.search import THESIS, Limit, Search, SearchSettings

GOLDEN = Path(__file__).parents[1] / "golden"
SETTINGS = {
    "puct": SearchSettings(early_stop=False),
    "gumbel": SearchSettings(mode="gumbel"),
    "thesis": replace(THESIS, early_stop=False),
    "uct": SearchSettings(mode="uct", early_stop=False),
}


def tree(search, node, depth):
    """N, Q and the deeper tree of the visited actions."""
    nodes, edges, _ = search.pool
    part = range(nodes.first[node], nodes.first[node] + max(0, nodes.count[node]))
    rows = {}
    for edge in sorted(part, key=lambda edge: edges.action[edge]):
        if edges.visits[edge]:
            row = [int(edges.visits[edge]), round(float(edges.total[edge] / edges.visits[edge]), 4)]
            deeper = tree(search, edges.child[edge], depth - 1) if depth > 1 else {}
            rows[str(edges.action[edge])] = [*row, deeper] if deeper else row
    return rows


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("spec", ["connect4", "othello:size=6"])
def test_a_tree_is_as_it_was(spec, name):
    game = registry.find(spec)
    search = Search(game, Hashed(game), SETTINGS[name])
    search.run(opening_of(game, 3), Limit(visits=100))
    grown = tree(search, search.desk.roots[0], 2)
    path = GOLDEN / f"tree-{game.name}-{name}.json"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(grown, separators=(",", ":")) + "\n")
        pytest.fail(f"{path.name} was missing and is written anew")
    assert grown == json.loads(path.read_text())


def test_the_signature_is_the_same_twice_and_all_lower_case_hexadecimal():
    assert signature() == signature()
    assert len(signature()) == 12
    int(signature(), 16)


def test_hashed_judgments_do_not_depend_on_the_batch():
    game = registry.find("connect4")
    states = np.concatenate([opening_of(game, number) for number in range(8)])
    logits, values = Hashed(game)(states)
    for i in range(8):
        one_logits, one_value = Hashed(game)(states[i : i + 1])
        assert np.array_equal(one_logits[0], logits[i])
        assert one_value[0] == values[i]
    assert np.abs(values).max() <= 1
