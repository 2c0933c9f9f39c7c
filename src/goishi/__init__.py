"""Goishi trains, measures and plays AlphaZero-class players for board games on your own computer.

The public names, in the order in which to read their modules. Each is imported when it is first used, so that
`import goishi` is quick.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    # what a game is
    "Game": "core.game",  # the rules of one game, and the same rules over many positions at once
    "Board": "core.board",  # how actions look to a person: names of points, symmetries
    "Position": "core.position",  # a game in progress; immutable, each move gives the next
    "find_game": "core.registry:find",  # the game of a spec such as "gomoku:size=9,row=5"
    "game_names": "core.registry:names",  # the games that are installed
    # searching
    "Search": "search.search",  # Monte Carlo tree search: one tree or many, grown together
    "SearchSettings": "search.search",  # how a search chooses
    "Limit": "search.search",  # how long it may take: visits, seconds or both
    "Result": "search.search",  # what it found at the root
    "rollouts": "search.rollout",  # judges positions by random games
    # judging positions
    "Evaluator": "networks.evaluator",  # the role: states in, logits and values out
    "uniform": "networks.evaluator",  # the one that knows nothing
    "cached": "networks.evaluator",  # remembers what it was asked
    "load_network": "networks.evaluator:load",  # a model as an evaluator
    "Model": "networks.store",  # what a model's file says about itself
    "read_model": "networks.store:read",
    "shipped_models": "networks.store:shipped",
    # playing
    "Player": "players.player",  # the role: chooses a move
    "Decision": "players.player",  # the move, and what the search found
    "find_player": "players.player:find",  # the player of a spec such as "net:connect4,visits=400"
    # games between players
    "play_match": "arena.match:play",  # one game as a generator of turns
    "match": "arena.tournament",  # many games between two players, with error bars
    "rate": "arena.tournament",  # a rating table of several
    # learning
    "train": "training.run",  # self-play training from nothing, in a folder that holds everything
}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'goishi' has no attribute {name!r}")
    module, _, attribute = _NAMES[name].partition(":")
    return getattr(importlib.import_module(f"goishi.{module}"), attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)
