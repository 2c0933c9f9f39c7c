"""Eyes in Go: which groups live by two of them and which only in seki, and where a player must still fill in.

It reads a finished board whose dead stones are known. Letters: N points; `near` is int16[N, 4], the points beside each
one, then -1. Stones are +1 and -1, and a region is a connected set of points without living stones.
"""

import numpy as np

MOST = 8  # points of a region whose eyes are counted by trying moves; a larger one has two
OPEN = 20  # a region that meets both colors and is larger than this is not settled: who lives beside it is not known


def examine(cells, gone, near, count_filled, count_seki, owners, seki):
    """Whose each point is, and which stones live in seki; how many groups Black has that live by eyes, less White's.

    cells         int8[N], the board
    gone          bool[N], its dead stones
    count_filled  do points count that a side has to fill in?
    count_seki    do points count that are surrounded in seki?
    owners        int8[N], set: a stone's side; of other points the side that surrounds them, where they count
    seki          bool[N], set: the stones of chains without two eyes; those that meet an open region are not among them

    A chain lives when it has two eyes, all of whose chains live (Benson 1976, with what counts as two eyes read more
    freely). One that has not, but meets one that lives in a region of their own, fills in a point and is joined to it.
    So does a chain (beside a false eye) that would be left with one liberty when nobody's points are filled.
    """
    count = len(cells)
    stones, prisoners = np.zeros(count, np.int8), np.zeros(count, np.bool_)
    for point in range(count):
        if gone[point]:
            prisoners[point] = cells[point] != 0
        else:
            stones[point] = cells[point]
    region, sides, sizes = np.full(count, -1, np.int16), np.zeros(count, np.int8), np.zeros(count, np.int16)
    chain, stack, lives = np.full(count, -1, np.int16), np.empty(count, np.int16), np.zeros(count, np.bool_)
    while True:
        regions = mark_regions(stones, near, region, sides, sizes, stack)
        chains = mark_chains(stones, near, chain, stack)
        tie(stones, near, region, sides, chain, chains)
        open_to = unsettled(near, region, sides, sizes, chain, chains)
        if fill_false_eyes(stones, prisoners, cells, near, region, sides, chain, open_to, stack):
            continue
        find_living(near, region, sides, sizes, regions, prisoners, chain, chains, lives)
        if not join_living(stones, near, region, sides, chain, lives):
            break
    scored = np.full(regions, count_seki, np.bool_)
    for point in range(count):
        for k in range(4):
            beside = near[point, k]
            if region[point] >= 0 and beside >= 0 and chain[beside] >= 0:
                scored[region[point]] |= lives[chain[beside]] or open_to[chain[beside]]
    for point in range(count):
        seki[point] = False
        owners[point] = 0
        if stones[point] == 0:
            if scored[region[point]]:
                owners[point] = sides[region[point]]
            continue
        settled = lives[chain[point]] or open_to[chain[point]]
        if cells[point] == stones[point] and not gone[point]:
            owners[point] = stones[point]
            seki[point] = not settled
        elif count_filled and (count_seki or settled):  # it was filled in
            owners[point] = stones[point]
    return count_groups(stones, near, region, sides, chain, chains, lives)


def mark_regions(stones, near, region, sides, sizes, stack):
    """Numbers the regions, -1 for stones; by region: the one color that it meets, or 0, and its size."""
    count, regions = len(stones), 0
    region[:] = -1
    for start in range(count):
        if stones[start] != 0 or region[start] >= 0:
            continue
        black, white, left, size = False, False, 1, 0
        stack[0] = start
        region[start] = regions
        while left > 0:
            left -= 1
            point = stack[left]
            size += 1
            for k in range(4):
                beside = near[point, k]
                if beside < 0:
                    break
                if stones[beside] != 0:
                    black |= stones[beside] > 0
                    white |= stones[beside] < 0
                elif region[beside] < 0:
                    region[beside] = regions
                    stack[left] = beside
                    left += 1
        sides[regions] = int(black) - int(white)
        sizes[regions] = size
        regions += 1
    return regions


