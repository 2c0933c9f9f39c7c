"""Reads the queries of KataGo's JSON analysis protocol: what is to be analyzed, by which rules, for how long.

Fields are checked one by one, and the first that is wrong ends the query; the words are KataGo's, which clients know.
Shapes: A actions, N positions of the moves.
"""

import json
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from goishi.core import registry
from goishi.core.game import Game, split
from goishi.core.position import Position
from goishi.errors import GoishiError, UsageError
from goishi.protocols import gtp_rules
from goishi.protocols.gtp_words import Failure

COLORS = {"b": 1, "black": 1, "w": -1, "white": -1}
VIEWS = ("BLACK", "WHITE", "SIDETOMOVE")
SMALLEST, LARGEST = 2, 25
"""Boards of Go."""
MOST_MOVES = 10_000
MOST_VISITS = 1 << 50
MOST_KOMI = 400.0
LONGEST_TEXT = 200
"""Letters of a query that an error repeats."""
RULES_NEEDED = (
    'Must specify rules string, such as "chinese" or "tromp-taylor", or a JSON object with detailed rules parameters.'
)
PAIRS = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'
TYPO = "Unexpected or unused field, do you have a typo?"
SECONDS = "Must be number of seconds from 0.001 to 1000000.0"
ACTIONS = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'"


class Refused(Exception):
    """A query that is not answered but by this error."""

    def __init__(self, text: str, field: str | None = None):
        super().__init__(text)
        self.text, self.field = text, field


@dataclass(frozen=True)
class Settings:
    """What a server asks of a search unless the query says more."""

    visits: int | None = None
    """Of the root, its own among them; None: the player's."""
    seconds: float | None = None
    view: str = "BLACK"
    """Who sees win rates, scores and ownership: BLACK, WHITE or SIDETOMOVE."""
    root_temperature: float = 1.0
    """The root's policy is taken to the power 1 / this."""
    wide_root_noise: float = 0.0
    """Flattens the root's policy further: to the power 1 / (4 x + 1)."""
    longest_line: int = 15
    """Moves of a pv, at most."""


@dataclass(frozen=True)
class Query:
    """A query whose fields are right; whether its moves are legal shows when they are played."""

    id: str
    game: Game
    first: np.ndarray  # State[1]
    moves: list[tuple[int, int]]  # color, action
    names: list[str]  # of the moves, as they were written
    turns: list[int]
    priorities: list[int]  # of each turn
    settings: Settings
    include: frozenset[str]  # ownership, movesOwnership, policy, pvVisits ...
    every: float | None = None  # seconds between reports
    first_report: float | None = None
    bars: np.ndarray | None = None  # int32[2, A], see `Search.bar`
    warnings: list[tuple[str, str]] = field(default_factory=list)  # field, text

    def positions(self) -> list[Position]:
        """The position of each turn. Raises Refused for an illegal move. The first call for a board compiles rules.

        As in KataGo, two moves of one color in a row begin a new game from that board, and moves that only the rules of
        ko and suicide forbid are played: what was played was played.
        """
        game, count = self.game, len(self.moves)
        go = is_go(game)
        kernels = game.kernels()
        states = np.zeros(count + 1, game.State)
        states[0] = self.first[0]
        actions = np.array([action for _, action in self.moves], np.int32)
        begins = [0] * (count + 1)  # by position: where its history begins
        done = 0
        while done < count:
            color, end = self.moves[done][0], done + 1
            if states["player"][done] != color:
                if not go:
                    raise Refused(f"Illegal move {done}: {self.names[done]}", "moves")
                states["player"][done], states["ko"][done], begins[done] = color, -1, done
                states["banned"][done] = 0
            while end < count and self.moves[end][0] != self.moves[end - 1][0]:
                end += 1
            rows = np.arange(done, end + 1, dtype=np.int32)
            if go:
                kernels.play(states, rows[:-1], actions[done:end], rows[1:])
                begins[done + 1 : end + 1] = [begins[done]] * (end - done)
                done = end
            else:  # who moves next may be anybody
                kernels.play(states, rows[:1], actions[done : done + 1], rows[1:2])
                done += 1
        self._check(states, actions)
        return [self._position(states, turn, begins[turn]) for turn in self.turns]

    def _check(self, states: np.ndarray, actions: np.ndarray) -> None:
        """Raises Refused for the first illegal move."""
        count = len(actions)
        looked = states[:-1].copy()
        if is_go(self.game):  # whatever the rules are, and as if the game went on
            looked["ko"], looked["banned"], looked["window"], looked["passes"], looked["moves"] = -1, 0, 0, 0, 0
            looked["rules"] |= self.game.module.SUICIDE
        players, over = np.zeros(count, np.int8), np.zeros(count, np.bool_)
        masks = np.zeros((count, self.game.actions), np.bool_)
        rows = np.arange(count, dtype=np.int32)
        self.game.kernels().look(looked, rows, players, over, np.zeros(count, np.float32), masks)
        legal = masks[rows, actions]
        if not legal.all():
            index = int(np.argmin(legal))
            raise Refused(f"Illegal move {index}: {self.names[index]}", "moves")

    def _position(self, states: np.ndarray, turn: int, begin: int) -> Position:
        """The position of a turn, going on even after two passes; it knows what may not recur."""
        game, state = self.game, states[turn : turn + 1].copy()
        history = tuple(action for _, action in self.moves[begin:turn])
        if not is_go(game):
            return Position(game, state, history)
        if game.module.over(state[0]):
            game.module.resume(state[0], int(state["player"][0]))
        keys = np.zeros(turn + 1 - begin, np.uint64)
        kernel = game.kernels().keys
        assert kernel is not None
        kernel(states[begin : turn + 1], keys)
        return Position(game, state, history, frozenset(keys.tolist()) - {0})


