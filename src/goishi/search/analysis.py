"""What a search can say of a position beyond its result: candidates with bounds and lines, and whose points will be.

Shapes: A actions, K actions of the root, L actions of a line, N nodes, P points. Values are as the root's player sees
them.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from goishi.core.compiled import identity, inner, kernel
from goishi.search import result, tree
from goishi.search.result import LONGEST, follow
from goishi.search.search import Search
from goishi.search.tree import UNKNOWN

MOST_OUTLOOKS = 96
"""Positions of a tree whose ownership is averaged, at most, but for the root's own children."""


class Candidate(NamedTuple):
    """An action of the root."""

    action: int
    visits: int
    value: float  # Q; of an unvisited action the root's own
    prior: float  # the evaluator's own, without noise
    bound: float  # lower confidence bound of the value; below -1 after few visits
    line: list[int]  # the action, then the most visited replies
    line_visits: list[int]  # of each action of the line
    score: float | None = None  # points ahead, where the evaluator knows
    ownership: np.ndarray | None = None  # float32[P] +1 the root's player's


class Analysis(NamedTuple):
    """What a search knows of a root."""

    candidates: list[Candidate]  # best first: the first one would be played
    visits: int  # of the root, its own evaluation not counted, as in `Limit`
    value: float
    raw_value: float  # what the evaluator said of the root
    policy: np.ndarray  # float32[A] the evaluator's own, 0 where illegal
    proven: int | None  # +1, 0, -1
    score: float | None = None  # points ahead, where the evaluator knows
    ownership: np.ndarray | None = None  # float32[P] +1 the root's player's


def analyze(search: Search, index: int = 0, territory: bool = False, least: int = 0) -> Analysis:
    """What a tree knows now: all visited actions, and unvisited ones of the largest priors until there are `least`.

    territory: score and ownership too, averaged over the most visited positions of the tree, if the evaluator has an
    `outlook`. That costs one evaluation of about a hundred positions.
    """
    found = search.result(index)
    nodes, edges, _ = search.pool
    root = int(search.desk.roots[index])
    count = max(0, int(nodes.count[root]))
    actions = edges.action[int(nodes.first[root]) : int(nodes.first[root]) + count]
    size = int(nodes.visits[root]) + 1
    squares, lengths = np.zeros(count), np.zeros(count, np.int32)
    lines, line_visits = np.zeros((count, LONGEST), np.int32), np.zeros((count, LONGEST), np.int32)
    reached, branches = np.zeros(size, np.int32), np.full(size, -1, np.int32)
    ends = read_candidates(tree.bare(search.pool), root, squares, lines, line_visits, lengths, reached, branches)
    outlooks = _outlooks(search, reached[:ends], branches[:ends]) if territory else None
    score, ownership = outlooks.of(None) if outlooks else (None, None)

    order = sorted(
        range(count),
        key=lambda k: (
            actions[k] != found.best,
            found.visits[actions[k]] == 0,
            -found.policy[actions[k]],
            -found.values[actions[k]],
            -found.priors[actions[k]],
            actions[k],
        ),
    )
    visited = sum(found.visits[action] > 0 for action in actions)
    candidates = []
    for k in order[: max(visited, least)]:
        action = int(actions[k])
        visits = int(found.visits[action])
        value = float(found.values[action]) if visits else found.value
        expected = outlooks.of(k) if outlooks else (None, None)
        candidates.append(
            Candidate(
                action,
                visits,
                value,
                float(found.priors[action]),
                lower_bound(visits, value, squares[k] / max(visits, 1)),
                lines[k, : lengths[k]].tolist(),
                line_visits[k, : lengths[k]].tolist(),
                *expected,
            )
        )
    return Analysis(
        candidates,
        max(0, int(nodes.visits[root]) - 1),
        found.value,
        found.raw_value,
        found.priors,
        found.proven,
        score,
        ownership,
    )


def lower_bound(visits: int, value: float, square: float) -> float:
    """Mean less five standard errors, with a prior of one wide observation that fades with the cube of the visits.

    The bound by which KataGo chooses (KataGo, cpp/search/searchresults.cpp); the radius of values is 1. square is the
    mean of the squared values.
    """
    if visits == 0:
        return -10.0
    square = max(square, value * value + 1e-8)
    extra = 1.0 / (visits * visits)
    weight = visits + extra
    widened = (square * visits + (square + 1.0) * extra) / weight
    samples = weight * weight / (visits + extra * extra)
    return value - 5.0 * float(np.sqrt((widened - value * value) / samples))


