"""Who chooses a move: by chance, by search, by a network, or because the game is solved."""

from goishi.players.player import Decision, Maker, Player, find, maker

__all__ = ["Decision", "Maker", "Player", "find", "maker"]
