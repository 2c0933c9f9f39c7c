"""A real server: many people at once, and Ctrl-C."""

import asyncio
import json
import random
import signal
import subprocess
import sys
import threading
from urllib.request import urlopen

import pytest
from websockets.asyncio.client import connect

from goishi.core import registry
from goishi.web import app as web
from goishi.web.catalogue import Catalogue

GAMES = [("tictactoe", "random"), ("connect4", "rollout:visits=100"), ("tictactoe", "perfect")]


@pytest.fixture
def site(wait_until):
    """The address of a real server in a thread, on a free port of the loopback; at its end every room is free."""
    app = web.create_app(Catalogue(), web.LOOPBACK)
    listener = web.listen("127.0.0.1", 0)
    server = web.server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    wait_until(lambda: app.state.rooms == 0)
    server.should_exit = True
    thread.join(20)
    listener.close()
    assert not thread.is_alive()


async def play_a_game(site, seed):
    """One person who plays any moves and takes one back; every third asks for hints. The last state."""
    draw = random.Random(seed)
    game, opponent = draw.choice(GAMES)
    begins = draw.choice(["you", "opponent"])
    message = {"type": "open", "game": game, "opponent": opponent, "begins": begins, "hints": seed % 3 == 0}
    undone = False
    expected = 0  # moves in the next state: it shows each, and none twice
    async with connect(f"ws://{site}/play", origin=f"http://{site}", open_timeout=30, close_timeout=1) as table:
        await table.send(json.dumps(message))
        while True:
            state = json.loads(await asyncio.wait_for(table.recv(), 60))
            assert state["type"] != "error", state
            if state["type"] != "state":
                continue
            plies = len(state["played"])
            assert plies == expected if expected is not None else plies in (0, 1)
            expected = plies + 1
            if state["over"]:
                return state
            if state["yours"] and state["undo"] and not undone:
                undone, expected = True, None
                await table.send(json.dumps({"type": "undo"}))
            elif state["yours"]:
                await table.send(json.dumps({"type": "play", "action": draw.choice(state["actions"])}))


def test_thirty_people_play_at_once_to_the_end_and_leave_nothing_behind(site):
    for game, _ in GAMES:
        registry.find(game).start()  # compiled before anybody waits for an answer

    async def everybody():
        return await asyncio.gather(*(play_a_game(site, seed) for seed in range(30)))

    ends = asyncio.run(everybody())
    assert all(end["result"].endswith(".") for end in ends)
    assert len({tuple(end["played"]) for end in ends}) > 20


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal to a group there")
def test_ctrl_c_ends_the_site_without_a_traceback(wait_until):
    command = [sys.executable, "-u", "-m", "goishi", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert server.stdout
    with server.stdout:
        line = server.stdout.readline()
        assert "http://127.0.0.1:" in line, line
        wait_until(lambda: answers(line.split()[3].rstrip(";")))
        server.send_signal(signal.SIGINT)
        rest = server.stdout.read()
    assert server.wait(10) in (0, 130)
    assert "Traceback" not in rest


def answers(address):
    try:
        with urlopen(address + "/api/catalogue", timeout=20) as answer:
            return answer.status == 200
    except OSError:
        return False
