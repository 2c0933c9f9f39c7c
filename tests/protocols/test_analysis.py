"""KataGo's JSON analysis protocol: the object, its process, its WebSocket, and KaTrain as a client."""

import contextlib
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from goishi import cli
from goishi.errors import UsageError
from goishi.protocols import analysis, analysis_engine
from goishi.protocols.analysis import Analyst, Hall
from goishi.protocols.analysis_query import Refused, Settings, read_query
from goishi.web import app as web

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2
    from starlette.testclient import TestClient

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "analysis"
SHARED = ROOT.parent / "shared" / "tools"
KATRAIN = os.environ.get("KATRAIN_PYTHON", sys.executable)
"""The Python that has katrain, which wants packages that Goishi's own tests do not."""
SPEC, PLAYER = "go:size=9", "rollout:visits=20,threads=1"
BOARD = {"rules": "tromp-taylor", "komi": 7, "boardXSize": 9, "boardYSize": 9, "moves": []}
EVERYTHING = {f"include{name}": True for name in ("Policy", "Ownership", "MovesOwnership", "PVVisits", "NoResultValue")}
NEEDED = {
    "moveInfos": {"move", "visits", "winrate", "scoreLead", "pv", "prior", "order", "ownership", "lcb", "utility"},
    "rootInfo": {"visits", "winrate", "scoreLead", "currentPlayer"},
    "answer": {"id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo", "policy", "ownership"},
}
"""What KaTrain reads."""


def query(id, **fields):
    """A line; a field that is ... is left out."""
    return json.dumps({k: v for k, v in {"id": id, **BOARD, "maxVisits": 4, **fields}.items() if v is not ...})


class Client:
    """Somebody who sends lines and keeps what is said."""

    def __init__(self, analyst):
        self.analyst, self.said = analyst, []

    def say(self, text):
        self.said.append(json.loads(text))

    def hear(self, *lines):
        for line in lines:
            self.analyst.hear(line, self.say)

    def wait(self, until=lambda said: False, batches=100_000):
        """Until all is done, or `until` is true of what was said."""
        while batches and not until(self.said) and self.analyst.work():
            batches -= 1
        return self.said

    def leave(self):
        self.analyst.leave(self.say)


def ask(analyst, *lines):
    """What is answered to lines, in order, once all is done."""
    client = Client(analyst)
    client.hear(*lines)
    return client.wait()


@pytest.fixture(scope="module")
def analyst():
    return Analyst(SPEC, PLAYER)


@pytest.fixture
def fresh(analyst):
    """The same, with what earlier queries left forgotten."""
    ask(analyst, '{"id": "c", "action": "clear_cache"}')
    return analyst


def engine_of(analyst, size="9 9"):
    """The trees of a board."""
    return analyst._engines[size].result()


@contextlib.contextmanager
def batches_of(analyst):
    """How many positions each batch judges."""
    search, batches = engine_of(analyst)._search, []
    wave = search.wave
    search.wave = lambda: batches.append(wave())
    try:
        yield batches
    finally:
        del search.wave


def golden():
    """(line, answers) of the file."""
    lines = (GOLDEN / "errors.txt").read_text(encoding="utf-8").splitlines()
    cases = []
    for line in lines:
        if line.startswith("< "):
            cases.append([line[2:]])
        elif line.startswith("> "):
            cases[-1].append(json.loads(line[2:]))
    return cases


@pytest.mark.parametrize("case", golden(), ids=lambda case: case[0][:40])
def test_what_is_wrong_is_told_in_katagos_words_and_the_next_query_is_answered(analyst, case):
    said = ask(analyst, case[0], query("after", maxVisits=2))
    assert [each for each in said if "moveInfos" not in each] == case[1:]
    assert [each["rootInfo"]["visits"] for each in said if each.get("id") == "after"] == [2]


@pytest.mark.parametrize(
    "line",
    ["notjson", "{", '{"id": "x"', '"\\ud800', "NaN", '{"id": "x", "komi": Infinity}', "[" * 100_000, "9" * 10_000],
)
def test_what_is_no_json_is_one_error_without_an_id(analyst, line):
    (told,) = ask(analyst, line)
    assert told.keys() == {"error"}
    assert "parse error" in told["error"]
    assert len(told["error"]) < 600


def test_a_line_that_is_too_long_is_refused(analyst):
    assert ask(analyst, query("x" * (4 << 20))) == [{"error": "parse error: the line is too long"}]


def test_an_empty_line_is_ignored(analyst):
    assert ask(analyst, "", "  ", "\r\n") == []


def test_who_it_is(analyst):
    version, models = ask(
        analyst, '{"id": "v", "action": "query_version", "x": 1}', '{"id":"m","action":"query_models"}'
    )
    assert version.keys() == {"id", "action", "x", "version", "git_hash"}
    assert version["version"].count(".") == 2
    assert models["models"][0].keys() == set(json.loads((GOLDEN / "katago_keys.json").read_text())["models"])