def is_go(game: Game) -> bool:
    """Has the game komi and rules in its record?"""
    return hasattr(game.module, "half_points")


def resized(spec: str, columns: int, rows: int) -> Game:
    """The game of a spec on another board. Raises UsageError where it has no such board."""
    name, text = split(spec)
    kept = [part for part in text.split(",") if part and part.split("=")[0] not in ("size", "columns", "rows")]
    game = registry.find(spec)
    if game.board is not None and (game.board.columns, game.board.rows) == (columns, rows):
        return game
    sizes = [f"size={columns}"] if columns == rows else [f"columns={columns}", f"rows={rows}"]
    return registry.find(f"{name}:{','.join(sizes + kept)}")


class _Words(NamedTuple):
    """A query's fields, and those that were asked for."""

    fields: dict[str, Any]
    known: set[str]

    def get(self, name: str, otherwise: Any = None) -> Any:
        self.known.add(name)
        return self.fields.get(name, otherwise)

    def number(self, name: str, least: float, most: float, text: str, otherwise: Any = None) -> Any:
        """A number within bounds, or what stands for a missing one."""
        value = self.get(name, otherwise)
        if name in self.fields and not (_is_number(value) and least <= value <= most):
            raise Refused(text, name)
        return value

    def whole(self, name: str, least: int, most: int, text: str, otherwise: Any = None) -> Any:
        value = self.number(name, least, most, text, otherwise)
        if name in self.fields and value != int(value):
            raise Refused(text, name)
        return int(value) if name in self.fields else value


