"""Which edge a descent follows: PUCT, UCT, Gumbel AlphaZero; and the noise of a root.

Paper letters, once: Q = total / visits of an edge, P its prior, N its visits, O its descents in flight, S the sum of
N + O over a node, pi' the improved policy, g the Gumbel draw, l the logit (log P).
"""

from typing import NamedTuple

import numpy as np

from goishi.core.compiled import inner

PUCT, UCT, GUMBEL = 0, 1, 2


class Rules(NamedTuple):
    """The numbers of `SearchSettings` that compiled code needs."""

    mode: int
    exploration: float
    exploration_growth: float
    exploration_base: float
    least_visits: float  # S counts as at least this under the root sign
    fpu_parent: bool  # an unvisited edge counts as the node's mean less a reduction, else as 0
    fpu_reduction: float
    root_fpu_reduction: float
    solver: bool
    leaves: int
    prior_penalty: float  # a prior in flight is multiplied by this; 1 = count descents in flight instead
    considered: int


@inner
def exploration_rate(visits, rules):
    """c = exploration + growth * ln((S + base) / base). (AlphaZero, KataGo; growth 0 = the thesis.)"""
    if rules.exploration_growth == 0.0:
        return rules.exploration
    return rules.exploration + rules.exploration_growth * np.log(
        (visits + rules.exploration_base) / rules.exploration_base
    )


@inner
def puct(tree, node, rules):
    """The edge with the largest Q + c P sqrt(S) / (1 + N + O); ties go to the larger prior, then the lower action.

    An edge that is proven lost is never taken while another is left. Of the edges never followed only the first can be
    the largest.
    """
    nodes, edges, _ = tree
    first = nodes.first[node]
    last = first + min(nodes.count[node], nodes.opened[node] + 1)
    visits = nodes.visits[node] - 1 + nodes.flight[node]
    spread = exploration_rate(visits, rules) * np.sqrt(max(float(visits), rules.least_visits))
    unvisited = 0.0
    if rules.fpu_parent:
        mass = 0.0
        for edge in range(first, last):
            if edges.visits[edge] > 0:
                mass += edges.prior[edge]
        reduction = rules.root_fpu_reduction if nodes.parent[node] < 0 else rules.fpu_reduction
        unvisited = nodes.total[node] / nodes.visits[node] - reduction * np.sqrt(mass)
    best, chosen = -np.inf, first
    for edge in range(first, last):
        if edges.proof[edge] == -1:
            continue
        n = edges.visits[edge]
        q = edges.total[edge] / n if n > 0 else unvisited
        score = q + spread * edges.prior[edge] / (1.0 + n + edges.flight[edge])
        if score > best or (score == best and goes_before(edges, edge, chosen)):
            best, chosen = score, edge
    return chosen


@inner
def goes_before(edges, one, other):
    """Does an edge have the larger prior, or the same and the lower action?"""
    if edges.prior[one] == edges.prior[other]:
        return edges.action[one] < edges.action[other]
    return edges.prior[one] > edges.prior[other]


@inner
def uct(tree, node, rules):
    """The edge with the largest Q + c sqrt(ln S / (N + O)), unvisited ones first (Kocsis and Szepesvari 2006)."""
    nodes, edges, _ = tree
    first, last = nodes.first[node], nodes.first[node] + nodes.count[node]
    growth = np.log(max(1.0, float(nodes.visits[node] - 1 + nodes.flight[node])))
    best, chosen = -np.inf, first
    for edge in range(first, last):
        if edges.proof[edge] == -1:
            continue
        n = edges.visits[edge]
        tried = n + edges.flight[edge]
        if tried == 0:
            return edge
        q = edges.total[edge] / n if n > 0 else 0.0
        score = q + rules.exploration * np.sqrt(growth / tried)
        if score > best:
            best, chosen = score, edge
    return chosen


@inner
def mixed_value(tree, node):
    """v_mix, what an unvisited action is taken to be worth, and the largest N (Danihelka et al. 2022, appendix D).

    The evaluator's value and the prior-weighted mean Q of the visited actions, divided by their own mass.
    """
    nodes, edges, _ = tree
    visits, most = 0, 0
    mass, total = 0.0, 0.0
    for edge in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
        n = edges.visits[edge]
        if n > 0:
            prior = max(float(edges.prior[edge]), 1e-12)
            visits += n
            most = max(most, n)
            mass += prior
            total += prior * edges.total[edge] / n
    value = float(nodes.value[node])
    return ((value + visits * total / mass) / (1 + visits) if visits else value), most


