"""GTP's commands that think: moves under clocks, passing, giving up, and the end of a game of Go."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from goishi.arena import dead, ending
from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import BadModel
from goishi.networks import store
from goishi.players import Decision, Maker, Player, maker
from goishi.players.levels import LEVELS, Level
from goishi.players.player import TAKES_MODEL, VISITS, parse
from goishi.players.searcher import SearchPlayer
from goishi.protocols import gtp_time
from goishi.protocols.gtp_board import BoardCommands
from goishi.protocols.gtp_words import Attention, Failure, color_of, command, number, truth, whole
from goishi.protocols.stdio import complain
from goishi.search.analysis import Analysis
from goishi.search.clock import Budget, Clock, Limit

EARLY = 0.25
"""A pass that ends the game before this share of the board has been played must win."""
HOPELESS = -0.95
"""Where every other move is worth less, a lost game is ended by a pass."""
RESIGN = -0.95
RESIGN_TURNS = 3
CLOSE = 5.0
"""Points: nobody resigns a game that random games see as closer; each handicap stone adds STONE to it."""
STONE = 14.0
HURRY = 1.0
"""Seconds: with less for a move, dead stones are told by fewer random games."""
HURRIED_PLAYOUTS = 64
LONGEST = 3.0
"""A hard move may take so many times the usual time, if the clock allows it."""
PATIENCE = 0.3
"""Seconds that a player's loading waits for another size of the board."""
STAND_IN = "rollout:visits=200"
"""Finds a move for a player without search that passes too early."""
PONDER = Limit(seconds=600.0)
"""What thinking in the other's time may cost."""
GLANCE = Limit(visits=100)
STATUSES = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")


Parameter = tuple[Callable[[], Any], Callable[[str], None], str]
"""What it is now, how it is changed, and its kind as GoGui has it."""


class Watch(NamedTuple):
    """Someone who wants to hear of a search."""

    report: Callable[[Analysis], object]
    every: float = math.inf
    """Seconds between reports."""
    territory: bool = False
    least: int = 0
    """Actions to be told of at least, unvisited ones too."""
    bars: np.ndarray | None = None
    """int32[2, A] as SearchPlayer.analyze takes them."""
    at_any_line: bool = False
    """Does any line end the search?"""


class Ready(NamedTuple):
    """What was loaded for a game."""

    player: Player
    make: Maker