def read_query(fields: dict[str, Any], spec: str, settings: Settings) -> Query:
    """A query for the game of a spec, on whatever board it asks for. Raises Refused."""
    words = _Words(fields, {"id"})
    game = _game(words, spec)
    warnings: list[tuple[str, str]] = []
    go = is_go(game)
    vertices = {game.board.name(action).lower(): action for action in range(game.actions)}  # type: ignore[union-attr]

    stones = _moves(words, "initialStones", game, vertices)
    if not isinstance(words.get("moves"), list) and words.get("moves") is None:
        raise Refused("Must specify an array of [player,location] pairs", "moves")
    moves = _moves(words, "moves", game, vertices)
    player = words.get("initialPlayer")
    if "initialPlayer" in fields:
        player = _color(player, 'Must be "b" or "w"', "initialPlayer")
    turns = words.get("analyzeTurns", [len(moves)])
    if not isinstance(turns, list) or not all(_is_whole(turn) for turn in turns):
        raise Refused("Must specify an array of integers indicating turns to analyze", "analyzeTurns")
    for turn in turns:
        if not 0 <= turn <= len(moves):
            raise Refused(f"Invalid turn number: {turn}", "analyzeTurns")

    first = game.start()
    if go:
        _set_rules(words, game, first[0])
        _set_stones(game, first, stones, player or (moves[0][0] if moves else None))
    else:
        words.known.update(("rules", "komi", "whiteHandicapBonus"))
        if stones:
            raise Refused(f"{game.name} has no stones at the start; send them as moves", "initialStones")
    settings = _settings(words, settings, warnings)
    every = words.number("reportDuringSearchEvery", 0.001, 1e6, SECONDS)
    first_report = words.number("firstReportDuringSearchAfter", 0.001, 1e6, SECONDS, every)
    priorities = _priorities(words, len(turns))
    query = Query(
        fields["id"],
        game,
        first,
        [(color, action) for color, action, _ in moves],
        [name for _, _, name in moves],
        list(dict.fromkeys(int(turn) for turn in turns)),
        [priorities[turns.index(turn)] for turn in dict.fromkeys(turns)],
        settings,
        _include(words, warnings),
        every,
        first_report,
        _bars(words, game, vertices),
        warnings,
    )
    warnings += [(name, TYPO) for name in fields if name not in words.known]
    return query


def _game(words: _Words, spec: str) -> Game:
    """The game on the board that is asked for."""
    go = is_go(registry.find(spec))
    sizes = []
    for name in ("boardXSize", "boardYSize"):
        text = f"Must provide an integer from {SMALLEST} to {LARGEST}"
        if name not in words.fields and go:
            raise Refused(text, name)
        sizes.append(words.whole(name, SMALLEST, LARGEST, text))
    board = registry.find(spec).board
    assert board is not None
    columns, rows = sizes[0] or board.columns, sizes[1] or board.rows
    try:
        return resized(spec, columns, rows)
    except GoishiError as error:
        raise Refused(str(error), "boardXSize") from None


def _moves(words: _Words, name: str, game: Game, vertices: dict[str, int]) -> list[tuple[int, int, str]]:
    """Pairs of color and vertex: color, action, name."""
    pairs = words.get(name, [])
    if not isinstance(pairs, list) or len(pairs) > MOST_MOVES:
        raise Refused(PAIRS if not isinstance(pairs, list) else f"Must have at most {MOST_MOVES} moves", name)
    read = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(each, str) for each in pair):
            raise Refused(PAIRS, name)
        color = _color(pair[0], f"Could not parse player: {cut(pair[0])}", name)
        action = _action(pair[1], game, vertices, name)
        if name == "initialStones" and game.name == "go" and action == game.actions - 1:
            raise Refused(f"Could not parse board location: {pair[1]}", name)
        read.append((color, action, pair[1]))
    return read


def _color(word: Any, text: str, name: str) -> int:
    color = COLORS.get(word.lower()) if isinstance(word, str) else None
    if color is None:
        raise Refused(text, name)
    return color


def _action(vertex: str, game: Game, vertices: dict[str, int], name: str) -> int:
    """The action of `D4`, `pass`, or `(3,15)`, counted from 0 at the top left."""
    found = vertices.get(vertex.strip().lower())
    if found is None and vertex.startswith("(") and vertex.endswith(")") and game.board is not None:
        parts = [part.strip() for part in vertex[1:-1].split(",")]
        if len(parts) == 2 and all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
            column, row = int(parts[0]), int(parts[1])
            if column < game.board.columns and row < game.board.rows and game.board.style != "drop":
                found = row * game.board.columns + column
    if found is None:
        raise Refused(f"Could not parse board location: {cut(vertex)}", name)
    return found


