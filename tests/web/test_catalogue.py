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


def test_a_game_from_elsewhere_has_a_plain_look(tmp_path):
    path = tmp_path / "noughts.py"
    path.write_bytes(Path(TICTACTOE.module.__file__).read_bytes())
    catalogue = Catalogue(games=[str(path)])
    game = catalogue.find(str(path))
    assert look(game).title == "Noughts"
    assert catalogue.as_json()["games"][-1]["sizes"][0]["spec"] == game.spec


@pytest.mark.parametrize(
    "spec",
    [
        *(None, 3, [], {}, "", "chess", "x" * 1000, "os.py", "./mygame.py", "/etc/passwd", "../tictactoe.py"),
        *("tictactoe:/tmp/x.py", "tictactoe:x.py:size=3", "hex:size=-1", "hex:size=many", "hex:colour=3", "\0.py"),
    ],
)
def test_a_browser_cannot_name_a_file_or_an_unknown_game(spec):
    with pytest.raises(UnknownGame):
        Catalogue().find(spec)


def test_a_name_that_looks_like_a_game_never_leads_to_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hex:").mkdir()
    (tmp_path / "hex:" / "evil.py").write_text("raise SystemExit('it ran')")
    with pytest.raises(UnknownGame):
        Catalogue().find("hex:/evil.py")


@pytest.mark.parametrize(
    "spec", [None, 3, [], {}, "", "gtp:cat /etc/passwd", "net:/tmp/x.onnx", "net:connect4", "rollout:visits=9999999"]
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
