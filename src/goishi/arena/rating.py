"""How strong: Elo from scores, from pairs of games, from a table of results. Pure arithmetic.

Letters: P players. A score lies in [0, 1]: a win is 1, a draw a half.
"""

from collections.abc import Sequence
from math import inf, log, log10, sqrt
from typing import Literal, NamedTuple

import numpy as np

Z95 = 1.96
LEAST_DISTINCT = 0.8
"""No rating is told from games of which fewer than this share are distinct."""


class Interval(NamedTuple):
    """A figure and where it lies with 95% confidence."""

    value: float
    low: float
    high: float


def expected(elo: float) -> float:
    """The score to expect of a player that is `elo` points stronger: 1 / (1 + 10 ** (-elo / 400))."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo(score: float) -> float:
    """The difference in Elo that a score stands for; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return -inf if score <= 0 else inf
    return -400 * log10(1 / score - 1)


def pair_interval(pairs: Sequence[float]) -> Interval:
    """The mean score of pairs of games, and its interval.

    A pair is two games from one opening with colors swapped, its score the mean of the two: they are not independent,
    so single games would give a wrong interval. Where all pairs are alike their variance says nothing, and Wilson's
    interval stands in.
    """
    n = len(pairs)
    if n == 0:
        return Interval(0.5, 0.0, 1.0)
    mean = float(np.mean(pairs))
    variance = float(np.var(pairs, ddof=1)) if n > 1 else 0.0
    if variance > 0:
        error = sqrt(variance / n)
        return Interval(mean, max(0.0, mean - Z95 * error), min(1.0, mean + Z95 * error))
    center = (mean + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    reach = Z95 / (1 + Z95**2 / n) * sqrt(mean * (1 - mean) / n + Z95**2 / (4 * n**2))
    return Interval(mean, max(0.0, center - reach), min(1.0, center + reach))


def pair_elo(pairs: Sequence[float]) -> Interval:
    """The difference in Elo that the pairs stand for, and its interval."""
    return Interval(*(elo(score) for score in pair_interval(pairs)))


def pair_error(pairs: Sequence[float]) -> float:
    """The standard error of the mean score of two or more pairs."""
    return float(np.std(pairs, ddof=1)) / sqrt(len(pairs))


class Sprt(NamedTuple):
    """A sequential test's state: the log likelihood ratio and what follows from it."""

    ratio: float
    verdict: Literal["stronger", "not stronger", "continue"]


def sprt(pairs: Sequence[float], elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
    """Is the player `elo1` stronger rather than `elo0`? LLR = n (s1 - s0) (2 s - s0 - s1) / (2 var)."""
    n = len(pairs)
    variance = float(np.var(pairs)) if n else 0.0
    if variance == 0:
        return Sprt(0.0, "continue")
    s0, s1 = expected(elo0), expected(elo1)
    ratio = n * (s1 - s0) * (2 * float(np.mean(pairs)) - s0 - s1) / (2 * variance)
    if ratio >= log((1 - beta) / alpha):
        return Sprt(ratio, "stronger")
    return Sprt(ratio, "not stronger" if ratio <= log(beta / (1 - alpha)) else "continue")


class Ratings(NamedTuple):
    """Elo of each player, the anchor at 0, and the standard errors (0 for the anchor)."""

    elo: np.ndarray  # float64[P]
    errors: np.ndarray  # float64[P]


def bradley_terry(points: np.ndarray, anchor: int = 0, prior: float = 2.0) -> Ratings:
    """The ratings that make the results likeliest, a draw being half a win for each.

    points   float64[P, P]: points[i, j] is what i scored against j, in games
    prior    virtual draws added to each pair that met; it keeps a player that won every game finite

    Errors come from the curvature at the maximum; a player that the anchor is not connected with has no finite one.
    Does not check that `points` is not negative.
    """
    met = (points + points.T) > 0
    scored = points + prior / 2 * met
    games = scored + scored.T
    size = len(points)
    free = [player for player in range(size) if player != anchor]
    strength = np.zeros(size)  # natural units
    for _ in range(200):  # Newton, in steps that cannot overshoot
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        slope = (scored - games * chance).sum(axis=1)
        weight = games * chance * (1 - chance)
        curve = np.diag(weight.sum(axis=1)) - weight
        step = np.zeros(size)
        step[free] = np.linalg.lstsq(curve[np.ix_(free, free)], slope[free], rcond=None)[0]
        strength += np.clip(step, -1, 1)
        if np.abs(step).max(initial=0) < 1e-10:
            break
    linked = _linked(met, anchor)
    known = [player for player in free if linked[player]]
    errors = np.where(linked, 0.0, inf)
    errors[known] = np.sqrt(np.diag(np.linalg.inv(curve[np.ix_(known, known)])))
    points_of_elo = 400 / log(10)
    return Ratings(strength * points_of_elo, errors * points_of_elo)


def _linked(met: np.ndarray, anchor: int) -> np.ndarray:
    """bool[P]: who is connected with the anchor by games."""
    linked = np.zeros(len(met), np.bool_)
    linked[anchor] = True
    for _ in range(len(met)):
        linked |= met[linked].any(axis=0)
    return linked
