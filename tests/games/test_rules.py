"""What each game's rules say, on boards that a person can read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goishi.core import registry
from goishi.core.check import check
from goishi.core.position import Position
from goishi.errors import IllegalMove, UsageError

SPECS = [
    "tictactoe",
    "connect4",
    "connect4:columns=5,rows=4,row=3",
    "gomoku:size=9,row=5",
    "gomoku:columns=7,rows=5,row=4,rule=exact",
    "othello:size=4",
    "othello:size=6",
    "hex:size=2",
    "hex:size=5",
    "go:size=5",
    "go:columns=3,rows=2,rules=aga",
]


def played(spec, moves):
    """The position after moves by name."""
    position = Position.start(registry.find(spec))
    for move in moves.split():
        position = position.play(position.action(move))
    return position


def picture(position):
    return "/".join("".join(".XO"[stone] for stone in row) for row in position.stones)


@pytest.mark.parametrize("spec", SPECS)
def test_every_game_keeps_its_promises(spec):
    report = check(registry.find(spec))
    assert report.ok, [claim for claim in report.claims if not claim.ok]


def test_every_game_that_is_installed_is_checked():
    assert {spec.partition(":")[0] for spec in SPECS} >= {"tictactoe", "connect4", "gomoku", "othello", "hex", "go"}


@pytest.mark.parametrize(
    "spec",
    [
        "gomoku:size=0",
        "gomoku:size=-3",
        "gomoku:size=6,row=9",
        "gomoku:row=1",
        "gomoku:size=1000",
        "gomoku:columns=1000,rows=1000",
        "gomoku:columns=7",
        "gomoku:rule=loose",
        "connect4:columns=0",
        "connect4:row=9",
        "connect4:rows=1000",
        "othello:size=5",
        "othello:size=2",
        "othello:size=26",
        "hex:size=0",
        "hex:size=26",
        "go:size=1",
        "go:size=26",
        "go:rows=9",
        "go:komi=0.3",
        "go:komi=nan",
        "go:komi=inf",
        "go:rules=loose",
        "go:ko=never",
        "go:suicide=maybe",
        "go:scoring=stones",
        "go:bonus=N+1",
        "go:handicap=1",
        "go:size=9,handicap=10",
        "go:size=8,handicap=5",
    ],
)
def test_a_parameter_that_makes_no_game_is_told_in_a_sentence(spec):
    with pytest.raises(UsageError) as caught:
        registry.find(spec)
    text = str(caught.value)
    assert text.startswith(spec.partition(":")[0] + ": ")
    assert text.endswith(".")
    assert "\n" not in text


@pytest.mark.parametrize(
    "spec", ["gomoku:size=25", "connect4:columns=25,rows=25", "othello:size=24", "hex:size=25", "go:size=25"]
)
def test_the_largest_boards_are_games(spec):
    position = Position.start(registry.find(spec))
    assert not position.play(position.actions[0]).over


def test_pieces_fall_in_connect_four():
    position = played("connect4:columns=4,rows=4", "2 2 2 3")
    assert picture(position) == "..../.X../.O../.XO."
    with pytest.raises(IllegalMove):
        position.play(position.action("2")).play(position.action("2"))


@pytest.mark.parametrize("moves", ["1 1 2 2 3 3 4", "1 2 1 2 1 2 1", "1 2 2 3 3 4 3 4 4 6 4", "4 3 3 2 2 1 2 1 1 6 1"])
def test_four_in_line_win_connect_four(moves):
    position = played("connect4", moves)
    assert position.over
    assert (position.score, position.value) == (1, -1)


def test_a_full_board_is_a_draw():
    position = played("gomoku:columns=3,rows=3,row=3", "A3 B3 C3 B2 A2 C2 B1 A1 C1")
    assert position.over
    assert position.score == 0


def test_a_longer_line_wins_freestyle_and_not_exact():
    moves = "A1 A2 B1 B2 D1 D2 E1 E2 C1"  # five with a four's length to win
    assert played("gomoku:size=6,row=4", moves).score == 1
    assert not played("gomoku:size=6,row=4,rule=exact", moves).over


def test_a_stone_that_makes_a_longer_line_and_an_exact_one_wins():
    moves = "A1 A6 B1 B6 D1 D6 E1 F6 C2 A5 C3 B5 C4 D5 C1"
    assert played("gomoku:size=6,row=4,rule=exact", moves).score == 1


def scan(board, row, exact):
    """Who has a line on the whole board, by looking at every line; the slow way."""
    rows, columns = board.shape
    winners = set()
    for r in range(rows):
        for c in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                before = (r - down, c - right)
                if 0 <= before[0] < rows and 0 <= before[1] < columns and board[before] == board[r, c]:
                    continue  # not where a line begins
                length, y, x = 0, r, c
                while 0 <= y < rows and 0 <= x < columns and board[y, x] == board[r, c]:
                    length, y, x = length + 1, y + down, x + right
                if board[r, c] and (length == row if exact else length >= row):
                    winners.add(int(board[r, c]))
    return winners


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(2, 9), st.booleans(), st.integers(0, 2**32))
def test_the_win_test_equals_a_scan_of_the_whole_board(columns, rows, row, exact, seed):
    row = min(row, max(columns, rows))
    rule = "exact" if exact else "freestyle"
    game = registry.find(f"gomoku:columns={columns},rows={rows},row={row},rule={rule}")
    rules, rng = game.kernels(compiled=False), np.random.default_rng(seed)
    for _ in range(5):
        states, zero = np.zeros(1, game.State), np.zeros(1, np.int32)
        rules.start(states)
        for action in rng.permutation(game.actions).astype(np.int32):
            assert not game.module.over(states[0])
            rules.play(states, zero, action[None], zero)
            winners = scan(states["board"][0], row, exact)
            assert winners == ({int(states["winner"][0])} - {0})
            if winners:
                break
        assert game.module.over(states[0])


def test_othello_begins_with_four_discs_and_black_turns_one():
    position = played("othello", "")
    assert picture(position).split("/")[3:5] == ["...OX...", "...XO..."]
    assert sorted(position.name(action) for action in position.actions) == ["c4", "d3", "e6", "f5"]
    assert picture(position.play(position.action("d3"))).split("/")[2:5] == ["...X....", "...XX...", "...XO..."]


def passing(seed):
    """A random game of Othello 4x4 as positions."""
    rng, positions = np.random.default_rng(seed), [Position.start(registry.find("othello:size=4"))]
    while not positions[-1].over:
        positions.append(positions[-1].play(int(rng.choice(positions[-1].actions))))
    return positions


def test_a_pass_is_legal_only_where_there_is_no_other_move():
    passes = 0
    for seed in range(30):
        for before, after in zip((game := passing(seed)), game[1:], strict=False):
            if before.mask[16]:
                passes += 1
                assert before.actions == [16]
                assert (after.stones == before.stones).all()
                assert after.player == -before.player
                assert after.actions != [16]
    assert passes > 10


def test_othello_ends_when_neither_side_can_move_and_most_discs_win_whoever_is_to_move():
    movers = set()
    for seed in range(30):
        final = passing(seed)[-1]
        discs = int(final.stones.sum())
        assert final.score == np.sign(discs)
        assert final.value == np.sign(discs) * final.player
        movers.add((np.count_nonzero(final.stones) % 2, final.player))
    assert len(movers) > 2  # passes break the parity of discs


def test_hex_is_won_by_joining_ones_own_edges():
    assert played("hex:size=3", "b1 a1 b2 c1 b3").score == 1
    assert not played("hex:size=3", "a2 a1 b2 b1 c2").over  # left to right is the second player's way
    assert played("hex:size=3", "a1 a2 b1 b2 c1 c2").score == -1
    assert played("hex:size=3", "c1 c3 b2 b3 a3").score == 1  # along the short diagonal
    assert not played("hex:size=3", "a1 c1 b2 b1 c3").over  # the long diagonal does not join


def joined(stones, player):
    """Does a flood over the whole board join the player's edges?"""
    board = stones == player if player == 1 else (stones == player).T
    size = len(board)
    reached = {(0, c) for c in range(size) if board[0, c]}
    todo = list(reached)
    while todo:
        r, c = todo.pop()
        for y, x in ((r, c + 1), (r, c - 1), (r + 1, c), (r - 1, c), (r - 1, c + 1), (r + 1, c - 1)):
            if 0 <= y < size and 0 <= x < size and board[y, x] and (y, x) not in reached:
                reached.add((y, x))
                todo.append((y, x))
    return any(r == size - 1 for r, _ in reached)


def test_the_winner_of_hex_equals_a_flood_and_there_are_no_draws():
    for size in (2, 3, 5, 8):
        game = registry.find(f"hex:size={size}")
        rng = np.random.default_rng(size)
        for _ in range(20):
            position = Position.start(game)
            while not position.over:
                assert not joined(position.stones, 1)
                assert not joined(position.stones, -1)
                position = position.play(int(rng.choice(position.actions)))
            assert joined(position.stones, int(position.score))
            assert not joined(position.stones, -int(position.score))


@pytest.mark.parametrize("spec", ["connect4", "gomoku:size=6,row=4", "othello:size=6", "hex:size=4"])
def test_one_position_has_one_record_however_it_was_reached(spec):
    game, seen = registry.find(spec), {}
    for seed in range(40):
        rng, position = np.random.default_rng(seed), Position.start(game)
        while not position.over and len(position.history) < 4:
            position = position.play(int(rng.choice(position.actions[:4])))
            key = (position.stones.tobytes(), position.player)
            assert seen.setdefault(key, position.states.tobytes()) == position.states.tobytes()