def test_answers_hold_what_katrain_reads_and_nothing_that_katago_does_not_print(fresh):
    (told,) = ask(fresh, query("x", moves=[["B", "E5"]], maxVisits=30, **EVERYTHING))
    katago = {name: set(keys) for name, keys in json.loads((GOLDEN / "katago_keys.json").read_text()).items()}
    found = {"answer": told.keys(), "rootInfo": told["rootInfo"].keys()}
    for info in told["moveInfos"]:
        assert NEEDED["moveInfos"] <= info.keys() <= katago["moveInfos"]
        assert info["pv"][0] == info["move"]
        assert len(info["pvVisits"]) == len(info["pv"])
        assert len(info["ownership"]) == 81
    for name, keys in found.items():
        assert NEEDED[name] <= keys <= katago[name]
    assert [info["order"] for info in told["moveInfos"]] == list(range(len(told["moveInfos"])))
    assert sum(info["visits"] for info in told["moveInfos"]) + 1 == told["rootInfo"]["visits"] == 30


@pytest.mark.parametrize("visits", [1, 2, 3, 17, 100])
def test_max_visits_is_met_exactly(fresh, visits):
    (told,) = ask(fresh, query("x", maxVisits=visits))
    assert told["rootInfo"]["visits"] == visits
    assert (told["moveInfos"] == []) == (visits == 1)


def test_without_max_visits_the_player_has_its_own(fresh):
    (told,) = ask(fresh, query("x", maxVisits=...))
    assert told["rootInfo"]["visits"] == 20


def test_a_player_with_seconds_has_them_for_queries_without_max_visits():
    analyst = Analyst(SPEC, "rollout:seconds=0.05,threads=1")
    (told,) = ask(analyst, query("x", maxVisits=...))
    assert told["rootInfo"]["visits"] > 1
    (told,) = ask(analyst, query("x", maxVisits=3))
    assert told["rootInfo"]["visits"] == 3


def test_two_turns_in_one_query_are_two_answers(fresh):
    said = ask(fresh, query("x", moves=[["b", "E5"], ["W", "c3"]], analyzeTurns=[0, 2, 0]))
    assert sorted(each["turnNumber"] for each in said) == [0, 2]
    assert not any(each["isDuringSearch"] for each in said)
    assert all(each["rootInfo"]["currentPlayer"] == "B" for each in said)


def test_twenty_queries_at_once_are_answered_highest_priority_first(fresh):
    order = list(range(20))
    random.Random(1).shuffle(order)
    moves = [["B", f"{letter}{row}"] for letter in "BCDE" for row in range(2, 7)]
    lines = [query(str(number), moves=[moves[number]], priority=number, maxVisits=30) for number in order]
    said = ask(fresh, *lines)
    assert [int(each["id"]) for each in said] == sorted(order, reverse=True)


def test_queries_of_one_priority_share_batches(fresh):
    moves = ["C3", "D4", "E5", "F6", "G7", "C7", "G3", "E3"]
    with batches_of(fresh) as batches:
        said = ask(fresh, *(query(move, moves=[["B", move]], maxVisits=200) for move in moves))
    assert [each["id"] for each in said] == moves
    assert max(batches) >= 8 * 8


def test_priorities_of_turns(fresh):
    moves = [["B", "E5"], ["W", "E3"], ["B", "C5"]]
    said = ask(fresh, query("x", moves=moves, analyzeTurns=[0, 1, 2, 3], priorities=[5, -1, 7, 6]))
    assert [each["turnNumber"] for each in said] == [2, 3, 0, 1]


def test_an_endless_query_does_not_hold_up_those_of_lower_priority(fresh):
    client = Client(fresh)
    client.hear(query("long", maxVisits=10**7, priority=9), query("x"))
    client.wait(until=len)
    assert [each["id"] for each in client.said] == ["x"]
    client.leave()
    assert not fresh.work()


def test_one_for_a_new_move_hardly_waits_for_a_review_in_the_background(fresh):
    client = Client(fresh)
    client.hear(*(query(f"r{i}", moves=[["B", "E5"]] * (i % 2), maxVisits=5000, priority=-100) for i in range(6)))
    client.hear(query("new", maxVisits=320, priority=1000))  # 20 leaves a batch: 16 batches alone
    client.wait(until=len, batches=22)
    assert [each["id"] for each in client.said] == ["new"]
    client.leave()


