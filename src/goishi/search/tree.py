"""The search tree: flat arrays, one pool for all the trees of a search.

Nodes are positions, edges the legal actions of a node, side by side from `first[n]` to `first[n] + count[n]`.
A node's record lies in another array at the node's own number, so nothing here knows a game.

Shapes: N nodes, E edges, A actions. Values are as the player to move at the node sees them.
Visits: an expanded node that is neither over nor proven has visits = 1 + the sum of its edges' visits.
Order, in a PUCT search: the edges from `opened[n]` on were never followed, and the first of them has the largest prior
of those. So PUCT looks at the opened ones and one more, which is a few where a node has a hundred edges.
"""

from typing import Any, NamedTuple

import numpy as np

from goishi.core.compiled import inner

UNKNOWN = 2
"""Stands where a proven result (+1, 0, -1) would."""
WAITING = -1
"""A node's `count` until it is evaluated."""


class Nodes(NamedTuple):
    """One entry a position."""

    first: np.ndarray  # int32[N] its first edge
    count: np.ndarray  # type: ignore[assignment]  # int32[N] its number of edges; WAITING until it is evaluated, 0 when the game is over
    opened: np.ndarray  # int32[N] edges followed so far, the first ones; `count` where they are in no order
    parent: np.ndarray  # int32[N] -1 at a root
    edge: np.ndarray  # int32[N] the edge that leads here
    player: np.ndarray  # int8[N] who moves
    over: np.ndarray  # bool[N] the game ended here
    proven: np.ndarray  # int8[N] +1, 0, -1 or UNKNOWN
    distance: np.ndarray  # int32[N] plies to the end along proven play
    visits: np.ndarray  # int32[N] simulations that came here, its own evaluation among them
    total: np.ndarray  # float64[N] sum of the values of those
    value: np.ndarray  # float32[N] what the evaluator said, or the result
    flight: np.ndarray  # int32[N] descents below here that wait for an evaluation


class Edges(NamedTuple):
    """One entry a legal action of a node."""

    action: np.ndarray  # int32[E]
    prior: np.ndarray  # float32[E] sums to 1 over a node
    visits: np.ndarray  # int32[E] N
    total: np.ndarray  # float64[E] W, as the node's player sees it; Q = W / N
    child: np.ndarray  # int32[E] -1 until visited
    proof: np.ndarray  # int8[E] the child's proven result as this node's player sees it, or UNKNOWN
    flight: np.ndarray  # int32[E] O


class Tree(NamedTuple):
    """The pool."""

    nodes: Nodes
    edges: Edges
    used: np.ndarray  # int64[2] nodes and edges in use


def _make(kind: Any, columns: str, size: int) -> Any:
    return kind(*(np.zeros(size, dtype) for dtype in columns.split()))


def make_tree(nodes: int, edges: int) -> Tree:
    """An empty pool with room for so many nodes and edges."""
    return Tree(
        _make(Nodes, "i4 i4 i4 i4 i4 i1 ? i1 i4 i4 f8 f4 i4", nodes),
        _make(Edges, "i4 f4 i4 f8 i4 i1 i4", edges),
        np.zeros(2, np.int64),
    )


@inner
def add_node(tree, parent, edge):
    """A new node that waits for its evaluation; its number."""
    nodes, edges, used = tree
    node = used[0]
    used[0] += 1
    nodes.first[node] = 0
    nodes.count[node] = WAITING
    nodes.opened[node] = 0
    nodes.parent[node] = parent
    nodes.edge[node] = edge
    nodes.over[node] = False
    nodes.proven[node] = UNKNOWN
    nodes.distance[node] = 0
    nodes.visits[node] = 0
    nodes.total[node] = 0.0
    nodes.flight[node] = 0
    if edge >= 0:
        edges.child[edge] = node
    return node


@inner
def expand(tree, node, player, value, mask, logits):
    """Gives a waiting node its value and its edges: the legal actions, priors = softmax of their logits.

    Logits that are no numbers (a broken network) count as a uniform prior, such a value as 0.
    """
    nodes, edges, used = tree
    first = used[1]
    last = first
    highest = np.float32(-np.inf)
    for action in range(len(mask)):
        if mask[action]:
            edges.action[last] = action
            edges.prior[last] = logits[action]
            highest = max(highest, logits[action])
            last += 1
    used[1] = last
    edges.visits[first:last] = 0
    edges.total[first:last] = 0.0
    edges.child[first:last] = -1
    edges.proof[first:last] = UNKNOWN
    edges.flight[first:last] = 0
    total = 0.0
    for edge in range(first, last):
        weight = np.exp(edges.prior[edge] - highest)
        edges.prior[edge] = weight
        total += weight
    if np.isfinite(total):
        scale = np.float32(1.0 / total)
        for edge in range(first, last):
            edges.prior[edge] *= scale
    else:
        edges.prior[first:last] = 1.0 / (last - first)
    nodes.first[node] = first
    nodes.count[node] = last - first
    nodes.player[node] = player
    nodes.value[node] = min(1.0, max(-1.0, value)) if np.isfinite(value) else 0.0


