"""Prints `goishi bench search` as JSON: python bench/search.py [GAME [NETWORK]] [--full]"""

import json
import sys

from goishi.search.measure import search

if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--full"]
    print(json.dumps(search(*words[:2], full="--full" in sys.argv), indent=1))