@pytest.mark.parametrize("size", [(9, 9), (9, 7)])
def test_the_policy_is_row_by_row_from_the_top_left(fresh, size):
    columns, rows = size
    moves = [["B", f"A{rows}"], ["W", "(2,1)"]]
    line = query("x", boardXSize=columns, boardYSize=rows, moves=moves, includePolicy=True)
    (told,) = ask(fresh, line)
    policy = np.array(told["policy"])
    assert len(policy) == columns * rows + 1
    assert np.flatnonzero(policy < 0).tolist() == [0, columns + 2]
    assert abs(policy[policy >= 0].sum() - 1) < 1e-5
    assert told["moveInfos"][0]["move"] != f"A{rows}"


def test_barred_moves_stay_in_the_policy(fresh):
    bars = [{"player": "B", "moves": ["E5", "C3"], "untilDepth": 1}]
    (told,) = ask(fresh, query("x", allowMoves=bars, includePolicy=True, maxVisits=12))
    assert {info["move"] for info in told["moveInfos"]} == {"E5", "C3"}
    assert min(told["policy"]) > 0
    (told,) = ask(fresh, query("x", avoidMoves=bars, maxVisits=100))
    assert not {info["move"] for info in told["moveInfos"]} & {"E5", "C3"}
    assert len(told["moveInfos"]) > 50
    (told,) = ask(fresh, query("x", maxVisits=100))
    assert {info["move"] for info in told["moveInfos"]} > {"E5", "C3"}


def test_each_view_tells_the_same(fresh):
    told = {}
    for view in ("BLACK", "WHITE", "SIDETOMOVE"):
        line = query(
            view, moves=[["B", "E5"]], maxVisits=50, overrideSettings={"reportAnalysisWinratesAs": view}, **EVERYTHING
        )
        (told[view],) = ask(fresh, line)
    black, white = told["BLACK"], told["WHITE"]
    assert {**white, "id": ""} == {**told["SIDETOMOVE"], "id": ""}  # White is to move
    for one, other in [
        (black["rootInfo"], white["rootInfo"]),
        *zip(black["moveInfos"], white["moveInfos"], strict=True),
    ]:
        for key in ("winrate", "lcb", "rawWinrate"):
            assert one.get(key, 0.5) + other.get(key, 0.5) == pytest.approx(1)
        for key in ("scoreLead", "utility", "scoreMean", "utilityLcb", "rawLead"):
            assert one.get(key, 0) == -other.get(key, 0)
    assert black["ownership"] == (-np.array(white["ownership"])).tolist()
    assert black["moveInfos"][3]["ownership"] == (-np.array(white["moveInfos"][3]["ownership"])).tolist()


def test_scores_and_ownership_see_a_board_that_is_clear(fresh):
    stones = [["B", f"{letter}{row}"] for letter in "ABCDEFGHJ" for row in (4, 6)] + [["W", "D1"]]
    (told,) = ask(fresh, query("x", initialStones=stones, initialPlayer="B", maxVisits=40, **EVERYTHING))
    assert told["rootInfo"]["winrate"] > 0.9
    assert told["rootInfo"]["scoreLead"] > 20
    assert np.mean(told["ownership"]) > 0.3
    assert told["ownership"][3 * 9] > 0.9


@pytest.mark.parametrize(
    ("fields", "player", "komi", "handicap"),
    [
        ({}, 1, 14, 0),
        ({"komi": ...}, 1, 15, 0),
        ({"komi": ..., "rules": "japanese"}, 1, 13, 0),
        ({"komi": ..., "rules": "New Zealand"}, 1, 14, 0),
        ({"komi": -3.5}, 1, -7, 0),
        ({"initialPlayer": "w"}, -1, 14, 0),
        ({"moves": [["W", "E5"]]}, -1, 14, 0),
        ({"initialStones": [["B", "C3"], ["B", "G7"]]}, -1, 14, 2),
        ({"initialStones": [["B", "C3"]]}, 1, 14, 0),
        ({"initialStones": [["B", "C3"], ["B", "G7"], ["W", "E5"]]}, 1, 14, 0),
        ({"initialStones": [["B", "C3"], ["B", "G7"]], "moves": [["B", "E5"]]}, 1, 14, 2),
    ],
)
def test_how_a_game_begins(fields, player, komi, handicap):
    first = read_query(json.loads(query("x", **fields)), SPEC, Settings()).first[0]
    assert (first.player, first.komi, first.handicap) == (player, komi, handicap)


