import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from goishi.core import registry
from goishi.errors import BadModel, MissingExtra, UsageError
from goishi.networks import network, runtime, store

HERE = runtime.available()
GAMES = ["tictactoe", "connect4", "othello:size=6", "hex:size=5"]


def some_planes(game, count, seed=1):
    return (np.random.default_rng(seed).random((count, *game.planes)) < 0.35).astype(np.float32)


def by_torch(content, game, planes):
    import torch

    module = network.from_onnx(content, game).eval()
    with torch.no_grad():
        logits, value = module(torch.from_numpy(planes))
    if module.value_head == "outcome":
        value = torch.softmax(value, 1) @ torch.tensor([1.0, 0, -1])
    return logits.numpy(), value.numpy()


@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize("preset", ["thesis", "tiny", "small"])
@pytest.mark.parametrize("spec", GAMES)
def test_runtimes_agree_in_f32(make_model, name, preset, spec):
    game = registry.find(spec)
    content = make_model(spec, network.PRESETS[preset])
    opened = runtime.open_runtime(content, game, name, "f32")
    planes = some_planes(game, 8)
    logits, values = opened.run(planes)
    expected_logits, expected_values = by_torch(content, game, planes)
    assert opened.precision == "f32"
    assert logits.shape == (8, game.actions)
    assert values.shape == (8,)
    assert logits.dtype == values.dtype == np.float32
    np.testing.assert_allclose(logits, expected_logits, atol=1e-4)
    np.testing.assert_allclose(values, expected_values, atol=1e-4)
    assert np.ptp(expected_logits) > 0.1
    assert np.ptp(expected_values) > 1e-3


@pytest.mark.skipif(not runtime.processor_has_bf16(), reason="the processor does not compute in bf16")
@pytest.mark.parametrize("name", [n for n in HERE if n != "onnxruntime"])
@pytest.mark.parametrize("preset", ["thesis", "small"])
def test_bf16_is_near(make_model, name, preset):
    game = registry.find("connect4")
    content = make_model("connect4", network.PRESETS[preset])
    opened = runtime.open_runtime(content, game, name, "bf16")
    planes = some_planes(game, 64)
    logits, values = opened.run(planes)
    expected_logits, expected_values = by_torch(content, game, planes)
    assert opened.precision == "bf16"
    assert np.abs(logits - expected_logits).max() < 0.03 * max(1, np.abs(expected_logits).max())
    assert np.abs(values - expected_values).max() < 0.03
    assert np.abs(logits - expected_logits).max() > 0  # it is bf16 that ran


@pytest.mark.parametrize("name", HERE)
def test_a_network_trained_on_one_board_runs_on_another(make_model, name):
    content = make_model("gomoku:size=9,row=4")
    for spec in ("gomoku:size=15,row=4", "gomoku:columns=7,rows=6,row=4"):
        game = registry.find(spec)
        planes = some_planes(game, 4)
        opened = runtime.open_runtime(content, game, name, "f32")
        for ours, expected in zip(opened.run(planes), by_torch(content, game, planes), strict=True):
            np.testing.assert_allclose(ours, expected, atol=1e-4)


def test_the_board_scale_follows_the_board(make_model):
    game = registry.find("gomoku:size=19")
    proto, model = store.parse(make_model("gomoku:size=9"))
    fitted, again = store.parse(runtime.fit(proto, model, game).SerializeToString())
    arrays = {t.name: t.float_data or t.raw_data for t in fitted.graph.initializer}
    assert np.frombuffer(arrays["constant.board_scale"], np.float32) == np.float32(2)
    assert (again.planes, again.game) == ((2, 19, 19), "gomoku:size=19")


@pytest.mark.parametrize("name", HERE)
def test_runtimes_agree_on_ownership_and_score(make_model, name):
    import torch

    content = make_model("go:size=9", network.PRESETS["tiny"])
    for spec in ("go:size=9", "go:size=5"):
        game = registry.find(spec)
        planes = some_planes(game, 8)
        opened = runtime.open_runtime(content, game, name, "f32")
        outlook = opened.outlook()
        with torch.no_grad():
            judged = network.from_onnx(content, game).eval()(torch.from_numpy(planes))
        expected = torch.tanh(judged[2]).numpy(), judged[3].numpy() * network.SCORE_SCALE
        assert outlook is opened.outlook()  # opened once
        for ours, theirs in zip(outlook.run(planes), expected, strict=True):
            assert ours.dtype == np.float32
            assert np.ptp(theirs) > 0.1
            np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(opened.run(planes)[0], judged[0].numpy(), atol=1e-4)


