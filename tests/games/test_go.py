"""Go's rules, on boards that a person can read, against slow references, and against another program's board."""

import numpy as np
import pytest

from goishi.core import registry
from goishi.core.compiled import inner
from goishi.core.position import Position
from goishi.errors import IllegalMove, UnknownGame, UsageError

STONES = {"X": 1, "O": -1, ".": 0}


def arranged(diagram, player=1, rules="chinese", komi=0.0, handicap=0):
    """A game that begins with a diagram in the top left of a 5x5 board, or of one with 4 columns and 20 rows."""
    lines = diagram.split()
    rows, columns = (5, 5) if len(lines) <= 5 else (20, 4)
    game = registry.find(f"go:columns={columns},rows={rows}")
    states, stones = game.start(), np.zeros((rows, columns), np.int8)
    states["rules"] = game.module.flags(game.module.preset(rules))
    states["komi"] = game.module.half_points(komi)
    for row, line in enumerate(lines):
        stones[row, : len(line)] = [STONES[point] for point in line]
    game.module.arrange(states[0], stones, player, handicap)
    return Position(game, states)


def after(position, moves):
    for move in moves.split():
        position = position.play(position.action(move))
    return position


def picture(position):
    """The rows that are not empty."""
    rows = ["".join(".XO"[stone] for stone in row) for row in position.stones]
    return " ".join(row for row in rows if row.strip("."))


def may(position, move):
    return bool(position.mask[position.action(move)])


# ------------------------------------------------------------------ captures, suicide, ko


@pytest.mark.parametrize(
    ("diagram", "move", "expected"),
    [
        (".OX.. .X...", "A5", "X.X.. .X..."),
        (".OOX. .XX..", "A5", "X..X. .XX.."),
        (".X... XOX..", "B3", ".X... X.X.. .X..."),
        ("..X.. .XOX. XO.OX .X.X.", "C3", "..X.. .X.X. X.X.X .X.X."),
    ],
)
def test_a_move_takes_every_chain_whose_last_liberty_it_is(diagram, move, expected):
    assert picture(after(arranged(diagram), move)) == expected


def test_stones_without_a_liberty_are_no_beginning():
    with pytest.raises(UsageError):
        arranged("..X.. .XOX. ..X..")


KO = ".XO.. XO.O. .XO.."


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "aga", "japanese"])
def test_a_ko_may_not_be_retaken_at_once_but_after_another_move(rules):
    position = after(arranged(KO, rules=rules), "C4")
    assert picture(position) == ".XO.. X.XO. .XO.."
    assert not may(position, "B4")
    with pytest.raises(IllegalMove):
        after(position, "B4")
    position = after(position, "A1 E1 B4")
    assert not may(position, "C4")
    assert may(after(position, "D1 C1"), "C4")


def test_taking_one_stone_with_a_chain_is_no_ko():
    position = after(arranged("..OX. OOOX. XXX.."), "A5 B5")
    assert position.state.ko == -1
    assert picture(after(position, "A5")) == "X..X. ...X. XXX.."  # a snapback


def test_suicide_of_several_stones_is_legal_by_some_rules_only():
    diagram = ".XO.. OO..."
    for rules, legal in (("tromp-taylor", True), ("new-zealand", True), ("chinese", False), ("cgos", False)):
        assert may(arranged(diagram, rules=rules), "A5") == legal
    position = after(arranged(diagram, rules="tromp-taylor"), "A5")
    assert picture(position) == "..O.. OO..."
    assert position.state.hash == arranged("..O.. OO...").state.hash


@pytest.mark.parametrize("rules", ["tromp-taylor", "new-zealand", "chinese"])
def test_suicide_of_a_single_stone_is_never_legal(rules):
    assert not may(arranged(".O... O....", rules=rules), "A5")


# ------------------------------------------------------------------ repetition

SEND_TWO = ".O.O. XXOO."  # White A5, Black C5 takes two, White B5 takes one


@pytest.mark.parametrize(("rules", "legal"), [("chinese", True), ("tromp-taylor", False), ("aga", True)])
def test_sending_two_and_returning_one_repeats_the_board_with_the_other_side_to_move(rules, legal):
    position = after(arranged(SEND_TWO, player=-1, rules=rules), "A5 C5")
    assert picture(position) == "..XO. XXOO."
    assert position.state.ko == -1
    assert may(position, "B5") == legal
    if legal:
        assert picture(after(position, "B5")) == SEND_TWO