@pytest.mark.parametrize(
    ("rules", "same"),
    [
        ("Chinese_OGS", "chinese-ogs"),
        ('{"ko": "SIMPLE", "suicide": false, "whiteHandicapBonus": "N", "friendlyPassOk": true}', "chinese"),
        ({"ko": "SITUATIONAL", "suicide": False, "whiteHandicapBonus": "N-1", "friendlyPassOk": True}, "aga"),
        ({"scoring": "TERRITORY", "ko": "SIMPLE", "tax": "SEKI", "suicide": False}, "japanese"),
        ({"scoring": "TERRITORY", "ko": "SIMPLE", "suicide": False, "hasButton": False}, "korean"),
        ({}, "tromp-taylor"),
        (
            {
                "ko": "SITUATIONAL",
                "suicide": False,
                "whiteHandicapBonus": "N-1",
                "friendlyPassOk": True,
                "hasButton": True,
            },
            "aga-button",
        ),
        ({"scoring": "TERRITORY", "ko": "SIMPLE", "tax": "ALL", "suicide": False}, "ancient-territory"),
        ({"ko": "SIMPLE", "tax": "ALL", "suicide": False, "friendlyPassOk": True}, "stone_scoring"),
    ],
)
def test_rules_by_name_and_by_json(rules, same):
    one = read_query(json.loads(query("x", rules=rules)), SPEC, Settings())
    other = read_query(json.loads(query("x", rules=same)), SPEC, Settings())
    assert one.first["rules"] == other.first["rules"]
    assert one.first["komi"] == other.first["komi"]
    assert not one.warnings


@pytest.mark.parametrize(
    ("moves", "rules"),
    [
        ("B D5,W E5,B E6,W F6,B E4,W F4,B A1,W G5,B F5,W E5", "chinese"),  # retakes a ko at once
        ("W A3,B A2,W B2,B A9,W B1,B A1", "chinese"),  # two stones take their own liberty
        ("B E5,B E6,B pass,W pass,B pass,W D4", "japanese"),
        ("B E5,W pass,B pass", "aga"),
    ],
)
def test_what_was_played_may_be_analyzed(fresh, moves, rules):
    (told,) = ask(fresh, query("x", moves=[move.split() for move in moves.split(",")], rules=rules, includePolicy=True))
    assert told["moveInfos"]
    assert max(told["policy"]) > 0


def test_what_superko_forbids_is_no_candidate(fresh):
    moves = "B D5,W E5,B E6,W F6,B E4,W F4,B A1,W G5,B F5"  # White may not retake at E5, by whatever rule
    for rules in ("tromp-taylor", "aga", "japanese"):
        (told,) = ask(fresh, query("x", moves=[m.split() for m in moves.split(",")], rules=rules, includePolicy=True))
        assert told["policy"][4 * 9 + 4] == -1
    moves += ",W A9,B B9"  # now he may
    (told,) = ask(fresh, query("x", moves=[m.split() for m in moves.split(",")], rules="japanese", includePolicy=True))
    assert told["policy"][4 * 9 + 4] > 0


def test_a_whole_game_is_replayed_quickly(fresh):
    rng = random.Random(3)
    points = [f"{letter}{row}" for letter in "ABCDEFGHJ" for row in range(1, 10)]
    moves = [["BW"[i % 2], rng.choice(points) if i < 20 else "pass"] for i in range(300)]
    moves[:20] = [["BW"[i % 2], point] for i, point in enumerate(rng.sample(points, 20))]
    read = read_query(json.loads(query("x", moves=moves, analyzeTurns=[0, 300])), SPEC, Settings())
    read.positions()
    began = time.perf_counter()
    assert len(read.positions()) == 2
    assert time.perf_counter() - began < 0.2


def test_reports_come_while_the_search_goes_on_and_terminate_ends_it(fresh):
    client = Client(fresh)
    client.hear(query("long", maxVisits=10**7, reportDuringSearchEvery=0.03, firstReportDuringSearchAfter=0.01))
    reports = [*client.wait(until=lambda said: len(said) == 3)]
    assert all(each["isDuringSearch"] and each["id"] == "long" for each in reports)
    visits = [each["rootInfo"]["visits"] for each in reports]
    assert visits == sorted(set(visits))
    terminate = {"id": "t", "action": "terminate", "terminateId": "long"}
    client.hear(query("waits", priority=-5), json.dumps(terminate), json.dumps({**terminate, "terminateId": "waits"}))
    assert client.said[3] == terminate
    final = {each["id"]: each for each in client.wait()[5:]}
    assert not final["long"]["isDuringSearch"]
    assert final["long"]["rootInfo"]["visits"] >= visits[-1]
    assert final["waits"] == {"id": "waits", "isDuringSearch": False, "noResults": True, "turnNumber": 0}


def test_what_is_terminated_before_its_search_has_no_results(fresh):
    turns = query("x", moves=[["B", "E5"]], analyzeTurns=[0, 1])
    said = ask(fresh, turns, '{"id": "t", "action": "terminate", "terminateId": "x", "turnNumbers": [1]}')
    assert said[0]["action"] == "terminate"
    assert {"id": "x", "isDuringSearch": False, "noResults": True, "turnNumber": 1} in said
    assert [each["turnNumber"] for each in said if "rootInfo" in each] == [0]


