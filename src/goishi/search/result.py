"""What a search found at a root, read out of its tree. Shapes: A actions, K actions of the root."""

from typing import NamedTuple

import numpy as np

from goishi.core.compiled import inner
from goishi.search.choose import GUMBEL, mixed_value
from goishi.search.tree import UNKNOWN

LONGEST = 32
"""Actions in a line, at most."""


class Result(NamedTuple):
    """What a search found at a root. Arrays are over all actions, 0 where an action is illegal or unvisited."""

    visits: np.ndarray  # int32[A]
    policy: np.ndarray  # float32[A] what a network should learn: visit shares, or the improved policy of Gumbel search
    values: np.ndarray  # float32[A] Q as the root's player sees it
    priors: np.ndarray  # float32[A] the evaluator's own, without noise
    value: float  # of the root, as its player sees it
    raw_value: float  # what the evaluator said of the root
    best: int  # the action to play; -1 where there is none
    proven: int | None  # +1, 0, -1 as the root's player sees it
    line: list[int]  # the best action, then the most visited replies
    evaluations: int  # positions judged since the search began


@inner
def read_root(tree, root, mode, laid, noise, earlier, priors, found, line):
    """Fills visits, policy, values and priors (`found`) and the line. Answers value, raw value, proven (or UNKNOWN) and
    the line's length.

    priors float32[K]: the root's own where noise is in the tree, else empty. laid, noise, earlier: of Gumbel search, as
    the desk has them. The best action has the largest weight, then Q, then prior, then the lowest number; in Gumbel
    search the most new visits, then the largest g + l + sigma(q). A proven win is taken by the shortest way, a loss by
    the longest, and nothing lost is played while another action is left.
    """
    nodes, edges, _ = tree
    visits, policy, values, own = found
    first, count = nodes.first[root], max(0, nodes.count[root])
    noisy = len(priors) > 0
    wins, losses = 0, 0
    for edge in range(first, first + count):
        wins += edges.proof[edge] == 1
        losses += edges.proof[edge] == -1
    mixed, most = mixed_value(tree, root)
    weights = np.empty(count)
    total, highest = 0.0, -np.inf
    best, best_key = -1, (-np.inf, 0.0, 0.0)
    for i in range(count):
        edge = first + i
        action, n, proof = edges.action[edge], edges.visits[edge], edges.proof[edge]
        q = edges.total[edge] / n if n > 0 else 0.0
        if proof != UNKNOWN:
            q = float(proof)
        visits[action], values[action], own[action] = n, q, priors[i] if noisy else edges.prior[edge]
        distance = float(nodes.distance[edges.child[edge]]) if proof != UNKNOWN else 0.0
        if mode == GUMBEL:
            logit = np.log(max(float(edges.prior[edge]), 1e-30))
            sigma = (50.0 + most) / 2 * ((q if n > 0 else mixed) + 1.0)
            weight = logit + sigma
            highest = max(highest, weight)
            key = (float(n - earlier[action]), noise[action] + sigma, 0.0)
            if not laid:  # the draw has not met the priors yet
                key = (float(n), noise[action] + logit + sigma, 0.0)
        else:
            weight = float(n)
            if wins > 0:
                weight = float(max(n, 1)) if proof == 1 else 0.0
            elif proof == -1 and losses < count:
                weight = 0.0
            total += weight
            key = (weight, q, float(own[action]))
        weights[i] = weight
        if wins > 0:
            key = (-distance if proof == 1 else -np.inf, 0.0, 0.0)
        elif losses == count:
            key = (distance, 0.0, 0.0)
        elif proof == -1:
            key = (-np.inf, 0.0, 0.0)
        if best < 0 or key > best_key or (key == best_key and action < edges.action[best]):
            best, best_key = edge, key
    if mode == GUMBEL:
        for i in range(count):
            weights[i] = np.exp(weights[i] - highest)
            total += weights[i]
    for i in range(count):
        action = edges.action[first + i]
        policy[action] = weights[i] / total if total > 0 else own[action]
    raw, proven, n = float(nodes.value[root]), nodes.proven[root], nodes.visits[root]
    value = raw if n == 0 else nodes.total[root] / n
    return float(proven) if proven != UNKNOWN else value, raw, proven, follow(tree, best, line)


@inner
def follow(tree, edge, line):
    """Fills int32[L] with an edge's action, then the most visited replies (where proven, shortest win, longest loss);
    how many there are."""
    nodes, edges, _ = tree
    length = 0
    while edge >= 0 and length < len(line):
        line[length] = edges.action[edge]
        length += 1
        node = edges.child[edge]
        edge = -1
        if node < 0:
            break
        proven = nodes.proven[node]
        best, most = -1, -1
        for reply in range(nodes.first[node], nodes.first[node] + max(0, nodes.count[node])):
            if edges.child[reply] < 0:
                continue
            weight = int(edges.visits[reply])
            if proven != UNKNOWN:
                distance = int(nodes.distance[edges.child[reply]])
                weight = (1 << 30) - distance if proven == 1 else distance
                if edges.proof[reply] != proven:
                    continue
            elif edges.proof[reply] == -1:
                weight = 0
            if weight > most or (weight == most and edges.action[reply] < edges.action[best]):
                best, most = reply, weight
        edge = best
    return length