def test_what_stood_before_a_pass_may_not_recur_by_situational_superko():
    assert not may(after(arranged(SEND_TWO, player=1, rules="aga"), "pass A5 C5"), "B5")


def kos(holders):
    """A board with one ko below the other: `X` where Black took last."""
    return " ".join(f".XO. {'X.XO' if holder == 'X' else 'XO.O'} .XO. ...." for holder in holders)


def taking(turn, count):
    """The move of a turn that takes the next of so many kos, Black first."""
    return (4 * (turn % count) + 1) * 4 + (2 if turn % 2 == 0 else 1)


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize(("rules", "legal"), [("chinese", True), ("chinese-ogs", False), ("aga", False)])
def test_a_cycle_through_several_kos_ends_where_the_first_position_would_recur(rules, legal, count):
    start = position = arranged(kos("OXOXO"), rules=rules)
    for turn in range(2 * count - 1):
        assert position.mask[taking(turn, count)]
        position = position.play(taking(turn, count))
    last = taking(2 * count - 1, count)
    mask = np.zeros(position.game.actions, np.bool_)
    position.game.module.legal(position.state, mask)
    assert mask[last] == legal  # the record says so, and with it all that see the record
    assert position.mask[last] == legal
    if legal:
        assert (position.play(last).stones == start.stones).all()


def test_the_record_alone_remembers_a_window_and_the_position_the_whole_game():
    position = arranged(kos("OXOXO"), rules="chinese-ogs")
    states, zero = position.states.copy(), np.zeros(1, np.int32)
    for turn in range(9):
        position = position.play(taking(turn, 5))
        position.game.kernels().play(states, zero, np.array([taking(turn, 5)], np.int32), zero)
    mask = np.zeros(position.game.actions, np.bool_)
    position.game.module.legal(states[0], mask)
    assert set(np.flatnonzero(mask)) - set(position.actions) == {taking(9, 5)}
    assert not position.play(position.game.actions - 1).states["banned"].any()


def test_a_pass_is_always_legal_and_two_end_the_game():
    for rules in ("tromp-taylor", "aga", "japanese"):
        position = arranged(".", rules=rules)
        assert may(position, "pass")
        position = after(position, "pass")
        assert may(position, "pass")
        assert after(position, "pass").over
        assert not after(position, "A1 pass").over


def reference_masks(game, stones, player, seen, rules):
    """The legal moves by the definition, on lists of points; and what each leads to."""
    rows, columns = stones.shape
    ruleset = game.module.preset(rules)

    def chain(board, row, column):
        todo, found, free = [(row, column)], {(row, column)}, False
        while todo:
            r, c = todo.pop()
            for y, x in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if 0 <= y < rows and 0 <= x < columns:
                    if board[y, x] == 0:
                        free = True
                    elif board[y, x] == board[row, column] and (y, x) not in found:
                        found.add((y, x))
                        todo.append((y, x))
        return found, free

    boards = {}
    for row in range(rows):
        for column in range(columns):
            if stones[row, column]:
                continue
            board = stones.copy()
            board[row, column] = player
            for y, x in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= y < rows and 0 <= x < columns and board[y, x] == -player:
                    found, free = chain(board, y, x)
                    if not free:
                        for point in found:
                            board[point] = 0
            found, free = chain(board, row, column)
            if not free:
                if not ruleset.suicide or len(found) == 1:
                    continue
                for point in found:
                    board[point] = 0
            key = board.tobytes() if ruleset.ko == "positional" else (board.tobytes(), -player)
            if key not in seen:
                boards[row * columns + column] = board
    return boards