@inner
def put_likeliest_first(tree, node):
    """Of the edges never followed, moves the one with the largest prior (then the lowest action) before the others."""
    nodes, edges, _ = tree
    head = nodes.first[node] + nodes.opened[node]
    best = head
    for edge in range(head + 1, nodes.first[node] + nodes.count[node]):
        prior = edges.prior[edge]
        if prior > edges.prior[best] or (prior == edges.prior[best] and edges.action[edge] < edges.action[best]):
            best = edge
    if best != head:  # unfollowed edges differ in nothing else
        edges.action[head], edges.action[best] = edges.action[best], edges.action[head]
        edges.prior[head], edges.prior[best] = edges.prior[best], edges.prior[head]


@inner
def finish(tree, node, player, value, solver):
    """Marks a waiting node as the end of the game with this value."""
    nodes = tree.nodes
    nodes.count[node] = 0
    nodes.player[node] = player
    nodes.over[node] = True
    nodes.value[node] = value
    if solver:
        nodes.proven[node] = np.int8(round(value))


@inner
def back_up(tree, node, value, landed):
    """One visit with this value, from a node up to its root. `landed` descents in flight end with it (0 or 1).

    The sign at each edge comes from who moves, so passes and double moves are right. A proven child may prove its
    parent, and a proven result takes the place of the value from there on (search by proof, spec of MCTS-Solver).
    """
    nodes, edges, _ = tree
    nodes.visits[node] += 1
    nodes.total[node] += value
    while nodes.parent[node] >= 0:
        parent, edge = nodes.parent[node], nodes.edge[node]
        sign = 1 if nodes.player[parent] == nodes.player[node] else -1
        value = sign * value
        edges.visits[edge] += 1
        edges.total[edge] += value
        edges.flight[edge] -= landed
        if nodes.proven[node] != UNKNOWN and edges.proof[edge] == UNKNOWN:
            edges.proof[edge] = sign * nodes.proven[node]
            prove(tree, parent)
        if nodes.proven[parent] != UNKNOWN:
            value = float(nodes.proven[parent])
        nodes.visits[parent] += 1
        nodes.total[parent] += value
        nodes.flight[parent] -= landed
        node = parent


@inner
def prove(tree, node):
    """Proves a node whose children decide it: one wins, or all are known."""
    nodes, edges, _ = tree
    best = -1
    nearest, farthest = 1 << 30, 0
    known = True
    for edge in range(nodes.first[node], nodes.first[node] + nodes.count[node]):
        proof = edges.proof[edge]
        if proof == UNKNOWN:
            known = False
            continue
        distance = nodes.distance[edges.child[edge]] + 1
        if proof == 1:
            nearest = min(nearest, distance)
        farthest = max(farthest, distance)
        best = max(best, proof)
    if best == 1 or known:
        nodes.proven[node] = best
        nodes.distance[node] = nearest if best == 1 else farthest


@inner
def take_back(tree, node):
    """Ends a descent in flight at a node that brought no visit."""
    nodes, edges, _ = tree
    while nodes.parent[node] >= 0:
        edges.flight[nodes.edge[node]] -= 1
        node = nodes.parent[node]
        nodes.flight[node] -= 1


@inner
def copy_trees(old, new, roots, origin):
    """Copies what hangs below the roots into an empty pool, breadth first, and renumbers the roots.

    origin int32[N]: for each new node the number it had, to move the records along.
    """
    used = new.used
    for t in range(len(roots)):
        if roots[t] < 0:
            continue
        origin[used[0]] = roots[t]
        roots[t] = used[0]
        new.nodes.parent[used[0]] = -1
        new.nodes.edge[used[0]] = -1
        node = used[0]
        used[0] += 1
        while node < used[0]:
            source = origin[node]
            count, from_edge, to_edge = old.nodes.count[source], old.nodes.first[source], used[1]
            new.nodes.first[node] = to_edge
            new.nodes.count[node] = count
            new.nodes.opened[node] = old.nodes.opened[source]
            new.nodes.player[node] = old.nodes.player[source]
            new.nodes.over[node] = old.nodes.over[source]
            new.nodes.proven[node] = old.nodes.proven[source]
            new.nodes.distance[node] = old.nodes.distance[source]
            new.nodes.visits[node] = old.nodes.visits[source]
            new.nodes.total[node] = old.nodes.total[source]
            new.nodes.value[node] = old.nodes.value[source]
            new.nodes.flight[node] = old.nodes.flight[source]
            for i in range(max(count, 0)):
                a, b = from_edge + i, to_edge + i
                new.edges.action[b] = old.edges.action[a]
                new.edges.prior[b] = old.edges.prior[a]
                new.edges.visits[b] = old.edges.visits[a]
                new.edges.total[b] = old.edges.total[a]
                new.edges.proof[b] = old.edges.proof[a]
                new.edges.flight[b] = old.edges.flight[a]
                new.edges.child[b] = -1
                if old.edges.child[a] >= 0:
                    new.edges.child[b] = used[0]
                    new.nodes.parent[used[0]] = node
                    new.nodes.edge[used[0]] = b
                    origin[used[0]] = old.edges.child[a]
                    used[0] += 1
            used[1] += max(count, 0)
            node += 1
