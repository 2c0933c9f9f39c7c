"""What leaves of a batch cost in strength: a match at equal visits, many leaves against one, as JSON.

python bench/leaves.py GAME MODEL [LEAVES [VISITS [GAMES]]]: 16 leaves, 400 visits, 400 games unless said otherwise.
"""

import json
import sys

from goishi.arena.tournament import match
from goishi.core import registry
from goishi.players import player


def leaves(spec: str, model: str, many: int = 16, visits: int = 400, games: int = 400) -> dict:
    """The match's figures, `a` with many leaves; every opening of six random plies is played with both colors."""
    game = registry.find(spec)
    make_many, make_one = (player.maker(f"net:{model},visits={visits},leaves={count}", game) for count in (many, 1))
    return match(game, make_many, make_one, games, "random:6").to_json()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(json.dumps(leaves(*sys.argv[1:3], *map(int, sys.argv[3:])), indent=1))