def equals_reference(columns, rows, rules, games, seed):
    game = registry.find(f"go:columns={columns},rows={rows}")
    module, rng = game.module, np.random.default_rng(seed)
    situational = module.preset(rules).ko == "situational"
    long = 0
    for _ in range(games):
        states = game.start()
        states["rules"] = module.flags(module.preset(rules))
        module.begin(states[0], 1, 0)
        position = Position(game, states)
        stones, player = np.zeros((rows, columns), np.int8), 1
        seen = {(stones.tobytes(), player) if situational else stones.tobytes()}
        while not position.over:
            boards = reference_masks(game, stones, player, seen, rules)
            assert position.actions == [*sorted(boards), rows * columns]
            # seldom a pass, so that games are long and positions recur
            some = sorted(boards) if boards and rng.random() < 0.9 else [rows * columns]
            action = int(rng.choice(some))
            stones = boards.get(action, stones)
            player = -player
            seen.add((stones.tobytes(), player) if situational else stones.tobytes())
            position = position.play(action)
            assert (position.stones == stones).all()
            again = game.start()
            again["rules"] = states["rules"]
            module.arrange(again[0], stones, player)
            assert again["hash"] == position.states["hash"]
        long = max(long, len(position.history))
    return long


@pytest.mark.parametrize("rules", ["tromp-taylor", "cgos", "aga", "new-zealand"])
def test_superko_equals_a_slow_reference_on_random_games(rules):
    assert equals_reference(3, 2, rules, 40, seed=1) > 12
    equals_reference(3, 3, rules, 15, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["tromp-taylor", "cgos", "aga", "new-zealand"])
def test_superko_equals_a_slow_reference_on_many_random_games(rules):
    for columns, rows, games in ((2, 2, 2000), (3, 2, 2000), (3, 3, 500), (4, 4, 100)):
        equals_reference(columns, rows, rules, games, seed=3)


# ------------------------------------------------------------------ counts


def count_legal_positions(columns, rows):
    """Boards on which every chain has a liberty, among all 3 ** (columns * rows)."""
    game = registry.find(f"go:columns={columns},rows={rows}")
    points = columns * rows
    from goishi.core.game import compile_rules

    chains = compile_rules(game.module)["legal"].py_func.__globals__["chains"]

    @inner
    def count(boards):
        cells, total = np.zeros(points, np.int8), 0
        for board in range(boards):
            rest = board
            for point in range(points):
                cells[point] = rest % 3 - 1
                rest //= 3
            chain, liberties, _ = chains(cells)
            alive = True
            for point in range(points):
                if chain[point] >= 0 and liberties[chain[point]] == 0:
                    alive = False
                    break
            total += alive
        return total

    return count(3**points)


def test_legal_positions_up_to_3x3():
    assert count_legal_positions(2, 2) == 57
    assert count_legal_positions(3, 3) == 12_675
    assert count_legal_positions(3, 2) == count_legal_positions(2, 3) == 489


@pytest.mark.slow
def test_legal_positions_4x4():
    assert count_legal_positions(4, 4) == 24_318_165


# ------------------------------------------------------------------ scoring, handicap, rule sets


@pytest.mark.parametrize(
    ("diagram", "area", "territory"),
    [
        (".....", 0, 0),
        (".X...", 25, 24),
        (5 * ".X.O. ", 0, 0),
        (5 * ".XXO. ", 5, 0),
        (5 * ".XO.. ", -5, -5),
    ],
)
def test_area_and_territory_of_a_board(diagram, area, territory):
    for rules, expected in (("chinese", area), ("japanese", territory)):
        position = arranged(diagram, rules=rules)
        assert position.game.module.margin(position.state) == expected
        assert position.play(position.game.actions - 1).play(position.game.actions - 1).score == np.sign(expected)


def test_dead_stones_are_taken_off_and_count_as_prisoners():
    diagram, dead = ".X... .XO.. .X... XX...", np.zeros((5, 5), bool)
    dead[1, 2] = True
    chinese, japanese = arranged(diagram), arranged(diagram, rules="japanese")
    module = chinese.game.module
    assert module.margin(chinese.state) == 5 + 3 - 1
    assert module.margin(chinese.state, dead) == 25
    assert module.margin(japanese.state, dead) == 25 - 5 + 1
    owners = module.territory(chinese.state.board, dead)
    assert (owners == 1).all()


def test_prisoners_count_by_territory_only():
    for rules, expected in (("japanese", 1), ("chinese", 0)):
        position = after(arranged(".OX.. .X...", rules=rules), "A5")
        assert position.state.prisoners == expected
        position = after(arranged(".XO.. .O...", rules=rules, player=-1), "A5")
        assert position.state.prisoners == -expected


