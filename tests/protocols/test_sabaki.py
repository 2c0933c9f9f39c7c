"""Our engine driven by a foreign controller: `@sabaki/gtp`, the one inside Sabaki."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[2] / "frontend"


@pytest.mark.engines
def test_sabakis_own_controller_plays_with_our_engine():
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    if not (FRONTEND / "node_modules" / "@sabaki" / "gtp").is_dir():
        pytest.skip("@sabaki/gtp is not installed: npm ci in frontend")
    engine = [sys.executable, "-W", "error", "-m", "goishi", "gtp", "--game", "go:size=9"]
    words = [node, FRONTEND / "test" / "sabaki.cjs", *engine, "--player", "rollout:visits=20"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["name"] == "Goishi"
    assert told["failed"] == []
    assert [state["boardsize"] for state in told["states"]] == [[9, 9], [9, 9], [5, 5]]
    assert [state["komi"] for state in told["states"]] == [6.5, 6.5, 7]
    assert [len(state["history"]) for state in told["states"]] == [2, 2, 3]
    assert "set_free_handicap C3 G7" in told["sent"]
    assert all(len(vertex) == 2 or vertex == "pass" for vertex in told["moves"])