def test_max_time_ends_a_search(fresh):
    began = time.monotonic()
    (told,) = ask(fresh, query("x", maxVisits=10**7, overrideSettings={"maxTime": 0.1}))
    assert 0.1 <= time.monotonic() - began < 10
    assert 1 < told["rootInfo"]["visits"] < 10**7


def test_a_search_ends_before_it_fills_the_memory(fresh, monkeypatch):
    monkeypatch.setattr(analysis_engine, "MOST_BYTES", 4_000_000)
    said = ask(fresh, query("x", maxVisits=10**7), query("y", maxVisits=50))
    assert sorted(each["id"] for each in said) == ["x", "y"]
    assert said[-1]["rootInfo"]["visits"] < 5000


def test_one_clients_terminate_leaves_the_others_alone(fresh):
    one, other = Client(fresh), Client(fresh)
    one.hear(query("x", maxVisits=10**7))
    other.hear(query("x", maxVisits=50), '{"id": "t", "action": "terminate_all"}')
    other.wait(until=lambda said: len(said) == 2)
    assert [each.get("action") for each in other.said] == ["terminate_all", None]
    assert one.said == []
    one.leave()
    assert not fresh.work()


@pytest.mark.parametrize("seed", range(2))
def test_each_turn_has_one_final_answer_whatever_is_terminated(fresh, seed):
    draw, client, wanted = random.Random(seed), Client(fresh), []
    moves = [["B", "E5"], ["W", "E3"], ["B", "C5"]]
    for number in range(25):
        if draw.random() < 0.3:
            action = {"action": "terminate", "terminateId": str(draw.randrange(25)), "turnNumbers": [0, 2]}
            client.hear(json.dumps({"id": "t", **action}))
        turns = sorted(draw.sample(range(4), draw.randrange(1, 4)))
        wanted += [(str(number), turn) for turn in turns]
        more = {"analyzeTurns": turns, "maxVisits": draw.choice([1, 5, 300]), "priority": draw.randrange(3)}
        if draw.random() < 0.3:
            more["reportDuringSearchEvery"] = 0.001
        if draw.random() < 0.2:
            more["avoidMoves"] = [{"player": draw.choice("BW"), "moves": ["E5", "pass"], "untilDepth": 2}]
        client.hear(query(str(number), moves=moves, **more))
        for _ in range(draw.randrange(4)):
            fresh.work()
    said = client.wait()
    finals = [(each["id"], each["turnNumber"]) for each in said if not each.get("isDuringSearch", True)]
    assert sorted(finals) == sorted(wanted)
    for one in wanted:  # and nothing comes after it
        mine = [each["isDuringSearch"] for each in said if (each["id"], each.get("turnNumber")) == one]
        assert mine == [True] * (len(mine) - 1) + [False]


def test_boards_that_were_not_used_for_longest_are_forgotten(monkeypatch):
    made = []

    class Stub:
        def __init__(self, game, player):
            self.is_busy, self.jobs, self.size = False, list, game.board.columns
            made.append(self.size)

        def add(self, job):
            """Answers never."""

    monkeypatch.setattr(analysis, "Engine", Stub)
    monkeypatch.setattr("goishi.protocols.analysis_query.Query.positions", lambda query: [])
    analyst = Analyst(SPEC, PLAYER)
    for size in (5, 7, 11, 5, 13, 15, 9, 5):
        with contextlib.suppress(ValueError):  # no positions for its turns
            ask(analyst, query("x", boardXSize=size, boardYSize=size))
        assert len(analyst._engines) <= analysis.SIZES
    assert made == [9, 5, 7, 11, 13, 15, 9]


def test_the_tree_of_an_earlier_query_is_used_again(fresh):
    for visits, judged in ((100, 100), (150, 50), (150, 0), (10, 10)):
        with batches_of(fresh) as batches:
            (told,) = ask(fresh, query("x", maxVisits=visits))
        assert told["rootInfo"]["visits"] == visits
        assert sum(batches) == judged


@pytest.mark.parametrize("name", ["wideRootNoise", "rootPolicyTemperature"])
def test_a_flatter_root_is_searched_more_widely_and_tells_the_same_prior(name, monkeypatch):
    priors = np.zeros(26, np.float32)
    priors[12] = 4.0

    class Biased:
        def __call__(self, states):
            return np.repeat(priors[None], len(states), axis=0), np.zeros(len(states), np.float32)

    monkeypatch.setattr("goishi.networks.evaluator.uniform", lambda game: Biased())
    analyst = Analyst("go:size=5", "uniform:visits=60")
    line = {"rules": "aga", "boardXSize": 5, "boardYSize": 5, "komi": 0.5, "maxVisits": 60}
    (sharp,) = ask(analyst, query("x", **line))
    (flat,) = ask(analyst, '{"id":"c","action":"clear_cache"}', query("x", **line, overrideSettings={name: 3}))[1:]
    assert len(flat["moveInfos"]) > len(sharp["moveInfos"])
    top = [next(info for info in told["moveInfos"] if info["move"] == "C3") for told in (sharp, flat)]
    assert top[0]["prior"] == top[1]["prior"] > 0.5
    assert top[0]["visits"] > top[1]["visits"]