@pytest.mark.parametrize("komi", [-3.5, 0, 0.5, 7, 8.5, 100])
def test_komi_is_whites(komi):
    position = arranged(".X", komi=komi)
    assert position.game.module.margin(position.state) == 25 - komi
    assert after(position, "pass pass").score == np.sign(25 - komi)


@pytest.mark.parametrize(("rules", "bonus"), [("chinese", 4), ("aga", 3), ("japanese", 0), ("tromp-taylor", 0)])
def test_white_is_paid_for_handicap_stones_as_the_rules_say(rules, bonus):
    game = registry.find("go:size=9")
    states = game.start()
    states["rules"] = game.module.flags(game.module.preset(rules))
    stones = np.zeros(81, np.int8)
    stones[game.module.handicap_points(9, 9, 4)] = 1
    before = game.module.margin(states[0])
    game.module.arrange(states[0], stones.reshape(9, 9), -1, 4)
    area = 77 if rules == "japanese" else 81
    assert game.module.margin(states[0]) == before + area - bonus


SEKI = "X.X.O XXXOO OOOO. ..... ....."  # Black has one eye, White the rest of the board; D5 is nobody's


@pytest.mark.parametrize(
    ("rules", "expected"),
    [("chinese", 6 - 18), ("japanese", -11), ("stone-scoring", 5 - 18 + 2), ("ancient-territory", -11 + 2)],
)
def test_points_in_seki_and_two_a_group_are_taxed_as_the_rules_say(rules, expected):
    position = arranged(SEKI, rules=rules)
    module = position.game.module
    assert module.margin(position.state) == module.points(position.state) == expected
    owners, seki = module.settle(position.state, np.zeros((5, 5), bool))
    assert (seki == (position.stones == 1)).all()
    assert owners[0, 1] == (rules == "chinese")


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_a_point_that_must_be_filled_counts_by_area_only(rules):
    position = arranged(".X.XO XXXOO X.XOO XXXO. OOOO.", rules=rules)  # C5 joins D5, which has no other liberty
    module = position.game.module
    owners, seki = module.settle(position.state, np.zeros((5, 5), bool))
    assert not seki[position.stones == 1].any()
    assert owners[0, 0] == owners[2, 1] == 1
    assert owners[0, 2] == (rules == "chinese")


def test_the_first_pass_takes_the_button():
    position = arranged(5 * ".X.O. ", rules="aga-button")
    module = position.game.module
    assert module.margin(position.state) == 0
    assert position.play(0).state.button == 0
    passed = after(position, "pass")
    assert passed.state.button == 1
    assert module.margin(passed.state) == 0.5
    ended = after(passed, "pass")
    assert ended.state.button == 1
    assert ended.score == 1
    assert after(arranged(5 * ".X.O. ", rules="aga-button", player=-1), "pass pass").score == -1
    assert after(arranged(5 * ".X.O. ", rules="aga"), "pass pass").score == 0


HANDICAPS = {  # as GTP clients know them
    (7, 2): "E5 C3",
    (9, 4): "G7 C3 C7 G3",
    (9, 5): "G7 C3 C7 G3 E5",
    (9, 6): "G7 C3 C7 G3 C5 G5",
    (9, 9): "G7 C3 C7 G3 C5 G5 E3 E7 E5",
    (11, 8): "J9 C3 C9 J3 C6 J6 F3 F9",
    (13, 7): "K10 D4 D10 K4 D7 K7 G7",
    (14, 4): "L11 D4 D11 L4",
    (19, 3): "Q16 D4 D16",
    (19, 9): "Q16 D4 D16 Q4 D10 Q10 K4 K16 K10",
}


@pytest.mark.parametrize(("size", "count"), HANDICAPS)
def test_handicap_stones_stand_where_everybody_puts_them(size, count):
    game = registry.find(f"go:size={size}")  # nothing is compiled
    points = game.module.handicap_points(size, size, count)
    assert {game.board.name(point) for point in points} == set(HANDICAPS[size, count].split())


def test_a_handicap_game_begins_with_whites_move():
    position = Position.start(registry.find("go:size=9,handicap=2"))
    assert position.player == -1
    assert picture(position).count("X") == 2
    assert position.state.handicap == 2
    assert len(position.game.symmetries) == 1


