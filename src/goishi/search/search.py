"""Monte Carlo tree search over one game: one tree or many, grown together, leaves judged a batch at a time.

A wave is the unit of work: every tree that has simulations left descends to one or several leaves, the game's kernels
make their records, one evaluator call judges them all, and the values are backed up.

Shapes: T trees, B leaves of a wave, A actions.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from goishi.core.compiled import identity, kernel
from goishi.core.game import Game
from goishi.errors import UsageError
from goishi.networks.evaluator import Evaluator
from goishi.search import choose, result, tree
from goishi.search.choose import GUMBEL, PUCT, UCT, Rules
from goishi.search.clock import Limit
from goishi.search.result import LONGEST, Result
from goishi.search.tree import UNKNOWN, WAITING, Tree, bare, make_tree

MODES = {"puct": PUCT, "uct": UCT, "gumbel": GUMBEL}


@dataclass(frozen=True)
class SearchSettings:
    """How a search chooses. The defaults are for play; `THESIS` is the thesis's variant."""

    mode: str = "puct"
    """puct, gumbel (Gumbel AlphaZero), or uct (no priors: the traditional formula)."""
    exploration: float = 1.25
    """c of PUCT or UCT."""
    exploration_growth: float = 0.45
    """c grows by this times ln((S + base) / base); 0 keeps it constant."""
    exploration_base: float = 500.0
    """Visits at which c has grown by growth * ln 2."""
    least_visits: float = 1.0
    """S counts as at least this under PUCT's square root; 0 or 1 choose alike unless first play urgency differs."""
    fpu: str = "parent"
    """An unvisited action is worth: zero, or parent (the node's mean value less a reduction)."""
    fpu_reduction: float = 0.2
    """times the square root of the prior mass already visited."""
    root_fpu_reduction: float = 0.1
    """The same at the root."""
    solver: bool = True
    """Back up proven wins, draws and losses, and stop when the root is proven."""
    leaves: int = 8
    """Leaves of one tree judged in one batch, at most a sixteenth of the visits asked for; 1 is plain search."""
    in_flight: str = "visits"
    """What keeps leaves of a batch apart: visits (descents in flight count, WU-UCT) or prior (the thesis's penalty)."""
    prior_penalty: float = 0.5
    """The thesis: a prior is multiplied by this on each descent in flight."""
    dirichlet_share: float = 0.0
    """Share of Dirichlet noise in the root's prior; self-play with puct only, .25 as a rule."""
    dirichlet_total: float = 10.83
    """Sum of the noise's concentration over the legal actions."""
    root_temperature: float = 1.0
    """The root's prior to the power 1 / this; self-play with puct only."""
    gumbel_noise: bool = False
    """Draw Gumbel noise at the root; self-play with gumbel only. Without it a search is deterministic."""
    considered: int = 16
    """Actions that sequential halving starts with, at most (gumbel)."""
    early_stop: bool = True
    """Stop when no other action can overtake the most visited one; off where the visits themselves are wanted."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"mode is puct, gumbel or uct, not {self.mode!r}.")
        if self.mode == "gumbel" and (self.dirichlet_share or self.root_temperature != 1.0):
            raise UsageError(
                "Gumbel search explores by its own draw: leave dirichlet_share at 0 and root_temperature at 1."
            )
        if self.mode != "gumbel" and self.gumbel_noise:
            raise UsageError("gumbel_noise needs mode=gumbel.")
        for name, allowed in (("fpu", ("zero", "parent")), ("in_flight", ("visits", "prior"))):
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name} is {' or '.join(allowed)}, not {getattr(self, name)!r}.")
        if self.in_flight == "prior" and self.mode != "puct":
            raise UsageError("in_flight=prior needs mode=puct: the other modes do not choose by the prior alone.")
        if not 1 <= self.leaves <= 1024:
            raise UsageError("leaves is a whole number from 1 to 1024.")
        if not 0 < self.prior_penalty < 1 or not 0 <= self.dirichlet_share <= 1 or self.root_temperature <= 0:
            raise UsageError(
                "prior_penalty is above 0 and below 1, dirichlet_share from 0 to 1, root_temperature above 0."
            )

    def rules(self) -> Rules:
        """The numbers for compiled code."""
        return Rules(
            MODES[self.mode],
            float(self.exploration),
            float(self.exploration_growth),
            float(self.exploration_base),
            float(self.least_visits),
            self.fpu == "parent",
            float(self.fpu_reduction),
            float(self.root_fpu_reduction),
            self.solver,
            self.leaves,
            float(self.prior_penalty) if self.in_flight == "prior" else 1.0,
            self.considered,
        )


THESIS = SearchSettings(
    exploration=sqrt(2),
    exploration_growth=0.0,
    least_visits=0.0,
    fpu="zero",
    solver=False,
    in_flight="prior",
    leaves=16,
)
"""The thesis: c = sqrt 2, U = c P sqrt(S) / (1 + N), unvisited Q = 0, terminal nodes visited but nothing proven."""


class Desk(NamedTuple):
    """What the trees of a search are busy with, one entry a tree."""

    roots: np.ndarray  # int32[T] -1 when the tree is empty
    left: np.ndarray  # int32[T] simulations left
    done: np.ndarray  # int32[T] simulations made in this search
    share: np.ndarray  # int32[T] leaves of a wave, at most
    evaluations: np.ndarray  # int64[T] positions judged in this search
    laid: np.ndarray  # bool[T] Gumbel search: the three below are ready
    noise: np.ndarray  # float64[T, A] g of each root action, then g + l
    earlier: np.ndarray  # int32[T, A] visits of each root action from before
    schedule: np.ndarray  # int32[T, V] new visits that simulation t asks of the action it takes


class Leaves(NamedTuple):
    """What a wave found to judge: roots first, then leaves below them."""

    tree: np.ndarray  # int32[B]
    node: np.ndarray  # int32[B]
    parent: np.ndarray  # int32[B]
    action: np.ndarray  # int32[B]
    collided: np.ndarray  # int32[B] nodes at which a descent met another one
    penalized: np.ndarray  # int32[X] edges whose prior is lowered, in order
    saved: np.ndarray  # float32[X] the priors they had


class Batch:
    """Leaves on their way, from the descents that found them to their values."""

    def __init__(self, size: int, actions: int):
        self.found = Leaves(
            tree=np.zeros(size, np.int32),
            node=np.zeros(size, np.int32),
            parent=np.zeros(size, np.int32),
            action=np.zeros(size, np.int32),
            collided=np.zeros(size, np.int32),
            penalized=np.zeros(1 << 16, np.int32),
            saved=np.zeros(1 << 16, np.float32),
        )
        self.count = 0  # leaves found
        self.ended = 0  # visits that needed no leaf
        self.players, self.over = np.zeros(size, np.int8), np.zeros(size, np.bool_)
        self.results, self.masks = np.zeros(size, np.float32), np.zeros((size, actions), np.bool_)


def make_wave(expand, finish, back_up, take_back, add_node, put_likeliest_first, lay_schedule, is_decided, **rule):
    """The compiled halves of a wave, as closures over what they call.

    They take the NamedTuples of arrays as plain tuples, which numba recognizes 10 us a call sooner.
    """
    puct, uct, gumbel_inner, gumbel_root = rule["puct"], rule["uct"], rule["gumbel_inner"], rule["gumbel_root"]

    def gather(pool, rules, desk, leaves, may_stop):
        """Fills `leaves`; answers how many of them are roots, how many there are, and how many visits needed no leaf.

        Visits to ended or proven nodes are made here, a few a wave. may_stop: end the trees that are decided.
        """
        rules, desk, leaves = Rules(*rules), Desk(*desk), Leaves(*leaves)
        nodes, edges, _ = pool
        counted = rules.prior_penalty == 1.0  # descents in flight are counted, or else lower the prior
        count, ended = 0, 0
        for t in range(len(desk.roots)):
            root = desk.roots[t]
            if root >= 0 and nodes.count[root] == WAITING:
                leaves.tree[count] = t
                leaves.node[count] = root
                count += 1
        roots = count
        for t in range(len(desk.roots)):
            root = desk.roots[t]
            if root < 0 or desk.left[t] <= 0 or nodes.count[root] < 1:
                continue
            if may_stop and is_decided(pool, root, desk.left[t] + nodes.flight[root]):
                desk.left[t] = 0
                continue
            if rules.mode == GUMBEL and not desk.laid[t]:
                desk.laid[t] = True
                for edge in range(nodes.first[root], nodes.first[root] + nodes.count[root]):
                    action = edges.action[edge]
                    desk.noise[t, action] += np.log(max(float(edges.prior[edge]), 1e-30))
                    desk.earlier[t, action] = edges.visits[edge]
                width = min(rules.considered, nodes.count[root], desk.left[t])
                lay_schedule(width, desk.schedule[t, : desk.left[t]])
            found, collisions, penalties = 0, 0, 0
            enough = ended + max(16, desk.share[t])
            level = -1
            while desk.left[t] > 0 and found < desk.share[t] and collisions <= desk.share[t] // 4 and ended < enough:
                if rules.solver and nodes.proven[root] != UNKNOWN:
                    desk.left[t] = 0
                    break
                node = root
                chosen = -1
                unpenalized = penalties
                if rules.mode == GUMBEL:
                    wanted = desk.schedule[t, desk.done[t]]
                    if found > 0 and wanted != level:
                        break  # the next round builds on what this one learns
                    level = wanted
                    chosen = gumbel_root(pool, root, wanted, desk.noise[t], desk.earlier[t])
                while True:
                    if chosen < 0:
                        if rules.mode == PUCT:
                            chosen = puct(pool, node, rules)
                        elif rules.mode == UCT:
                            chosen = uct(pool, node, rules)
                        else:
                            chosen = gumbel_inner(pool, node)
                    if counted:
                        edges.flight[chosen] += 1
                        nodes.flight[node] += 1
                    elif penalties < len(leaves.penalized):
                        leaves.penalized[penalties] = chosen
                        leaves.saved[penalties] = edges.prior[chosen]
                        penalties += 1
                        edges.prior[chosen] *= np.float32(rules.prior_penalty)
                    child = edges.child[chosen]
                    if child < 0:
                        leaves.tree[count] = t
                        leaves.parent[count] = node
                        leaves.action[count] = edges.action[chosen]
                        leaves.node[count] = add_node(pool, node, chosen)
                        count += 1
                        found += 1
                        desk.left[t] -= 1
                        desk.done[t] += 1
                        if nodes.opened[node] < nodes.count[node]:
                            nodes.opened[node] += 1
                            if rules.mode == PUCT:
                                put_likeliest_first(pool, node)
                        break
                    if nodes.over[child] or nodes.proven[child] != UNKNOWN:
                        value = float(nodes.value[child])
                        if nodes.proven[child] != UNKNOWN:
                            value = float(nodes.proven[child])
                        back_up(pool, child, value, 1 if counted else 0)
                        while penalties > unpenalized:  # this descent is not in flight
                            penalties -= 1
                            edges.prior[leaves.penalized[penalties]] = leaves.saved[penalties]
                        desk.left[t] -= 1
                        desk.done[t] += 1
                        ended += 1
                        break
                    if nodes.count[child] == WAITING:
                        leaves.collided[collisions] = child
                        collisions += 1
                        break
                    node = child
                    chosen = -1
            for i in range(penalties - 1, -1, -1):
                edges.prior[leaves.penalized[i]] = leaves.saved[i]
            if counted:
                for i in range(collisions):
                    take_back(pool, leaves.collided[i])
        return roots, count, ended

    def settle(pool, rules, desk, leaves, count, players, over, results, masks, logits, values):
        """Gives the leaves their edges and backs their values up.

        Row i of logits and values is the i-th leaf at which the game is not over.
        """
        rules, desk, leaves = Rules(*rules), Desk(*desk), Leaves(*leaves)
        nodes, _, _ = pool
        row = 0
        for i in range(count):
            node = leaves.node[i]
            if over[i]:
                finish(pool, node, players[i], results[i], rules.solver)
            else:
                expand(pool, node, players[i], values[row], masks[i], logits[row])
                if rules.mode == PUCT:
                    put_likeliest_first(pool, node)
                desk.evaluations[leaves.tree[i]] += 1
                row += 1
            back_up(pool, node, float(nodes.value[node]), 1 if rules.prior_penalty == 1.0 else 0)

    return gather, settle


def find_busy(pool, roots, left, busy):
    """Which trees have simulations left, or a root to judge."""
    nodes, _, _ = pool
    for t in range(len(roots)):
        root = roots[t]
        waits = root >= 0 and nodes.count[root] == WAITING
        goes_on = root >= 0 and nodes.proven[root] == UNKNOWN and not nodes.over[root]
        busy[t] = waits or (goes_on and left[t] > 0)


FILES = (__file__, tree.__file__, choose.__file__, result.__file__)
SOURCES = identity(Path(str(file)).read_bytes() for file in FILES)
gather, settle = (
    kernel(half, SOURCES)
    for half in make_wave(
        tree.expand,
        tree.finish,
        tree.back_up,
        tree.take_back,
        tree.add_node,
        tree.put_likeliest_first,
        choose.halving_schedule,
        choose.is_decided,
        puct=choose.puct,
        uct=choose.uct,
        gumbel_inner=choose.gumbel_inner,
        gumbel_root=choose.gumbel_root,
    )
)
find_busy = kernel(find_busy, SOURCES)
add_node = kernel(tree.add_node.py_func, SOURCES)
copy_trees = kernel(tree.copy_trees.py_func, SOURCES)
read_root = kernel(result.read_root.py_func, SOURCES)
is_hard = kernel(choose.is_hard.py_func, SOURCES)
is_decided = kernel(choose.is_decided.py_func, SOURCES)
bar = kernel(tree.bar.py_func, SOURCES)


class Search:
    """One or many trees over one game. Not for several threads at once, but for `stop`."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SearchSettings = SearchSettings(),
        trees: int = 1,
        rng: np.random.Generator | None = None,
    ):
        self.game = game
        self.evaluator = evaluator
        self.settings = settings
        self.rng = rng or np.random.default_rng(0)
        self.kernels = game.kernels()
        self.rules = settings.rules()
        A, B = game.actions, trees * (settings.leaves + 1)
        self.pool = make_tree(64 * trees, 64 * trees * min(A, 64) + A * B)
        self._bare = bare(self.pool)
        self._spare: Tree | None = None  # of the same size, to copy into
        self._dropped = False  # is there something in the pool that no tree reaches?
        self.states = np.zeros(len(self.pool.nodes), game.State)
        T = trees
        self.desk = Desk(
            roots=np.full(T, -1, np.int32),
            left=np.zeros(T, np.int32),
            done=np.zeros(T, np.int32),
            share=np.ones(T, np.int32),
            evaluations=np.zeros(T, np.int64),
            laid=np.zeros(T, np.bool_),
            noise=np.zeros((T, A), np.float64),
            earlier=np.zeros((T, A), np.int32),
            schedule=np.zeros((T, 1), np.int32),
        )
        self._bars = np.zeros((T, 2, A), np.int32)  # by tree and player (+1, -1): plies below which an action is barred
        self._barred = False  # is anything?
        self._batches = [Batch(B, A)]  # one for each thread that works on the trees
        self._raw: dict[int, np.ndarray] = {}  # by tree: the root's priors before noise
        self._fresh: set[int] = set()  # trees whose root still wants its noise
        self._stop = threading.Event()
        self._helpers: ThreadPoolExecutor | None = None

    # One tree at a time: for self-play, where each tree goes on to its next move when it is done.

    def begin(self, index: int, state: np.ndarray, visits: int) -> None:
        """Starts a search of the position `state` (State[1]) in a tree.

        What the tree knows is kept if its root is that position, and counts among the visits.
        """
        desk = self.desk
        root = desk.roots[index]
        self._fresh.discard(index)
        if root < 0 or self.states[root].tobytes() != state.tobytes():
            self._dropped |= root >= 0
            self._reserve(1)
            root = desk.roots[index] = add_node(self._bare, -1, -1)
            self.states[root] = state[0]
            self._raw.pop(index, None)
            known = 0
        else:
            known = max(0, int(self._bare[0]["visits"][root]) - 1)
        self._restore(index)
        desk.left[index] = max(0, visits - known)
        desk.done[index] = 0
        desk.evaluations[index] = 0
        desk.share[index] = max(1, min(self.settings.leaves, visits // 16))
        if self.settings.mode == "gumbel":
            desk.laid[index] = False
            desk.noise[index] = self.rng.gumbel(size=self.game.actions) if self.settings.gumbel_noise else 0.0
            if desk.left[index] > desk.schedule.shape[1]:
                longer = np.zeros((len(desk.roots), int(desk.left[index])), np.int32)
                longer[:, : desk.schedule.shape[1]] = desk.schedule
                self.desk = desk._replace(schedule=longer)
        if self.settings.dirichlet_share or self.settings.root_temperature != 1.0:
            self._fresh.add(index)
            self._make_noise()

    def bar(self, index: int, depths: np.ndarray | None) -> None:
        """Leaves actions out of a tree: int32[2, A], by player (+1, -1) how many plies deep an action is barred, 1 at
        the root alone; None bars nothing. What the tree knows is forgotten. Where all are barred, none is.
        """
        self.reset(index)
        self._bars[index] = 0 if depths is None else depths
        self._barred = bool(self._bars.any())

    def soften(self, index: int, temperature: float) -> None:
        """Takes the prior of a root that is judged to the power 1 / temperature; `result` tells the evaluator's own."""
        self._restore(index)
        part = self._root_edges(index)
        if part.stop == part.start:
            return
        priors = self.pool.edges.prior[part]  # a view
        self._raw[index] = priors.copy()
        self.pool.nodes.opened[self.desk.roots[index]] = part.stop - part.start  # they are in no order any more
        priors[:] = choose.soften(priors, temperature)

    def busy(self) -> np.ndarray:
        """bool[T]: the trees that have simulations left, or a root to judge."""
        busy = np.zeros(len(self.desk.roots), np.bool_)
        find_busy(self._bare, self.desk.roots, self.desk.left, busy)
        return busy

    def wave(self) -> int:
        """One batch: leaves of all busy trees judged together. Answers how many positions the evaluator saw."""
        return self._wave(False)[1]

    def _wave(self, may_stop: bool) -> tuple[int, int]:
        """One batch; how many leaves and ended visits it had, none when all is done, and how many the evaluator saw.

        may_stop: trees whose most visited action can't be overtaken end.
        """
        batch = self._batches[0]
        self._reserve(len(batch.over))
        states = self._collect(batch, may_stop)
        self._settle(batch, *(self.evaluator(states) if len(states) else NOTHING))
        return batch.count + batch.ended, len(states)

    def _collect(self, batch: Batch, may_stop: bool) -> np.ndarray:
        """Finds leaves and plays them; State[B] of those that are to be judged. There must be room for them."""
        found = batch.found
        roots, count, batch.ended = gather(self._bare, tuple(self.rules), tuple(self.desk), tuple(found), may_stop)
        batch.count = count
        if count == 0:
            return self.states[:0]
        node = found.node[:count]
        self.kernels.play(self.states, found.parent[roots:count], found.action[roots:count], node[roots:])
        self.kernels.look(self.states, node, batch.players, batch.over, batch.results, batch.masks)
        if self._barred:
            bar(self._bare, found.tree, node, batch.players, self._bars, batch.masks)
        over = batch.over[:count]
        if over.any():
            return self.states[node[~over]]
        if roots:
            return self.states[node]
        return self.states[node[0] : node[0] + count]  # leaves below roots are numbered one after the other

    def _settle(self, batch: Batch, logits: np.ndarray, values: np.ndarray) -> None:
        """Backs up what a batch found."""
        if batch.count:
            looked = batch.players, batch.over, batch.results, batch.masks
            leaves = tuple(batch.found)
            settle(self._bare, tuple(self.rules), tuple(self.desk), leaves, batch.count, *looked, logits, values)
        if self._fresh:
            self._make_noise()

    def result(self, index: int = 0) -> Result:
        """What a tree has found so far."""
        desk, A = self.desk, self.game.actions
        found = np.zeros(A, np.int32), np.zeros(A, np.float32), np.zeros(A, np.float32), np.zeros(A, np.float32)
        line = np.zeros(LONGEST, np.int32)
        value, raw_value, proven, length = read_root(
            self._bare,
            desk.roots[index],
            self.rules.mode,
            desk.laid[index],
            desk.noise[index],
            desk.earlier[index],
            self._raw.get(index, NO_PRIORS),
            found,
            line,
        )
        actions = line[:length].tolist()
        return Result(
            *found,
            value,
            raw_value,
            actions[0] if actions else -1,
            None if proven == UNKNOWN else proven,
            actions,
            int(desk.evaluations[index]),
        )

    # All trees at once.

    def run(
        self,
        states: np.ndarray,
        limit: Limit,
        report: Callable[[], object] | None = None,
        every: float = 1.0,
        to_the_end: bool = False,
    ) -> list[Result]:
        """Searches `states` (State[T]), one in each tree, within the limit; fewer states leave the other trees idle.

        report is called each so many seconds, perhaps by another thread, while no thread changes the trees; it may
        read them. to_the_end: no early stop.
        """
        if limit.visits is None and limit.seconds is None:
            raise UsageError("A search needs a limit: visits, seconds or both.")
        self._stop.clear()
        started = time.monotonic()
        visits = limit.visits if limit.visits is not None else 1 << 30
        if self.settings.mode == "gumbel":
            visits = min(visits, 1 << 16)  # the schedule is laid out ahead
        self.desk.left[len(states) :] = 0
        for index in range(len(states)):
            self.begin(index, states[index : index + 1], visits)
        may_stop = self.settings.early_stop and self.settings.mode != "gumbel" and not to_the_end
        slowest, clock, reported = 0.0, started, started

        def goes_on(batches: int = 1) -> bool:
            """Is there time for so many batches in flight? Asked once a batch."""
            nonlocal slowest, clock, reported
            now = time.monotonic()
            slowest, clock = max(0.9 * slowest, now - clock), now
            if report is not None and now - reported >= every and self.desk.done.any():
                report()
                reported = clock = time.monotonic()
            ends = (
                limit.seconds is not None
                and self.desk.done.any()
                and self._has_ended(limit, now - started, now + batches * slowest - started, may_stop)
            )
            return not self._stop.is_set() and not ends

        try:
            evaluators = self._beside(states)
            if evaluators:
                self._wave(may_stop)  # the root alone
                self._take_turns(evaluators, lambda: goes_on(len(evaluators)), may_stop)
            else:
                while self._wave(may_stop)[0] and goes_on():
                    pass
        except BaseException:
            self.reset()  # descents in flight would stay so
            raise
        return [self.result(index) for index in range(len(states))]

    def _has_ended(self, limit: Limit, passed: float, until: float, may_stop: bool) -> bool:
        """Is the time over by when the batches in flight are back (`until`), or can no more of it change the choice?"""
        assert limit.seconds is not None
        tree, root = self._bare, self.desk.roots[0]
        if until > limit.seconds:
            longer = limit.most is not None and until <= limit.most and len(self.desk.roots) == 1
            return not (longer and is_hard(tree, root))
        if not may_stop or len(self.desk.roots) > 1 or passed < SURE * limit.seconds:
            return False
        still = self.desk.done[0] * (limit.seconds - passed) / passed
        return bool(is_decided(tree, root, int(still) + tree[0]["flight"][root]))

    def _beside(self, states: np.ndarray) -> Sequence[Evaluator]:
        """Evaluators for threads that grow one tree in turn; none where one thread does as well."""
        beside = getattr(self.evaluator, "beside", None)
        counts_flight = self.settings.mode != "gumbel" and self.settings.in_flight == "visits"
        if beside is None or len(states) != 1 or not counts_flight or self.desk.share[0] < LEAST_IN_TURN:
            return ()
        return beside(THREADS)

    def _take_turns(self, evaluators: Sequence[Evaluator], goes_on: Callable[[], bool], may_stop: bool) -> None:
        """Grows one tree by threads in turn: while the network of one judges its leaves, the next works on the tree.

        The leaves of a batch are shared among them. Turns are strict, so what a search finds does not depend on how
        fast each thread is.
        """
        while len(self._batches) < len(evaluators):
            self._batches.append(Batch(len(self._batches[0].over), self.game.actions))
        self._helpers = self._helpers or ThreadPoolExecutor(len(evaluators) - 1, "search")
        self.desk.share[0] = max(1, self.desk.share[0] // len(evaluators))
        turn, at, flying, ended = threading.Condition(), 0, 0, False

        def work(lane: int) -> None:
            nonlocal at, flying, ended
            batch, judged = self._batches[lane], None

            def is_due() -> bool:
                return at == lane or ended

            try:
                while True:
                    with turn:
                        turn.wait_for(is_due)
                        if judged is not None:
                            self._settle(batch, *judged)
                            flying, judged = flying - 1, None
                        if ended:
                            return
                        states = self.states[:0]
                        batch.count = batch.ended = 0
                        if goes_on():
                            self._reserve(len(batch.over), renumber=not flying)
                            states = self._collect(batch, may_stop)
                        if len(states):
                            flying += 1
                        else:
                            self._settle(batch, *NOTHING)
                            ended = not (batch.count or batch.ended or flying)
                        at = (lane + 1) % len(evaluators)
                        turn.notify_all()
                    if len(states):
                        judged = evaluators[lane](states)
            except BaseException:
                with turn:
                    ended = True
                    turn.notify_all()
                raise

        helpers = [self._helpers.submit(work, lane) for lane in range(1, len(evaluators))]
        try:
            work(0)
        finally:
            for helper in helpers:
                helper.result()

    def advance(self, index: int, action: int) -> None:
        """Makes the position after `action` the tree's root, with all that is known below it; the rest is freed."""
        nodes, edges, _ = self.pool
        root = self.desk.roots[index]
        if root < 0:
            return
        self._restore(index)
        self._fresh.discard(index)
        first, count = nodes.first[root], max(0, nodes.count[root])
        found = np.flatnonzero(edges.action[first : first + count] == action)
        child = edges.child[first + found[0]] if len(found) else -1
        if child >= 0:
            nodes.parent[child] = nodes.edge[child] = -1
        self.desk.roots[index] = child
        self._dropped = True
        self.desk.left[index] = 0

    def reset(self, index: int | None = None) -> None:
        """Forgets a tree, or all of them."""
        for t in range(len(self.desk.roots)) if index is None else (index,):
            self.desk.roots[t] = -1
            self._raw.pop(t, None)
            self._fresh.discard(t)
        if (self.desk.roots < 0).all():
            self.pool.used[:] = 0
        self._dropped = bool(self.pool.used[0])

    @property
    def stopped(self) -> bool:
        """Was the last `run` ended by `stop`?"""
        return self._stop.is_set()

    def stop(self) -> None:
        """From another thread: ends `run` after the batch in hand."""
        self._stop.set()

    def _reserve(self, leaves: int, renumber: bool = True) -> None:
        """Room for so many new nodes with all their edges: first by dropping what no tree reaches, which gives nodes
        other numbers, then by growing."""
        used, room = self.pool.used.tolist(), (len(self._bare[0]), len(self._bare[1]))
        if used[0] + leaves <= room[0] and used[1] + leaves * self.game.actions <= room[1]:
            return
        size, need = np.array(room), np.array([1, self.game.actions]) * leaves
        if self._dropped and renumber:
            old, live = self.pool, self._spare or make_tree(*size)
            live.used[:] = 0
            origin = np.zeros(size[0], np.int32)
            copy_trees(bare(old), bare(live), self.desk.roots, origin)
            self.states = self.states[origin]
            self.pool, self._spare, self._dropped = live, old, False
        # At least twice the need, so that copying costs a constant a node.
        larger = np.maximum(size, 2 * (self.pool.used + need))
        if (larger > size).any():
            live, self._spare = self.pool, None
            self.pool = make_tree(*larger)
            self.pool.used[:] = live.used
            copy_start(live.nodes, self.pool.nodes, live.used[0])
            copy_start(live.edges, self.pool.edges, live.used[1])
            states, self.states = self.states, np.zeros(larger[0], self.game.State)
            copy_start(states, self.states, live.used[0])
        self._bare = bare(self.pool)

    def _root_edges(self, index: int) -> slice:
        root = self.desk.roots[index]
        first = int(self.pool.nodes.first[root])
        return slice(first, first + max(0, int(self.pool.nodes.count[root])))

    def _restore(self, index: int) -> None:
        """Takes the noise out of a root's prior."""
        if index in self._raw:
            self.pool.edges.prior[self._root_edges(index)] = self._raw.pop(index)

    def _make_noise(self) -> None:
        """Temperature, then Dirichlet noise, into the prior of the roots that are judged and still want it."""
        settings = self.settings
        for index in sorted(self._fresh):
            if self.pool.nodes.count[self.desk.roots[index]] == WAITING:
                continue
            self._fresh.discard(index)
            part = self._root_edges(index)
            self.pool.nodes.opened[self.desk.roots[index]] = part.stop - part.start  # noise leaves them in no order
            priors = self.pool.edges.prior[part]  # a view
            self._raw[index] = priors.copy()
            if settings.root_temperature != 1.0:
                priors[:] = choose.soften(priors, settings.root_temperature)
            if settings.dirichlet_share and len(priors):
                priors[:] = choose.dirichlet_noise(priors, settings.dirichlet_share, settings.dirichlet_total, self.rng)


SURE = 0.25
"""Of a time limit this share has passed before the pace so far tells how many visits are still to come."""
THREADS = 2
"""That grow one tree in turn: enough for one network to be busy while the other's leaves are settled."""
LEAST_IN_TURN = 4
"""Leaves of a batch that are worth sharing among them."""
NO_PRIORS = np.zeros(0, np.float32)
NOTHING = (np.zeros((0, 1), np.float32), np.zeros(0, np.float32))


def copy_start(old: np.ndarray, new: np.ndarray, count: int) -> None:
    """Copies the first records as bytes: field by field takes twenty times as long."""
    size = int(count) * old.itemsize
    new.view(np.ndarray).view(np.uint8)[:size] = old.view(np.ndarray).view(np.uint8)[:size]
