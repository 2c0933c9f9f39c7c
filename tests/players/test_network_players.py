"""Players with a network, from a model's file."""

import pytest

from goishi.arena.tournament import match
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import BadModel, UsageError
from goishi.players import find, maker

torch = pytest.importorskip("torch", reason="needs torch: pip install 'goishi[train]'")
GAME = registry.find("tictactoe")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A thesis network of untrained weights; a folder and a name with blanks and a sign of equality in it."""
    from goishi.networks import network

    torch.manual_seed(3)
    module = network.build({"network": "thesis", "blocks": 1, "width": 16, "biases": True}, GAME).eval()
    path = tmp_path_factory.mktemp("a=b models") / "untrained.onnx"
    path.write_bytes(network.to_onnx(module, GAME, {"game": GAME.spec}))
    return path


def test_a_network_plays_with_and_without_search(model):
    for kind in ("net", "policy"):
        options = "runtime=onnxruntime" + (",visits=20" if kind == "net" else "")
        player = find(f"{kind}:{model},{options}", GAME)
        decision = player.choose(Position.after(GAME, [4]))
        assert Position.after(GAME, [4]).mask[decision.action]
        assert (decision.result is None) == (kind == "policy")
        player.close()


def test_several_players_of_one_maker_share_the_network_and_play_the_same_games(model):
    def games(threads):
        make = maker(f"net:{model},runtime=onnxruntime,visits=20", GAME, threads)
        result = match(GAME, make, make, 12, "random:2", seed=1, threads=threads)
        assert result.errors == []
        return sorted((game.number, game.record.actions) for game in result.finished)

    assert games(3) == games(1)


def test_a_model_for_another_game_is_refused_when_the_player_is_prepared(model):
    with pytest.raises(BadModel):
        maker(f"net:{model}", registry.find("connect4"))


def test_keys_of_the_network_are_checked(model):
    with pytest.raises(UsageError, match="runtime is one of"):
        maker(f"policy:{model},runtime=abacus", GAME)
