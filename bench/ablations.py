"""What each technique of learning gains: runs of equal numbers of samples, each without one of them, as JSON.

python bench/ablations.py GAME FOLDER [GENERATIONS [GAMES]]: 15 generations and 400 games unless said otherwise.
Each variant's last network plays the unchanged run's, 64 visits a move, every opening of four random plies with both
colors. The same run with another seed shows how far luck goes. A folder that holds finished runs is used again.
"""

import json
import sys
from pathlib import Path

import numpy as np

from goishi.arena.in_step import SearchSide, figures, paired, play_in_step, random_openings
from goishi.core import registry
from goishi.networks import evaluator
from goishi.search import Search, SearchSettings
from goishi.training.run import train

VARIANTS: dict[str, list[str]] = {
    "unchanged": [],
    "another seed": ["seed=1"],
    "value: the result alone": ["learning.result_share=1"],
    "no average of the weights": ["learning.average=0"],
    "no symmetry": ["learning.symmetry=false"],
    "no random openings": ["games.random_share=0", "games.policy_plies=0"],
    "PUCT, visits as policy": [
        "search.mode=puct",
        "search.gumbel_noise=false",
        "search.dirichlet_share=0.25",
        "search.root_temperature=1.1",
    ],
    "playout-cap randomization": ["search.cheap_share=0.75"],
    "resignation": ["games.resign=0.9"],
    "a window that holds everything": ["learning.window_exponent=1", "learning.window=500000"],
}


def ablations(spec: str, folder: Path, generations: int = 15, games: int = 400) -> dict:
    """Trains every variant, then plays it against the unchanged one."""
    game = registry.find(spec)
    openings, first = paired(random_openings(game, games // 2, 4, np.random.default_rng(1)))
    sides: dict[str, SearchSide] = {}
    rows = []
    for number, (name, sets) in enumerate(VARIANTS.items()):
        run = folder / str(number)
        if not (run / "curve.png").exists():
            train(spec, run, sets=[*sets, f"generations={generations}", "rating.every=0"])
        search = Search(game, evaluator.load(run / "newest.onnx", game), SearchSettings(leaves=1), games)
        sides[name] = SearchSide(search, 64)
        metrics = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
        row = {"variant": name, "games_played": metrics["games"], "seconds": metrics["seconds"]}
        if name != "unchanged":
            played = play_in_step(game, (sides[name], sides["unchanged"]), openings, first)
            row |= figures(played)
            del sides[name]
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    return {"game": spec, "generations": generations, "games": games, "rows": rows}


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(json.dumps(ablations(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])), indent=1))