def mark_chains(stones, near, chain, stack):
    """Numbers the chains, -1 for other points."""
    count, chains = len(stones), 0
    chain[:] = -1
    for start in range(count):
        if stones[start] == 0 or chain[start] >= 0:
            continue
        left = 1
        stack[0] = start
        chain[start] = chains
        while left > 0:
            left -= 1
            point = stack[left]
            for k in range(4):
                beside = near[point, k]
                if beside < 0:
                    break
                if stones[beside] == stones[start] and chain[beside] < 0:
                    chain[beside] = chains
                    stack[left] = beside
                    left += 1
        chains += 1
    return chains


def tie(stones, near, region, sides, chain, chains):
    """Gives chains that meet on two points, of which the other side can take only one, the number of one of them.

    One of the two must be nobody's: two of their own are eyes, perhaps false ones.
    """
    group, shared, eyes = np.arange(chains), np.zeros((chains, chains), np.int8), np.zeros((chains, chains), np.int8)
    for point in range(len(stones)):
        if stones[point] != 0:
            continue
        for k in range(4):
            for j in range(k):
                one, other = near[point, j], near[point, k]
                if one >= 0 and other >= 0 and stones[one] == stones[other] != 0 and chain[one] != chain[other]:
                    one, other = min(chain[one], chain[other]), max(chain[one], chain[other])
                    shared[one, other] += 1
                    eyes[one, other] += sides[region[point]] != 0
                    if shared[one, other] >= 2 > eyes[one, other]:
                        group[root(group, one)] = root(group, other)
    for point in range(len(stones)):
        if chain[point] >= 0:
            chain[point] = root(group, chain[point])


def unsettled(near, region, sides, sizes, chain, chains):
    """bool[chains]: the chains that meet an open region."""
    open_to = np.zeros(chains, np.bool_)
    for point in range(len(region)):
        if region[point] >= 0 and sides[region[point]] == 0 and sizes[region[point]] > OPEN:
            for k in range(4):
                beside = near[point, k]
                if beside >= 0 and chain[beside] >= 0:
                    open_to[chain[beside]] = True
    return open_to


def fill_false_eyes(stones, prisoners, cells, near, region, sides, chain, open_to, stack):
    """Plays the points by which alone a chain hangs together with others; were there any?

    A dead stone on such a point is taken first, which costs the points beside its chain.
    """
    count, chains = len(stones), len(open_to)
    liberty, liberties = np.full(chains, -1, np.int16), np.zeros(chains, np.int16)
    first, several = np.full(count, -1, np.int16), np.zeros(count, np.bool_)  # by region: one chain, and are there more
    for point in range(count):
        if region[point] < 0 or sides[region[point]] == 0:
            continue
        for k in range(4):
            beside = near[point, k]
            if beside < 0:
                break
            one = chain[beside]
            if one < 0:
                continue
            if liberty[one] != point:
                liberty[one] = point
                liberties[one] += 1
            if first[region[point]] < 0:
                first[region[point]] = one
            several[region[point]] |= first[region[point]] != one
    filled = False
    for one in range(chains):
        if liberties[one] != 1 or open_to[one] or not several[region[liberty[one]]] or stones[liberty[one]] != 0:
            continue
        point = liberty[one]
        side = sides[region[point]]
        filled = True
        if prisoners[point]:
            left = 1
            stack[0] = point
            prisoners[point] = False
            while left > 0:
                left -= 1
                at = stack[left]
                for k in range(4):
                    beside = near[at, k]
                    if beside < 0:
                        break
                    if stones[beside] == 0 and cells[beside] == 0:
                        stones[beside] = side
                    elif prisoners[beside] and cells[beside] == cells[point]:
                        prisoners[beside] = False
                        stack[left] = beside
                        left += 1
        stones[point] = side
    return filled


def find_living(near, region, sides, sizes, regions, prisoners, chain, chains, lives):
    """Sets which chains live by two eyes."""
    count = len(region)
    lives[:chains] = True
    value = np.zeros(regions, np.int16)
    for each in range(regions):
        if sides[each] != 0:
            value[each] = 2 if sizes[each] > MOST or two_eyes(region, each, sizes[each], prisoners, near) else 1
    eyes, met = np.zeros(chains, np.int16), np.zeros((chains, regions), np.bool_)
    for point in range(count):
        for k in range(4):
            beside = near[point, k]
            if region[point] >= 0 and beside >= 0 and chain[beside] >= 0:
                met[chain[beside], region[point]] = True
    more = True
    while more:
        more = False
        for one in range(chains):
            if not lives[one]:
                continue
            eyes[one] = 0
            for each in range(regions):
                if met[one, each]:
                    eyes[one] += value[each]
            if eyes[one] < 2:
                lives[one] = False
                more = True
        for one in range(chains):
            if not lives[one]:
                for each in range(regions):
                    if met[one, each] and value[each] < 2:
                        value[each] = 0


