"""The search tree: flat arrays, one pool for all the trees of a search.

Nodes are positions, edges the legal actions of a node, side by side from `first[n]` to `first[n] + count[n]`.
A node's record lies in another array at the node's own number, so nothing here knows a game.

Shapes: N nodes, E edges, A actions. Values are as the player to move at the node sees them.
Visits: an expanded node that is neither over nor proven has visits = 1 + the sum of its edges' visits.
Order, in a PUCT search: the edges from `opened[n]` on were never followed, and the first of them has the largest prior
of those. So PUCT looks at the opened ones and one more, which is a few where a node has a hundred edges.
"""

from typing import NamedTuple

import numpy as np

from goishi.core.compiled import inner

UNKNOWN = 2
"""Stands where a proven result (+1, 0, -1) would."""
WAITING = -1
"""A node's `count` until it is evaluated."""


def _record(*fields: tuple[str, str]) -> np.dtype:
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


NODE = _record(
    ("total", "f8"),  # sum of the values of the simulations that came here
    ("visits", "i4"),  # those simulations, its own evaluation among them
    ("flight", "i4"),  # descents below here that wait for an evaluation
    ("first", "i4"),  # its first edge
    ("count", "i4"),  # its number of edges; WAITING until it is evaluated, 0 when the game is over
    ("opened", "i4"),  # edges followed so far, the first ones; `count` where they are in no order
    ("parent", "i4"),  # -1 at a root
    ("edge", "i4"),  # the edge that leads here
    ("distance", "i4"),  # plies to the end along proven play
    ("value", "f4"),  # what the evaluator said, or the result
    ("player", "i1"),  # who moves
    ("proven", "i1"),  # +1, 0, -1 or UNKNOWN
    ("over", "?"),  # the game ended here
)
"""A position. What a descent reads of it lies side by side: it waits for memory once."""

EDGE = _record(
    ("total", "f8"),  # W, as the node's player sees it; Q = W / N
    ("visits", "i4"),  # N
    ("flight", "i4"),  # O
    ("prior", "f4"),  # P; sums to 1 over a node
    ("child", "i4"),  # -1 until visited
    ("action", "i4"),
    ("proof", "i1"),  # the child's proven result as this node's player sees it, or UNKNOWN
)
"""A legal action of a node."""


class Tree(NamedTuple):
    """The pool."""

    nodes: np.recarray  # NODE[N]
    edges: np.recarray  # EDGE[E]
    used: np.ndarray  # int64[2] nodes and edges in use


def make_tree(nodes: int, edges: int) -> Tree:
    """An empty pool with room for so many nodes and edges."""
    return Tree(np.zeros(nodes, NODE).view(np.recarray), np.zeros(edges, EDGE).view(np.recarray), np.zeros(2, np.int64))


def bare(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pool as compiled code takes it: numba recognizes plain tuples and plain arrays 10 us a call sooner."""
    return tree.nodes.view(np.ndarray), tree.edges.view(np.ndarray), tree.used


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
            highest = max(highest, logits[action])
    total = 0.0
    for action in range(len(mask)):
        if mask[action]:
            weight = np.exp(logits[action] - highest)
            total += weight
            edges.total[last] = 0.0
            edges.visits[last] = 0
            edges.flight[last] = 0
            edges.prior[last] = weight
            edges.child[last] = -1
            edges.action[last] = action
            edges.proof[last] = UNKNOWN
            last += 1
    used[1] = last
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
def bar(tree, trees, found, players, bars, masks):
    """Takes barred actions out of the masks bool[B, A] of nodes that are not expanded yet, where others are left.

    trees int32[B]: the nodes' trees. bars int32[T, 2, A]: plies below which a player (+1, -1) may not take an action.
    """
    nodes, _, _ = tree
    for i in range(len(found)):
        depth, node = 0, found[i]
        while nodes.parent[node] >= 0:
            node = nodes.parent[node]
            depth += 1
        barred = bars[trees[i], (1 - players[i]) // 2]
        free = False
        for action in range(len(barred)):
            free |= masks[i, action] and depth >= barred[action]
        for action in range(len(barred)):
            masks[i, action] &= not free or depth >= barred[action]


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
    nodes, _, _ = tree
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
    old_nodes, old_edges, _ = old
    nodes, edges, used = new
    for t in range(len(roots)):
        if roots[t] < 0:
            continue
        origin[used[0]] = roots[t]
        roots[t] = used[0]
        nodes.parent[used[0]] = -1
        nodes.edge[used[0]] = -1
        node = used[0]
        used[0] += 1
        while node < used[0]:
            source = origin[node]
            count, from_edge, to_edge = old_nodes.count[source], old_nodes.first[source], used[1]
            parent, edge = nodes.parent[node], nodes.edge[node]
            nodes[node] = old_nodes[source]
            nodes.first[node], nodes.parent[node], nodes.edge[node] = to_edge, parent, edge
            for i in range(max(count, 0)):
                a, b = from_edge + i, to_edge + i
                edges[b] = old_edges[a]
                if old_edges.child[a] >= 0:
                    edges.child[b] = used[0]
                    nodes.parent[used[0]] = node
                    nodes.edge[used[0]] = b
                    origin[used[0]] = old_edges.child[a]
                    used[0] += 1
            used[1] += max(count, 0)
            node += 1
