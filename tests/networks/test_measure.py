import pytest

from goishi.errors import BadModel, UnknownGame
from goishi.networks import measure, runtime, store


@pytest.fixture(autouse=True)
def small_products(monkeypatch):
    monkeypatch.setattr(measure, "SQUARES", (64, 96))


def test_the_bench_has_the_shape_that_programs_read():
    heard = []
    found = measure.network("tictactoe", "tiny", batches=(1, 8), seconds=0.2, progress=heard.append)
    assert set(found) >= {"network", "gflop_per_position", "rows"}
    assert {(row["runtime"], row["precision"]) for row in found["rows"]} == set(runtime.kinds())
    for row in found["rows"]:
        expected = {"runtime", "precision", "batch", "positions_per_second", "gflops", "matmul_gflops", "fraction"}
        assert set(row) == expected
        assert row["gflops"] == pytest.approx(
            row["positions_per_second"] * found["gflop_per_position"], rel=0.1, abs=0.2
        )
        assert row["fraction"] >= 0
    assert heard[-1] == 1


def test_a_model_can_be_measured(make_model, tmp_path):
    store.save(tmp_path / "mine.onnx", make_model("tictactoe"))
    assert measure.network("tictactoe", str(tmp_path / "mine.onnx"), batches=(1,), seconds=0.1)["rows"]


def test_what_cannot_be_measured_is_named():
    with pytest.raises(BadModel, match="no model"):
        measure.network("tictactoe", "enormous")
    with pytest.raises(UnknownGame, match="checkers"):
        measure.network("checkers")