@inner
def gumbel_inner(tree, node):
    """The edge with the largest pi' - N / (1 + S); pi' from the prior and the completed Q."""
    nodes, edges, _ = tree
    first, last = nodes.first[node], nodes.first[node] + nodes.count[node]
    mixed, most = mixed_value(tree, node)
    scale = (50.0 + most) / 2
    highest = 0.0  # the exponent of an unvisited action
    for edge in range(first, last):
        n = edges.visits[edge]
        if n > 0:
            highest = max(highest, scale * (edges.total[edge] / n - mixed))
    total = 0.0
    unvisited = np.exp(-highest)
    for edge in range(first, last):
        n = edges.visits[edge]
        total += edges.prior[edge] * (np.exp(scale * (edges.total[edge] / n - mixed) - highest) if n > 0 else unvisited)
    share = 1.0 / (nodes.visits[node] + nodes.flight[node])
    best, chosen = -np.inf, first
    for edge in range(first, last):
        if edges.proof[edge] == -1:
            continue
        n = edges.visits[edge]
        weight = np.exp(scale * (edges.total[edge] / n - mixed) - highest) if n > 0 else unvisited
        score = edges.prior[edge] * weight / total - (n + edges.flight[edge]) * share
        if score > best:
            best, chosen = score, edge
    return chosen


@inner
def gumbel_root(tree, root, wanted, noise, earlier):
    """Sequential halving at a root: of the edges with `wanted` new visits the one with the largest g + l + sigma(q).

    noise float64[A]: g + l by action. earlier int32[A]: visits from before this search, by action.
    """
    nodes, edges, _ = tree
    first, count = nodes.first[root], nodes.count[root]
    mixed, most = mixed_value(tree, root)
    scale = (50.0 + most) / 2
    best, chosen = -np.inf, -1
    second, spare = -np.inf, first
    for edge in range(first, first + count):
        if edges.proof[edge] == -1:
            continue
        n, action = edges.visits[edge], edges.action[edge]
        score = noise[action] + scale * ((edges.total[edge] / n if n > 0 else mixed) + 1.0)
        if n - earlier[action] + edges.flight[edge] == wanted and score > best:
            best, chosen = score, edge
        if score > second:
            second, spare = score, edge
    return chosen if chosen >= 0 else spare


@inner
def halving_schedule(considered, schedule):
    """Fills int32[V]: the new visits that simulation t asks of the action it takes (Danihelka et al. 2022)."""
    visits = len(schedule)
    if considered < 2:
        for t in range(visits):
            schedule[t] = t
        return
    rounds = int(np.ceil(np.log2(considered)))
    alive, level, t = considered, 0, 0
    while t < visits:
        for _ in range(max(1, visits // (rounds * alive))):
            schedule[t : t + alive] = level
            t += alive
            level += 1
        alive = max(2, alive // 2)


@inner
def is_hard(tree, root):
    """Has another action than the most visited one more than half as many visits, or a better mean value?

    Of the others, those count that have a tenth of its visits at least.
    """
    nodes, edges, _ = tree
    first, count = nodes.first[root], max(0, nodes.count[root])
    best = -1
    for edge in range(first, first + count):
        if best < 0 or edges.visits[edge] > edges.visits[best]:
            best = edge
    if best < 0 or edges.visits[best] == 0:
        return False
    for edge in range(first, first + count):
        n, most = edges.visits[edge], edges.visits[best]
        if edge == best or 10 * n < most or edges.proof[edge] == -1:
            continue
        if 2 * n > most or edges.total[edge] / n > edges.total[best] / most:
            return True
    return False


@inner
def is_decided(tree, root, left):
    """Can no other action of a root become the most visited one in the simulations that are left?

    Lost actions don't count. A single action that may be played needs no search.
    """
    nodes, edges, _ = tree
    most, second, choices = 0, 0, 0
    for edge in range(nodes.first[root], nodes.first[root] + nodes.count[root]):
        if edges.proof[edge] == -1:
            continue
        choices += 1
        n = edges.visits[edge]
        if n > most:
            most, second = n, most
        elif n > second:
            second = n
    return choices == 1 or most - second > left


def dirichlet_noise(priors: np.ndarray, share: float, concentration: float, rng: np.random.Generator) -> np.ndarray:
    """float32[K]: (1 - share) P + share * eta, eta ~ Dir(concentration / K) over the K legal actions (AlphaZero)."""
    if len(priors) < 2:
        return priors
    eta = rng.dirichlet(np.full(len(priors), concentration / len(priors)))
    return ((1 - share) * priors + share * eta).astype(np.float32)


def soften(priors: np.ndarray, temperature: float) -> np.ndarray:
    """float32[K]: P^(1 / temperature), normalized."""
    logits = np.log(np.maximum(priors, 1e-30)) / temperature
    weights = np.exp(logits - logits.max())
    return (weights / weights.sum()).astype(np.float32)
