"""Weaker players that still play like players: a network's own policy, corrected by what a search found.

Fewer visits alone make a player that is strong in places and blind in others. A level draws from
`pi(a) ~ h(a) exp((q(a) - max q) / spread)`: h is the policy of the network with a temperature, q a value of the search.
A wide spread plays by instinct, with the mistakes that a person makes; a narrow one plays what the search likes best.
Whether to pass, and a position of which the end is known, are the search's to decide at every level.

Letter: A actions.
"""

from typing import NamedTuple

import numpy as np

from goishi.search.result import Result


class Level(NamedTuple):
    """How strong to play."""

    visits: int
    spread: float
    """Of values, in [-1, 1]: how much worse an action may look before it is played more rarely."""
    temperature: float
    """Of the policy: below 1, what comes to mind first is played more often."""


LEVELS = (
    Level(16, 1e6, 2.0),
    Level(16, 1e6, 1.4),
    Level(16, 1e6, 1.0),
    Level(24, 0.6, 0.9),
    Level(32, 0.3, 0.8),
    Level(48, 0.15, 0.7),
    Level(64, 0.08, 0.6),
    Level(100, 0.04, 0.5),
    Level(200, 0.02, 0.4),
    Level(800, 0.0, 0.0),
)
"""Level 1 is the first; the last plays as well as it can. docs/experiments.md has what matches made of them."""


def draw(result: Result, level: Level, passing: int | None, rng: np.random.Generator) -> int:
    """The move of a level. passing: the action that passes, None where there is none."""
    if level.spread == 0 or result.proven is not None or result.best == passing:
        return int(result.best)
    policy = weights(result, level, passing)
    return int(rng.choice(len(policy), p=policy))


def weights(result: Result, level: Level, passing: int | None) -> np.ndarray:
    """float64[A]: how likely each action is; sums to 1. A pass has 0 unless there is nothing else."""
    priors = result.priors.astype(np.float64)
    if passing is not None and (np.delete(priors, passing) > 0).any():
        priors[passing] = 0
    visited = result.visits > 0
    values = np.where(visited, result.values, result.values[visited].mean() if visited.any() else 0.0)
    with np.errstate(divide="ignore"):
        logits = np.log(priors) / level.temperature + values / level.spread
    likely = np.exp(logits - logits.max())
    return likely / likely.sum()