def test_each_preset_means_what_the_table_says():
    preset = registry.find("go:size=9").module.preset
    no = False
    assert preset("tromp-taylor") == ("area", "positional", "none", True, "0", False, no)
    assert preset("Chinese") == ("area", "simple", "none", False, "N", True, no)
    assert preset("chinese_OGS") == preset("chinesekgs") == ("area", "positional", "none", False, "N", True, no)
    assert preset("japanese") == preset("Korean") == ("territory", "simple", "seki", False, "0", False, no)
    assert preset("AGA") == preset("bga") == preset("French") == ("area", "situational", "none", False, "N-1", True, no)
    assert preset("aga button") == ("area", "situational", "none", False, "N-1", True, True)
    assert preset("New Zealand") == preset("NZ") == ("area", "situational", "none", True, "0", True, no)
    assert preset("goe") == preset("ing") == ("area", "positional", "none", True, "0", True, no)
    assert preset("stone_scoring") == preset("ancient-area") == ("area", "simple", "all", False, "0", True, no)
    assert preset("ancient territory") == ("territory", "simple", "all", False, "0", False, no)
    assert preset("cgos") == preset("tromp-taylor")._replace(suicide=False)


def test_a_records_rules_are_read_back_as_they_were_set():
    module = registry.find("go:size=9").module
    for name, rules in module.PRESETS.items():
        assert module.describe(module.flags(rules)) == rules, name
    odd = module.RuleSet("territory", "situational", "none", True, "N-1", True, True)
    assert module.describe(module.flags(odd)) == odd


@pytest.mark.parametrize(
    ("spec", "komi"),
    [
        ("go:size=9", 7.5),
        ("go:size=9,rules=chinese", 7.5),
        ("go:size=9,rules=japanese", 6.5),
        ("go:size=9,rules=ancient-territory", 6.5),
        ("go:size=9,scoring=territory", 6.5),
        ("go:size=9,rules=aga-button", 7.0),
        ("go:size=9,rules=japanese,komi=0.5", 0.5),
        ("go:size=9,komi=-3", -3.0),
    ],
)
def test_komi_is_what_the_rules_are_played_with_unless_it_is_given(spec, komi):
    module = registry.find(spec).module  # nothing is compiled
    assert komi == module.HALF_KOMI / 2


def test_what_a_preset_sets_may_be_set_by_itself():
    module = registry.find("go:size=9,rules=chinese,ko=situational,suicide=yes,scoring=territory,bonus=N-1").module
    friendly = module.describe(module.RULES)  # by territory, points in seki do not count
    assert friendly == ("territory", "situational", "seki", True, "N-1", True, False)
    module = registry.find("go:size=9,rules=japanese,tax=all,button=yes").module
    assert module.describe(module.RULES) == ("territory", "simple", "all", False, "0", False, True)
    assert registry.find("go:size=9,rules=japanese,scoring=area").module.RULES & module.TAX_SEKI == 0
    with pytest.raises(UnknownGame, match="tax is none, seki, all or preset"):
        registry.find("go:size=9,tax=much")


# ------------------------------------------------------------------ records


@pytest.mark.parametrize("spec", ["go:size=9", "go:columns=3,rows=2"])
def test_undo_and_replay_give_the_identical_record(spec):
    game, rng = registry.find(spec), np.random.default_rng(5)
    for _ in range(5):
        positions = [Position.start(game)]
        while not positions[-1].over and len(positions) < 200:
            positions.append(positions[-1].play(int(rng.choice(positions[-1].actions))))
        for index in rng.integers(0, len(positions), 5):
            again = Position.after(game, positions[index].history)
            assert again.states.tobytes() == positions[index].states.tobytes()
            assert (again.mask == positions[index].mask).all()


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese", "aga"])
def test_draws_are_legal_fill_no_eye_and_pass_only_then(rules):
    game = registry.find("go:size=5")
    module, rng, passes = game.module, np.random.default_rng(7), 0
    for _ in range(20):
        states = game.start()
        states["rules"] = module.flags(module.preset(rules))
        module.begin(states[0], 1, 0)
        state = states[0]
        while not module.over(state):
            mask = np.zeros(game.actions, np.bool_)
            module.legal(state, mask)
            cells = state.board.reshape(-1)
            eyes = [p for p in np.flatnonzero(cells == 0) if module.is_eye(cells, p, state.player)]
            before = states.tobytes()
            action = int(module.draw(state, np.uint64(rng.integers(0, 2**63))))
            assert states.tobytes() == before
            assert mask[action]
            assert action not in eyes
            if action == 25:
                passes += 1
                mask[eyes] = False
                assert mask.sum() == 1
            module.play(state, action)
    assert passes > 20


