"""What leaves of a batch cost in strength: a match at equal visits, many leaves of a tree against one, as JSON.

python bench/leaves.py GAME MODEL [LEAVES [VISITS [GAMES]]]: 16 leaves, 400 visits, 400 games unless said otherwise.
All games are played in step, each with a tree of its own, and every opening of six random plies with both colors.
"""

import json
import sys
import time

import numpy as np

from goishi.arena.in_step import SearchSide, paired, play_in_step, random_openings
from goishi.arena.rating import pair_elo, pair_interval
from goishi.core import registry
from goishi.networks import evaluator
from goishi.search import Search, SearchSettings


def leaves(spec: str, model: str, many: int = 16, visits: int = 400, games: int = 400) -> dict:
    """The match's figures, wins being those of the many leaves."""
    game = registry.find(spec)
    judge = evaluator.load(model, game)
    sides = tuple(SearchSide(Search(game, judge, SearchSettings(leaves=count), games), visits) for count in (many, 1))
    openings, first = paired(random_openings(game, games // 2, 6, np.random.default_rng(1)))
    begin = time.monotonic()
    played = play_in_step(game, sides, openings, first)
    points = [(1 + one.score * (1 if one.first == 0 else -1)) / 2 for one in played]
    pairs = [(a + b) / 2 for a, b in zip(points[::2], points[1::2], strict=True)]
    score, elo = pair_interval(pairs), pair_elo(pairs)
    return {
        "game": game.spec,
        "model": model,
        "leaves": many,
        "visits": visits,
        "games": len(played),
        "distinct_games": len({one.actions for one in played}),
        "wins": points.count(1.0),
        "draws": points.count(0.5),
        "losses": points.count(0.0),
        "score": round(score.value, 4),
        "elo": [round(figure, 1) for figure in (elo.low, elo.value, elo.high)],
        "seconds": round(time.monotonic() - begin, 1),
    }


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(json.dumps(leaves(*sys.argv[1:3], *map(int, sys.argv[3:])), indent=1))
