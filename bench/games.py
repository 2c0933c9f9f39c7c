"""Prints how fast the rules of each game are, as JSON: `python bench/games.py [GAME ...]`, or `goishi bench games`."""

import json
import sys

from goishi.core.measure import games

if __name__ == "__main__":
    print(json.dumps(games(sys.argv[1:]), indent=2))