def _set_rules(words: _Words, game: Game, state: np.record) -> None:
    """Rules, komi and White's bonus into the first record."""
    module: Any = game.module
    given = words.get("rules")
    if not isinstance(given, str | dict):
        raise Refused(RULES_NEEDED, "rules")
    try:
        rules = gtp_rules.read(given if isinstance(given, str) else json.dumps(given), module)
    except Failure:
        told = given if isinstance(given, str) else json.dumps(given)
        raise Refused(f"Could not parse rules: {cut(told)}", "rules") from None
    bonus = words.get("whiteHandicapBonus", rules.bonus)
    if not isinstance(bonus, str):
        raise Refused("Must be a string", "whiteHandicapBonus")
    if bonus not in module.BONUS:
        raise Refused(f"Invalid whiteHandicapBonus rule: {cut(bonus)}", "whiteHandicapBonus")
    rules = rules._replace(bonus=bonus)
    text = f"Must be a integer or half-integer from -{MOST_KOMI} to {MOST_KOMI}"
    komi = words.number("komi", -MOST_KOMI, MOST_KOMI, text, rules.komi)
    if 2 * komi != round(2 * komi):
        raise Refused(text, "komi")
    state.rules, state.komi = module.flags(rules), module.half_points(komi)


def _set_stones(game: Game, first: np.ndarray, stones: list[tuple[int, int, str]], player: int | None) -> None:
    """Stones at the start. Black's, where White has none, are a handicap, after which White moves."""
    module: Any = game.module
    board = np.zeros(game.actions - 1, np.int8)
    for color, action, _ in stones:
        board[action] = color
    handicap = int((board > 0).sum()) if not (board < 0).any() else 0
    handicap = handicap if handicap > 1 else 0
    try:
        module.arrange(
            first[0],
            board.reshape(game.planes[1:]),
            player or (-1 if handicap else 1),
            min(handicap, 127),
        )
    except UsageError as error:
        raise Refused(str(error), "initialStones") from None


def _settings(words: _Words, settings: Settings, warnings: list[tuple[str, str]]) -> Settings:
    """The server's settings, changed by the query's."""
    override = words.get("overrideSettings", {})
    if not isinstance(override, dict):
        raise Refused("Must be an object", "overrideSettings")
    settings, unknown = overridden(settings, override)
    if unknown:
        warnings.append(("overrideSettings", f"Unknown config params: {', '.join(map(cut, unknown))}"))
    text = "Must be an integer from 1 to 2^50"
    visits = words.whole("maxVisits", 1, MOST_VISITS, text, settings.visits)
    longest = words.whole("analysisPVLen", 1, 1000, "Must be an integer from 1 to 1000", settings.longest_line)
    temperature = words.number(
        "rootPolicyTemperature", 0.01, 100.0, "Must be a number from 0.01 to 100.0", settings.root_temperature
    )
    if words.number("rootFpuReductionMax", 0.0, 2.0, "Must be a number from 0.0 to 2.0") is not None:
        warnings.append(("rootFpuReductionMax", "This search has no such setting; it goes on without"))
    return Settings(visits, settings.seconds, settings.view, temperature, settings.wide_root_noise, longest)


def overridden(settings: Settings, override: dict[str, Any]) -> tuple[Settings, list[str]]:
    """Settings changed by KataGo's names, and the names that are not known. Raises Refused."""
    changed = {name: getattr(settings, name) for name in settings.__dataclass_fields__}
    unknown = []
    for name, value in override.items():
        if name == "reportAnalysisWinratesAs":
            view = value.upper() if isinstance(value, str) else None
            if view not in VIEWS:
                raise Refused(f"Could not set settings: {name} is BLACK, WHITE or SIDETOMOVE", "overrideSettings")
            changed["view"] = view
        elif name in BOUNDS:
            attribute, least, most, whole = BOUNDS[name]
            if isinstance(value, str):
                try:
                    value = float(value)
                except ValueError:
                    value = None
            if not _is_number(value) or not least <= value <= most or (whole and value != int(value)):
                what = "an integer" if whole else "a number"
                raise Refused(
                    f"Could not set settings: {name} must be {what} from {least:g} to {most:g}", "overrideSettings"
                )
            changed[attribute] = int(value) if whole else float(value)
        else:
            unknown.append(name)
    return Settings(**changed), unknown