def test_lines_are_as_long_as_asked_for(fresh):
    (told,) = ask(fresh, query("x", maxVisits=400, analysisPVLen=1, rules="japanese"))
    assert {len(info["pv"]) for info in told["moveInfos"]} == {1}


def test_games_without_komi_and_rules_need_none():
    analyst = Analyst("tictactoe", "uniform:visits=30")
    line = {"rules": ..., "komi": ..., "boardXSize": ..., "boardYSize": ...}
    (told,) = ask(analyst, query("x", moves=[["B", "b2"], ["W", "a1"]], **line, maxVisits=30, **EVERYTHING))
    assert len(told["policy"]) == 9
    assert told["rootInfo"]["scoreLead"] == 0
    assert "ownership" not in told
    finished = [["B", "a1"], ["W", "a2"], ["B", "b1"], ["W", "b2"], ["B", "c1"]]
    (told,) = ask(analyst, query("x", moves=finished, **line))
    assert told["moveInfos"] == []
    assert told["rootInfo"]["winrate"] == 1
    for moves, index in (([*finished, ["W", "c3"]], 5), ([["B", "a1"], ["B", "a2"]], 1)):
        (told,) = ask(analyst, query("x", moves=moves, **line))
        assert told["error"] == f"Illegal move {index}: {moves[index][1]}"
    (told,) = ask(analyst, query("x", initialStones=[["B", "a1"]], **line))
    assert told["field"] == "initialStones"
    (told,) = ask(analyst, query("x", rules=..., boardXSize=4, boardYSize=4))
    assert told["field"] == "boardXSize"


def test_a_player_that_cannot_search_is_refused():
    with pytest.raises(UsageError, match="needs a player that searches"):
        Analyst("go:size=9", "random")


def test_a_board_that_the_player_cannot_play_on_is_an_error_of_its_query(fresh, monkeypatch):
    def refuse(*words):
        raise UsageError("This network is for another board.")

    monkeypatch.setattr(analysis, "Engine", refuse)
    told, after = ask(fresh, query("x", boardXSize=8), query("y"))
    if "error" not in told:
        told, after = after, told
    assert told == {"id": "x", "field": "boardXSize", "error": "This network is for another board."}
    assert after["rootInfo"]["visits"] == 4


def test_a_search_that_fails_is_an_error_of_its_queries(fresh, monkeypatch, capsys):
    monkeypatch.setattr(engine_of(fresh)._search, "wave", lambda: 1 / 0)
    (told,) = ask(fresh, query("x"))
    assert told["id"] == "x"
    assert "ZeroDivisionError" in told["error"]
    assert ask(fresh, query("y"))[0]["rootInfo"]["visits"] == 4
    assert "exception" not in capsys.readouterr().err.lower()


def test_settings_of_katagos_words():
    given = analysis.settings_of(["maxVisits=7,homeDataDir=/x", "reportAnalysisWinratesAs=white"])
    assert (given.visits, given.view) == (7, "WHITE")
    with pytest.raises(UsageError, match="maxVisits"):
        analysis.settings_of(["maxVisits=x"])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["B", "w", "E5", "pass", "I5", "(1,1)", "japanese", "", "é", "N", "BLACK"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    *BOARD,
    *EVERYTHING,
    *("id", "action", "terminateId", "turnNumbers", "initialStones", "initialPlayer", "analyzeTurns", "maxVisits"),
    *("priority", "priorities", "analysisPVLen", "rootPolicyTemperature", "rootFpuReductionMax", "overrideSettings"),
    *("reportDuringSearchEvery", "firstReportDuringSearchAfter", "avoidMoves", "allowMoves", "whiteHandicapBonus"),
]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(st.sampled_from(FIELDS), VALUES, min_size=1, max_size=3))
def test_whatever_a_field_holds_a_query_is_read_or_refused(changes):
    fields = {"id": "x", **BOARD, "maxVisits": 4, **changes}
    if not isinstance(fields["id"], str) or "action" in fields:
        return
    with contextlib.suppress(Refused):
        query = read_query(fields, SPEC, Settings())
        assert json.dumps(query.warnings)
        if query.game.spec == SPEC:
            query.positions()


# ---------------------------------------------------------------- the process


