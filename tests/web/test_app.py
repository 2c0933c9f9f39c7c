"""The site from outside: what it serves, whom it answers, and what it does with whatever comes in."""

import asyncio
import json
import random
import socket
import threading
import time
import warnings

import pytest
import uvicorn
import websockets

from goishi.core import registry
from goishi.errors import GoishiError
from goishi.web import app as web
from goishi.web.catalogue import Catalogue

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2
    from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

HOME = "http://127.0.0.1"
PLAY = "ws://127.0.0.1/play"
OPEN = {"type": "open", "game": "tictactoe", "opponent": "random"}


@pytest.fixture(scope="module")
def site():
    return web.create_app(Catalogue(), web.LOOPBACK)


@pytest.fixture(scope="module")
def client(site):
    with TestClient(site, base_url=HOME) as client:
        yield client


@pytest.fixture
def table(client):
    """A socket with a game of two friends open."""
    with client.websocket_connect(PLAY) as table:
        table.send_json(OPEN | {"opponent": "human"})
        assert [table.receive_json()["type"] for _ in range(2)] == ["opened", "state"]
        yield table


def no_rooms_left(site):
    deadline = time.monotonic() + 5
    while site.state.rooms and time.monotonic() < deadline:
        time.sleep(0.01)
    return site.state.rooms == 0


def one_error(table):
    """The sentence that comes, after which the table still plays."""
    error = table.receive_json()
    assert error["type"] == "error"
    assert "\n" not in error["text"]
    table.send_json({"type": "new"})
    assert table.receive_json()["played"] == []
    return error["text"]


def test_the_catalogue_tells_every_game(client):
    answer = client.get("/api/catalogue")
    assert answer.status_code == 200
    assert {game["name"] for game in answer.json()["games"]} == set(registry.names())
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/api/catalogue", "/", "/no/such/page"])
def test_every_answer_carries_the_security_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_no_path_leads_out_of_the_pages(client):
    for path in ("/../room.py", "/%2e%2e/room.py", "/..%2froom.py", "/assets/../../app.py"):
        assert client.get(path).status_code in (404, 405, 503)
    assert client.post("/api/catalogue").status_code == 405


@pytest.mark.parametrize("host", ["goishi.example", "127.0.0.1.example", "127.0.0.1@example", "[", ""])
def test_a_foreign_host_is_refused(client, host):
    answer = client.get("/api/catalogue", headers={"host": host})
    assert answer.status_code == 421
    assert "games" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"])
def test_the_sites_own_names_are_answered(client, host):
    assert client.get("/api/catalogue", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://example.org"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://["},
        {"host": "example.org"},
        {"host": "example.org", "origin": "http://example.org"},
    ],
)
def test_a_websocket_of_another_sites_page_is_refused(client, site, headers):
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(PLAY, headers=headers):
        pass
    assert refused.value.code == 1008
    assert site.state.rooms == 0


def test_a_websocket_of_the_sites_own_page_plays(client):
    with client.websocket_connect(PLAY, headers={"origin": HOME}) as table:
        table.send_json(OPEN)
        assert table.receive_json()["type"] == "opened"


def test_a_site_open_to_others_answers_to_any_name_yet_not_to_another_sites_page():
    with TestClient(web.create_app(Catalogue()), base_url="http://goishi.example") as client:
        assert client.get("/api/catalogue").status_code == 200
        with client.websocket_connect("ws://goishi.example/play", headers={"origin": "http://goishi.example"}):
            pass
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("ws://goishi.example/play", headers={"origin": "http://example.org"}),
        ):
            pass


@pytest.mark.parametrize(
    "text", ["", "{", "undo", "[]", "3", "null", "NaN", "[" * 60_000, '{"type": 9' + "9" * 6000 + "}"]
)
def test_what_is_no_message_is_answered_by_a_sentence_and_the_table_stays(table, text):
    table.send_text(text)
    assert one_error(table) == 'A message is a JSON object such as {"type": "undo"}.'


def test_bytes_and_long_texts_are_answered_by_a_sentence_and_the_table_stays(table):
    table.send_bytes(b'{"type": "undo"}')
    assert one_error(table) == "A message is a short JSON text."
    table.send_text(json.dumps({"type": "undo", "more": "x" * web.LARGEST_MESSAGE}))
    assert one_error(table) == "A message is a short JSON text."


@pytest.mark.parametrize(
    "more",
    [
        *({"game": "chess"}, {"game": "/etc/passwd"}, {"game": "./mygame.py"}, {"game": "tictactoe:x.py"}),
        *({"game": []}, {"game": "\ud800"}, {"game": "hex:\ud800=3"}, {"game": "hex:size=100000"}),
        *({"opponent": "gtp:gnugo --mode gtp"}, {"opponent": "net:/tmp/x.onnx"}, {"opponent": []}, {"opponent": {}}),
        *({"opponent": "rollout:visits=100000000"}, {"opponent": "\ud800"}, {"moves": [99]}, {"moves": [10**40]}),
    ],
    ids=lambda more: ascii(more)[:60],
)
def test_a_game_or_opponent_that_is_not_on_offer_is_refused_and_the_table_stays(table, more):
    table.send_json(OPEN | more)
    one_error(table)