@inner
def read_candidates(tree, root, squares, lines, line_visits, lengths, reached, branches):
    """For each edge of the root the sum of the squared values below it (float64[K]), and its line (int32[K, L]).

    Fills `reached` int32[N] with the expanded nodes, the root first, and `branches` with the edge of the root that
    leads to each, counted from 0, -1 for the root itself. Answers how many nodes.
    """
    nodes, edges, _ = tree
    used = 0
    if nodes.count[root] < 0:
        return used
    reached[used] = root
    branches[used] = -1
    used += 1
    i = 0
    while i < used:
        node, branch = reached[i], branches[i]
        for edge in range(nodes.first[node], nodes.first[node] + max(0, nodes.count[node])):
            child = edges.child[edge]
            if child < 0 or nodes.count[child] < 0 or nodes.visits[child] == 0:
                continue
            below = edge - nodes.first[root] if branch < 0 else branch
            own = nodes.visits[child]
            for further in range(nodes.first[child], nodes.first[child] + nodes.count[child]):
                own -= edges.visits[further]
            value = float(nodes.value[child])
            squares[below] += value * value
            if nodes.proven[child] != UNKNOWN:
                value = float(nodes.proven[child])
            squares[below] += max(0, own - 1) * value * value
            if nodes.count[child] > 0 and used < len(reached):
                reached[used] = child
                branches[used] = below
                used += 1
        i += 1
    for k in range(nodes.count[root]):
        edge = nodes.first[root] + k
        lengths[k] = follow(tree, edge, lines[k])
        for step in range(lengths[k]):
            node = edges.child[edge]
            line_visits[k, step] = edges.visits[edge]
            if node < 0 or step + 1 == lengths[k]:
                continue
            for further in range(nodes.first[node], nodes.first[node] + max(0, nodes.count[node])):
                if edges.action[further] == lines[k, step + 1]:
                    edge = further
    return used


FILES = (__file__, tree.__file__, result.__file__)
read_candidates = kernel(read_candidates.py_func, identity(Path(str(file)).read_bytes() for file in FILES))


class _Outlooks(NamedTuple):
    """What the evaluator expects of the positions that stand for the whole tree."""

    branches: np.ndarray  # int32[N]
    weights: np.ndarray  # float64[N] the visits that each of them stands for
    scores: np.ndarray  # float32[N] as the root's player sees them
    ownership: np.ndarray  # float32[N, P] the same

    def of(self, branch: int | None) -> tuple[float | None, np.ndarray | None]:
        """Score and ownership float32[P] of an edge of the root, or of the whole."""
        mine = slice(None) if branch is None else self.branches == branch
        weights = self.weights[mine]
        if not weights.sum():
            return None, None
        score = float(np.average(self.scores[mine], weights=weights))
        return score, np.average(self.ownership[mine], axis=0, weights=weights).astype(np.float32)


def _outlooks(search: Search, reached: np.ndarray, branches: np.ndarray) -> _Outlooks | None:
    """The root, its children and the most visited nodes below; the rest is counted to the nearest one above."""
    outlook = getattr(search.evaluator, "outlook", None)
    nodes = search.pool.nodes
    if outlook is None or not len(reached):
        return None
    visits = nodes.visits[reached].astype(np.int64)
    near = nodes.parent[reached] == reached[0]
    near[0] = True
    order = np.argsort(-(visits + (1 << 40) * near), kind="stable")[: max(MOST_OUTLOOKS, int(near.sum()))]
    chosen, branches = reached[order], branches[order]
    found = outlook(search.states[chosen])
    if found is None:
        return None
    weights = nodes.visits[chosen].astype(np.float64)
    place = {int(node): i for i, node in enumerate(chosen)}
    for node in chosen[1:]:
        weights[place[int(nodes.parent[node])]] -= nodes.visits[node]
    signs = np.where(nodes.player[chosen] == nodes.player[chosen[0]], 1, -1).astype(np.float32)
    return _Outlooks(branches, np.maximum(weights, 0), signs * found.score, signs[:, None] * found.ownership)
