"""What an analysis looks like in KataGo's JSON: moveInfos, rootInfo, policy, ownership.

Shapes: A actions, P points.
"""

import hashlib
from typing import Any

import numpy as np

from goishi.core.position import Position
from goishi.protocols.analysis_engine import Engine, Job
from goishi.search.analysis import Analysis, Candidate


class View:
    """Whose eyes see win rates, scores and ownership. Goishi's are those of the player to move at the root."""

    def __init__(self, name: str, player: int):
        self.turned = {"BLACK": player < 0, "WHITE": player > 0}.get(name, False)

    def winrate(self, value: float) -> float:
        """A value in [-1, 1] as a probability; a draw is half a win."""
        return number((1 + self.signed(value)) / 2)

    def signed(self, value: float) -> float:
        """A value, a score."""
        return number(-value if self.turned else value)

    def ownership(self, owners: np.ndarray) -> list[float]:
        """float32[P] as a list, to three digits."""
        return np.round(np.where(self.turned, -1.0, 1.0) * owners.astype(np.float64) + 0.0, 3).tolist()


def number(value: float) -> float:
    """Nine digits, as KataGo has them, and no -0."""
    return float(f"{value:.9g}") + 0.0


def final_without(job: Job) -> dict[str, Any]:
    """The answer of an analysis that ended before anything was searched."""
    return {"id": job.query.id, "isDuringSearch": False, "noResults": True, "turnNumber": job.turn}


def answer(engine: Engine, job: Job, found: Analysis, during: bool) -> dict[str, Any]:
    """The answer to one turn of a query."""
    query, position = job.query, job.position
    view = View(query.settings.view, position.player)
    told: dict[str, Any] = {"id": query.id, "isDuringSearch": during}
    told["moveInfos"] = [
        move_info(job, view, order, candidate, position) for order, candidate in enumerate(found.candidates)
    ]
    if "Ownership" in query.include and found.ownership is not None:
        told["ownership"] = view.ownership(found.ownership)
    if "Policy" in query.include:
        policy = found.policy if query.bars is None else engine.policy(job)
        shown = np.round(policy.astype(np.float64), 9)
        told["policy"] = np.where(position.mask, shown, -1.0).tolist()
    told["rootInfo"] = root_info(engine, job, view, found)
    told["turnNumber"] = job.turn
    return told


def move_info(job: Job, view: View, order: int, candidate: Candidate, position: Position) -> dict[str, Any]:
    """An entry of moveInfos. What this search does not know is 0: the deviations of scores."""
    include, longest = job.query.include, job.query.settings.longest_line
    score = view.signed(candidate.score or 0.0)
    info: dict[str, Any] = {
        "edgeVisits": candidate.visits,
        "edgeWeight": float(candidate.visits),
        "lcb": view.winrate(candidate.bound),
        "move": position.name(candidate.action),
        "order": order,
        "playSelectionValue": float(candidate.visits),
        "prior": number(candidate.prior),
        "pv": [position.name(action) for action in candidate.line[:longest]],
        "scoreLead": score,
        "scoreMean": score,
        "scoreSelfplay": score,
        "scoreStdev": 0.0,
        "utility": view.signed(candidate.value),
        "utilityLcb": view.signed(candidate.bound),
        "visits": candidate.visits,
        "weight": float(candidate.visits),
        "winrate": view.winrate(candidate.value),
    }
    if "PVVisits" in include:
        info["pvVisits"] = info["pvEdgeVisits"] = candidate.line_visits[:longest]
    if "NoResultValue" in include:
        info["noResultValue"] = 0.0
    if "MovesOwnership" in include and candidate.ownership is not None:
        info["ownership"] = view.ownership(candidate.ownership)
    return info


def root_info(engine: Engine, job: Job, view: View, found: Analysis) -> dict[str, Any]:
    """The entry rootInfo. What this search does not know is 0."""
    score = view.signed(found.score or 0.0)
    raw_score = view.signed(engine.raw_score(job, found.score or 0.0))
    this, turned = hashes(job.position)
    return {
        "currentPlayer": "B" if job.position.player > 0 else "W",
        "rawLead": raw_score,
        "rawNoResultProb": 0.0,
        "rawScoreSelfplay": raw_score,
        "rawScoreSelfplayStdev": 0.0,
        "rawStScoreError": 0.0,
        "rawStWrError": 0.0,
        "rawVarTimeLeft": 0.0,
        "rawWinrate": view.winrate(found.raw_value),
        "scoreLead": score,
        "scoreSelfplay": score,
        "scoreStdev": 0.0,
        "symHash": turned,
        "thisHash": this,
        "utility": view.signed(found.value),
        "visits": found.visits + 1,
        "weight": float(found.visits + 1),
        "winrate": view.winrate(found.value),
    }


def hashes(position: Position) -> tuple[str, str]:
    """Names of a position: as it stands, and the same for all its symmetries."""
    game, stones = position.game, position.stones.ravel()
    boards = [stones.tobytes()]
    if stones.size == game.point_symmetries.shape[1]:
        boards = [stones[turn].tobytes() for turn in game.point_symmetries]
    state = position.state
    more = [game.name, *(str(state[name]) for name in ("player", "rules", "komi") if name in (state.dtype.names or ()))]

    def digest(board: bytes) -> str:
        return hashlib.blake2b("|".join(more).encode() + board, digest_size=16).hexdigest().upper()

    return digest(boards[0]), digest(min(boards))
