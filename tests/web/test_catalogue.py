"""What a browser is offered, and what it may name."""

from pathlib import Path

import pytest

from goishi.core import registry
from goishi.errors import UnknownGame
from goishi.networks import store
from goishi.web.catalogue import HUMAN, LOOKS, Catalogue, look, size_label

CONNECT4 = registry.find("connect4")
TICTACTOE = registry.find("tictactoe")


def specs(catalogue, game):
    return [level["spec"] for offer in catalogue.opponents(game) for level in offer["levels"]]


@pytest.fixture(scope="module")
def shipped():
    return Catalogue(models=store.shipped())


def test_every_installed_game_is_on_offer_with_every_size_and_a_title():
    games = {game["name"]: game for game in Catalogue().as_json()["games"]}
    assert set(games) == set(registry.names())
    for name, kind in LOOKS.items():
        assert games[name]["title"] == kind.title
        assert [size["spec"] for size in games[name]["sizes"]] == [
            registry.find(f"{name}:{size}" if size else name).spec for size in kind.sizes
        ]


def test_every_spec_on_offer_is_taken_back(shipped):
    for game in shipped.as_json()["games"]:
        for size in game["sizes"]:
            found = shipped.find(size["spec"])
            assert found.spec == size["spec"]
            for offer in size["opponents"]:
                assert 0 <= offer["usual"] < len(offer["levels"])
                for level in offer["levels"]:
                    assert shipped.check_opponent(found, level["spec"]) == level["spec"]


def test_goals_and_sizes_are_told_in_words():
    assert look(CONNECT4).goal(CONNECT4) == "Four in a row wins."
    assert look(TICTACTOE).goal(TICTACTOE) == "Three in a row wins."
    assert size_label(CONNECT4) == "7 × 6"


@pytest.fixture
def noughts(tmp_path):
    """The path of a game's file that no package brought."""
    path = tmp_path / "noughts.py"
    path.write_bytes(Path(TICTACTOE.module.__file__).read_bytes())
    return str(path)


def test_a_game_from_elsewhere_is_offered_with_a_plain_look(noughts):
    catalogue = Catalogue(games=[noughts])
    assert look(catalogue.find(noughts)).title == "Noughts"
    offered = catalogue.as_json()["games"][-1]
    assert (offered["title"], [size["spec"] for size in offered["sizes"]]) == ("Noughts", [noughts])


def test_a_size_that_the_host_adds_stands_with_the_others_of_its_game():
    catalogue = Catalogue(games=["hex:size=4"])
    games = catalogue.as_json()["games"]
    assert [game["name"] for game in games].count("hex") == 1
    assert games[-1]["sizes"][-1]["label"] == "4 × 4"
    assert catalogue.find("hex:size=4").spec == "hex:size=4"


def test_a_game_of_the_host_that_has_no_board_is_told_at_once(noughts):
    with open(noughts, "a") as file:
        file.write("\nboard = None\n")
    with pytest.raises(UnknownGame, match="has no board to draw; play it in the terminal"):
        Catalogue(games=[noughts])


@pytest.mark.parametrize(
    "spec",
    [
        *(None, 3, [], {}, "", "chess", "x" * 1000, "os.py", "./mygame.py", "/etc/passwd", "../tictactoe.py"),
        *("tictactoe:/tmp/x.py", "tictactoe:x.py:size=3", "hex:size=-1", "hex:size=many", "hex:colour=3", "\0.py"),
        *("gomoku:size=10,row=5", "gomoku:size=9,row=4", "hex:size=26", "othello:size=1000", "connect4:columns=8"),
    ],
    ids=lambda spec: ascii(spec)[:30],
)
def test_a_browser_names_a_game_and_a_size_that_are_on_offer_and_nothing_else(spec, monkeypatch):
    catalogue = Catalogue()
    monkeypatch.setattr(registry, "find", None)  # no file is looked at, nothing is set up
    with pytest.raises(UnknownGame, match=r"^There is no game .{1,70} here; choose one of those on the page\.$"):
        catalogue.find(spec)


@pytest.mark.parametrize(
    "spec",
    [
        None,
        3,
        [],
        {},
        "",
        "gtp:cat /etc/passwd",
        "net:/tmp/x.onnx",
        "policy:../x.onnx",
        "net:connect4",
        "rollout:visits=9999999",
    ],
)
def test_a_browser_cannot_name_a_command_a_file_or_an_unlisted_strength(spec, shipped):
    with pytest.raises(UnknownGame, match="choose one of those on the page"):
        shipped.check_opponent(CONNECT4, spec)


def test_opponents_are_networks_that_fit_then_the_hosts_own_then_the_others(shipped):
    assert specs(Catalogue(), TICTACTOE)[0] == "perfect"
    assert specs(Catalogue(), TICTACTOE)[-2:] == ["random", HUMAN]
    assert "perfect" not in specs(Catalogue(), CONNECT4)
    assert specs(Catalogue(players=["uniform:visits=7"]), CONNECT4)[0] == "uniform:visits=7"
    for model in shipped.models:
        game = registry.find(model.game)
        assert f"policy:{model.name}" in specs(shipped, game)
        assert f"policy:{model.name}" not in specs(shipped, TICTACTOE if game.name == "connect4" else CONNECT4)


def test_hints_come_from_the_opponents_own_network_else_one_that_fits_else_playouts(shipped):
    name = shipped.fitting(CONNECT4)[0].name
    assert shipped.analyst(CONNECT4, f"policy:{name}") == f"net:{name},visits=200"
    assert shipped.analyst(CONNECT4, "random") == f"net:{name},visits=200"
    assert Catalogue().analyst(TICTACTOE, "perfect") == "rollout:visits=5000"
