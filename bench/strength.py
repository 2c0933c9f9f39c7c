"""Absolute strength in two solved games, as JSON.

python bench/strength.py tictactoe MODEL    from every reachable position: does the move keep the game's value?
python bench/strength.py six MODEL          6x6, four in a row, a proven win for the first player: is it won
                                            after each first reply, and against random playouts?
"""

import argparse
import json
import time

import numpy as np

from goishi.arena.in_step import SearchSide, play_in_step
from goishi.core import registry
from goishi.core.position import Position
from goishi.networks import evaluator
from goishi.players.simple import PerfectPlayer
from goishi.search import Search, SearchSettings
from goishi.search.rollout import ROLLOUT_SETTINGS, rollouts


def tictactoe(model: str, visits: int) -> dict:
    """Every reachable position that is not over: is the move's value the position's?"""
    game = registry.find("tictactoe")
    judge = evaluator.load(model, game)
    perfect = PerfectPlayer(game)
    start = Position.start(game)
    positions, layer = {start.states.tobytes(): start}, [start]
    while layer:
        following = [p.play(action) for p in layer for action in p.actions]
        layer = []
        for position in following:
            if not position.over and position.states.tobytes() not in positions:
                positions[position.states.tobytes()] = position
                layer.append(position)
    everyone = list(positions.values())
    masks = np.stack([position.mask for position in everyone])
    states = np.concatenate([position.states for position in everyone])
    search = Search(game, judge, SearchSettings(leaves=1), 512)
    side = SearchSide(search, visits)
    moves = np.concatenate([side.moves(states[i : i + 512], masks[i : i + 512]) for i in range(0, len(states), 512)])
    lost = sum(
        perfect.value(position) >= 0 and perfect.values(position)[move] < 0
        for position, move in zip(everyone, moves, strict=True)
    )
    spoiled = sum(
        perfect.values(position)[move] < perfect.value(position) for position, move in zip(everyone, moves, strict=True)
    )
    return {"positions": len(everyone), "visits": visits, "needless_losses": int(lost), "value_lost": int(spoiled)}


def six(model: str, visits: int, games: int, playouts: int, mode: str) -> dict:
    """The first player's games: after each of the 35 first replies against itself, and against random playouts."""
    game = registry.find("gomoku:size=6,row=4")
    judge = evaluator.load(model, game)

    def net() -> SearchSide:
        return SearchSide(Search(game, judge, SearchSettings(mode=mode, leaves=1), games), visits)

    start = Position.start(game)
    first = int(net().moves(start.states, start.mask[None])[0])
    replies = [(first, reply) for reply in start.play(first).actions]
    against_itself = play_in_step(game, (net(), net()), replies, [0] * len(replies))
    answer: dict = {
        "visits": visits,
        "mode": mode,
        "first_move": start.name(first),
        "replies": len(replies),
        "won_after_replies": sum(played.score > 0 for played in against_itself),
        "lost_after": [start.name(p.actions[1]) for p in against_itself if p.score <= 0],
    }
    judge_of_rollouts = rollouts(game, 1)
    opponent = SearchSide(Search(game, judge_of_rollouts, ROLLOUT_SETTINGS, games), playouts)
    for name, begins in (("first", 0), ("second", 1)):
        found: dict[tuple[int, ...], float] = {}
        asked = 0
        while len(found) < games and asked < 20:
            asked += 1
            for played in play_in_step(game, (net(), opponent), [()] * games, [begins] * games):
                found.setdefault(played.actions, played.score * (1 if begins == 0 else -1))
        scores = list(found.values())[:games]
        answer[f"as_{name}_against_{playouts}_playouts"] = {
            "distinct_games": len(scores),
            "won": sum(score > 0 for score in scores),
            "drawn": sum(score == 0 for score in scores),
            "lost": sum(score < 0 for score in scores),
        }
    return answer


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=("tictactoe", "six"))
    parser.add_argument("model")
    parser.add_argument("--visits", type=int)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--playouts", type=int, default=5000)
    parser.add_argument("--mode", default="puct")
    asked = parser.parse_args()
    began = time.monotonic()
    if asked.game == "tictactoe":
        answer = tictactoe(asked.model, asked.visits or 50)
    else:
        answer = six(asked.model, asked.visits or 200, asked.games, asked.playouts, asked.mode)
    print(json.dumps(answer | {"seconds": round(time.monotonic() - began, 1)}))


if __name__ == "__main__":
    main()
