"""The settings of a run."""

import pytest

from goishi import config
from goishi.core import registry
from goishi.errors import UsageError
from goishi.training.settings import PRESETS, Run, preset_of


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku:size=15"])
def test_every_preset_survives_its_file(name, spec, tmp_path):
    run = preset_of(name, registry.find(spec))
    (tmp_path / "config.toml").write_text(config.dump(run), encoding="utf-8")
    assert config.resolve(Run(), tmp_path / "config.toml") == run


def test_the_thesis_preset_is_the_thesis():
    run = preset_of("thesis", registry.find("gomoku:size=9"))
    assert run.network.preset == "thesis"
    assert run.search.mode == "puct"
    assert run.search.exploration == pytest.approx(2**0.5)
    assert run.search.exploration_growth == 0
    assert run.search.fpu == "zero"
    assert not run.search.solver
    assert run.learning.result_share == 1.0
    assert run.learning.optimizer == "sgd"
    assert run.learning.decay == 1e-4


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(UsageError, match="thesis"):
        preset_of("huge", registry.find("tictactoe"))


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("search.visits=1", "at least 2"),
        ("learning.window=100", "nothing would be learned"),
        ("learning.batch=1", "at least 2"),
        ("rating.games=7", "in pairs"),
        ("rating.share=0", "above 0"),
        ("rating.rollouts=-1", "negative"),
        ("search.dirichlet_share=0.25", "Gumbel"),
        ("games.resign=2", "between 0 and 1"),
        ("serach.visits=3", "search.visits"),
        ("minutes=-1", "negative"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_a_sentence(setting, text):
    with pytest.raises(UsageError, match=text):
        config.resolve(Run(), sets=[setting])
