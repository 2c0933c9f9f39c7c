"""What a table does with players: one network for all its levels, searches that nobody waits for, faults, and rest."""

import asyncio
import json
import mimetypes
import threading
import time
import warnings
from functools import partial
from types import SimpleNamespace

import anyio
import pytest

from goishi.core import registry
from goishi.errors import GoishiError, UsageError
from goishi.networks import evaluator as evaluators
from goishi.networks import store
from goishi.players import searcher
from goishi.players.player import Decision
from goishi.web import app as web
from goishi.web.catalogue import HUMAN, Catalogue
from goishi.web.room import Room

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2
    from starlette.testclient import TestClient
from starlette.websockets import WebSocketState

HOME = "http://127.0.0.1"
PLAY = "ws://127.0.0.1/play"


def wait_until(true, seconds=20.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def open_table(table, opponent, game="tictactoe", **more):
    table.send_json({"type": "open", "game": game, "opponent": opponent, **more})
    assert [table.receive_json()["type"] for _ in range(2)] == ["opened", "state"]


@pytest.fixture
def network(tmp_path, monkeypatch):
    """A model of tic-tac-toe that came with Goishi, as far as the site knows."""
    pytest.importorskip("torch", reason="needs torch: pip install 'goishi[train]'")
    from goishi.networks import network

    game = registry.find("tictactoe")
    module = network.build(network.PRESETS["tiny"], game).eval()
    path = tmp_path / "pupil.onnx"
    path.write_bytes(network.to_onnx(module, game, {}))
    monkeypatch.setattr(store, "models_folder", lambda: tmp_path)
    load = partial(evaluators.load, runtime="onnxruntime")  # measures nothing
    monkeypatch.setattr(searcher.evaluators, "load", load)
    return store.read(path)


def test_a_game_against_a_network_with_its_hints(network):
    site = web.create_app(Catalogue(models=[network]))
    with TestClient(site, base_url=HOME) as client, client.websocket_connect(PLAY) as table:
        open_table(table, "net:pupil,visits=50", hints=True)
        hints = table.receive_json()
        assert hints["type"] == "hints"
        assert sum(move["share"] for move in hints["moves"]) == pytest.approx(1, abs=0.1)
        table.send_json({"type": "play", "action": hints["moves"][0]["action"]})
        assert table.receive_json()["thinking"]
        assert len(table.receive_json()["played"]) == 2


def test_all_levels_of_a_network_share_one(network, monkeypatch):
    loaded = []
    load = evaluators.load
    monkeypatch.setattr(searcher.evaluators, "load", lambda *all, **more: loaded.append(all) or load(*all, **more))
    makers, game = web.Makers(threads=2), registry.find("tictactoe")
    players = [makers(f"net:pupil,visits={visits}", game) for visits in (50, 200, 50)]
    assert len(loaded) == 1
    assert [player.limit.visits for player in players] == [50, 200, 50]
    assert players[1].name == "net:pupil,visits=200"
    assert len({id(player) for player in players}) == 3


@pytest.mark.parametrize(
    ("spec", "kind", "visits"),
    [
        ("net:a,visits=50", "net:a", 50),
        ("net:a,leaves=4,visits=50", "net:a,leaves=4", 50),
        ("net:a,visits=50,leaves=4", "net:a,visits=50,leaves=4", None),
        ("net:a,visits=many", "net:a,visits=many", None),
        ("rollout:visits=50", "rollout:visits=50", None),
        ("policy:a", "policy:a", None),
    ],
)
def test_only_a_networks_visits_make_no_kind_of_their_own(spec, kind, visits):
    assert web.without_visits(spec) == (kind, visits)


class Deaf:
    """Begins late and forgets what was said before, as a search does; then thinks until it is stopped."""

    name = "deaf"

    def __init__(self):
        self.begun, self.stopped, self.may_begin = threading.Event(), threading.Event(), threading.Event()
        self.ended = False

    def choose(self, position, limit=None):
        self.begun.set()
        self.may_begin.wait(20)
        self.stopped.clear()
        self.ended = self.stopped.wait(20)
        return Decision(position.actions[0])

    def stop(self):
        self.stopped.set()

    def close(self):
        pass


@pytest.mark.parametrize("message", [{"type": "undo"}, {"type": "new"}, None], ids=str)
def test_a_search_that_had_not_begun_when_the_game_went_on_ends_too(monkeypatch, message):
    made = [Deaf(), Deaf(), Deaf()]
    given = iter(made)
    monkeypatch.setattr(web, "maker", lambda spec, game, threads: lambda seed: next(given))
    site = web.create_app(Catalogue())
    with TestClient(site, base_url=HOME) as client:
        with client.websocket_connect(PLAY) as table:
            open_table(table, "random")
            table.send_json({"type": "play", "action": 4})
            assert table.receive_json()["thinking"]
            assert made[0].begun.wait(20)
            if message:
                table.send_json(message)
                assert table.receive_json()["played"] == []
                made[0].may_begin.set()
                wait_until(lambda: made[0].ended, 5)
            later = [threading.Timer(0.3, player.may_begin.set) for player in made]
            for timer in later:
                timer.start()
        wait_until(lambda: site.state.rooms == 0, 5)
        assert made[0].ended
    for timer in later:
        timer.join()


def test_a_thought_that_waited_for_its_turn_until_the_game_went_on_is_not_thought():
    made = []
    room = Room(Catalogue(), lambda spec, game: made.append(spec))
    room.handle({"type": "open", "game": "tictactoe", "opponent": "random", "begins": "opponent"})
    task = room.task()
    room.handle({"type": "new"})
    with pytest.raises(GoishiError, match="gone on"):
        task.run()
    assert made == []
    assert room.finish(task, GoishiError("The game has gone on.")) == []


def test_a_fault_of_the_room_ends_the_socket_and_is_no_silence(monkeypatch):
    monkeypatch.setattr(Room, "task", lambda room: 1 / 0 if room.position else None)
    ended = []
    leave = Room.leave
    monkeypatch.setattr(Room, "leave", lambda room: ended.append(room) or leave(room))

    class Socket:
        """A page that opens a game and then waits."""

        application_state = WebSocketState.CONNECTED

        def __init__(self):
            text = json.dumps({"type": "open", "game": "tictactoe", "opponent": HUMAN})
            self.messages = [{"type": "websocket.receive", "text": text}]

        async def receive(self):
            return self.messages.pop() if self.messages else await asyncio.sleep(20)

        async def send_text(self, text):
            pass

    async def sit_down():
        table = web.Table(Socket(), Room(Catalogue(), None), anyio.CapacityLimiter(1))
        await asyncio.wait_for(table.run(), 10)

    with pytest.raises(ExceptionGroup) as fault:
        asyncio.run(sit_down())
    assert fault.group_contains(ZeroDivisionError)
    assert len(ended) == 1


def test_a_table_where_nothing_happens_rests_and_plays_on(monkeypatch):
    monkeypatch.setattr(web, "REST_SECONDS", 0.05)
    rests = []
    rest = Room.rest
    monkeypatch.setattr(Room, "rest", lambda room: rests.append(len(room._players)) or rest(room))
    with TestClient(web.create_app(Catalogue()), base_url=HOME) as client, client.websocket_connect(PLAY) as table:
        open_table(table, "random", begins="opponent")
        assert len(table.receive_json()["played"]) == 1
        wait_until(lambda: rests[-1:] == [0])
        assert 1 in rests
        table.send_json({"type": "undo"})
        assert table.receive_json()["type"] == "error"
        table.send_json({"type": "new"})
        assert table.receive_json()["thinking"]
        assert len(table.receive_json()["played"]) == 1


@pytest.fixture
def pages(tmp_path, monkeypatch):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    for name in ("page.js", "page.css", "icon.svg"):
        (tmp_path / "assets" / name).write_text("")
    monkeypatch.setattr(web, "STATIC", tmp_path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/assets/page.js", "text/javascript"),
        ("/assets/page.css", "text/css"),
        ("/assets/icon.svg", "image/svg+xml"),
    ],
)
def test_pages_tell_their_kind_whatever_the_machine_thinks(pages, monkeypatch, path, kind):
    mimetypes.init()
    for ending in (".html", ".js", ".css", ".svg"):
        monkeypatch.setitem(mimetypes.types_map, ending, "text/plain")
        mimetypes.add_type("text/plain", ending)
    with TestClient(web.create_app(Catalogue()), base_url=HOME) as client:
        answer = client.get(path)
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert answer.headers["cache-control"] == "no-cache"


