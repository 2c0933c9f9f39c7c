"""Drives the real KaTrain without a display against an analysis engine; exit status 1 where it fails.

python katrain_driver.py --engine "exec goishi analysis ..." | --url ws://127.0.0.1:8771 [--ai STRATEGY...]
"""

import argparse
import os
import sys
import tempfile
import time

options = argparse.ArgumentParser()
options.add_argument("--engine")
options.add_argument("--url")
options.add_argument("--ai", nargs="*", default=[])
options.add_argument("--visits", type=int, default=100)
options.add_argument("--say-when-thinking", action="store_true", help="at the first report of a position's analysis")
chosen = options.parse_args()

os.environ.update(KIVY_NO_ARGS="1", KIVY_NO_CONSOLELOG="1", HOME=tempfile.mkdtemp())
sys.argv = sys.argv[:1]
from katrain.core.ai import generate_ai_move  # noqa: E402
from katrain.core.base_katrain import KaTrainBase  # noqa: E402
from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game import Game  # noqa: E402
from katrain.core.remote_engine import RemoteKataGoEngine  # noqa: E402
from pysgf import Move  # noqa: E402

SECONDS = 120  # for one analysis
katrain = KaTrainBase(force_package_config=True, debug_level=0)
katrain._config["game"]["size"] = 9
config = {**katrain.config("engine"), "max_visits": chosen.visits, "max_time": 60}
if chosen.url:
    engine = RemoteKataGoEngine(katrain, {**config, "backend": "remote", "remote_url": chosen.url})
else:
    engine = KataGoEngine(katrain, {**config, "backend": "custom", "altcommand": chosen.engine})


def wait(node):
    end = time.time() + SECONDS
    while not node.analysis_complete:
        if time.time() > end:
            raise TimeoutError(f"no complete analysis at depth {node.depth}")
        if chosen.say_when_thinking and node.analysis_exists:
            print("thinking", flush=True)
            chosen.say_when_thinking = False
        time.sleep(0.02)


status = 1
try:
    game = Game(katrain, engine)
    wait(game.root)
    for name in ["D4", "F4", "D6", "pass"]:
        node = game.play(Move.from_gtp(name, player=game.current_node.next_player))
        wait(node)
        node.comment(sgf=True), node.comment(details=True)
        assert node.ownership is not None
        assert node.policy is not None
        print(name, node.format_winrate(), node.format_score(), len(node.candidate_moves), flush=True)
    for strategy in chosen.ai:
        move, node = generate_ai_move(game, strategy, katrain.config(f"ai/{strategy}") or {})
        wait(node)
        print(strategy, move.gtp(), flush=True)
    status = 0
except Exception as problem:
    print("failed:", repr(problem))
finally:
    engine.shutdown()
    sys.stdout.flush()
os._exit(status)