class PlayCommands(BoardCommands):
    """A board, clocks, and a player who may still be loading."""

    def __init__(
        self, game: Game, player: str | Callable[[Game], str], resign: float | None = RESIGN, ponder: bool = False
    ):
        """player  a spec, or what finds one for a game
        resign  the value in [-1, 0] below which the engine gives up, None never
        ponder  does it think on while it is the other's turn?

        Raises UsageError for words that name no player.
        """
        self._player_for = player if callable(player) else lambda game: player
        self._named = not callable(player)
        self._player_spec = self._player_for(game)
        self._options = parse(self._player_spec).options
        self._visits: int | None = None
        self._seconds: float | None = None
        self._level: Level | None = None
        self._resigns, self._resign_below, self._resign_turns = resign is not None, resign or RESIGN, RESIGN_TURNS
        self._ponders = ponder
        self._clocks = {1: Clock(), -1: Clock()}
        self._lost_turns = {1: 0, -1: 0}
        self._resigned: set[int] = set()
        self._loading: Future[Ready] | None = None
        self._hurry = threading.Event()
        """Someone waits for the player."""
        self._stand_in: SearchPlayer | None = None
        self._model: store.Model | None = None
        """Of a player who was named, once another board asks whether it fits."""
        self._attention = Attention()
        self._pondering: threading.Thread | None = None
        super().__init__(game)
        self._parameters: dict[str, Parameter] = {
            "maxVisits": (lambda: self._bounds()[0] or 0, self._set_visits, "integer"),
            "maxTime": (lambda: self._bounds()[1] or 0, self._set_seconds, "float"),
            "ponderingEnabled": (lambda: self._ponders, self._set_flag("_ponders"), "bool"),
            "allowResignation": (lambda: self._resigns, self._set_flag("_resigns"), "bool"),
            "resignThreshold": (lambda: self._resign_below, self._set_resign_below, "float"),
            "resignConsecTurns": (lambda: self._resign_turns, self._set_resign_turns, "integer"),
            "assumeMultipleStartingBlackMovesAreHandicap": (
                lambda: self.handicap_by_moves,
                self._set_flag("handicap_by_moves"),
                "bool",
            ),
            "playoutDoublingAdvantage": (lambda: 0, self._refuse, "float"),
            "analysisWideRootNoise": (lambda: 0, self._refuse, "float"),
        }

    # ---------------------------------------------------------------- time

    @command("time_settings")
    def time_settings(self, words: list[str]) -> str:
        return self._set_clocks(gtp_time.standard(words))

    @command("kgs-time_settings", "kata-time_settings")
    def named_time_settings(self, words: list[str]) -> str:
        return self._set_clocks(gtp_time.named(words))

    @command("kata-list_time_settings")
    def list_time_settings(self, words: list[str]) -> str:
        return gtp_time.SYSTEMS

    @command("time_left")
    def time_left(self, words: list[str]) -> str:
        color = color_of(words)
        self._clocks[color] = gtp_time.left(self._clocks[color], words[1:])
        return ""

    def _set_clocks(self, clock: Clock) -> str:
        self._clocks = {1: clock, -1: clock}
        return ""

    # ---------------------------------------------------------------- parameters

    @command("kata-list-params")
    def list_parameters(self, words: list[str]) -> str:
        return " ".join(self._parameters)

    @command("kata-get-param")
    def get_parameter(self, words: list[str]) -> str:
        return _shown(self._parameter(words)[0]())

    @command("kata-set-param")
    def set_parameter(self, words: list[str]) -> str:
        _, change, _ = self._parameter(words)
        if len(words) != 2:
            raise Failure("a parameter's name and its value are wanted")
        change(words[1])
        return ""

    @command("goishi-param")
    def goishi_parameter(self, words: list[str]) -> str:
        """GoGui's form: the parameters with their kinds, or a new value."""
        if words:
            return self.set_parameter(words)
        shown = {"bool": "[bool]", "integer": "[string]", "float": "[string]"}
        return "\n".join(
            f"{shown[kind]} {name} {int(get()) if kind == 'bool' else _shown(get())}"
            for name, (get, _, kind) in self._parameters.items()
        )

    @command("level")
    def level(self, words: list[str]) -> str:
        """The levels of a network; of a player without one, 10 is all that it has, and each below halves its visits."""
        wanted = whole(words[0] if words else "", "level not an integer")
        if not 1 <= wanted <= len(LEVELS):
            raise Failure(f"level goes from 1 to {len(LEVELS)}")
        kind = parse(self._player_spec).kind
        if kind == "net":
            self._level = LEVELS[wanted - 1]
            self._visits = self._level.visits
        else:
            full = self._options.get("visits", VISITS.get(kind, VISITS["net"]))
            self._visits = max(1, int(full) >> (len(LEVELS) - wanted))
        return ""

    def _parameter(self, words: list[str]) -> Parameter:
        if not words or words[0] not in self._parameters:
            raise Failure(f"invalid parameter; there are {', '.join(self._parameters)}")
        return self._parameters[words[0]]

    def _set_visits(self, word: str) -> None:
        visits = whole(word, "maxVisits not an integer")
        if not 0 <= visits <= 1 << 30:
            raise Failure("maxVisits goes from 1 to 1073741824; 0 is for the player's own")
        self._visits = visits or None

    def _bounds(self) -> tuple[int | None, float | None]:
        """Visits and seconds that a move may take at most: as they were set, or as the named player has them."""
        own = self._options if self._named else {}
        visits, seconds = self._visits or own.get("visits"), self._seconds or own.get("seconds")
        if visits is None and "level" in self._options:
            visits = LEVELS[int(self._options["level"]) - 1].visits
        return None if visits is None else int(visits), None if seconds is None else float(seconds)

    def _set_seconds(self, word: str) -> None:
        seconds = number(word, "maxTime not a float")
        if not 0 <= seconds <= 1e9:
            raise Failure("maxTime goes from 0.001 to 1e9 seconds; 0 is for no limit")
        self._seconds = seconds or None

    def _set_resign_below(self, word: str) -> None:
        value = number(word, "resignThreshold not a float")
        if not -1 <= value < 0:
            raise Failure("resignThreshold goes from -1 to -0.01")
        self._resign_below = value

    def _set_resign_turns(self, word: str) -> None:
        turns = whole(word, "resignConsecTurns not an integer")
        if not 1 <= turns <= 1000:
            raise Failure("resignConsecTurns goes from 1 to 1000")
        self._resign_turns = turns

    def _set_flag(self, attribute: str):
        def change(word: str) -> None:
            wanted = {"1": "true", "0": "false"}.get(word, word)  # GoGui sends numbers
            setattr(self, attribute, truth(wanted, "true or false is wanted"))

        return change

    def _refuse(self, word: str) -> None:
        if number(word, "not a float") != 0:
            raise Failure("this engine has 0 alone here")

    # ---------------------------------------------------------------- moves of its own

    @command("genmove")
    def genmove(self, words: list[str]) -> str:
        color = color_of(words)
        return self._announce(color, self._choose(color))

    @command("kgs-genmove_cleanup", go=True)
    def genmove_cleanup(self, words: list[str]) -> str:
        """As genmove, but it does not pass while dead stones of the other side stand."""
        color = color_of(words)
        return self._announce(color, self._choose(color, cleaning=True))

    @command("reg_genmove")
    def reg_genmove(self, words: list[str]) -> str:
        """A new player, so that nothing thought before has a say."""
        player = self._ready().make(0)
        try:
            return self._name(self._choose(color_of(words), player=player, keeps=False))
        finally:
            player.close()

    @command("restricted_genmove")
    def restricted_genmove(self, words: list[str]) -> str:
        """As reg_genmove, but one of the vertices."""
        color, allowed = color_of(words), [self._action(word) for word in words[1:]]
        if not allowed:
            raise Failure("invalid coordinate")
        if not self._to_move(color).mask[allowed].any():
            raise Failure("illegal move")
        return self._name(self._choose(color, keeps=False, watch=Watch(nothing_said, bars=self._all_but(allowed))))

    @command("kata-search")
    def search(self, words: list[str]) -> str:
        return self._name(self._choose(self._side(words), keeps=False))

    @command("clear_cache")
    def clear_cache(self, words: list[str]) -> str:
        if self._loading and self._loading.done() and not self._loading.exception():
            self._ready().player.close()
        return ""

    def _announce(self, color: int, action: int | None) -> str:
        """Plays the move, and says it. A resignation is no move, and is not repeated."""
        if action is None:
            self._resigned.add(color)
            return "resign"
        self._play(color, action)
        self._ponder()
        return self._vertex(action)

    def _name(self, action: int | None) -> str:
        return "resign" if action is None else self._vertex(action)

    def _side(self, words: list[str]) -> int:
        """The side that the words name, or else the one to move."""
        return color_of(words) if words else self._position.player

    def _choose(
        self,
        color: int,
        cleaning: bool = False,
        player: Player | None = None,
        keeps: bool = True,
        watch: Watch | None = None,
    ) -> int | None:
        """The action of the side `color`, None when it gives up.

        cleaning  does it go on while dead stones of the other side stand?
        player    another one than that of the game
        keeps     do its clock and its lost turns count?
        watch     who wants to hear of the search
        """
        began = time.monotonic()
        position = self._to_move(color)
        if position.over:
            raise Failure("game over")
        clock = self._clocks[color]
        budget = clock.budget(math.prod(self._size), int(np.count_nonzero(position.stones)))
        hurried = budget.most < HURRY
        if cleaning:
            helpful = ending.cleanup(self._game, position.state, self._owners(position, hurried))
            watch = Watch(nothing_said, bars=self._all_but(helpful)) if helpful.any() else None
        elif self._may_end(position, color, hurried):
            if watch:
                self._glance(position, watch)
            return self._passing
        player = player or self._ready().player
        if self._level is not None and isinstance(player, SearchPlayer):
            player.level = self._level
        decision = self._think(player, position, budget, began, watch)
        if keeps:
            self._clocks[color] = clock.after(time.monotonic() - began) or clock
        if self._gives_up(position, color, decision, keeps):
            return None
        if not self._is_go or decision.action != self._passing or cleaning:
            return decision.action
        return self._unless_it_loses(position, color, decision, hurried)

    def _all_but(self, allowed: np.ndarray | list[int]) -> np.ndarray:
        """int32[2, A]: bars at the root that leave these actions (bool[A], or their numbers)."""
        bars = np.ones((2, self._game.actions), np.int32)
        bars[:, allowed] = 0
        return bars

    def _think(self, player: Player, position: Position, budget: Budget, began: float, watch: Watch | None) -> Decision:
        """The player's decision, within the time of a clock whose budget this was at `began`."""
        analyst = analyst_of(player)
        with self._attention.while_it(analyst.stop if analyst else nothing, bool(watch and watch.at_any_line)):
            spent = time.monotonic() - began
            limit = self._limit(budget.seconds - spent, min(budget.most, LONGEST * budget.seconds) - spent)
            if self._attention.ends:
                limit = Limit(visits=1)
            if not analyst or not watch:
                return player.choose(position, limit)
            limit = limit or analyst.limit
            found = analyst.analyze(position, limit, *watch[:5], chooses=True)
            watch.report(found)
            if watch.bars is not None and found.candidates:
                return Decision(found.candidates[0].action)
        return player.choose(position, Limit(visits=1))  # all is known by now

    def _glance(self, position: Position, watch: Watch) -> None:
        """A short look, so that there is something to tell."""
        if analyst := analyst_of(self._ready().player):
            watch.report(analyst.analyze(position, GLANCE, least=watch.least, bars=watch.bars))

    def _ponder(self) -> None:
        """Thinks on in the other's time, until the next line."""
        position, analyst = self._position, analyst_of(self._ready().player)
        if not self._ponders or position.over or analyst is None:
            return

        def think() -> None:
            with self._attention.while_it(analyst.stop):
                if not self._attention.ends:
                    analyst.analyze(position, PONDER)

        self._pondering = threading.Thread(target=think, name="ponder", daemon=True)
        self._pondering.start()

    def _end_pondering(self) -> None:
        if self._pondering is None:
            return
        analyst = analyst_of(self._ready().player)
        assert analyst
        while self._pondering.is_alive():
            analyst.stop()  # again and again: one that comes before the search begins is lost
            self._pondering.join(0.005)
        self._pondering = None

    def _limit(self, seconds: float, most: float) -> Limit | None:
        """What bounds a move, the clock's seconds among it; None where the player's own limit is all."""
        if seconds == math.inf and self._visits is None and self._seconds is None:
            return None
        visits, own = self._bounds()
        bound = math.inf if own is None else own
        seconds, most = max(0.0, min(seconds, bound)), max(0.0, min(most, bound))
        return Limit(visits) if seconds == math.inf else Limit(visits, seconds, most)

    def _gives_up(self, position: Position, color: int, decision: Decision, keeps: bool) -> bool:
        """Is it lost for good? Never said twice in a game."""
        if not self._resigns or color in self._resigned:
            return False
        if decision.resigns:
            return True
        result = decision.result
        if result is None:
            return False
        lost = max(result.value, float(result.values[result.best])) < self._resign_below
        turns = self._lost_turns[color] + 1 if lost else 0
        if keeps:
            self._lost_turns[color] = turns
        if turns < self._resign_turns:
            return False
        area, moves = math.prod(self._size), len(position.history)
        if not self._is_go:
            return moves >= EARLY * area
        given = STONE * max(0, int(position.state.handicap) - 1) if color < 0 else 0.0
        if given:  # White knows that it is behind at first (KataGo's rule)
            spent = moves - (1 + area / 5)
            if spent < 0:
                return False
            behind = given * max(0.0, 1 - spent / (0.4 * area)) + CLOSE + 0.15 * given
        else:
            behind = CLOSE
        return moves >= EARLY * area and color * self._estimate(position) < -behind

    def _may_end(self, position: Position, color: int, hurried: bool) -> bool:
        """Has the opponent passed, and is a pass right: does it win, or is nothing left to fight for?"""
        if not self._is_go or position.state.passes == 0:
            return False
        return ending.may_pass(self._game, position.state, self._owners(position, hurried))

    def _unless_it_loses(self, position: Position, color: int, decision: Decision, hurried: bool) -> int:
        """The pass that was chosen, or a better move: no pass ends a game early or lost that is not hopeless."""
        early = len(position.history) < EARLY * math.prod(self._size)
        if not (early or position.state.passes > 0) or self._may_end(position, color, hurried):
            return self._passing
        best, value = self._best_move(position, decision)
        return best if value > HOPELESS else self._passing

    def _best_move(self, position: Position, decision: Decision) -> tuple[int, float]:
        """The best action but for the pass, and its value; the pass where there is no other."""
        if decision.result is not None:
            others = decision.result.visits.copy()
            others[self._passing] = 0
            if others.any():
                best = int(np.argmax(others))
                return best, float(decision.result.values[best])
        bars = np.zeros((2, self._game.actions), np.int32)
        bars[:, self._passing] = 1
        analyst = analyst_of(self._ready().player) or self._stand_in
        if analyst is None:
            analyst = self._stand_in = analyst_of(maker(STAND_IN, self._game)(0))
        assert analyst
        found = analyst.analyze(position, Limit(visits=GLANCE.visits), bars=bars).candidates[0]
        return found.action, found.value

    # ---------------------------------------------------------------- the end

    @command("final_score", go=True)
    def final_score(self, words: list[str]) -> str:
        return _told(self._margin(self._position))

    @command("estimate_score", go=True)
    def estimate_score(self, words: list[str]) -> str:
        margin = self._estimate(self._position)
        return f"{_told(margin)} (upper bound: {margin:g}, lower: {margin:g})"

    @command("final_status_list", go=True)
    def final_status_list(self, words: list[str]) -> str:
        asked = words[0] if len(words) == 1 else ""
        if asked not in STATUSES:
            raise Failure("invalid status")
        found = np.array(self._statuses()) == asked
        chain, _, _ = self._module.chains(np.ascontiguousarray(self._position.stones.ravel()))
        if asked in ("alive", "dead", "seki"):
            return "\n".join(self._vertices(chain == number) for number in np.unique(chain[found]))
        return self._vertices(found)

    @command("final_status", go=True)
    def final_status(self, words: list[str]) -> str:
        point = self._point(words)
        return self._statuses()[point]

    @command("kgs-game_over", "cgos-gameover")
    def game_over(self, words: list[str]) -> str:
        """The board stays as it is: on KGS, a game that is adjourned is over too."""
        return ""

    def _owners(self, position: Position, hurried: bool = False) -> np.ndarray:
        """float[rows, columns]: whose each point will be, by random games and, where they leave it open, the player's
        network, if it is loaded."""
        if hurried:
            return dead.ownership(self._game, position.state, HURRIED_PLAYOUTS)
        loaded = self._loading is not None and self._loading.done() and not self._loading.exception()
        analyst = analyst_of(self._ready().player) if loaded else None
        return dead.estimate(self._game, position.state, evaluator=analyst.evaluator if analyst else None)

    def _margin(self, position: Position) -> float:
        """Black's points less White's, dead stones taken off where the rules say so."""
        if position.state.rules & self._module.ALL_ALIVE:
            return self._module.margin(position.state)
        return ending.count(self._game, position.state, self._owners(position)).margin

    def _estimate(self, position: Position) -> float:
        """Black's points less White's, as whose each point will be."""
        owners, state = self._owners(position), position.state
        return float(np.sign(np.round(owners, 1)).sum()) - self._module.bonus(state) - float(state.komi) / 2

    def _statuses(self) -> list[str]:
        return ending.statuses(self._game, self._position.state, self._owners(self._position))

    # ---------------------------------------------------------------- its own affairs

    def _resize(self, columns: int, rows: int) -> None:
        spec = parse(self._player_spec)
        if self._named and self._model is None and spec.kind in TAKES_MODEL:
            self._model = store.read(store.find(spec.argument))
        super()._resize(columns, rows)

    def _set_game(self, game: Game) -> None:
        if self._named and self._model is not None:
            try:
                store.check(self._model, game)
            except BadModel:
                raise Failure("unacceptable size") from None
        super()._set_game(game)
        self._player_spec = self._player_for(game)
        old, self._loading, self._stand_in = self._loading, Future(), None
        if old is not None:
            old.cancel()  # if it has not begun
        self._hurry.set()
        self._hurry = threading.Event()
        threading.Thread(
            target=_load, args=(self._player_spec, game, self._loading, old, self._hurry), daemon=True
        ).start()

    def _begin(self, states: np.ndarray | None) -> None:
        super()._begin(states)
        self._lost_turns = {1: 0, -1: 0}
        self._resigned.clear()

    def _ready(self) -> Ready:
        """The player, once it is there. Raises what went wrong."""
        assert self._loading is not None
        self._hurry.set()
        return self._loading.result()