def test_a_page_that_is_not_built_says_how_to_build_it(tmp_path, monkeypatch):
    monkeypatch.setattr(web, "STATIC", tmp_path)
    with TestClient(web.create_app(Catalogue()), base_url=HOME) as client:
        answer = client.get("/")
        assert answer.status_code == 503
        assert "npm run build" in answer.text
        assert client.get("/api/catalogue").status_code == 200


@pytest.mark.parametrize("host", ["no such name", "a" * 70, "\ud800", "é" * 70])
def test_an_address_that_is_none_is_told(host):
    with pytest.raises(GoishiError, match="This machine has no address"):
        web.listen(host, 0)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_told(port):
    with pytest.raises(UsageError, match="ports go from 0 to 65535"):
        web.listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "shown", "hosts"),
    [
        ("127.0.0.1", "http://127.0.0.1:", (*web.LOOPBACK, "127.0.0.1")),
        ("0.0.0.0", "http://127.0.0.1:", None),
    ],
)
def test_the_address_that_is_told_can_be_opened(monkeypatch, host, shown, hosts):
    told, made, create_app = [], [], web.create_app
    listen = web.listen
    monkeypatch.setattr(web, "listen", lambda host, port: listen("127.0.0.1", 0))
    monkeypatch.setattr(web, "create_app", lambda **more: made.append(more["hosts"]) or create_app(Catalogue()))
    monkeypatch.setattr(web.uvicorn, "Server", lambda config: SimpleNamespace(run=lambda sockets: None))
    web.serve(host, 0, open_browser=False, say=told.append)
    assert told[0].startswith(f"Goishi is at {shown}")
    assert ("other machines can reach it" in told[0]) == (hosts is None)
    assert made == [hosts]