def run_in_process(lines, player=PLAYER, wait=True):
    """What `serve` says to lines, in a thread, since it takes over signals in the main one."""
    source, sink = io.BytesIO("\n".join(lines).encode()), io.BytesIO()
    thread = threading.Thread(
        target=analysis.serve, args=(SPEC, player), kwargs={"lines": source, "out": sink, "wait": wait}
    )
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_at_the_end_of_input_all_that_waits_is_answered(capsys):
    said = run_in_process([query(str(i), maxVisits=60) for i in range(20)])
    assert sorted(int(each["id"]) for each in said) == list(range(20))
    assert capsys.readouterr().err == "Started, ready to begin handling requests\n"


def test_when_nobody_reads_it_ends():
    class Closed(io.BytesIO):
        def write(self, data):
            raise BrokenPipeError

    thread = threading.Thread(
        target=analysis.serve, args=(SPEC, PLAYER), kwargs={"lines": io.BytesIO(query("x").encode()), "out": Closed()}
    )
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


WORDS = [sys.executable, "-W", "error", "-m", "goishi", "analysis", "--game", SPEC, "--player", PLAYER]


@contextlib.contextmanager
def process(*words, **more):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = subprocess.Popen([*WORDS, *words], **(pipes | more))
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        for pipe in (started.stdin, started.stdout, started.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def test_the_process_speaks_json_alone_and_takes_katagos_words():
    katago = [
        "-model",
        "x.bin.gz",
        "-config",
        "y.cfg",
        "-override-config",
        "homeDataDir=z,maxVisits=6",
        "-human-model",
        "h",
    ]
    lines = [query("a", maxVisits=...), "nonsense", query("b")]
    with process(*katago) as engine:
        out, err = engine.communicate("\n".join(lines), 60)
        assert engine.returncode == 0
    said = [json.loads(line) for line in out.splitlines()]
    assert {each.get("id"): each.get("rootInfo", {}).get("visits") for each in said} == {None: None, "a": 6, "b": 4}
    assert err == "Started, ready to begin handling requests\n"


@pytest.mark.parametrize("how", ["quit", "terminated"])
def test_the_process_ends_at_once_in_the_middle_of_a_search(how):
    with process("-quit-without-waiting") as engine:
        engine.stdin.write(query("x", maxVisits=10**8, reportDuringSearchEvery=0.05) + "\n")
        engine.stdin.flush()
        assert json.loads(engine.stdout.readline())["isDuringSearch"]
        began = time.monotonic()
        engine.stdin.close() if how == "quit" else engine.send_signal(signal.SIGTERM)
        assert engine.wait(5) == 0
        assert time.monotonic() - began < 2


# ---------------------------------------------------------------- WebSocket


@pytest.fixture
def hall(analyst):
    """An analyst at work in a thread."""
    hall = Hall(analyst)
    thread = threading.Thread(target=hall.run)
    thread.start()
    yield hall
    hall.close()
    thread.join(30)
    assert not thread.is_alive()


def client_of(hall, hosts=web.LOOPBACK):
    return TestClient(web.create_lines_app(hall, hosts), base_url="http://127.0.0.1")


@pytest.mark.parametrize("path", ["", "/", "/a/b?token=c"])
def test_a_websocket_takes_text_and_bytes_and_several_lines(hall, path):
    with client_of(hall) as client, client.websocket_connect(f"ws://127.0.0.1{path}") as talk:
        talk.send_text(query("a") + "\n" + query("b"))
        talk.send_bytes(query("c").encode())
        talk.send_text("nonsense")
        said = [talk.receive_json() for _ in range(4)]
    assert {each.get("id") for each in said} == {"a", "b", "c", None}


def test_a_page_of_another_site_is_refused(hall):
    with client_of(hall) as client, pytest.raises(web.WebSocketDisconnect):
        client.websocket_connect("ws://127.0.0.1/", headers={"origin": "http://evil.example"}).__enter__()


def test_who_leaves_is_forgotten(hall, analyst, wait_until):
    with client_of(hall) as client:
        with client.websocket_connect("ws://127.0.0.1/") as talk:
            talk.send_text(query("long", maxVisits=10**7, reportDuringSearchEvery=0.01))
            assert talk.receive_json()["isDuringSearch"]
        with client.websocket_connect("ws://127.0.0.1/") as talk:
            talk.send_text(query("x"))
            assert talk.receive_json()["id"] == "x"
    wait_until(lambda: not any(True for engine in analyst._loaded() for _ in engine.jobs()))


@pytest.fixture
def wait_until():
    def wait(true, seconds=20.0):
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it took too long"
            time.sleep(0.005)

    return wait


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def websocket_server(port, *words):
    """A server as a user starts it; its process."""
    with process("--websocket", f"127.0.0.1:{port}", *words) as server:
        line = server.stderr.readline()
        assert f"ws://127.0.0.1:{port}" in line
        yield server


def test_the_server_that_a_user_starts(tmp_path):
    with websocket_server(port := free_port()) as server, connect(f"ws://127.0.0.1:{port}") as talk:
        talk.send(query("x"))
        assert json.loads(talk.recv(30))["rootInfo"]["visits"] == 4
        server.send_signal(signal.SIGINT)
        with pytest.raises(ConnectionClosed):
            talk.recv(10)
        assert server.wait(10) in (0, 130)


@pytest.mark.parametrize("words", ["127.0.0.1", "127.0.0.1:x", "203.0.113.7:80", "127.0.0.1:99999"])
def test_an_address_that_cannot_be_is_one_sentence(words, capsys):
    assert cli.status_of(["analysis", "--websocket", words]) in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("goishi: ")
    assert err.count("\n") == 1


# ---------------------------------------------------------------- other programs


def test_katrains_recorded_queries_are_answered():
    path = SHARED / "transcripts" / "katrain_queries.jsonl"
    if not path.is_file():
        pytest.skip("no recorded queries: ../shared/tools is not there")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for fields in lines:
        fields.update(boardXSize=19, boardYSize=19)
        assert not read_query(fields, "go", Settings()).warnings


def has_katrain():
    found = subprocess.run([KATRAIN, "-c", "import importlib.util as u; exit(u.find_spec('katrain') is None)"])
    return found.returncode == 0


needs_katrain = [
    pytest.mark.slow,
    pytest.mark.engines,
    pytest.mark.skipif(
        "not has_katrain()", reason="katrain is missing: pip install katrain==1.20.0, or KATRAIN_PYTHON"
    ),
]
DRIVER = Path(__file__).parent / "katrain_driver.py"
STRATEGIES = [
    "default",
    "policy",
    "scoreloss",
    "jigo",
    "simple",
    "territory",
    "p:weighted",
    "p:pick",
    "p:local",
    "p:rank",
]


class TestKaTrain:
    """With a network: of random games' noisy scores KaTrain's strategies find, now and then, no move good enough."""

    pytestmark = needs_katrain
    NETWORK = ("--player", "net:go9")

    def drive(self, *words):
        done = subprocess.run([KATRAIN, DRIVER, *words], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def test_plays_over_standard_streams(self):
        said = self.drive(
            "--engine", "exec " + " ".join([*WORDS, *self.NETWORK]), "--ai", *(f"ai:{name}" for name in STRATEGIES)
        )
        assert all(f"ai:{name} " in said for name in STRATEGIES)

    def test_takes_goishi_for_katago(self, tmp_path):
        self.drive("--engine", f"exec {' '.join(WORDS)} -model a -config b -override-config homeDataDir=c")

    def test_plays_over_a_websocket(self):
        with websocket_server(port := free_port(), *self.NETWORK):
            said = self.drive("--url", f"ws://127.0.0.1:{port}", "--ai", *(f"ai:{name}" for name in STRATEGIES))
        assert all(f"ai:{name} " in said for name in STRATEGIES)

    def test_comes_back_to_a_server_that_was_killed_in_the_middle(self):
        port = free_port()
        words = [KATRAIN, str(DRIVER), "--url", f"ws://127.0.0.1:{port}", "--visits", "30000", "--say-when-thinking"]
        with websocket_server(port):
            driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for line in driver.stdout:
                if line.startswith("thinking"):
                    break
        with websocket_server(port):
            rest = driver.communicate(timeout=300)[0]
        assert driver.returncode == 0, rest


@pytest.mark.slow
@pytest.mark.engines
@pytest.mark.skipif(
    "not has_katrain()", reason="KataGo is missing: it is in katrain==1.20.0; KATRAIN_PYTHON names its Python"
)
def test_the_real_katago_prints_the_keys_that_we_compare_with():
    starter = SHARED / "katago_cpu.py"
    if not starter.is_file():
        pytest.skip("no settings for KataGo on a processor: ../shared/tools is not there")
    stdev = {"includeOwnershipStdev": True, "includeMovesOwnershipStdev": True}
    lines = [query("x", **EVERYTHING, **stdev), query("illegal", moves=[["B", "E5"], ["W", "E5"]])]
    done = subprocess.run(
        [KATRAIN, starter, "analysis", "--size", "9"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode:
        pytest.skip(f"KataGo does not run here: {done.stderr[-300:]}")
    said = {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}
    kept = json.loads((GOLDEN / "katago_keys.json").read_text())
    assert said["illegal"]["error"] == "Illegal move 1: E5"
    assert sorted(said["x"]) == kept["answer"]
    assert sorted(said["x"]["rootInfo"]) == kept["rootInfo"]
    assert set().union(*said["x"]["moveInfos"]) | {"isSymmetryOf"} == set(kept["moveInfos"])
