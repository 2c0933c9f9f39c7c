"""What leaves of a batch cost in strength: a match at equal visits, many leaves of a tree against one, as JSON.

python bench/leaves.py GAME MODEL [LEAVES [VISITS [GAMES]]]: 16 leaves, 400 visits, 400 games unless said otherwise.
All games are played in step, each with a tree of its own, and every opening of six random plies with both colors.
"""

import json
import sys
import time

import numpy as np

from goishi.arena.in_step import SearchSide, figures, paired, play_in_step, random_openings
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
    about = {"game": game.spec, "model": model, "leaves": many, "visits": visits}
    return about | figures(played) | {"seconds": round(time.monotonic() - begin, 1)}


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(json.dumps(leaves(*sys.argv[1:3], *map(int, sys.argv[3:])), indent=1))
