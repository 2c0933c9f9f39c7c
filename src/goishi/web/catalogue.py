"""What the page offers: the games with their sizes, and for each the opponents that can play it."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from goishi.core import registry
from goishi.core.game import Game
from goishi.errors import BadModel, GoishiError, UnknownGame
from goishi.networks.store import Model, check

Pieces = Literal["stones", "discs", "marks"]
HUMAN = "human"
"""The opponent of two people who share one screen."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NETWORK_LEVELS = (
    ("Instinct", "policy:{0}"),
    ("50 visits", "net:{0},visits=50"),
    ("200", "net:{0},visits=200"),
    ("800", "net:{0},visits=800"),
)
ROLLOUT_LEVELS = (("100 playouts", 100), ("1,000", 1000), ("10,000", 10000), ("50,000", 50000))
ANALYSIS_VISITS = 200
ANALYSIS_ROLLOUTS = 5000


@dataclass(frozen=True)
class Look:
    """How one game looks to a person."""

    title: str
    sides: tuple[str, str] = ("First", "Second")
    """What the player who begins and the other one are called."""
    pieces: Pieces = "stones"
    sizes: tuple[str, ...] = ("",)
    """Parameters of the sizes on offer, the usual one first."""
    goal: Callable[[Game], str] = lambda game: ""
    """One sentence: how to win."""


def _in_a_row(game: Game) -> str:
    row = int(getattr(game.module, "ROW", 3))
    return f"{(NUMBERS[row] if row < len(NUMBERS) else str(row)).capitalize()} in a row wins."


LOOKS = {
    "gomoku": Look(
        "Gomoku",
        ("Black", "White"),
        "stones",
        ("size=8,row=5", "size=6,row=4", "size=9,row=5", "size=13,row=5", "size=15,row=5"),
        _in_a_row,
    ),
    "connect4": Look("Connect Four", ("Red", "Yellow"), "discs", ("",), _in_a_row),
    "tictactoe": Look("Tic-tac-toe", ("X", "O"), "marks", ("",), _in_a_row),
    "othello": Look(
        "Othello",
        ("Black", "White"),
        "stones",
        ("size=8", "size=6"),
        lambda game: "Enclose discs to turn them; most discs win.",
    ),
    "go": Look(
        "Go",
        ("Black", "White"),
        "stones",
        tuple(f"size={size},rules=chinese-ogs" for size in (9, 13, 19)),
        lambda game: (
            f"Surround more than the other; White is given {game.module.HALF_KOMI / 2:g}. Two passes end the game."
        ),
    ),
    "hex": Look(
        "Hex",
        ("Red", "Blue"),
        "discs",
        ("size=7", "size=5", "size=9", "size=11"),
        lambda game: "Red joins top and bottom, Blue left and right.",
    ),
}


def look(game: Game) -> Look:
    """How a game looks; a plain one for games that came with another package."""
    return LOOKS.get(game.name) or Look(game.name.removesuffix(".py").rpartition("/")[2].capitalize())


