from dataclasses import dataclass, field
from typing import Literal

import pytest

from goishi import config
from goishi.errors import UsageError


@dataclass(frozen=True)
class Search:
    visits: int = 200
    """Simulations a move."""
    exploration: float = 1.5
    """How much a prior weighs against
    what was found, without a unit."""
    mode: Literal["puct", "gumbel"] = "puct"
    """The rule that chooses a child."""
    resign: float | None = None
    """The value below which a player gives up; none never does."""


@dataclass(frozen=True)
class Settings:
    name: str = 'a "run"'
    """What it is called."""
    quick: bool = False
    """Leave things out."""
    widths: tuple[int, ...] = (64, 64)
    """Channels of each block."""
    search: Search = field(default_factory=Search)

    def __post_init__(self):
        if any(width % 16 for width in self.widths):
            raise ValueError("widths are multiples of 16.")


def test_a_file_goes_over_the_defaults_and_the_command_line_over_the_file(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('name = "mine"\n[search]\nvisits = 50\nexploration = 2\n')
    settings = config.resolve(Settings(), file, ["search.visits=64", "search.mode=gumbel"])
    assert settings == Settings(name="mine", search=Search(visits=64, exploration=2.0, mode="gumbel"))
    assert isinstance(settings.search.exploration, float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quick=true", Settings(quick=True)),
        ("quick=on", Settings(quick=True)),
        ("name=plain words", Settings(name="plain words")),
        ("name=12", Settings(name="12")),
        ("widths=[32, 16]", Settings(widths=(32, 16))),
        ("widths=32,16", Settings(widths=(32, 16))),
        ("widths=32", Settings(widths=(32,))),
        ("search.resign=-0.9", Settings(search=Search(resign=-0.9))),
        ("search.resign=none", Settings()),
        ("search.exploration=1e-3", Settings(search=Search(exploration=0.001))),
    ],
)
def test_values_are_read_as_their_setting_is_typed(text, expected):
    assert config.resolve(Settings(), sets=[text]) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("search.visit=3", "There is no setting 'search.visit'; did you mean search.visits?"),
        ("visits=3", "There is no setting 'visits'; did you mean search.visits?"),
        ("serch.visits=3", "did you mean search.visits?"),
        ("banana=3", "there are name, quick, widths, search.visits"),
        ("name.length=3", "did you mean name?"),
        ("search=3", "search is a group of settings"),
        ("search.visits=many", "search.visits needs a whole number, as in search.visits=200, not 'many'."),
        ("search.visits=2.5", "search.visits needs a whole number"),
        ("search.visits=true", "search.visits needs a whole number"),
        ("search.exploration=nan", "search.exploration needs a number"),
        ("search.mode=PUCT", "search.mode needs one of puct, gumbel, as in search.mode=puct"),
        ("quick=3", "quick needs true or false"),
        ("widths=a", "widths needs a list, each a whole number"),
        ("widths=17", "widths are multiples of 16."),
        ("search.visits", "A setting is key=value"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_helps(text, words):
    with pytest.raises(UsageError) as error:
        config.resolve(Settings(), sets=[text])
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_wrong_file_is_named(tmp_path):
    with pytest.raises(UsageError, match="There is no settings file"):
        config.resolve(Settings(), tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("name = \n")
    with pytest.raises(UsageError, match=r"broken.toml is no TOML file: .*line 1"):
        config.resolve(Settings(), broken)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        config.resolve(Settings(), broken)


def test_what_is_dumped_reads_back_the_same(tmp_path):
    settings = Settings(name="ü\\n\n", quick=True, widths=(16,), search=Search(resign=-0.25, exploration=1e-9))
    file = tmp_path / "run.toml"
    for instance in (settings, Settings()):
        file.write_text(config.dump(instance), encoding="utf-8")
        assert config.resolve(Settings(name="other", search=Search(resign=0.5)), file) == instance


def test_every_key_is_described_by_the_sentence_below_it():
    described = {setting.key: setting for setting in config.describe(Settings)}
    assert list(described) == [
        "name",
        "quick",
        "widths",
        "search.visits",
        "search.exploration",
        "search.mode",
        "search.resign",
    ]
    assert described["search.exploration"].text == "How much a prior weighs against what was found, without a unit."
    assert described["search.resign"] == (
        "search.resign", "a number or none", None, "The value below which a player gives up; none never does."
    )  # fmt: skip
    assert "# Simulations a move.\nvisits = 200\n" in config.dump(Settings())


def test_settings_that_inherit_keep_their_sentences():
    @dataclass(frozen=True)
    class Longer(Search):
        depth: int = 3
        """Plies."""

    assert [setting.text for setting in config.describe(Longer)][-1] == "Plies."
    assert config.describe(Longer)[0].text == "Simulations a move."