@pytest.mark.parametrize("name", HERE)
def test_models_without_these_heads_have_no_outlook(make_model, name):
    game = registry.find("tictactoe")
    assert runtime.open_runtime(make_model("tictactoe"), game, name, "f32").outlook() is None


def test_what_a_search_does_not_ask_for_is_not_computed(make_model):
    proto, _ = store.parse(make_model("go:size=9", network.PRESETS["tiny"]))
    judges, tells = runtime.only(proto, runtime.JUDGMENT), runtime.only(proto, runtime.OUTLOOK)
    assert not [node.name for node in judges.graph.node if "owners" in node.name]
    assert not [tensor.name for tensor in judges.graph.initializer if "owners" in tensor.name]
    assert not [node.name for node in tells.graph.node if node.name.startswith(("policy", "value"))]
    both = {node.name for part in (judges, tells) for node in part.graph.node}
    assert both == {node.name for node in proto.graph.node}


@pytest.mark.parametrize("name", HERE)
def test_every_batch_size_gives_the_same_answers(make_model, name):
    game = registry.find("tictactoe")
    opened = runtime.open_runtime(make_model("tictactoe"), game, name, "f32")
    planes = some_planes(game, 256)
    whole = [array.copy() for array in opened.run(planes)]
    for size in opened.sizes:
        for part, all_of in zip(opened.run(planes[:size]), whole, strict=True):
            np.testing.assert_allclose(part, all_of[:size], atol=1e-5)


