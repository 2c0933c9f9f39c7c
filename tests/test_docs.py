"""The documents say what is so: their code runs, their links lead somewhere, every option and setting is in them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from goishi import cli, config

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- (?P<mark>[\w ,-]+) -->\n)?```(?P<language>\w*)\n(?P<code>.*?)^```", re.M | re.S)


def blocks(language):
    """(id, code) of each block in a language, except those below `<!-- not run -->`."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            if match["language"] == language and match["mark"] != "not run":
                line = text[: match.start()].count("\n") + 1
                yield pytest.param(match["code"], id=f"{path.name}:{line}")


def commands():
    """Every `goishi` command of the shell blocks, as words."""
    for block in blocks("sh"):
        for line in block.values[0].splitlines():
            words = shlex.split(line.partition("#")[0])
            if words and Path(words[0]).name == "goishi" and words[1:2] != ["test"]:
                yield pytest.param(words[1:], id=f"{block.id} {' '.join(words[1:])}")


@pytest.mark.parametrize("code", list(blocks("python")))
def test_python_in_the_documents_runs(code, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", list(commands()))
def test_commands_in_the_documents_are_commands(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = typer.main.get_command(cli.app)
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    with command.make_context("goishi", list(words)):
        pass


@pytest.mark.parametrize("words", [["games"], ["models"], ["check", "tictactoe"]], ids=" ".join)
def test_the_quick_ones_run(words, capsys):
    assert cli.status_of(words) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = re.sub(BLOCK, "", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}, which is not there"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_the_documents_name_are_there(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|tools|docs|tests)/[\w./-]+\.(?:py|md|png))`", text):
        assert "NAME" in name or (ROOT / name).exists(), f"{path.name} names {name}, which is not there"


def test_every_training_setting_is_explained():
    done = subprocess.run([sys.executable, ROOT / "tools" / "docs.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    from goishi.training.settings import Run

    for setting in config.describe(Run):
        assert setting.text, f"{setting.key} has no sentence in training/settings.py"


def test_the_changelog_has_this_version():
    from goishi import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