def test_a_flood_is_answered_by_sentences_and_ends(table):
    for _ in range(web.MOST_A_SECOND + 2):
        table.send_json({"type": "new"})
    answers = [table.receive_json() for _ in range(web.MOST_A_SECOND + 2)]
    texts = {answer["text"] for answer in answers if answer["type"] == "error"}
    assert texts == {"Too many messages at once; slow down."}
    time.sleep(1.1)
    table.send_json({"type": "play", "action": 4})
    assert table.receive_json()["played"] == [4]


def test_a_player_that_breaks_is_told_and_the_table_stays(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(web, "maker", broken)
    with TestClient(web.create_app(Catalogue()), base_url=HOME) as client, client.websocket_connect(PLAY) as table:
        table.send_json(OPEN | {"begins": "opponent"})
        messages = [table.receive_json() for _ in range(4)]
        assert [message["type"] for message in messages] == ["opened", "state", "state", "error"]
        assert messages[-1]["text"] == "Your opponent cannot go on: it failed with RuntimeError: boom"
        table.send_json({"type": "new"})
        assert table.receive_json()["thinking"] is True


def test_a_closed_tab_frees_its_room(client, site):
    assert no_rooms_left(site)
    with client.websocket_connect(PLAY) as one, client.websocket_connect(PLAY) as other:
        for table in (one, other):
            table.send_json(OPEN)
            table.receive_json()
        assert site.state.rooms == 2
    assert no_rooms_left(site)


def test_a_tab_closed_while_the_opponent_thinks_ends_its_search(client, site):
    start = time.monotonic()
    with client.websocket_connect(PLAY) as table:
        table.send_json(OPEN | {"game": "gomoku:size=15,row=5", "opponent": "rollout:visits=50000"})
        table.receive_json()
        table.receive_json()
        table.send_json({"type": "play", "action": 112})
        assert table.receive_json()["thinking"] is True
    deadline = start + 60
    while site.state.rooms and time.monotonic() < deadline:
        time.sleep(0.02)
    assert site.state.rooms == 0


def test_no_more_tables_than_there_is_room_for(client, site, monkeypatch):
    monkeypatch.setattr(web, "MOST_ROOMS", 1)
    assert no_rooms_left(site)
    with client.websocket_connect(PLAY), client.websocket_connect(PLAY) as refused:
        assert refused.receive_json() == {"type": "error", "text": "All tables are taken; try again in a while."}
        with pytest.raises(WebSocketDisconnect):
            refused.receive_json()
    assert no_rooms_left(site)


def test_players_of_one_kind_share_what_is_costly_and_the_oldest_kind_goes(monkeypatch):
    made = []
    monkeypatch.setattr(web, "maker", lambda spec, game, threads: made.append(spec) or (lambda seed: seed))
    monkeypatch.setattr(web, "MAKERS", 2)
    makers, game = web.Makers(1), registry.find("tictactoe")
    assert [makers(spec, game) for spec in ("a", "a", "b", "a", "c", "a", "b")] == [1, 2, 3, 4, 5, 6, 7]
    assert made == ["a", "b", "c", "b"]


def test_a_port_in_use_is_told_with_another_to_try():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(GoishiError, match=rf"^Port {port} is in use; try another, as in --port \d+\.$"):
            web.listen("127.0.0.1", port)


def test_two_sites_cannot_take_one_port():
    with web.listen("127.0.0.1", 0) as first, pytest.raises(GoishiError, match="is in use"):
        web.listen("127.0.0.1", first.getsockname()[1])


def test_an_address_of_another_machine_is_told():
    with pytest.raises(GoishiError, match=r"has no address 192\.0\.2\.1; try --host 127\.0\.0\.1\."):
        web.listen("192.0.2.1", 0)


@pytest.fixture
def address(site):
    """A real server in a thread, on a free port of the loopback."""
    listener = web.listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(site, log_level="error", ws="websockets-sansio", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
    assert not thread.is_alive()


async def play_to_the_end(address, seed):
    """A game of random moves at one socket; the last state."""
    draw = random.Random(seed)
    async with websockets.connect(f"ws://{address}/play", origin=f"http://{address}") as table:
        await table.send(json.dumps(OPEN | {"begins": draw.choice(["you", "opponent"])}))
        plies = -1
        while True:
            message = json.loads(await asyncio.wait_for(table.recv(), 30))
            assert message["type"] in ("opened", "state"), message
            if message["type"] == "opened":
                continue
            assert len(message["played"]) == plies + 1
            plies += 1
            if message["over"]:
                return message
            if message["yours"]:
                await table.send(json.dumps({"type": "play", "action": draw.choice(message["actions"])}))


def test_thirty_people_play_at_once_to_the_end(address, site):
    async def everybody():
        return await asyncio.gather(*(play_to_the_end(address, seed) for seed in range(30)))

    ends = asyncio.run(everybody())
    assert all(end["result"] for end in ends)
    assert len({tuple(end["played"]) for end in ends}) > 20
    assert no_rooms_left(site)
