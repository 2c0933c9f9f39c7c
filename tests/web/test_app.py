"""The site from outside: what it serves, whom it answers, what it does with whatever comes in, and where it listens."""

import json
import mimetypes
import socket
from types import SimpleNamespace

import pytest
from starlette.websockets import WebSocketDisconnect

from goishi.core import registry
from goishi.errors import GoishiError, UnknownGame, UsageError
from goishi.players.simple import RandomPlayer
from goishi.web import app as web
from goishi.web.catalogue import Catalogue


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
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_no_path_leads_out_of_the_pages(client):
    for path in ("/../room.py", "/%2e%2e/room.py", "/..%2froom.py", "/assets/../../app.py"):
        assert client.get(path).status_code in (404, 405, 503)
    assert client.post("/api/catalogue").status_code == 405


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
def test_pages_tell_their_kind_whatever_the_machine_thinks(pages, visit, monkeypatch, path, kind):
    mimetypes.init()
    for ending in (".html", ".js", ".css", ".svg"):
        monkeypatch.setitem(mimetypes.types_map, ending, "text/plain")
        mimetypes.add_type("text/plain", ending)
    answer = visit().get(path)
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert answer.headers["cache-control"] == "no-cache"


def test_a_page_that_is_not_built_says_how_to_build_it(tmp_path, visit, monkeypatch):
    monkeypatch.setattr(web, "STATIC", tmp_path)
    client = visit()
    answer = client.get("/")
    assert answer.status_code == 503
    assert "npm run build" in answer.text
    assert client.get("/api/catalogue").status_code == 200


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
def test_a_websocket_of_another_sites_page_is_refused(client, headers):
    with pytest.raises(WebSocketDisconnect) as refused, client.connect(**headers):
        pass
    assert refused.value.code == 1008
    assert client.rooms == 0


def test_a_site_open_to_others_answers_to_any_name_yet_not_to_another_sites_page(visit):
    client = visit(hosts=None, name="goishi.example")
    assert client.get("/api/catalogue").status_code == 200
    with client.connect(origin="http://goishi.example"):
        pass
    with pytest.raises(WebSocketDisconnect), client.connect(origin="http://example.org"):
        pass


NO_MESSAGES = ["", "{", "undo", "\0", "[]", "3", "null", "NaN", "[" * 60_000, '{"type": 9' + "9" * 6000 + "}"]


@pytest.mark.parametrize("text", NO_MESSAGES, ids=lambda text: ascii(text)[:20])
def test_what_is_no_message_is_answered_by_a_sentence_and_the_table_stays(table, text):
    table.send_text(text)
    assert one_error(table) == 'A message is a JSON object such as {"type": "undo"}.'


def test_bytes_and_long_texts_are_answered_by_a_sentence_and_the_table_stays(table):
    for wrong in (b'{"type": "undo"}', b"\xff\xfe"):
        table.send_bytes(wrong)
        assert one_error(table) == "A message is a short JSON text."
    table.send_text(json.dumps({"type": "undo", "more": "x" * web.LARGEST_MESSAGE}))
    assert one_error(table) == "A message is a short JSON text."


@pytest.mark.parametrize("more", [{"game": "\ud800"}, {"opponent": "\ud800"}, {"moves": [10**40]}], ids=ascii)
def test_text_and_numbers_that_no_page_sends_are_refused_and_the_table_stays(table, more):
    table.send_json({"type": "open", "game": "tictactoe", "opponent": "random"} | more)
    one_error(table)