def test_random_games_are_of_sensible_length_and_never_longer_than_six_moves_a_point():
    for size, least, most in ((9, 90, 140), (19, 400, 550)):
        game = registry.find(f"go:size={size}")
        states, moves = game.start(100), np.zeros(100, np.int32)
        game.kernels().finish(states, np.arange(1, 101, dtype=np.uint64), moves)
        assert least < moves.mean() < most
        assert (moves == states["moves"]).all()
        assert moves.max() <= 6 * size * size


def test_a_game_without_end_ends_by_its_length():
    game = registry.find("go:size=5")
    states = game.start()
    states["moves"] = 6 * 25 - 1
    assert not Position(game, states).over
    assert Position(game, states).play(0).over


def test_planes_show_what_a_network_needs():
    position = after(arranged(KO, rules="chinese", komi=7.5), "C4")
    planes = np.zeros(position.game.planes, np.float32)
    position.game.module.encode(position.state, planes)
    assert (planes[0] == (position.stones == -1)).all()
    assert (planes[1] == (position.stones == 1)).all()
    assert planes[2, 1, 2] == 1  # the ko stone is in atari
    assert (planes[2:5].sum(axis=0) == (position.stones != 0)).all()
    assert np.argwhere(planes[5]).tolist() == [[0, 0], [1, 1]]  # suicide, and the ko
    assert np.argwhere(planes[6]).tolist() == [[1, 2]]
    assert not planes[7].any()
    assert not planes[8].any()
    assert (planes[9] == 1).all()
    assert (planes[10] == np.float32(7.5 / 20)).all()  # White's
    assert not planes[11:].any()
    planes[:] = 0
    passed = after(arranged(KO, rules="new-zealand"), "pass")
    position.game.module.encode(passed.state, planes)
    assert [bool(plane.all()) for plane in planes[8:]] == [True, True, False, False, True, True, False]


def test_equal_to_sgfmills_board_on_random_games():
    equals_sgfmill(200)


@pytest.mark.slow
def test_equal_to_sgfmills_board_on_many_random_games():
    equals_sgfmill(10_000)


def equals_sgfmill(games):
    boards = pytest.importorskip("sgfmill.boards", reason="sgfmill is not installed")
    rng = np.random.default_rng(11)
    for number in range(games):
        size = 19 if number % 40 == 0 else 9 if number % 4 == 0 else 5
        game = registry.find(f"go:size={size}")
        kernels, zero = game.kernels(), np.zeros(1, np.int32)
        states, oracle = game.start(), boards.Board(size)
        states["rules"] = game.module.flags(game.module.preset("new-zealand")._replace(ko="simple"))
        players, over, values = np.zeros(1, np.int8), np.zeros(1, np.bool_), np.zeros(1, np.float32)
        masks = np.zeros((1, game.actions), np.bool_)
        for _ in range(2 * size * size):
            kernels.look(states, zero, players, over, values, masks)
            points = np.flatnonzero(masks[0, :-1])
            if over[0] or len(points) == 0:
                break
            action = int(rng.choice(points))
            row, column = divmod(action, size)
            ko = oracle.play(size - 1 - row, column, "b" if players[0] == 1 else "w")
            kernels.play(states, zero, np.array([action], np.int32), zero)
            assert states["ko"][0] == (-1 if ko is None else (size - 1 - ko[0]) * size + ko[1])
        stones = [[{"b": 1, "w": -1, None: 0}[oracle.get(size - 1 - r, c)] for c in range(size)] for r in range(size)]
        assert (states["board"][0] == stones).all()
        states["komi"] = 0
        assert game.module.margin(states[0]) == oracle.area_score()
