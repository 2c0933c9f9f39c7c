"""A site for each test, and who visits it."""

import contextlib
import time
import warnings

import pytest

from goishi.web import app as web
from goishi.web.catalogue import Catalogue

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2
    from starlette.testclient import TestClient


class Visitor(TestClient):
    """A browser at a new site."""

    def __init__(self, catalogue=None, hosts=web.LOOPBACK, name="127.0.0.1"):
        self.name = name
        super().__init__(web.create_app(catalogue or Catalogue(), hosts), base_url=f"http://{name}")

    @property
    def rooms(self):
        return self.app.state.rooms

    def connect(self, **headers):
        return self.websocket_connect(f"ws://{self.name}/play", headers=headers)

    @contextlib.contextmanager
    def sit_down(self, opponent="human", **more):
        """A table with a game open."""
        with self.connect() as table:
            table.send_json({"type": "open", "game": "tictactoe", "opponent": opponent, **more})
            assert [table.receive_json()["type"] for _ in range(2)] == ["opened", "state"]
            yield table


@pytest.fixture
def visit():
    """Opens a site with these games and hosts; the visitor."""
    with contextlib.ExitStack() as stack:
        yield lambda *all, **more: stack.enter_context(Visitor(*all, **more))


@pytest.fixture
def client(visit):
    """A visitor at a site that listens for this machine alone."""
    return visit()


@pytest.fixture
def table(client):
    """A socket with a game of two friends open."""
    with client.sit_down() as table:
        yield table


@pytest.fixture
def wait_until():
    """Waits until something is true, and not for long."""

    def wait(true, seconds=20.0):
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it took too long"
            time.sleep(0.005)

    return wait
