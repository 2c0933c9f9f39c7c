"""What a table does with players: one network for all its levels, searches that nobody waits for, faults, and rest."""

import asyncio
import gc
import json
import threading
import weakref
from functools import partial

import anyio
import pytest
from starlette.websockets import WebSocketState

from goishi.core import registry
from goishi.errors import GoishiError
from goishi.networks import evaluator as evaluators
from goishi.networks import store
from goishi.players import searcher
from goishi.players.player import Decision
from goishi.web import app as web
from goishi.web.catalogue import HUMAN, Catalogue
from goishi.web.room import Room


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


def test_a_game_against_a_network_with_its_hints(network, visit):
    with visit(Catalogue(models=[network])).sit_down("net:pupil,visits=50", hints=True) as table:
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


def test_players_of_one_kind_share_what_is_costly_and_the_kind_not_asked_for_longest_goes(monkeypatch):
    calls = []
    monkeypatch.setattr(
        web, "maker", lambda spec, game, threads: calls.append((spec, game.spec)) or (lambda seed: seed)
    )
    monkeypatch.setattr(web, "MAKERS", 2)
    makers, game = web.Makers(1), registry.find("tictactoe")
    assert [makers(spec, game) for spec in ("a", "a", "b", "a", "c", "a", "b")] == [1, 2, 3, 4, 5, 6, 7]
    assert calls == [(spec, "tictactoe") for spec in ("a", "b", "c", "b")]


class Dreamer:
    """Thinks until it is stopped."""

    name = "dreamer"

    def __init__(self):
        self.thinks, self.stopped, self.closed = threading.Event(), threading.Event(), False

    def choose(self, position, limit=None):
        self.thinks.set()
        assert self.stopped.wait(20)
        return Decision(position.actions[0])

    def stop(self):
        self.stopped.set()

    def close(self):
        self.closed = True


def test_a_closed_tab_ends_its_search_and_frees_its_players(client, monkeypatch, wait_until):
    made = []
    monkeypatch.setattr(web, "maker", lambda spec, game, threads: lambda seed: made.append(Dreamer()) or made[-1])
    with client.sit_down("random", begins="opponent"):
        wait_until(lambda: made and made[0].thinks.is_set())
        assert client.rooms == 1
    wait_until(lambda: client.rooms == 0, 5)
    assert made[0].closed
    kept = weakref.ref(made.pop())
    gc.collect()
    assert kept() is None


def test_a_closed_tab_ends_a_real_search_that_would_take_hours(visit, wait_until):
    client = visit(Catalogue(players=["rollout:visits=1000000000"]))
    registry.find("gomoku:size=15,row=5").start()
    with client.sit_down("rollout:visits=1000000000", game="gomoku:size=15,row=5", begins="opponent"):
        assert client.rooms == 1
    wait_until(lambda: client.rooms == 0)


def test_a_player_that_breaks_is_told_and_the_table_stays(client, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(web, "maker", broken)
    with client.sit_down("random", begins="opponent") as table:
        assert table.receive_json()["type"] == "state"
        assert table.receive_json()["text"] == "Your opponent cannot go on: it failed with RuntimeError: boom"
        table.send_json({"type": "new"})
        assert table.receive_json()["thinking"] is True


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
def test_a_search_that_had_not_begun_when_the_game_went_on_ends_too(client, monkeypatch, wait_until, message):
    made = [Deaf(), Deaf(), Deaf()]
    given = iter(made)
    monkeypatch.setattr(web, "maker", lambda spec, game, threads: lambda seed: next(given))
    with client.sit_down("random") as table:
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
    wait_until(lambda: client.rooms == 0, 5)
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


def test_a_table_where_nothing_happens_rests_and_plays_on(client, monkeypatch, wait_until):
    monkeypatch.setattr(web, "REST_SECONDS", 0.05)
    rests = []
    rest = Room.rest
    monkeypatch.setattr(Room, "rest", lambda room: rests.append(len(room._players)) or rest(room))
    with client.sit_down("random", begins="opponent") as table:
        assert len(table.receive_json()["played"]) == 1
        wait_until(lambda: rests[-1:] == [0])
        assert 1 in rests
        table.send_json({"type": "undo"})
        assert table.receive_json()["type"] == "error"
        table.send_json({"type": "new"})
        assert table.receive_json()["thinking"]
        assert len(table.receive_json()["played"]) == 1
