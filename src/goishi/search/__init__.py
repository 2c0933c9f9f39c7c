"""Monte Carlo tree search."""

from goishi.search.clock import Limit
from goishi.search.search import THESIS, Result, Search, SearchSettings

__all__ = ["THESIS", "Limit", "Result", "Search", "SearchSettings"]
