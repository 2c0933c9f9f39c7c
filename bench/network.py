"""Prints `goishi bench network` as JSON: python bench/network.py [GAME [NETWORK]]"""

import json
import sys

from goishi.networks.measure import network

if __name__ == "__main__":
    print(json.dumps(network(*sys.argv[1:3]), indent=1))
