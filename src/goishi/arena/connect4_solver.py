"""Who wins a Connect Four position on 7x6 against best play: an exact search over two 64-bit boards.

Bit `7 * column + height` is a cell, the lowest bit of a column its bottom; the seventh bit of a column stays empty.
`mine` holds the pieces of the player to move, `both` all pieces. After Pascal Pons, "Solving Connect Four", and Victor
Allis's claimeven ("A Knowledge-based Approach of Connect-Four").
Only the sign is searched: is the value more than `above`, which is -1 (at least a draw) or 0 (a win)?
"""

from collections.abc import Iterable

import numba
import numpy as np

COLUMNS, ROWS = 7, 6
BOTTOM = np.uint64(sum(1 << 7 * column for column in range(COLUMNS)))
CELLS = np.uint64(int(BOTTOM) * 0b111111)
FIRST_ROWS = np.uint64(int(BOTTOM) * 0b010101)  # the lower cell of each pair that a column consists of
SECOND_ROWS = np.uint64(int(BOTTOM) * 0b101010)
CENTER_FIRST = (3, 2, 4, 1, 5, 0, 6)
NO, YES, UNKNOWN = 0, 1, 2
COLUMN = np.uint64(0b111111)
KEY_BITS = np.uint64((1 << 49) - 1)
EFFORT_AT, FACTS_AT = np.uint64(49), np.uint64(60)
EFFORT_BITS = np.uint64(0b111111)
ENTRIES = 25  # the table has 2 ** 25 of them; the system gives memory only for those that are used
SHIFT = np.uint64(64 - ENTRIES)
ONE = np.uint64(1)
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(cache=True, nogil=True)
def wins_next(mine, both):
    """The empty cells, reachable or not, that would complete four of mine."""
    cells = (mine << np.uint64(1)) & (mine << np.uint64(2)) & (mine << np.uint64(3))
    for step in (np.uint64(6), np.uint64(7), np.uint64(8)):  # falling, level, rising
        two, three = step * np.uint64(2), step * np.uint64(3)
        pair = (mine << step) & (mine << two)
        cells |= pair & ((mine << three) | (mine >> step))
        pair = (mine >> step) & (mine >> two)
        cells |= pair & ((mine << step) | (mine >> three))
    return cells & (CELLS ^ both)


@numba.njit(cache=True, nogil=True)
def mirrored(cells):
    column = np.uint64(0b1111111)
    out = np.uint64(0)
    for i in range(7):
        out |= ((cells >> np.uint64(7 * i)) & column) << np.uint64(7 * (6 - i))
    return out


