"""What `goishi bench search` prints."""

import pytest

from goishi.search import measure


def test_the_table_has_its_rows_and_keys(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(measure, "ROWS", ((4, 1), (1, 2)))
    shares = []
    figures = measure.search("tictactoe", "thesis", seconds=0.2, progress=shares.append)
    assert shares == [0.5, 1.0]
    assert {"game", "network", "runtime", "precision", "signature", "rows"} <= set(figures)
    assert [(row["trees"], row["leaves"]) for row in figures["rows"]] == [(4, 1), (1, 2)]
    for row in figures["rows"]:
        assert row["positions"] > 0
        assert row["ratio"] == pytest.approx(
            row["search_positions_per_second"] / row["raw_positions_per_second"], abs=0.01
        )
    assert figures["rows"][1]["seconds_65536"] > 0


def test_without_torch_a_shipped_model_is_measured_and_the_table_says_so(monkeypatch):
    from goishi.core import registry
    from goishi.errors import MissingExtra
    from goishi.networks import store

    def missing(*_):
        raise MissingExtra("no torch")

    monkeypatch.setattr(measure.network_measure, "model_bytes", missing)
    game = registry.find("tictactoe")
    fitting = False
    for model in store.shipped():
        try:
            store.check(model, game)
            fitting = True
        except store.BadModel:
            pass
    if fitting:
        content, note = measure.network_of("thesis", game)
        assert content
        assert "torch" in note
    else:
        with pytest.raises(MissingExtra):
            measure.network_of("thesis", game)
