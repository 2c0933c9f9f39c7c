"""How long to think on a move under a clock: less where nothing can change, more where the choice is hard."""

from collections.abc import Sequence

from goishi.search.clock import Budget

LONGEST = 2.0
"""A hard move may take so many times the usual, if the clock's budget lets it."""
CLOSE = 0.7
"""A move is hard while the second action has more than this share of the first one's visits ..."""
DECIDED = 0.95
"""A value above which the rest of a game takes less time ..."""
SHARE_DECIDED = 0.4
"""... so much of the usual."""


def usual_seconds(budget: Budget, value: float = 0.0) -> float:
    """What a move whose choice is neither hard nor easy takes; value as the side to move sees it."""
    return budget.seconds * (SHARE_DECIDED if value > DECIDED else 1.0)


def is_enough(
    budget: Budget, elapsed: float, new_visits: int, visits: Sequence[int], values: Sequence[float], value: float = 0.0
) -> bool:
    """Should a search end now?

    elapsed, new_visits  seconds and visits of this search so far
    visits, values       of the actions tried, best first
    """
    usual = usual_seconds(budget, value)
    if elapsed >= min(budget.most, LONGEST * usual):
        return True
    if len(visits) == 0:
        return False
    first, second = visits[0], max(visits[1:], default=0)
    if elapsed >= usual:
        is_hard = second > CLOSE * first or max(values) > values[0]
        return not is_hard
    coming = new_visits / max(elapsed, 1e-3) * (usual - elapsed)
    return first - second > coming