BOUNDS = {
    "maxVisits": ("visits", 1, MOST_VISITS, True),
    "maxTime": ("seconds", 0, 1e20, False),
    "wideRootNoise": ("wide_root_noise", 0, 5, False),
    "rootPolicyTemperature": ("root_temperature", 0.01, 100, False),
    "analysisPVLen": ("longest_line", 1, 1000, True),
}
"""KataGo's settings that mean something here: ours, and the values that they take."""

INCLUDE = ("Policy", "Ownership", "MovesOwnership", "PVVisits", "NoResultValue")
NOT_KNOWN = ("OwnershipStdev", "MovesOwnershipStdev")


def _include(words: _Words, warnings: list[tuple[str, str]]) -> frozenset[str]:
    """What the answers hold besides the usual."""
    chosen = set()
    for name in (*INCLUDE, *NOT_KNOWN):
        value = words.get(f"include{name}", False)
        if not isinstance(value, bool):
            raise Refused("Must be a boolean", f"include{name}")
        if value and name in NOT_KNOWN:
            warnings.append((f"include{name}", "This engine does not know how uncertain its ownership is"))
        elif value:
            chosen.add(name)
    return frozenset(chosen)


def _priorities(words: _Words, turns: int) -> list[int]:
    most = 2**62
    text = "Must be a number between -2^62 and 2^62"
    priority = int(words.number("priority", -most, most, text, 0))
    given = words.get("priorities")
    if "priorities" not in words.fields:
        return [priority] * turns
    if "analyzeTurns" not in words.fields:
        raise Refused("Can only specify when also specifying analyzeTurns", "priorities")
    if not isinstance(given, list) or not all(_is_whole(each) and abs(each) <= most for each in given):
        raise Refused("Must specify an array of integers indicating priorities", "priorities")
    if len(given) != turns:
        raise Refused("Must be of matching length to analyzeTurns", "priorities")
    return [int(each) for each in given]


def _bars(words: _Words, game: Game, vertices: dict[str, int]) -> np.ndarray | None:
    """int32[2, A] of avoidMoves or allowMoves."""
    avoid, allow = words.get("avoidMoves"), words.get("allowMoves")
    if avoid and allow:
        raise Refused("Cannot specify both allowMoves and avoidMoves", "allowMoves")
    bars = np.zeros((2, game.actions), np.int32)
    seen = set()
    for name, entries in (("avoidMoves", avoid), ("allowMoves", allow)):
        if name not in words.fields:
            continue
        if not isinstance(entries, list):
            raise Refused(ACTIONS, name)
        for entry in entries:
            if not isinstance(entry, dict) or {"player", "moves", "untilDepth"} - entry.keys():
                raise Refused(ACTIONS, name)
            if not isinstance(entry["moves"], list) or not all(isinstance(move, str) for move in entry["moves"]):
                raise Refused(ACTIONS, name)
            side = (1 - _color(entry["player"], 'Must be "b" or "w"', "player")) // 2
            depth = entry["untilDepth"]
            if not _is_whole(depth) or depth < 1:
                raise Refused("Must be a positive integer", "untilDepth")
            actions = [_action(move, game, vertices, "moves") for move in entry["moves"]]
            if name == "allowMoves":
                if side in seen:
                    raise Refused("Cannot specify allowMoves more than once for the same player", name)
                seen.add(side)
                actions = sorted(set(range(game.actions)) - set(actions))
            bars[side, actions] = np.maximum(bars[side, actions], min(int(depth), 1 << 20))
    return bars if bars.any() else None


def _is_number(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _is_whole(value: Any) -> bool:
    return _is_number(value) and value == int(value)


def cut(text: str) -> str:
    """A text that a message repeats, not at any length."""
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "..."
