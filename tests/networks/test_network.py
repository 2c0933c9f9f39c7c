import numpy as np
import pytest

from goishi.core import registry
from goishi.errors import BadModel, UsageError

torch = pytest.importorskip("torch", reason="needs torch: pip install 'goishi[train]'")

from goishi.networks import network, store  # noqa: E402

THESIS = [  # board, policy head, value head, total, millions of multiply-adds
    ("size=6", 164_223, 6_161, 527_270, 15.05),
    ("size=8", 391_051, 10_697, 758_634, 26.90),
    ("size=9", 590_733, 13_451, 961_070, 34.16),
    ("size=13", 2_372_821, 27_707, 2_757_414, 72.47),
    ("size=15", 4_160_061, 36_779, 4_553_726, 97.50),
    ("columns=11,rows=9", 853_191, 16_367, 1_226_444, 41.89),
]


def count(*modules: torch.nn.Module) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


@pytest.mark.parametrize(("board", "policy", "value", "total", "millions"), THESIS)
def test_the_thesis_network_has_the_published_number_of_parameters(board, policy, value, total, millions):
    from goishi.networks.measure import products

    game = registry.find(f"gomoku:{board}")
    module = network.build(network.PRESETS["thesis"], game)
    assert count(module.stem) == 1_620
    assert [count(block) for block in module.blocks] == [118_422] * 3
    assert count(module.policy, module.policy_out) == policy
    assert count(module.value, module.value_hidden, module.value_out) == value
    assert count(module) == total
    proto, model = store.parse(network.to_onnx(module, game, {}))
    assert products(proto, game, model) / 1e6 == pytest.approx(millions, abs=0.006)


def test_biases_on_the_thesis_convolutions_add_650_parameters():
    game = registry.find("gomoku:size=9")
    assert count(network.build(network.PRESETS["thesis"] | {"biases": True}, game)) == 961_720


@pytest.mark.parametrize("preset", ["tiny", "small", "medium", "large"])
def test_widths_are_multiples_of_16(preset):
    assert network.PRESETS[preset]["width"] % 16 == network.PRESETS[preset]["pooled"] % 16 == 0


@pytest.mark.parametrize(
    "spec", ["tictactoe", "connect4", "gomoku:columns=7,rows=6,row=4", "othello:size=6", "hex:size=5"]
)
@pytest.mark.parametrize("preset", ["thesis", "tiny"])
def test_outputs_have_the_shapes_of_the_game(spec, preset):
    game = registry.find(spec)
    module = network.build(network.PRESETS[preset], game)
    logits, value = module(torch.zeros(5, *game.planes))
    assert logits.shape == (5, game.actions)
    assert value.shape == ((5,) if module.value_head == "tanh" else (5, 3))


def test_a_fresh_network_has_no_opinion():
    game = registry.find("gomoku:size=9")
    for preset in ("thesis", "small"):
        module = network.build(network.PRESETS[preset], game)
        with torch.no_grad():
            logits, value = module((torch.rand(64, *game.planes) < 0.3).float())
        policy = torch.softmax(logits, 1)
        assert policy.max() < 3 / 81
        assert value.abs().max() < 0.5


def test_weights_depend_on_no_board_size():
    shapes = [
        {
            name: tuple(t.shape)
            for name, t in network.build(network.PRESETS["small"], registry.find(spec)).state_dict().items()
        }
        for spec in ("gomoku:size=9", "gomoku:size=15", "gomoku:columns=7,rows=6,row=4", "hex:size=5")
    ]
    assert shapes[0] == shapes[1] == shapes[2]
    assert {n for n, s in shapes[0].items() if shapes[3][n] != s} == {"stem.conv.weight"}  # hex has more planes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gomoku:size=9", "gomoku:size=15"),
        ("gomoku:size=9,row=4", "gomoku:columns=7,rows=6,row=4"),
        ("connect4", "connect4:columns=9,rows=7"),
        ("othello:size=6", "othello:size=8"),
    ],
)
def test_weights_of_one_board_run_on_another(make_model, old, new):
    game = registry.find(new)
    module = network.from_onnx(make_model(old), game)
    logits, outcome = module(torch.zeros(2, *game.planes))
    assert logits.shape == (2, game.actions)
    assert outcome.shape == (2, 3)


def test_the_edges_are_seen(lively):
    """Far from every stone, a network without the plane of ones could still see padding; with it, the empty board's
    corner, edge and center get different logits already in the first layer."""
    game = registry.find("gomoku:size=9")
    module = lively(network.PRESETS["tiny"], game)
    x = module.stem(module.ones(torch.zeros(1, *game.planes)))[0]
    assert not torch.allclose(x[:, 0, 0], x[:, 0, 4])
    assert not torch.allclose(x[:, 0, 4], x[:, 4, 4])