def _load(spec: str, game: Game, ready: "Future[Ready]", old: "Future[Ready] | None", hurry: threading.Event) -> None:
    """Makes the player, and lets it look once, so that its first move takes no longer than the others.

    It begins after a moment, or when someone waits: programs send a board's size at once, and another may be compiled
    in vain.
    """
    hurry.wait(PATIENCE)
    if ready.set_running_or_notify_cancel():
        try:
            make = maker(spec, game)
            player = make(0)
            if hasattr(player, "stop"):  # it searches
                _warm_up(make(0), game)
            ready.set_result(Ready(player, make))
        except BaseException as error:
            ready.set_exception(error)
            complain(f"{spec} can't play: {error}")
    if old is not None and not old.cancelled() and not old.exception():
        old.result().player.close()


def analyst_of(player: Player) -> SearchPlayer | None:
    """The player as one who tells what it thinks, if it does."""
    return player if isinstance(player, SearchPlayer) else None


def nothing_said(found: Analysis) -> None:
    """Hears what a search found, and tells nobody."""


def nothing() -> None:
    """What stops a player that can't be stopped."""


def _warm_up(player: Player, game: Game) -> None:
    """Compiles what a move needs, also under a clock, and what counts points."""
    position = Position.start(game)
    player.choose(position, Limit(visits=100, seconds=1e-4, most=2e-4))
    if analyst := analyst_of(player):
        analyst.analyze(position, Limit(visits=2))
    if hasattr(game.module, "resume"):
        dead.ownership(game, position.state, 2)
    player.close()


def _told(margin: float) -> str:
    return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