def test_a_flood_is_slowed_down_by_sentences_and_ends(client, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(web, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(web, "LATE_SECONDS", 0.0)
    with client.sit_down() as table:
        for _ in range(web.MOST_A_SECOND - 1):  # and the one that opened the game
            table.send_json({"type": "new"})
            assert table.receive_json()["type"] == "state"
        for _ in range(2):
            table.send_json({"type": "new"})
            assert table.receive_json() == {"type": "error", "text": "Too many messages at once; slow down."}
        clock[0] += 1
        table.send_json({"type": "play", "action": 4})
        assert table.receive_json()["played"] == [4]


def test_each_socket_has_a_room_and_a_closed_tab_frees_it(client, wait_until):
    with client.sit_down(), client.sit_down():
        assert client.rooms == 2
    wait_until(lambda: client.rooms == 0)


def test_a_full_house_says_so(client, monkeypatch, wait_until):
    monkeypatch.setattr(web, "MOST_ROOMS", 1)
    with client.connect(), client.connect() as refused:
        assert refused.receive_json() == {"type": "error", "text": "All tables are taken; try again in a while."}
        with pytest.raises(WebSocketDisconnect):
            refused.receive_json()
    wait_until(lambda: client.rooms == 0)


def test_a_port_in_use_is_told_with_another_to_try():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(GoishiError, match=rf"^Port {port} is in use; try another, as in --port \d+\.$"):
            web.serve("127.0.0.1", port, open_browser=False)


def test_two_sites_cannot_take_one_port():
    with web.listen("127.0.0.1", 0) as first, pytest.raises(GoishiError, match="is in use"):
        web.listen("127.0.0.1", first.getsockname()[1])


@pytest.mark.parametrize("host", ["192.0.2.1", "no such name", "a" * 70, "\ud800", "é" * 70], ids=ascii)
def test_an_address_that_is_not_this_machines_is_told(host):
    with pytest.raises(GoishiError, match=r"^This machine has no address .*; try --host 127\.0\.0\.1\.$"):
        web.listen(host, 0)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none_is_told(port):
    with pytest.raises(UsageError, match="ports go from 0 to 65535"):
        web.listen("127.0.0.1", port)


@pytest.fixture
def served(monkeypatch):
    """Serves without a server: what was told, and the catalogue and the hosts of the site."""
    listen, create_app = web.listen, web.create_app
    made = []
    monkeypatch.setattr(web, "listen", lambda host, port: listen("127.0.0.1", 0))
    monkeypatch.setattr(
        web, "create_app", lambda catalogue, hosts: made.extend([catalogue, hosts]) or create_app(Catalogue())
    )
    monkeypatch.setattr(web.uvicorn, "Server", lambda config: SimpleNamespace(run=lambda sockets: None))

    def serve(host="127.0.0.1", **more):
        told = []
        web.serve(host, 0, open_browser=False, say=told.append, **more)
        return told[0], *made

    return serve


@pytest.mark.parametrize(
    ("host", "shown", "hosts"),
    [
        ("127.0.0.1", "http://127.0.0.1:", (*web.LOOPBACK, "127.0.0.1")),
        ("0.0.0.0", "http://127.0.0.1:", None),
    ],
)
def test_the_address_that_is_told_can_be_opened(served, host, shown, hosts):
    told, _, names = served(host)
    assert told.startswith(f"Goishi is at {shown}")
    assert ("other machines can reach it" in told) == (hosts is None)
    assert names == hosts


def test_the_host_adds_games_and_players(served):
    _, catalogue, _ = served(games=["gomoku:size=19,row=5"], players=["uniform:visits=7"])
    assert catalogue.check_opponent(catalogue.find("gomoku:size=19,row=5"), "uniform:visits=7")
    assert catalogue.models


def test_a_game_of_the_host_that_cannot_be_offered_is_told_before_the_site_opens(served):
    with pytest.raises(UnknownGame, match=r"There is no file \./none\.py\."):
        served(games=["./none.py"])


def test_the_site_warms_up_by_a_move_of_each_game(monkeypatch):
    asked = []

    def note(spec, game):
        asked.append((spec, game.spec))
        return lambda seed: RandomPlayer(seed)

    monkeypatch.setattr(web, "maker", note)
    monkeypatch.setattr(web.os, "nice", lambda more: 0, raising=False)
    web.warm_up()
    assert asked[0] == ("net:gomoku-8x8,visits=200", "gomoku:size=8,row=5")
    assert ("net:go9,visits=200", "go:size=9,rules=chinese-ogs") in asked
    assert len({spec.partition(":")[0] for _, spec in asked}) == len(asked)
