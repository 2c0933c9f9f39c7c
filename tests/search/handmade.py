"""Games and evaluators made by hand: trees from a table, judgments from a table; and looks into a tree."""

import numpy as np

from goishi.core.game import Kernels
from goishi.search.measure import Hashed
from goishi.search.tree import UNKNOWN, WAITING

__all__ = ["Hashed", "TableGame", "below", "check_tree", "everyone", "row"]


class TableGame:
    """A game whose positions are the rows of a table: name -> (player, judgment, {action: (prior, name of the child)}).

    A row with no actions is the end of the game, with its judgment as the result the player to move sees.
    It has what `Search` needs of a `Game`, and its rules are plain Python.
    """

    spec = name = "table"
    State = np.dtype((np.record, [("node", "i4"), ("player", "i1")]))

    def __init__(self, actions, table):
        self.actions = actions
        self.names = list(table)
        self.rows = [table[name] for name in self.names]
        self.judged = []  # the names that the evaluator saw, a list a call

    def state(self, name):
        states = np.zeros(1, self.State)
        states["node"] = self.names.index(name)
        states["player"] = self.rows[self.names.index(name)][0]
        return states

    def kernels(self, compiled=True):
        return Kernels(None, self._play, self._look, None, None, None)

    def _play(self, states, parents, actions, children):
        for parent, action, child in zip(parents, actions, children, strict=True):
            row = self.rows[states["node"][parent]]
            states[child] = self.state(row[2][action][1])[0]

    def _look(self, states, rows, players, over, values, masks):
        masks[: len(rows)] = False
        for i, node in enumerate(states["node"][rows]):
            player, judgment, children = self.rows[node]
            players[i], over[i] = player, not children
            values[i] = judgment if over[i] else 0
            masks[i, list(children)] = True

    def __call__(self, states):
        """The evaluator: the table's priors and judgments."""
        logits, values = np.full((len(states), self.actions), 9.0, np.float32), np.zeros(len(states), np.float32)
        for i, node in enumerate(states["node"]):
            _, values[i], children = self.rows[node]
            for action, (prior, _) in children.items():
                logits[i, action] = np.log(prior)
        self.judged.append([self.names[node] for node in states["node"]])
        return logits, values


def row(search, node=None, index=0):
    """N and W of a node's edges, by action."""
    nodes, edges, _ = search.pool
    node = search.desk.roots[index] if node is None else node
    part = slice(nodes.first[node], nodes.first[node] + max(0, nodes.count[node]))
    order = np.argsort(edges.action[part])
    return edges.visits[part][order].tolist(), np.round(edges.total[part][order], 6).tolist()


def below(search, *actions, index=0):
    """The node that these actions lead to from the root."""
    nodes, edges, _ = search.pool
    node = search.desk.roots[index]
    for action in actions:
        part = range(nodes.first[node], nodes.first[node] + nodes.count[node])
        node = next(edges.child[edge] for edge in part if edges.action[edge] == action)
        assert node >= 0
    return node


def everyone(search):
    """All nodes that hang below the roots."""
    nodes, edges, _ = search.pool
    found = [int(root) for root in search.desk.roots if root >= 0]
    for node in found:
        for edge in range(nodes.first[node], nodes.first[node] + max(0, nodes.count[node])):
            if edges.child[edge] >= 0:
                found.append(int(edges.child[edge]))
    return found


def check_tree(search, evaluator=None):
    """Asserts what holds of every tree at rest."""
    nodes, edges, _ = search.pool
    for node in everyone(search):
        assert nodes.count[node] != WAITING
        part = slice(nodes.first[node], nodes.first[node] + nodes.count[node])
        assert nodes.flight[node] == 0
        assert not edges.flight[part].any()
        assert abs(nodes.total[node]) <= nodes.visits[node] + 1e-9
        assert (np.abs(edges.total[part]) <= edges.visits[part] + 1e-9).all()
        for edge in range(part.start, part.stop):
            child = edges.child[edge]
            assert (edges.visits[edge] > 0) == (child >= 0)
            if child >= 0:
                assert nodes.parent[child] == node
                assert nodes.edge[child] == edge
                assert nodes.visits[child] == edges.visits[edge]
                sign = 1 if nodes.player[child] == nodes.player[node] else -1
                if nodes.proven[child] == UNKNOWN:
                    assert np.isclose(edges.total[edge], sign * nodes.total[child], atol=1e-9)
        if nodes.over[node]:
            assert nodes.count[node] == 0
            continue
        if nodes.proven[node] == UNKNOWN:
            assert nodes.visits[node] == 1 + edges.visits[part].sum()
        masked = search.game.kernels()
        player, over = np.zeros(1, np.int8), np.zeros(1, np.bool_)
        value, mask = np.zeros(1, np.float32), np.zeros((1, search.game.actions), np.bool_)
        masked.look(search.states, np.array([node], np.int32), player, over, value, mask)
        order = np.argsort(edges.action[part])
        assert edges.action[part][order].tolist() == np.flatnonzero(mask[0]).tolist()
        if search.settings.mode != "gumbel":
            assert not edges.visits[part.start + nodes.opened[node] : part.stop].any()
        if 0 < nodes.opened[node] < nodes.count[node] and search.settings.mode == "puct":
            unopened = edges.prior[part.start + nodes.opened[node] : part.stop]
            assert unopened[0] == unopened.max()
        assert abs(float(edges.prior[part].sum()) - 1) < 1e-6
        if evaluator is not None:
            logits, values = evaluator(search.states[node : node + 1])
            assert nodes.value[node] == values[0]
            weights = np.exp(logits[0, mask[0]] - logits[0, mask[0]].max())
            assert np.allclose(edges.prior[part][order], weights / weights.sum(), atol=1e-6)
