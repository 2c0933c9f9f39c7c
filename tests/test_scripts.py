"""The scripts of a checkout: `goishi` finds a Python, tools/environment.py the environment, tools/test.py sums up."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from goishi import __version__

ROOT = Path(__file__).parent.parent
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path):
    """A checkout in a folder with a blank in its name, whose environment is this one."""
    root = tmp_path / "my games"
    (root / "tools").mkdir(parents=True)
    for name in ("goishi", "pyproject.toml", "tools/environment.py", "tools/test.py"):
        shutil.copy(ROOT / name, root / name)
    (root / ".venv" / "bin").mkdir(parents=True)
    python = root / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    environment = load("environment_of_checkout", root / "tools" / "environment.py")
    environment.STAMP.write_text(json.dumps({"key": environment.key(), "extras": ["test", "train"]}))
    return root


@posix
def test_the_script_runs_from_anywhere_and_through_links(checkout, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "one").symlink_to("../my games/goishi")
    (tmp_path / "two").symlink_to(tmp_path / "bin" / "one")
    for path in (checkout / "goishi", tmp_path / "bin" / "one", tmp_path / "two"):
        done = subprocess.run([path, "--version"], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


@posix
def test_the_script_passes_words_and_status_on(checkout):
    done = subprocess.run([checkout / "goishi", "check", "no such game"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "'no such game'" in done.stderr


@posix
def test_without_a_python_the_script_says_where_to_get_one(checkout, tmp_path):
    (checkout / ".venv" / "bin" / "python").unlink()
    (tmp_path / "path").mkdir()
    for program in ("dirname", "readlink"):
        (tmp_path / "path" / program).symlink_to(shutil.which(program))
    done = subprocess.run(
        ["/bin/sh", checkout / "goishi"], capture_output=True, text=True, env={"PATH": str(tmp_path / "path")}
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr


@posix
def test_an_environment_that_is_up_to_date_is_left_alone(checkout, monkeypatch):
    environment = load("environment_of_checkout", checkout / "tools" / "environment.py")
    assert environment.up_to_date(set())
    assert environment.up_to_date({"train"})
    assert not environment.up_to_date({"other"})
    (checkout / "pyproject.toml").write_text("changed")
    assert not environment.up_to_date(set())
    environment.STAMP.write_text("half wri")
    assert not environment.up_to_date(set())


def test_the_environment_asks_for_no_cuda_where_there_is_no_gpu(monkeypatch):
    environment = load("environment", ROOT / "tools" / "environment.py")
    asked = []
    monkeypatch.setattr(environment, "pip", lambda *words, what, must=True: asked.append(words) or len(asked) > 1)
    monkeypatch.setattr(environment.sys, "platform", "linux")
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    monkeypatch.setattr(environment.Path, "exists", lambda self: False)
    environment.install_torch()
    assert [environment.TORCH_CPU in words for words in asked] == [True, True]
    assert environment.TORCH_INDEX in asked[1]
    asked.clear()
    monkeypatch.setattr(environment.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    environment.install_torch()
    assert asked == []


def test_every_extra_that_a_command_asks_for_is_in_pyproject():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    environment = load("environment", ROOT / "tools" / "environment.py")
    assert set().union(*environment.EXTRAS.values()) <= set(extras)


def test_the_checks_are_summed_up_in_a_last_line(monkeypatch, capfd):
    tests = load("checks", ROOT / "tools" / "test.py")
    steps = [
        tests.Step("good", [sys.executable, "-c", "print('== 3 passed in 0.1s ==')"]),
        tests.Step("bad", [sys.executable, "-c", "raise SystemExit('no')"]),
        tests.Step("absent", [], skip="it is not installed"),
    ]
    monkeypatch.setattr(sys, "argv", ["test.py"])
    monkeypatch.setattr(tests, "style", lambda: steps)
    monkeypatch.setattr(tests, "frontend", list)
    monkeypatch.setattr(tests.sys, "executable", shutil.which("true") or sys.executable)
    assert tests.main() == 1
    out = capfd.readouterr().out
    assert "3 passed in 0.1s" in out
    assert "skipped  it is not installed" in out
    assert out.endswith("2 passed, 1 failed, 1 skipped\n")
