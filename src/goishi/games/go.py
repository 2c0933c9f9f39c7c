"""Go on any board from 2x2 to 25x25, under the rule sets that people and programs use; docs/go.md tells their meaning.

Black is +1, White -1. A record holds what decides how the game goes on, the rules among it: komi, rules and handicap
may differ from record to record, so that a program can change them without compiling anything.

A board's points are numbered row by row from the top left. Letter: N points. The helpers take a board as its `cells`,
int8[N], and stones as +1 and -1.
"""

from math import gcd
from typing import NamedTuple

import numpy as np

from goishi.core.board import Board, fixed_handicap
from goishi.errors import UsageError
from goishi.games.eyes import examine

WINDOW = 8  # positions that the record remembers, against repetitions inside a search
MOST_MOVES = 6  # a game ends after this many moves a point, scored as it stands; the longest known 9x9 game has 4.3
KOMI_SCALE = 20.0  # points that a network sees as 1

# What a record's `rules` is made of.
SUICIDE, POSITIONAL, SITUATIONAL, TERRITORY, BONUS_ALL, BONUS_LESS_ONE, ALL_ALIVE = 1, 2, 4, 8, 16, 32, 64
TAX_SEKI, TAX_ALL, BUTTON, FRIENDLY = 128, 256, 512, 1024
CAREFUL = 2048  # no rule: random games heed chains in danger and leave a seki alone; for judging a finished board

KO = ("simple", "positional", "situational")
SCORING = ("area", "territory")
BONUS = ("0", "N", "N-1")
TAX = ("none", "seki", "all")


class RuleSet(NamedTuple):
    """What a preset says; docs/go.md has the table."""

    scoring: str
    """area: living stones and surrounded points; territory: surrounded points and prisoners."""
    ko: str
    """What may not recur: simple (at once), positional (a board), situational (a board with the same side to move)."""
    tax: str
    """none; seki: points surrounded in seki do not count; all: and each group that lives pays two points."""
    suicide: bool
    """May a chain of several stones take its own last liberty? A single stone never may."""
    bonus: str
    """White's points for N handicap stones: 0, N or N-1."""
    friendly: bool
    """May both pass while dead stones stand, to be taken off by agreement?"""
    button: bool = False
    """Does the first pass take half a point?"""

    @property
    def komi(self) -> float:
        """White's points where nobody asks for others: 6.5 for territory, 7 with a button or in New Zealand, or 7.5."""
        new_zealand = self.suicide and self.ko == "situational"
        return 6.5 if self.scoring == "territory" else 7.0 if self.button or new_zealand else 7.5


PRESETS = {
    "tromp-taylor": RuleSet("area", "positional", "none", True, "0", False),
    "cgos": RuleSet("area", "positional", "none", False, "0", False),
    "chinese": RuleSet("area", "simple", "none", False, "N", True),
    "chinese-ogs": RuleSet("area", "positional", "none", False, "N", True),
    "chinese-kgs": RuleSet("area", "positional", "none", False, "N", True),
    "japanese": RuleSet("territory", "simple", "seki", False, "0", False),
    "korean": RuleSet("territory", "simple", "seki", False, "0", False),
    "aga": RuleSet("area", "situational", "none", False, "N-1", True),
    "bga": RuleSet("area", "situational", "none", False, "N-1", True),
    "french": RuleSet("area", "situational", "none", False, "N-1", True),
    "aga-button": RuleSet("area", "situational", "none", False, "N-1", True, True),
    "new-zealand": RuleSet("area", "situational", "none", True, "0", True),
    "nz": RuleSet("area", "situational", "none", True, "0", True),
    "ing": RuleSet("area", "positional", "none", True, "0", True),
    "goe": RuleSet("area", "positional", "none", True, "0", True),
    "stone-scoring": RuleSet("area", "simple", "all", False, "0", True),
    "ancient-area": RuleSet("area", "simple", "all", False, "0", True),
    "ancient-territory": RuleSet("territory", "simple", "all", False, "0", False),
}


