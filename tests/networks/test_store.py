import shutil

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from goishi import __version__
from goishi.core import registry
from goishi.errors import BadModel
from goishi.networks import store


@pytest.fixture
def model(make_model, tmp_path):
    path = tmp_path / "nine.onnx"
    store.save(path, make_model("gomoku:size=9", steps=1200, rating={"elo": 512.5, "games": 100}, run="runs/nine"))
    return path


def test_a_model_says_what_it_is(model):
    read = store.read(model)
    assert read.name == "nine"
    assert read.path == model
    assert read.game == "gomoku:size=9"
    assert read.planes == (2, 9, 9)
    assert read.architecture["width"] == 32
    assert (read.steps, read.rating, read.version) == (1200, {"elo": 512.5, "games": 100}, __version__)
    assert read.metadata["run"] == "runs/nine"
    assert not read.fixed_size


def test_the_card_lies_beside_the_model(model):
    assert store.read(model).card == ""
    model.with_suffix(".md").write_text("Made in ten minutes.\n")
    assert store.read(model).card == "Made in ten minutes.\n"


def test_a_model_without_a_rating_has_none(make_model):
    assert store.parse(make_model("tictactoe"))[1].rating is None


def test_save_leaves_nothing_beside_the_file(model):
    assert [path.name for path in model.parent.glob("*nine*")] == ["nine.onnx"]


def test_save_that_fails_keeps_the_old_file(model):
    before = model.read_bytes()
    with pytest.raises(TypeError):
        store.save(model, "not bytes")
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.glob("*nine*")] == ["nine.onnx"]


def test_shipped_models_are_found_by_name(model, monkeypatch):
    monkeypatch.setattr(store, "models_folder", lambda: model.parent)
    assert store.find("nine") == model
    assert [m.name for m in store.shipped()] == ["nine"]
    with pytest.raises(BadModel, match="did you mean nine"):
        store.find("nien")


def test_a_path_is_found_as_it_is(model):
    assert store.find(model) == store.find(str(model)) == model


def test_a_missing_model_points_to_the_list(tmp_path):
    with pytest.raises(BadModel, match="goishi models"):
        store.find(tmp_path / "gone.onnx")
    with pytest.raises(BadModel, match="folder"):
        store.find(tmp_path)
    with pytest.raises(BadModel, match="cannot be read"):
        store.read(tmp_path / "gone.onnx")


def test_every_shipped_model_can_be_read():
    for model in store.shipped():
        store.check(model, registry.find(model.game))
        assert model.card, f"{model.name} has no card"


# Foreign and broken files ---------------------------------------------------------------------------------------


def one_sentence(error) -> bool:
    text = str(error.value)
    return text.endswith(".") and "\n" not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"PK\x03\x04zip", b"hello, this is text\n" * 50, b"\x80\x04\x95pickle."]
)
def test_a_file_that_is_no_onnx_is_refused(tmp_path, content):
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(BadModel, match=r"broken\.onnx") as error:
        store.read(path)
    assert one_sentence(error)


def test_a_model_cut_short_anywhere_is_refused(model):
    content = model.read_bytes()
    for length in np.linspace(1, len(content) - 1, 40).astype(int):
        with pytest.raises(BadModel) as error:
            store.parse(content[:length])
        assert one_sentence(error)


def change(path, edit):
    proto = onnx.ModelProto.FromString(path.read_bytes())
    edit(proto)
    path.write_bytes(proto.SerializeToString())


def without_metadata(proto):
    del proto.metadata_props[:]


def custom_layer(proto):
    proto.graph.node[3].domain = "com.example"


def loop(proto):
    proto.graph.node.append(helper.make_node("Loop", ["planes"], ["x"]))


def external_weights(proto):
    tensor = proto.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def not_finite(proto):
    tensor = proto.graph.initializer[0]
    array = np.full(tuple(tensor.dims), np.nan, np.float32)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def wrong_shape(proto):
    proto.graph.initializer[0].dims[0] += 1


def two_inputs(proto):
    proto.graph.input.append(helper.make_tensor_value_info("more", onnx.TensorProto.FLOAT, [1]))


def no_value(proto):
    del proto.graph.output[1:]


def a_function(proto):
    proto.functions.add().name = "f"


def metadata_of_nonsense(proto):
    for prop in proto.metadata_props:
        if prop.key == "goishi.architecture":
            prop.value = "__import__('os')"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (without_metadata, "not one that Goishi wrote"),
        (metadata_of_nonsense, "not one that Goishi wrote"),
        (custom_layer, "com.example"),
        (loop, "Loop"),
        (external_weights, "another file"),
        (not_finite, "not finite"),
        (wrong_shape, "do not fit"),
        (two_inputs, "no model of Goishi"),
        (no_value, "no model of Goishi"),
        (a_function, "more than a plain network"),
    ],
)
def test_a_foreign_graph_is_refused(model, edit, words):
    change(model, edit)
    with pytest.raises(BadModel, match=words) as error:
        store.read(model)
    assert one_sentence(error)


def test_a_huge_file_is_refused_before_it_is_read(model, monkeypatch):
    monkeypatch.setattr(store, "LARGEST_BYTES", 1000)
    with pytest.raises(BadModel, match="larger than"):
        store.read(model)


# Which game it can play -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trained", "asked"),
    [
        ("gomoku:size=9", "gomoku:size=15"),
        ("gomoku:size=9", "gomoku:size=9,row=5"),
        ("gomoku:size=9,row=4", "gomoku:columns=7,rows=6,row=4"),
        ("othello", "othello:size=6"),
        ("go:size=9", "go:size=13,komi=6.5,rules=japanese,ko=simple,handicap=4"),
    ],
)
def test_a_model_may_play_another_size_and_what_it_sees_of_the_rules(make_model, trained, asked):
    store.check(store.parse(make_model(trained))[1], registry.find(asked))


@pytest.mark.parametrize(
    ("trained", "asked", "words"),
    [
        ("gomoku:size=9", "othello:size=8", "cannot play othello"),
        ("tictactoe", "hex:size=5", "cannot play hex"),
        ("gomoku:size=9,row=5", "gomoku:size=9,row=4", "trained with row=5 and cannot play row=4"),
        ("gomoku:size=9", "gomoku:size=9,rule=exact", "rule=freestyle"),
    ],
)
def test_a_model_for_another_game_is_refused(make_model, trained, asked, words):
    with pytest.raises(BadModel, match=words) as error:
        store.check(store.parse(make_model(trained))[1], registry.find(asked))
    assert one_sentence(error)


def test_the_thesis_network_plays_its_own_size_only(make_model):
    from goishi.networks.network import PRESETS

    model = store.parse(make_model("gomoku:size=9", PRESETS["thesis"]))[1]
    assert model.fixed_size
    store.check(model, registry.find("gomoku:size=9"))
    with pytest.raises(BadModel, match="plays on 9x9 only"):
        store.check(model, registry.find("gomoku:size=15"))


def test_a_game_in_a_file_is_the_same_from_any_folder(make_model, tmp_path):
    from goishi.games import tictactoe

    shutil.copy(tictactoe.__file__, tmp_path / "mine.py")
    shutil.copy(tictactoe.__file__, tmp_path / "other.py")
    model = store.parse(make_model(str(tmp_path / "mine.py")))[1]
    (tmp_path / "sub").mkdir()
    shutil.copy(tictactoe.__file__, tmp_path / "sub" / "mine.py")
    store.check(model, registry.find(str(tmp_path / "sub" / "mine.py")))
    with pytest.raises(BadModel, match="cannot play"):
        store.check(model, registry.find(str(tmp_path / "other.py")))