class Catalogue:
    """The games and opponents of one site. Nothing else can be asked for, so no visitor decides what is compiled.

    players  player specs of the host's own, offered in every game
    games    game specs of the host's own, paths and unusual sizes among them
    models   the networks on offer

    Raises UnknownGame or BadGame when one of the host's games cannot be offered.
    """

    def __init__(self, players: Sequence[str] = (), games: Sequence[str] = (), models: Sequence[Model] = ()):
        self.players = tuple(players)
        self.models = tuple(models)
        self._games: dict[str, Game] = {}  # by spec, as the page lists them
        for name in [*LOOKS, *sorted(set(registry.names()) - set(LOOKS))]:
            for size in LOOKS[name].sizes if name in LOOKS else ("",):
                with contextlib.suppress(GoishiError):  # the site opens without a package's broken game
                    self._add(f"{name}:{size}" if size else name)
        for spec in games:
            self._add(spec)

    def _add(self, spec: str) -> None:
        game = registry.find(spec)
        if game.board is None:
            raise UnknownGame(f"{spec} has no board to draw; play it in the terminal with `goishi play {spec}`.")
        self._games[game.spec] = game

    @property
    def games(self) -> list[Game]:
        """What is on offer, in the page's order."""
        return list(self._games.values())

    def find(self, spec: object) -> Game:
        """The game of a spec that a browser sent, if it is on offer. Raises UnknownGame."""
        game = self._games.get(spec) if isinstance(spec, str) else None
        if game is None:
            raise UnknownGame(f"There is no game {str(spec)[:60]!r} here; choose one of those on the page.")
        return game

    def fitting(self, game: Game) -> list[Model]:
        """The networks that can play this game, those trained for exactly this board first."""
        fitting = []
        for model in self.models:
            try:
                check(model, game)
            except BadModel:
                continue
            fitting.append(model)
        return sorted(fitting, key=lambda model: (model.planes != game.planes, model.name))

    def opponents(self, game: Game) -> list[dict[str, Any]]:
        """`[{"name", "about", "levels": [{"spec", "label"}]}]`, the most interesting first."""
        offers: list[dict[str, Any]] = []
        for model in self.fitting(game):
            rows, columns = model.planes[1:]
            home = model.planes == game.planes
            about = (
                "A network that taught itself this game." if home else f"A network that learned on {columns} × {rows}."
            )
            offers.append(
                _offer(
                    f"Network {model.name}",
                    about,
                    [(label, text.format(model.name)) for label, text in NETWORK_LEVELS],
                    2,
                )
            )
        for spec in self.players:
            offers.append(_offer(spec, "A player that this site's host added.", [("", spec)]))
        if game.name == "tictactoe":
            offers.append(_offer("Perfect", "Never loses.", [("", "perfect")]))
        offers.append(
            _offer(
                "Playouts",
                "Tree search with random games, no network.",
                [(label, f"rollout:visits={n}") for label, n in ROLLOUT_LEVELS],
                1,
            )
        )
        offers.append(_offer("Random", "Any legal move.", [("", "random")]))
        offers.append(_offer("A friend", "Two people, one screen.", [("", HUMAN)]))
        return offers

    def analyst(self, game: Game, opponent: str) -> str:
        """The player whose search gives hints: the opponent's own network, else the best that fits, else playouts."""
        names = [model.name for model in self.fitting(game)]
        mine = opponent.partition(":")[2].partition(",")[0]
        if not names:
            return f"rollout:visits={ANALYSIS_ROLLOUTS}"
        return f"net:{mine if mine in names else names[0]},visits={ANALYSIS_VISITS}"

    def check_opponent(self, game: Game, spec: object) -> str:
        """The spec, if it is on offer. A browser never gets to name a command line. Raises UnknownGame."""
        for offer in self.opponents(game):
            for level in offer["levels"]:
                if level["spec"] == spec:
                    return str(spec)
        raise UnknownGame(f"There is no opponent {str(spec)[:60]!r} for this game; choose one of those on the page.")

    def as_json(self) -> dict[str, Any]:
        """Everything on offer, for the page's settings; the sizes of one game stand together."""
        games: dict[str, dict[str, Any]] = {}
        for game in self._games.values():
            shown = look(game)
            entry = {"name": game.name, "title": shown.title, "sides": shown.sides, "sizes": []}
            games.setdefault(game.name, entry)["sizes"].append(
                {
                    "spec": game.spec,
                    "label": size_label(game),
                    "goal": shown.goal(game),
                    "opponents": self.opponents(game),
                }
            )
        return {"games": list(games.values())}


def size_label(game: Game) -> str:
    """`9 × 9`."""
    assert game.board is not None
    return f"{game.board.columns} × {game.board.rows}"


def _offer(name: str, about: str, levels: list[tuple[str, str]], usual: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "about": about,
        "usual": usual,
        "levels": [{"label": label, "spec": spec} for label, spec in levels],
    }