def setup(
    size=19,
    columns=0,
    rows=0,
    komi="rules",
    rules="tromp-taylor",
    ko="preset",
    suicide="preset",
    scoring="preset",
    tax="preset",
    bonus="preset",
    button="preset",
    handicap=0,
):
    """A square of `size`, unless both `columns` and `rows` are given; what is `preset` is as `rules` has it.

    komi  points for White, or `rules`: what is usual under them.
    """
    global State, actions, planes, board, symmetric, RULES, HALF_KOMI, HANDICAP, FIRST_STONES
    global ROWS, COLUMNS, POINTS, NEIGHBOURS, DIAGONALS, CROWD, STEPS, ZOBRIST, TURN, EMPTY
    if (columns == 0) != (rows == 0):
        raise UsageError("columns and rows go together, as in columns=7,rows=6; for a square give size alone.")
    columns, rows = columns or size, rows or size
    if not (2 <= columns <= 25 and 2 <= rows <= 25):
        raise UsageError(f"size, columns and rows go from 2 to 25, but {columns}x{rows} was asked for.")
    ROWS, COLUMNS, POINTS = rows, columns, rows * columns
    asked = changed(preset(rules), ko=ko, suicide=suicide, scoring=scoring, tax=tax, bonus=bonus, button=button)
    RULES = flags(asked)
    HALF_KOMI, HANDICAP = half_points(asked.komi if komi == "rules" else komi), handicap
    FIRST_STONES = np.array(handicap_points(rows, columns, handicap), np.int16)
    NEIGHBOURS, DIAGONALS = around(((-1, 0), (0, -1), (0, 1), (1, 0))), around(((-1, -1), (-1, 1), (1, -1), (1, 1)))
    CROWD = np.array([1 if -1 in near else 2 for near in NEIGHBOURS], np.int16)  # diagonal stones that spoil an eye
    STEPS = np.array([step for step in range(1, POINTS) if gcd(step, POINTS) == 1], np.int16)
    numbers = np.array(random_numbers(2 * POINTS + 2), np.uint64)
    EMPTY, TURN, ZOBRIST = numbers[0], numbers[1], numbers[2:].reshape(POINTS, 2)  # no board's hash is 0
    State = [
        ("hash", "u8"),  # of the board
        ("window", "u8", (WINDOW,)),  # superko: what may not recur, latest first; of this position and those before it
        ("board", "i1", (rows, columns)),
        ("player", "i1"),
        ("passes", "i1"),  # in a row
        ("ko", "i2"),  # the point that may not be retaken now, or -1
        ("banned", "u1", ((POINTS + 7) // 8,)),  # one bit a point: others that repeat what the window has forgotten
        ("last", "i2", (2,)),  # the last move and the one before, or -1
        ("moves", "i2"),
        ("prisoners", "i2"),  # territory scoring: White's stones that were taken, less Black's
        ("rules", "i2"),
        ("komi", "i2"),  # in half points
        ("handicap", "i1"),  # Black's stones at the start
        ("button", "i1"),  # who took it, or 0
    ]
    actions = POINTS + 1  # the last is the pass
    planes = (15, rows, columns)
    board = Board(rows, columns, "points", passes=True)
    symmetric = handicap == 0


# ------------------------------------------------------------------ the rules


def start(state):
    state.board[:] = 0
    state.komi = HALF_KOMI
    state.rules = RULES
    for point in FIRST_STONES:
        state.board[point // COLUMNS, point % COLUMNS] = 1
    begin(state, -1 if HANDICAP > 0 else 1, HANDICAP)


def begin(state, player, handicap):
    """Makes the stones on the board the beginning of a game, whatever was before; komi and rules stay as they are."""
    cells = state.board.reshape(POINTS)
    state.player = player
    state.handicap = handicap
    state.passes = 0
    state.moves = 0
    state.prisoners = 0
    state.button = 0
    state.ko = -1
    state.banned[:] = 0
    state.last[:] = -1
    state.window[:] = 0
    state.hash = EMPTY
    for point in range(POINTS):
        if cells[point] != 0:
            state.hash ^= ZOBRIST[point, (1 - cells[point]) // 2]
    state.window[0] = key(state)


def legal(state, mask):
    cells = state.board.reshape(POINTS)
    chain, liberties, hashes = chains(cells)
    allow(state, cells, chain, liberties, hashes, mask)


def play(state, action):
    player = state.player
    state.ko = -1
    state.banned[:] = 0
    if action == POINTS:
        state.passes += 1
        if state.rules & BUTTON and state.button == 0:
            state.button = player
    else:
        state.passes = 0
        change, taken, lost, ko = place(state.board.reshape(POINTS), action, player)
        state.hash ^= change
        state.ko = ko
        if state.rules & TERRITORY:
            state.prisoners += int(player) * (taken - lost)
    state.last[1] = state.last[0]
    state.last[0] = action
    state.moves += 1
    state.player = -player
    if state.rules & (POSITIONAL | SITUATIONAL):
        for i in range(WINDOW - 1, 0, -1):
            state.window[i] = state.window[i - 1]
        state.window[0] = key(state)


def place(cells, point, player):
    """Puts a stone and takes off what has no liberty then: the opponent's chains, or else its own.

    Answers by what the board's hash changes, how many stones the opponent and the player lost, and the point that
    must not be retaken at once, or -1.
    """
    cells[point] = player
    change = ZOBRIST[point, (1 - player) // 2]
    taken, lost, hole, alone, breaths = 0, 0, -1, True, 0
    for k in range(4):
        near = NEIGHBOURS[point, k]
        if near < 0:
            break
        if cells[near] == -player and not has_liberty(cells, near, -1):
            hole = near
            count, stones = take(cells, near)
            taken += count
            change ^= stones
        if cells[near] == 0:
            breaths += 1
        elif cells[near] == player:
            alone = False
    if breaths == 0 and not has_liberty(cells, point, -1):
        lost, stones = take(cells, point)
        change ^= stones
    return change, taken, lost, hole if taken == 1 and alone and breaths == 1 else -1


def over(state):
    return state.passes >= 2 or state.moves >= MOST_MOVES * POINTS


def score(state):
    ahead = lead(state)
    return int(ahead > 0) - int(ahead < 0)


def lead(state):
    """Black's points less White's, komi and bonus counted, with every stone on the board alive."""
    return points(state) - bonus(state) + (int(state.button) - int(state.komi)) / 2


def encode(state, planes):
    """What a network sees, as the player to move does.

    0 own stones, 1 the opponent's, 2 to 4 chains with one, two, more liberties, 5 empty points where one may not play,
    6 the last move, 7 the one before, 8 ones if the last move was a pass, 9 ones; the rest are one number all over:
    10 the points that this player is given (komi, handicap's bonus, prisoners, button), 11 and 12 positional and
    situational superko, 13 suicide, 14 territory scoring, with half more for a group tax and a quarter more while the
    button is there.
    """
    cells = state.board.reshape(POINTS)
    chain, liberties, hashes = chains(cells)
    mask = np.zeros(actions, np.bool_)
    allow(state, cells, chain, liberties, hashes, mask)
    for point in range(POINTS):
        row, column = point // COLUMNS, point % COLUMNS
        stone = cells[point]
        if stone == 0:
            planes[5, row, column] = not mask[point]
        else:
            planes[0 if stone == state.player else 1, row, column] = 1
            planes[1 + min(liberties[chain[point]], 3), row, column] = 1
    for i in range(2):
        if 0 <= state.last[i] < POINTS:
            planes[6 + i, state.last[i] // COLUMNS, state.last[i] % COLUMNS] = 1
    planes[8] = state.passes > 0
    planes[9] = 1
    planes[10] = state.player * (state.prisoners + (state.button - state.komi) / 2 - bonus(state)) / KOMI_SCALE
    planes[11] = state.rules & POSITIONAL > 0
    planes[12] = state.rules & SITUATIONAL > 0
    planes[13] = state.rules & SUICIDE > 0
    planes[14] = (state.rules & TERRITORY > 0) + (state.rules & TAX_ALL > 0) / 2
    planes[14] += (state.rules & BUTTON > 0 and state.button == 0) / 4


# ------------------------------------------------------------------ what may recur


def key(state):
    """What names a position that superko forbids to recur; 0 where only the simple ko does."""
    if state.rules & SITUATIONAL and state.player < 0:
        return state.hash ^ TURN
    if state.rules & (POSITIONAL | SITUATIONAL):
        return state.hash
    return np.uint64(0)


def forbid(state, action):
    """Notes in the record that a move would repeat a position; a pass always may."""
    if action < POINTS:
        state.banned[action // 8] |= np.uint8(1 << action % 8)


def is_banned(state, point):
    """Is this the ko's point, or one that `forbid` was told of?"""
    return point == state.ko or state.banned[point // 8] >> (point % 8) & 1 != 0


def recurs(state, board_hash):
    """Would this board, after a move of the player to move, be one that the window remembers?"""
    if state.rules & SITUATIONAL and state.player > 0:
        board_hash ^= TURN  # White's turn
    found = False
    for i in range(WINDOW):
        found |= state.window[i] == board_hash
    return found


# ------------------------------------------------------------------ chains and liberties


def chains(cells):
    """int16[N] the number of each stone's chain, -1 elsewhere; by chain: int16[N] liberties, uint64[N] hash."""
    chain, counted = np.full(POINTS, -1, np.int16), np.full(POINTS, -1, np.int16)
    liberties, hashes = np.zeros(POINTS, np.int16), np.zeros(POINTS, np.uint64)
    stack = np.empty(POINTS, np.int16)
    count = 0
    for first in range(POINTS):
        if cells[first] == 0 or chain[first] >= 0:
            continue
        stone, left = cells[first], 1
        stack[0] = first
        chain[first] = count
        while left > 0:
            left -= 1
            point = stack[left]
            hashes[count] ^= ZOBRIST[point, (1 - stone) // 2]
            for k in range(4):
                near = NEIGHBOURS[point, k]
                if near < 0:
                    break
                if cells[near] == 0:
                    if counted[near] != count:
                        counted[near] = count
                        liberties[count] += 1
                elif cells[near] == stone and chain[near] < 0:
                    chain[near] = count
                    stack[left] = near
                    left += 1
        count += 1
    return chain, liberties, hashes


def allow(state, cells, chain, liberties, hashes, mask):
    """Sets the mask of the legal actions, given the chains."""
    superko = state.rules & (POSITIONAL | SITUATIONAL)
    player = state.player
    for point in range(POINTS):
        if cells[point] != 0 or is_banned(state, point):
            continue
        breathes, joins, after = False, False, state.hash ^ ZOBRIST[point, (1 - player) // 2]
        own = np.uint64(0)  # hash of the chains that would go with the stone by suicide
        for k in range(4):
            near = NEIGHBOURS[point, k]
            if near < 0:
                break
            if cells[near] == 0:
                breathes = True
                continue
            group = chain[near]
            met = False  # is this chain already counted?
            for j in range(k):
                met |= cells[NEIGHBOURS[point, j]] != 0 and chain[NEIGHBOURS[point, j]] == group
            if met:
                continue
            if cells[near] == player:
                joins = True
                breathes |= liberties[group] > 1
                own ^= hashes[group]
            elif liberties[group] == 1:
                breathes = True
                after ^= hashes[group]
        if not breathes:
            if not joins or not state.rules & SUICIDE:
                continue
            after = state.hash ^ own
        mask[point] = not superko or not recurs(state, after)
    mask[POINTS] = True


def has_liberty(cells, first, besides):
    """Has the chain of a stone a liberty, another one than the point `besides`?"""
    stone = cells[first]
    for k in range(4):
        near = NEIGHBOURS[first, k]
        if near < 0:
            break
        if cells[near] == 0 and near != besides:
            return True
    seen, stack = np.zeros(POINTS, np.bool_), np.empty(POINTS, np.int16)
    seen[first] = True
    stack[0] = first
    left = 1
    while left > 0:
        left -= 1
        point = stack[left]
        for k in range(4):
            near = NEIGHBOURS[point, k]
            if near < 0:
                break
            if cells[near] == 0:
                if near != besides:
                    return True
            elif cells[near] == stone and not seen[near]:
                seen[near] = True
                stack[left] = near
                left += 1
    return False


def take(cells, first):
    """Takes a chain off the board; how many stones it had, and their hash."""
    stone = cells[first]
    stack, stones = np.empty(POINTS, np.int16), np.uint64(0)
    stack[0] = first
    cells[first] = 0
    left, count = 1, 0
    while left > 0:
        left -= 1
        count += 1
        point = stack[left]
        stones ^= ZOBRIST[point, (1 - stone) // 2]
        for k in range(4):
            near = NEIGHBOURS[point, k]
            if near < 0:
                break
            if cells[near] == stone:
                cells[near] = 0
                stack[left] = near
                left += 1
    return count, stones


# ------------------------------------------------------------------ random games


def draw(state, random):
    """A random legal action that fills no eye of one's own; the pass when there is no other."""
    cells = state.board.reshape(POINTS)
    if state.rules & CAREFUL:
        return draw_carefully(state, cells, random)
    point = np.int64(random >> np.uint64(33)) % POINTS
    step = STEPS[np.int64(random & np.uint64(0xFFFFFFFF)) % len(STEPS)]
    for _ in range(POINTS):  # each point once
        if cells[point] == 0 and not is_eye(cells, point, state.player) and is_legal(state, cells, point):
            return point
        point += step
        if point >= POINTS:
            point -= POINTS
    return np.int64(POINTS)


def draw_carefully(state, cells, random):
    """As `draw`: it answers an attack on a chain, and gives none away."""
    answer = rescue(state, cells, random)
    if answer >= 0:
        return answer
    point = np.int64(random >> np.uint64(33)) % POINTS
    step = STEPS[np.int64(random & np.uint64(0xFFFFFFFF)) % len(STEPS)]
    for _ in range(POINTS):
        good = cells[point] == 0 and not is_eye(cells, point, state.player) and is_legal(state, cells, point)
        if good and not wastes(cells, point, state.player):
            return point
        point += step
        if point >= POINTS:
            point -= POINTS
    return np.int64(POINTS)


def rescue(state, cells, random):
    """A move that takes the chain of the last move, or saves a chain that it left with one liberty; -1 for none."""
    last, player = state.last[0], state.player
    if last < 0 or last >= POINTS or random & np.uint64(7) == 0:  # now and then it is overlooked
        return np.int64(-1)
    liberty = only_liberty(cells, last)
    if liberty >= 0 and is_legal(state, cells, liberty):
        return np.int64(liberty)
    for k in range(4):
        near = NEIGHBOURS[last, k]
        if near < 0:
            break
        if cells[near] == player:
            liberty = only_liberty(cells, near)
            if liberty >= 0 and is_legal(state, cells, liberty) and not wastes(cells, liberty, player):
                return np.int64(liberty)
    return np.int64(-1)


def only_liberty(cells, first):
    """The liberty of a stone's chain that has no other, or -1; -1 for an empty point."""
    if cells[first] == 0:
        return -1
    liberty, _, _ = liberties_of(cells, first, np.empty(POINTS, np.int16))
    return liberty


def liberties_of(cells, first, chain):
    """The only liberty of a stone's chain, or -1; its liberties, 2 for more; its stones, which `chain` is set to.

    It stops at the second liberty, and the stones are then not all.
    """
    seen = np.zeros(POINTS, np.bool_)
    stone, done, size, liberty = cells[first], 0, 1, -1
    chain[0] = first
    seen[first] = True
    while done < size:
        point = chain[done]
        done += 1
        for k in range(4):
            near = NEIGHBOURS[point, k]
            if near < 0:
                break
            if cells[near] == 0:
                if liberty >= 0 and liberty != near:
                    return -1, 2, size
                liberty = near
            elif cells[near] == stone and not seen[near]:
                seen[near] = True
                chain[size] = near
                size += 1
    return liberty, 1, size


def wastes(cells, point, player):
    """Would this move only give stones away? It leaves a chain in danger that takes nothing and kills no eye.

    What may be given away is a single stone, and up to six in a shape whose room makes one eye, if a chain around it
    has no other liberty left than the one where it takes them. So both sides leave a seki alone.
    """
    free = 0
    for k in range(4):
        near = NEIGHBOURS[point, k]
        if near >= 0 and cells[near] == 0:
            free += 1
        elif near >= 0 and cells[near] == -player and only_liberty(cells, near) == point:
            return False
    if free >= 2:
        return False
    cells[point] = player
    chain = np.empty(POINTS, np.int16)
    liberty, count, size = liberties_of(cells, point, chain)
    waste = count < 2
    if waste and size == 1:
        waste = False
    elif waste and size <= 6:
        inner, most, threatens = 0, 0, False
        for i in range(size):
            beside = 0
            for k in range(4):
                near = NEIGHBOURS[chain[i], k]
                if near < 0:
                    break
                if cells[near] == player:
                    beside += 1
                elif cells[near] == -player and not threatens:
                    threatens = only_liberty(cells, near) == liberty
            inner += beside
            most = max(most, beside)
        one_eye = (
            size <= 3 or most >= size - 1 or (size == 4 and inner == 8) or (most >= size - 2 and inner >= 2 * size)
        )
        waste = not (threatens and one_eye)
    cells[point] = 0
    return waste


def is_eye(cells, point, player):
    """Is this empty point enclosed by the player's stones, which are or can be joined around it?"""
    for k in range(4):
        near = NEIGHBOURS[point, k]
        if near >= 0 and cells[near] != player:
            return False
    crowd = 0
    for k in range(4):
        near = DIAGONALS[point, k]
        if near >= 0 and cells[near] == -player:
            crowd += 1
    return crowd < CROWD[point]


def is_legal(state, cells, point):
    """As `legal`, for one empty point."""
    if is_banned(state, point):
        return False
    player = state.player
    breathes, joins = False, False
    for k in range(4):
        near = NEIGHBOURS[point, k]
        if near < 0:
            break
        if cells[near] == 0:
            breathes = True
        elif cells[near] == player:
            joins = True
    if not breathes:
        for k in range(4):
            near = NEIGHBOURS[point, k]
            if near < 0 or breathes:
                break
            breathes = has_liberty(cells, near, point) == (cells[near] == player)
    if not breathes and not (joins and state.rules & SUICIDE):
        return False
    if state.rules & (POSITIONAL | SITUATIONAL):
        change, _, _, _ = place(cells.copy(), point, player)
        return not recurs(state, state.hash ^ change)
    return True


# ------------------------------------------------------------------ scoring


def points(state):
    """Black's points on the board and by prisoners less White's, every stone taken as alive; `margin` looks closer."""
    cells = state.board.reshape(POINTS)
    owners = surrounded(cells, np.zeros(POINTS, np.bool_))
    total = int(state.prisoners)
    for point in range(POINTS):
        total += int(owners[point])
        if state.rules & TERRITORY:  # a stone is no point
            total -= int(cells[point])
    return total - tax(state.rules, cells, owners) if state.rules & (TAX_SEKI | TAX_ALL) else total


def tax(rules, cells, owners):
    """Black's tax less White's: a group's points where they make no two eyes, or two points where there is a group tax.

    A group is what its side owns in one piece; three points, or two that do not touch, are taken for two eyes.
    """
    seen, group, total = np.zeros(POINTS, np.bool_), np.empty(POINTS, np.int16), 0
    for first in range(POINTS):
        if owners[first] == 0 or seen[first]:
            continue
        group[0] = first
        seen[first] = True
        done, size, free, touching = 0, 1, 0, 0
        while done < size:
            point = group[done]
            done += 1
            free += cells[point] == 0
            for k in range(4):
                near = NEIGHBOURS[point, k]
                if near < 0:
                    break
                touching += cells[point] == 0 and cells[near] == 0
                if owners[near] == owners[first] and not seen[near]:
                    seen[near] = True
                    group[size] = near
                    size += 1
        if free < 2 or (free == 2 and touching > 0):
            total += int(owners[first]) * free
        elif rules & TAX_ALL:
            total += 2 * int(owners[first])
    return total


def surrounded(cells, gone):
    """int8[N]: whose each point is once the dead stones (a mask) are taken off, +1, -1 or 0.

    A stone that is not dead lives, in seki too: its point is its own side's, and so is a region of other points that
    meets one side alone.
    """
    owners = np.zeros(POINTS, np.int8)
    seen, region = np.zeros(POINTS, np.bool_), np.empty(POINTS, np.int16)
    for first in range(POINTS):
        if cells[first] != 0 and not gone[first]:
            owners[first] = cells[first]
        elif not seen[first]:
            black, white = False, False
            region[0] = first
            seen[first] = True
            done, size = 0, 1
            while done < size:
                point = region[done]
                done += 1
                for k in range(4):
                    near = NEIGHBOURS[point, k]
                    if near < 0:
                        break
                    if cells[near] != 0 and not gone[near]:
                        black |= cells[near] > 0
                        white |= cells[near] < 0
                    elif not seen[near]:
                        seen[near] = True
                        region[size] = near
                        size += 1
            owner = int(black) - int(white)
            for i in range(size):
                owners[region[i]] = owner
    return owners


def owners(state, owners):
    """Whose each point is when every stone on the board lives; owners is int8[N]."""
    owners[:] = surrounded(state.board.reshape(POINTS), np.zeros(POINTS, np.bool_))


def bonus(state):
    """White's points for Black's handicap stones."""
    if state.rules & BONUS_ALL:
        return int(state.handicap)
    if state.rules & BONUS_LESS_ONE:
        return max(0, int(state.handicap) - 1)
    return 0


# ------------------------------------------------------------------ for setup and programs; never compiled

shown = ("komi", "rules", "ko", "suicide", "scoring", "bonus", "handicap")


def vary(state, rng):
    """Gives a first position other komi, most often near and sometimes far, and other rules of ko, suicide and scoring.

    Territory is rare: with every stone alive it is not quite what people play.
    """
    state.komi = HALF_KOMI + round(2 * rng.normal(0, 12 if rng.random() < 0.1 else 2))
    kept = int(state.rules) & ~(SUICIDE | POSITIONAL | SITUATIONAL | TERRITORY)
    ko = rng.choice([0, POSITIONAL, SITUATIONAL], p=[0.4, 0.4, 0.2])
    state.rules = kept | int(ko) | SUICIDE * int(rng.random() < 0.5) | TERRITORY * int(rng.random() < 0.2)
    state.window[0] = key(state)


def resume(state, player):
    """Lets a game go on that two passes or its length had ended, with `player` to move."""
    state.passes = 0
    state.moves = 0
    state.player = player
    state.ko = -1
    state.banned[:] = 0


def territory(board, dead):
    """int8[rows, columns]: `surrounded` on a board."""
    return surrounded(board.reshape(POINTS), np.ascontiguousarray(dead).reshape(POINTS)).reshape((ROWS, COLUMNS))


def margin(state, dead=None):
    """Black's points less White's, komi and all counted; dead (bool[rows, columns]) stones are taken off first."""
    dead = np.zeros((ROWS, COLUMNS), np.bool_) if dead is None else dead
    owners, _, groups = judged(state, dead)
    total = state.prisoners + owners.sum(dtype=np.int64) - bonus(state)
    if state.rules & TERRITORY:  # a living stone is no point, a dead one is a prisoner
        total -= state.board.sum(dtype=np.int64)
    if state.rules & TAX_ALL:
        total -= 2 * groups
    return float(total + (state.button - state.komi) / 2)


def settle(state, dead):
    """Whose each point is by the record's rules, int8[rows, columns], once the dead stones (a mask) are taken off.

    And bool[rows, columns]: the stones that live in seki, whatever the rules count there.
    """
    owners, seki, _ = judged(state, dead)
    return owners, seki


def judged(state, dead):
    """What `settle` answers, and Black's groups that live by two eyes less White's.

    By area, points that a side has to fill in count like those that it has filled.
    """
    gone, by_area = np.ascontiguousarray(dead), not state.rules & TERRITORY
    owners, seki = np.zeros(POINTS, np.int8), np.zeros(POINTS, np.bool_)
    count_seki = not state.rules & (TAX_SEKI | TAX_ALL)
    groups = examine(state.board.reshape(POINTS), gone.reshape(POINTS), NEIGHBOURS, by_area, count_seki, owners, seki)
    owners = owners.reshape((ROWS, COLUMNS))
    return territory(state.board, gone) if by_area and count_seki else owners, seki.reshape((ROWS, COLUMNS)), groups


def arrange(state, stones, player=1, handicap=0):
    """Makes stones (int8[rows, columns]) a game's beginning, with `player` to move; komi and rules stay as they are.

    Raises UsageError when a chain has no liberty.
    """
    stones = np.ascontiguousarray(stones, np.int8)
    chain, liberties, _ = chains(stones.reshape(POINTS))
    if (liberties[: chain.max() + 1] == 0).any():
        raise UsageError("A chain of stones without a liberty can't stand on the board.")
    state.board[:] = stones
    begin(state, player, handicap)


def preset(name):
    """The RuleSet of a name; letter case, blanks, `-` and `_` do not count. Raises UsageError."""
    wanted = "".join(letter for letter in name.lower() if letter not in " -_")
    for known, rules in PRESETS.items():
        if known.replace("-", "") == wanted:
            return rules
    raise UsageError(f"There are no rules {name!r}; there are {', '.join(PRESETS)}.")


def changed(rules, **settings):
    """A RuleSet with what is not `preset` changed, given as a spec has it. Raises UsageError."""
    words = {
        "ko": KO,
        "scoring": SCORING,
        "tax": TAX,
        "bonus": BONUS,
        "suicide": ("yes", "no"),
        "button": ("yes", "no"),
    }
    for name, value in settings.items():
        if value == "preset":
            continue
        if value not in words[name]:
            raise UsageError(f"{name} is {', '.join(words[name])} or preset, but {value} was asked for.")
        rules = rules._replace(**{name: value == "yes" if "yes" in words[name] else value})
        if name == "scoring" and settings["tax"] == "preset":  # as territory is counted everywhere
            rules = rules._replace(tax="all" if rules.tax == "all" else "seki" if value == "territory" else "none")
    return rules


def flags(rules):
    """A RuleSet as a record's `rules`; `describe` reads it back."""
    return (
        SUICIDE * rules.suicide
        + POSITIONAL * (rules.ko == "positional")
        + SITUATIONAL * (rules.ko == "situational")
        + TERRITORY * (rules.scoring == "territory")
        + BONUS_ALL * (rules.bonus == "N")
        + BONUS_LESS_ONE * (rules.bonus == "N-1")
        + ALL_ALIVE * (rules.scoring == "area" and not rules.friendly)
        + TAX_SEKI * (rules.tax == "seki")
        + TAX_ALL * (rules.tax == "all")
        + BUTTON * rules.button
        + FRIENDLY * rules.friendly
    )


def describe(flags):
    """The RuleSet of a record's `rules`."""
    return RuleSet(
        scoring="territory" if flags & TERRITORY else "area",
        ko="positional" if flags & POSITIONAL else "situational" if flags & SITUATIONAL else "simple",
        tax="all" if flags & TAX_ALL else "seki" if flags & TAX_SEKI else "none",
        suicide=bool(flags & SUICIDE),
        bonus="N" if flags & BONUS_ALL else "N-1" if flags & BONUS_LESS_ONE else "0",
        friendly=bool(flags & FRIENDLY),
        button=bool(flags & BUTTON),
    )


def as_katago(rules):
    """A RuleSet by KataGo's names, as programs tell each other."""
    return {
        "friendlyPassOk": rules.friendly,
        "hasButton": rules.button,
        "ko": rules.ko.upper(),
        "scoring": rules.scoring.upper(),
        "suicide": rules.suicide,
        "tax": rules.tax.upper(),
        "whiteHandicapBonus": rules.bonus,
    }


def half_points(komi):
    """Komi, a number or its digits, in half points. Raises UsageError."""
    try:
        twice = 2 * float(komi)
        if abs(twice) <= 2000 and twice == round(twice):
            return round(twice)
    except ValueError:
        pass
    told = komi if isinstance(komi, str) else f"{komi:g}"
    raise UsageError(f"komi is a whole or half number of points from -1000 to 1000, but {told} was asked for.")


def handicap_points(rows, columns, count):
    """The points of a fixed handicap, as actions; none for a count of 0. Raises UsageError."""
    most = max(range(10), key=lambda number: len(fixed_handicap(columns, rows, number)))
    if count != 0 and not 2 <= count <= most:
        told = f"from 2 to {most}, or 0" if most else "0"
        raise UsageError(f"handicap is {told} on a {columns}x{rows} board, but {count} was asked for.")
    return list(fixed_handicap(columns, rows, count))


def around(directions):
    """int16[N, 4]: the points that lie in these directions of each, then -1 where the board ends."""
    near = np.full((POINTS, len(directions)), -1, np.int16)
    for point in range(POINTS):
        row, column = point // COLUMNS, point % COLUMNS
        found = [
            (row + down) * COLUMNS + column + right
            for down, right in directions
            if 0 <= row + down < ROWS and 0 <= column + right < COLUMNS
        ]
        near[point, : len(found)] = found
    return near


def random_numbers(count):
    """The same random 64-bit numbers in every process and version (SplitMix64, Steele et al. 2014)."""
    numbers, mask = [], (1 << 64) - 1
    for i in range(1, count + 1):
        z = i * 0x9E3779B97F4A7C15 & mask
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        numbers.append(z ^ (z >> 31))
    return numbers