def join_living(stones, near, region, sides, chain, lives):
    """Plays a point that joins a chain without two eyes to one that lives; was there one?"""
    for point in range(len(stones)):
        if region[point] < 0 or sides[region[point]] == 0:
            continue
        living, other = False, False
        for k in range(4):
            beside = near[point, k]
            if beside >= 0 and chain[beside] >= 0:
                living |= lives[chain[beside]]
                other |= not lives[chain[beside]]
        if living and other:
            stones[point] = sides[region[point]]
            return True
    return False


def count_groups(stones, near, region, sides, chain, chains, lives):
    """Black's groups that live, less White's; chains that meet in a region of their own are one group."""
    group, first = np.arange(chains), np.full(len(stones), -1, np.int64)
    for point in range(len(stones)):
        if region[point] < 0 or sides[region[point]] == 0:
            continue
        for k in range(4):
            beside = near[point, k]
            if beside >= 0 and chain[beside] >= 0 and lives[chain[beside]]:
                one = root(group, chain[beside])
                if first[region[point]] >= 0:
                    group[one] = root(group, first[region[point]])
                first[region[point]] = root(group, one)
    more, seen = 0, np.zeros(chains, np.bool_)
    for point in range(len(stones)):
        if chain[point] >= 0 and lives[chain[point]]:
            one = root(group, chain[point])
            if not seen[one]:
                more += int(stones[point])
                seen[one] = True
    return more


def root(group, one):
    """The chain that stands for the group of another."""
    while group[one] != one:
        one = group[one]
    return one


def two_eyes(region, number, size, prisoners, near):
    """Can the side around a small region, to move there first, make two eyes in it? `prisoners` are stones to be taken.

    The two sides play in turn, and the attacker may pass; the defender wins when its stones part what is left of the
    region, and loses when nothing is left.
    """
    points, beside = np.empty(MOST, np.int16), np.zeros(MOST, np.int64)
    found = 0
    for point in range(len(region)):
        if region[point] == number:
            points[found] = point
            found += 1
    attackers = 0
    for i in range(size):
        attackers |= int(prisoners[points[i]]) << i
        for j in range(size):
            for k in range(4):
                if near[points[i], k] == points[j]:
                    beside[i] |= 1 << j
    deep = 3 * MOST
    rest, enemy, move = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64)
    rest[0], enemy[0] = (1 << size) - 1, attackers  # what the defender has not filled, and the attacker's stones there
    depth, result = 0, -1  # the defender moves at even depths; a result is the answer of the node below
    while True:
        free, defends = rest[depth] & ~enemy[depth], depth % 2 == 0
        if result >= 0 and result == int(defends):  # a good move: the node is decided
            pass
        else:
            result = -1
            if not defends and free & (free - 1) == 0:  # the attacker may not fill the last point
                move[depth] = max(move[depth], size)
            while move[depth] < size and not free >> move[depth] & 1:
                move[depth] += 1
            if move[depth] >= (size if defends else size + 1) or depth == deep - 1:
                result = int(not defends)  # no move was good
            else:
                step = free & 1 << move[depth]  # nothing: the attacker passes
                move[depth] += 1
                rest[depth + 1], enemy[depth + 1] = rest[depth], enemy[depth]
                if defends:
                    rest[depth + 1] ^= step
                    if enemy[depth + 1] == rest[depth + 1]:  # all that is left was taken
                        enemy[depth + 1] = 0
                else:
                    enemy[depth + 1] |= step
                if defends and (rest[depth + 1] == 0 or parted(rest[depth + 1], beside)):
                    result = int(rest[depth + 1] != 0)
                else:
                    depth += 1
                    move[depth] = 0
                continue
        if depth == 0:
            return result == 1
        depth -= 1


def parted(points, beside):
    """Do these points, bits of a number, fall into several parts?"""
    reached = points & -points
    while True:
        more = reached
        for i in range(MOST):
            if reached >> i & 1:
                more |= beside[i] & points
        if more == reached:
            return reached != points
        reached = more