def test_a_far_stone_moves_every_logit(lively):
    """Pooled features carry what convolutions of this depth cannot reach."""
    game = registry.find("gomoku:size=19")
    module = lively(network.PRESETS["tiny"], game)
    planes = torch.zeros(2, *game.planes)
    planes[1, 0, 0, 0] = 1
    with torch.no_grad():
        logits, _ = module(planes)
    assert ((logits[0] - logits[1]).abs() > 0).all()


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6", "gomoku:size=9"])
@pytest.mark.parametrize("preset", ["thesis", "tiny", "small"])
def test_to_onnx_and_back_changes_no_bit(lively, spec, preset):
    game = registry.find(spec)
    module = lively(network.PRESETS[preset], game)
    again = network.from_onnx(network.to_onnx(module, game, {"steps": 12}), game).eval()
    assert again.architecture == module.architecture
    for name, tensor in module.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    planes = (torch.rand(3, *game.planes) < 0.3).float()
    with torch.no_grad():
        for ours, theirs in zip(module(planes), again(planes), strict=True):
            assert torch.equal(ours, theirs)


def test_networks_of_go_tell_ownership_and_score_too(lively):
    game = registry.find("go:size=5")
    module = lively(network.PRESETS["tiny"], game)
    logits, outcome, ownership, score = module(torch.rand(3, *game.planes))
    assert (logits.shape, outcome.shape, ownership.shape, score.shape) == ((3, 26), (3, 3), (3, 25), (3,))
    content = network.to_onnx(module, game, {})
    assert store.parse(content)[1].heads == ("policy", "value", "outcome", "ownership", "score")
    again = network.from_onnx(content, game).eval()
    planes = torch.rand(3, *game.planes)
    assert all(torch.equal(a, b) for a, b in zip(module(planes), again(planes), strict=True))
    large = registry.find("go:size=9")
    assert network.from_onnx(content, large)(torch.rand(2, *large.planes))[2].shape == (2, 81)


def test_a_model_of_go_without_these_heads_stays_without_them(lively):
    game = registry.find("go:size=5")
    content = network.to_onnx(network.build(network.PRESETS["tiny"], game, owners=False), game, {})
    proto, model = store.parse(content)
    for prop in [prop for prop in proto.metadata_props if prop.key == "goishi.heads"]:
        proto.metadata_props.remove(prop)  # as before models told their heads
    assert "ownership" not in model.heads
    assert network.from_onnx(proto.SerializeToString(), game).owners is None


def test_games_that_know_no_owners_have_no_heads_for_them():
    game = registry.find("tictactoe")
    assert network.build(network.PRESETS["tiny"], game).owners is None
    assert network.build(network.PRESETS["tiny"], game, owners=True).owners is None
    assert network.build(network.PRESETS["thesis"], registry.find("go:size=5")).owners is None


def test_a_training_step_in_bf16_is_finite_and_lowers_the_loss():
    game = registry.find("tictactoe")
    torch.manual_seed(1)
    module = network.build(network.PRESETS["tiny"], game).train()
    optimizer = torch.optim.AdamW(module.parameters(), 3e-3)
    planes = (torch.rand(64, *game.planes) < 0.4).float()
    wanted, outcome = torch.arange(64) % 9, torch.arange(64) % 3
    losses = []
    for _ in range(60):
        with torch.autocast("cpu", torch.bfloat16):
            logits, value = module(planes)
        loss = torch.nn.functional.cross_entropy(logits.float(), wanted)
        loss = loss + torch.nn.functional.cross_entropy(value.float(), outcome)
        optimizer.zero_grad()
        loss.backward()
        assert all(torch.isfinite(p.grad).all() for p in module.parameters())
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[0] == pytest.approx(np.log(9) + np.log(3), abs=0.3)
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        ({}, "thesis or residual"),
        ({"network": "transformer"}, "'transformer'"),
        ({"network": "residual", "widht": 64}, "no key 'widht'"),
        ({"network": "residual", "width": 50}, "multiples of 16"),
        ({"network": "residual", "blocks": 0}, "blocks=0"),
        ({"network": "thesis", "blocks": "three"}, "blocks='three'"),
    ],
)
def test_a_wrong_architecture_is_named(architecture, words):
    with pytest.raises(UsageError, match=words):
        network.build(architecture, registry.find("tictactoe"))


def test_weights_that_do_not_fit_the_architecture_are_refused(make_model):
    game = registry.find("tictactoe")
    proto, _ = store.parse(make_model("tictactoe"))
    for prop in proto.metadata_props:
        if prop.key == "goishi.architecture":
            prop.value = prop.value.replace('"blocks": 2', '"blocks": 3')
    with pytest.raises(BadModel, match=r"blocks\.2"):
        network.from_onnx(proto.SerializeToString(), game)