@pytest.mark.parametrize("name", HERE)
def test_the_buffer_is_the_input(make_model, name):
    game = registry.find("tictactoe")
    opened = runtime.open_runtime(make_model("tictactoe"), game, name, "f32")
    planes = some_planes(game, 4)
    expected = [array.copy() for array in opened.run(planes)]
    opened.buffer(4)[:] = planes
    for ours, theirs in zip(opened.run(opened.buffer(4)), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("architecture", ["thesis", {"network": "residual", "width": 48, "pooled": 48, "blocks": 2}])
@pytest.mark.parametrize("spec", ["connect4", "gomoku:size=6", "othello:size=6"])
def test_idle_channels_change_nothing(make_model, architecture, spec):
    game = registry.find(spec)
    proto, _ = store.parse(make_model(spec, network.PRESETS.get(str(architecture)) or architecture))
    widened = runtime.widen(proto, 32)
    if architecture == "thesis":
        widths = {t.dims[0] for t in widened.graph.initializer if t.name.endswith("conv.weight")}
        assert widths == {96, 2}
    before = runtime.OnnxRuntime(proto, game, "f32")
    after = runtime.OnnxRuntime(widened, game, "f32")
    planes = some_planes(game, 8)
    for ours, theirs in zip(after.run(planes), before.run(planes), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_threads_do_not_mix_up_their_answers(make_model, played):
    from goishi.networks.evaluator import NetworkEvaluator

    game = registry.find("tictactoe")
    evaluator = NetworkEvaluator(game, runtime.open_runtime(make_model("tictactoe"), game, HERE[0], "f32"))
    states = played(game, 40)
    expected = evaluator(states)
    wrong = []

    def ask(begin):
        for i in range(60):
            part = slice((begin + i) % 30, (begin + i) % 30 + 1 + i % 9)
            for ours, all_of in zip(evaluator(states[part]), expected, strict=True):
                if not np.allclose(ours, all_of[part], atol=1e-5):
                    wrong.append(part)

    threads = [threading.Thread(target=ask, args=(7 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Choosing -------------------------------------------------------------------------------------------------------


def test_auto_measures_once_and_remembers(make_model, monkeypatch):
    game = registry.find("tictactoe")
    measured = []
    original = runtime.seconds_a_run
    monkeypatch.setattr(runtime, "_candidates", lambda: ["openvino", "onnxruntime"])
    monkeypatch.setattr(runtime, "version", lambda name: "1")
    monkeypatch.setattr(
        runtime, "seconds_a_run", lambda r, size: measured.append((r.name, size)) or original(r, size, 0.01)
    )
    if set(HERE) < {"openvino", "onnxruntime"}:
        pytest.skip("needs openvino and onnxruntime")
    first = runtime.open_runtime(make_model("tictactoe"), game)
    assert sorted(measured) == [("onnxruntime", 1), ("onnxruntime", 64), ("openvino", 1), ("openvino", 64)]
    assert list(json.loads((runtime.cache_folder() / "runtimes.json").read_text()).values()) == [first.name]
    second = runtime.open_runtime(make_model("tictactoe"), game)
    assert len(measured) == 4
    assert second.name == first.name
    runtime.open_runtime(make_model("tictactoe"), game, precision="f32")
    assert len(measured) == 8  # another precision is another question


def test_auto_takes_the_faster_one(make_model, monkeypatch):
    game = registry.find("tictactoe")
    monkeypatch.setattr(runtime, "_candidates", lambda: [n for n in HERE if n != "torch"])
    for fast in [n for n in HERE if n != "torch"]:
        monkeypatch.setattr(runtime, "seconds_a_run", lambda r, size, fast=fast: 1.0 if r.name == fast else 2.0)
        monkeypatch.setattr(runtime, "recall", dict)
        assert runtime.open_runtime(make_model("tictactoe"), game).name == fast


@pytest.mark.parametrize("content", ["", "[]", '{"x": 3', "\x00\x01"])
def test_a_damaged_memory_is_forgotten(content):
    runtime.cache_folder().mkdir(parents=True)
    (runtime.cache_folder() / "runtimes.json").write_text(content)
    assert runtime.recall() == {}
    runtime.remember("key", "openvino")
    assert runtime.recall() == {"key": "openvino"}


def test_a_cache_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(runtime, "cache_folder", lambda: tmp_path / "file" / "goishi")
    runtime.remember("key", "openvino")
    assert runtime.recall() == {}


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/goishi"),
        ("linux", {"HOME": "/home/a"}, "/home/a/.cache/goishi"),
        ("darwin", {"HOME": "/Users/a"}, "/Users/a/Library/Caches/goishi"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/goishi"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the paths are POSIX")
def test_the_cache_folder_is_the_one_of_the_system(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert runtime.cache_folder().as_posix() == expected


# Refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "precision", "words"),
    [
        ("tensorrt", "auto", "no runtime 'tensorrt'"),
        ("openvino:gpu", "auto", "no runtime 'openvino:gpu'"),
        ("auto", "int8", "no precision 'int8'"),
        ("onnxruntime", "bf16", "f32 only"),
        ("torch:abacus", "auto", "no device 'abacus'"),
        ("torch:cuda:77", "auto", "no device 'cuda:77'"),
    ],
)
def test_what_is_not_there_is_named(make_model, name, precision, words):
    if name.partition(":")[0] in runtime.NAMES and name.partition(":")[0] not in HERE:
        pytest.skip(f"needs {name}")
    with pytest.raises(UsageError, match=words):
        runtime.open_runtime(make_model("tictactoe"), registry.find("tictactoe"), name, precision)


def test_a_runtime_that_is_not_installed_says_how_to_get_it(make_model, monkeypatch):
    monkeypatch.setattr(runtime, "available", lambda: ["onnxruntime"])
    with pytest.raises(MissingExtra, match=r"goishi\[train\]"):
        runtime.open_runtime(make_model("tictactoe"), registry.find("tictactoe"), "torch")
    with pytest.raises(MissingExtra, match="pip install openvino"):
        runtime.open_runtime(make_model("tictactoe"), registry.find("tictactoe"), "openvino")


def test_a_processor_without_bf16_says_so(make_model, monkeypatch):
    monkeypatch.setattr(runtime, "processor_has_bf16", lambda: False)
    with pytest.raises(UsageError, match="does not compute in bf16"):
        runtime.open_runtime(make_model("tictactoe"), registry.find("tictactoe"), HERE[0], "bf16")


def test_a_model_for_another_game_is_not_opened(make_model):
    with pytest.raises(BadModel, match="cannot play"):
        runtime.open_runtime(make_model("tictactoe"), registry.find("connect4"), HERE[0])


@pytest.mark.parametrize("name", [n for n in HERE if n != "torch"])
def test_a_graph_that_does_not_fit_together_is_refused(make_model, name):
    proto, _ = store.parse(make_model("tictactoe"))
    proto.graph.node[4].input[0] = "nothing"
    with pytest.raises(BadModel, match=name) as error:
        runtime.open_runtime(proto.SerializeToString(), registry.find("tictactoe"), name)
    assert "\n" not in str(error.value)


# What a process that only plays loads ---------------------------------------------------------------------------

PLAY = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(event) if event.startswith("socket.") else None)
from goishi.core import registry
from goishi.networks import evaluator
game = registry.find("tictactoe")
for runtime in sys.argv[2:]:
    evaluator.load(sys.argv[1], game, runtime)(game.start(3))
import time
time.sleep(0.3)
print("torch" in sys.modules, [name for name in sys.modules if name.startswith("openvino_telemetry.")], opened)
"""


def test_playing_imports_no_torch_and_opens_no_socket(make_model, tmp_path):
    store.save(tmp_path / "model.onnx", make_model("tictactoe"))
    names = [name for name in HERE if name != "torch"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAY, str(tmp_path / "model.onnx"), *names],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout.strip(), done.stderr.strip()) == ("False [] []", "")
