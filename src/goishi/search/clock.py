"""How long a search may last."""

from typing import NamedTuple


class Limit(NamedTuple):
    """Visits, seconds or both; what comes first ends the search.

    visits   of the root in total, those kept from an earlier search among them
    seconds  of this search
    """

    visits: int | None = None
    seconds: float | None = None