@numba.njit(cache=True, nogil=True)
def popcount(cells):
    cells -= (cells >> np.uint64(1)) & np.uint64(0x5555555555555555)
    cells = (cells & np.uint64(0x3333333333333333)) + ((cells >> np.uint64(2)) & np.uint64(0x3333333333333333))
    cells = (cells + (cells >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((cells * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True, nogil=True)
def table_key(mine, both, pieces):
    """One number for a position and its mirror image; deep positions are not worth the mirroring."""
    key = mine + both
    return min(key, mirrored(mine) + mirrored(both)) if pieces < 16 else key


@numba.njit(cache=True, nogil=True)
def has_four(cells):
    pairs = cells & (cells >> ONE)
    fours = pairs & (pairs >> np.uint64(2))
    for step in (np.uint64(6), np.uint64(7), np.uint64(8)):
        pairs = cells & (cells >> step)
        fours |= pairs & (pairs >> step * np.uint64(2))
    return fours != 0


@numba.njit(cache=True, nogil=True)
def followed(mine, both, above):
    """Is the value for the player to move surely not more than `above`, as the opponent answers in the same column?

    Where every column has an even number of free cells, that answer is always there and takes the upper of each two.
    """
    if (both + BOTTOM) & SECOND_ROWS or has_four(mine | (FIRST_ROWS & ~both)):
        return False
    return above == 0 or has_four((mine ^ both) | (SECOND_ROWS & ~both))


@numba.njit(cache=True, nogil=True)
def recall(table, key, above):
    """NO or YES where the table knows, else UNKNOWN."""
    slot = (key * SPREAD) >> SHIFT
    entry = table[slot]
    if entry & KEY_BITS != key:
        entry = table[slot ^ ONE]
    if entry & KEY_BITS == key:
        facts = entry >> (FACTS_AT if above < 0 else FACTS_AT + np.uint64(2))
        if facts & ONE:
            return NO
        if facts & np.uint64(2):
            return YES
    return UNKNOWN


@numba.njit(cache=True, nogil=True)
def remember(table, key, above, answer, work):
    """Two entries share a slot: the first keeps what took the most work, the second whatever came last."""
    yes = np.uint64(0b1010 if above == 0 else 0b0010)  # a win is at least a draw
    no = np.uint64(0b0101 if above < 0 else 0b0100)  # not even a draw is no win
    facts = yes if answer == YES else no
    effort = np.uint64(0)
    while work > 1:
        work >>= 1
        effort += ONE
    slot = ((key * SPREAD) >> SHIFT) & ~ONE
    first, second = table[slot], table[slot ^ ONE]
    costliest = (first >> EFFORT_AT) & EFFORT_BITS
    if first & KEY_BITS == key:
        facts |= first >> FACTS_AT
        effort = max(effort, costliest)
    elif second & KEY_BITS == key:
        facts |= second >> FACTS_AT
        slot ^= ONE
    elif effort >= costliest:
        table[slot ^ ONE] = first
    else:
        slot ^= ONE
    table[slot] = key | (effort << EFFORT_AT) | (facts << FACTS_AT)


@numba.njit(cache=True, nogil=True)
def exceeds(mine, both, pieces, above, table, moves_at, threats_at, left):
    """Is the value for the player to move, who can't win with this very piece, more than `above`? NO, YES or UNKNOWN.

    table   uint64[entries]: 49 bits of the position, six of the work that it took (its logarithm), and four at the
            top: 1 and 2 answer NO and YES for above = -1, 4 and 8 for above = 0
    moves_at, threats_at   uint64[42, 7], int64[42, 7]: room to sort the moves of each ply in
    left    left[0] positions may still be looked at; below zero, or once left[1] is set, the answer is UNKNOWN
    """
    left[0] -= 1
    if left[0] < 0 or left[1]:
        return UNKNOWN
    begun = left[0]
    moves = (both + BOTTOM) & CELLS
    threats = wins_next(mine ^ both, both)
    forced = moves & threats
    if forced:
        if forced & (forced - np.uint64(1)):
            return NO
        moves = forced
    moves &= ~(threats >> np.uint64(1))  # never below a cell where the opponent then wins
    if moves == 0:
        return NO
    if pieces >= 40:  # two cells left, and neither player wins with the next piece
        return YES if above < 0 else NO

    key = table_key(mine, both, pieces)
    answer = recall(table, key, above)
    if answer != UNKNOWN:
        return answer
    cells, threats_made = moves_at[pieces], threats_at[pieces]
    count = 0
    for column in CENTER_FIRST:
        move = moves & (COLUMN << np.uint64(7 * column))
        if move:
            behind = pieces & 1 and followed(mine ^ both, both | move, -above - 1)
            if behind or recall(table, table_key(mine ^ both, both | move, pieces + 1), -above - 1) == NO:
                remember(table, key, above, YES, 1)
                return YES
            made = popcount(wins_next(mine | move, both | move))
            at = count
            while at > 0 and threats_made[at - 1] < made:
                cells[at], threats_made[at] = cells[at - 1], threats_made[at - 1]
                at -= 1
            cells[at], threats_made[at] = move, made
            count += 1

    answer = NO
    for i in range(count):
        reply = exceeds(mine ^ both, both | cells[i], pieces + 1, -above - 1, table, moves_at, threats_at, left)
        if reply == UNKNOWN:
            return UNKNOWN
        if reply == NO:
            answer = YES
            break
    remember(table, key, above, answer, begun - left[0])
    return answer


class Solver:
    """Answers questions about positions given as columns 0 to 6 played from the start; remembers what it found.

    Several threads may ask at once: an entry of the table is one word, and each answer in it is true by itself.
    """

    def __init__(self) -> None:
        self._table = np.zeros(1 << ENTRIES, np.uint64)
        self._asked: dict[int, np.ndarray] = {}  # `left` of each question that is open, by its id
        self.positions = 0  # looked at so far

    def exceeds(self, columns: Iterable[int], above: int, positions: int = 1 << 62) -> bool | None:
        """Is the value, as the player to move sees it, more than `above` (-1 or 0)?

        None when it takes more positions than that, or `stop` was called meanwhile.

        The moves must be legal, with the game still going on after them.
        """
        mine, both, pieces = 0, 0, 0
        for column in columns:
            move = (both + (1 << 7 * column)) & (0b111111 << 7 * column)
            mine, both, pieces = mine ^ both, both | move, pieces + 1
        reachable = (both + int(BOTTOM)) & int(CELLS)
        if int(wins_next(np.uint64(mine), np.uint64(both))) & reachable:
            return True
        if pieces == 41:
            return above < 0
        left = np.array([positions, 0], np.int64)
        room = np.zeros((42, 7), np.uint64), np.zeros((42, 7), np.int64)
        self._asked[id(left)] = left
        try:
            answer = exceeds(np.uint64(mine), np.uint64(both), pieces, above, self._table, *room, left)
        finally:
            del self._asked[id(left)]
        self.positions += positions - max(0, int(left[0]))
        return None if answer == UNKNOWN else bool(answer)

    def value(self, columns: Iterable[int]) -> int:
        """+1 the player to move wins, 0 draw, -1 loses."""
        columns = list(columns)
        if not self.exceeds(columns, -1):
            return -1
        return int(bool(self.exceeds(columns, 0)))

    def stop(self) -> None:
        """Ends every question that another thread waits for, without an answer."""
        for left in list(self._asked.values()):
            left[1] = 1
