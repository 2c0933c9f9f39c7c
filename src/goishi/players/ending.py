"""How a player of Go ends games: the termination strategies of "Deep Learning and the Game of Go", section 8.5.

pass=opponent      passes exactly when the opponent has just passed (`PassWhenOpponentPasses`)
resign_margin=20   gives up when the opponent leads by at least so many points on the board, all stones living
resign_after=50    ... and it has made more than so many moves (`ResignLargeMargin`); else an eighth of the points
"""

from typing import TYPE_CHECKING, Any

from goishi.core.game import Game
from goishi.core.position import Position
from goishi.errors import UsageError
from goishi.players.player import Decision, Maker, Player

if TYPE_CHECKING:
    from goishi.search.search import Limit

RESIGN_AFTER = 1 / 8
"""Own moves before a resignation, as a share of the board's points."""


class EndingPlayer:
    """Asks first whether to pass, then whether to resign, then the player that it stands for.

    What else that player can do, such as judge a finished game, it does as well.
    """

    def __init__(
        self,
        player: Player,
        game: Game,
        pass_with_opponent: bool = False,
        resign_margin: float | None = None,
        resign_after: int | None = None,
    ):
        self.name = player.name
        self.game = game
        self.player = player
        self.pass_with_opponent = pass_with_opponent
        self.resign_margin = resign_margin
        self.resign_after = int((game.actions - 1) * RESIGN_AFTER) if resign_after is None else resign_after

    def choose(self, position: Position, limit: "Limit | None" = None) -> Decision:
        """A pass, a resignation, or the player's own decision."""
        passing = self.game.actions - 1
        if self.pass_with_opponent and position.history[-1:] == (passing,):
            return Decision(passing)
        if self._gives_up(position):
            return Decision(passing, resigns=True)
        return self.player.choose(position, limit)

    def close(self) -> None:
        """Closes the player that it stands for."""
        self.player.close()

    def __getattr__(self, name: str) -> Any:
        if name == "player":  # not there yet, as in a copy
            raise AttributeError(name)
        return getattr(self.player, name)

    def _gives_up(self, position: Position) -> bool:
        own_moves = len(position.history) // 2  # the sides take turns
        if self.resign_margin is None or own_moves <= self.resign_after:
            return False
        return -position.player * self.game.module.margin(position.state) >= self.resign_margin


def maker(options: dict[str, Any], make: Maker, game: Game) -> Maker:
    """Makes players that end games by these keys of a spec. Raises UsageError."""
    if "resign_after" in options and "resign_margin" not in options:
        raise UsageError("resign_after says when resign_margin begins to count; give both.")
    keys = {"pass_with_opponent": options.get("pass") == "opponent"}
    keys |= {key: options[key] for key in ("resign_margin", "resign_after") if key in options}
    if not hasattr(game.module, "margin"):
        raise UsageError(f"pass, resign_margin and resign_after are for Go; {game.spec} has no points to count.")
    return lambda seed: EndingPlayer(make(seed), game, **keys)
