"""Runs all checks of Goishi, one after another, and sums them up; `./goishi test` calls it.

Steps: ruff's lint and format, mypy, the front end's types and tests (Vitest), pytest. A step whose program is missing
is skipped with its reason. Exit status 1 when a step failed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"


class Step(NamedTuple):
    name: str
    words: list[str]
    folder: Path = ROOT
    skip: str = ""
    """Why it cannot run here."""


def main() -> int:
    arguments, pytest_words = parse()
    pytest = Step("pytest", [sys.executable, "-m", "pytest", *pytest_words])
    if arguments.browser:
        pytest = pytest._replace(words=[*pytest.words, "-m", "browser"])
    if arguments.slow:
        pytest = pytest._replace(words=[*pytest.words, "--slow"])
    steps = [pytest] if arguments.browser or pytest_words else [*style(), *frontend(), pytest]

    lines, passed, failed, skipped = [], 0, 0, 0
    for step in steps:
        if step.skip:
            skipped += 1
            lines.append(f"  {step.name:14} skipped  {step.skip}")
            continue
        print(f"== {step.name}", flush=True)
        began = time.monotonic()
        status, last = run(step)
        passed, failed = (passed + 1, failed) if status == 0 else (passed, failed + 1)
        lines.append(
            f"  {step.name:14} {'failed ' if status else 'passed '}  {time.monotonic() - began:4.0f} s  {last}".rstrip()
        )
    print("\n== steps", *lines, sep="\n")
    if failed:
        print("Something failed; its output is above, under its name.")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    return 1 if failed else 0


def parse() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="./goishi test",
        description="Runs Goishi's checks: ruff, mypy, the front end's (Vitest), pytest with a browser. Words that are "
        "no option below go to pytest, which then runs alone: `./goishi test tests/core -k symmetries`.",
    )
    parser.add_argument("--slow", action="store_true", help="the slow tests too: minutes of training and matches")
    parser.add_argument("--browser", action="store_true", help="the browser tests alone (they need Chromium)")
    return parser.parse_known_args()


def style() -> list[Step]:
    return [
        Step("ruff check", [sys.executable, "-m", "ruff", "check", "."]),
        Step("ruff format", [sys.executable, "-m", "ruff", "format", "--check", "."]),
        Step("mypy", [sys.executable, "-m", "mypy"]),
    ]


def frontend() -> list[Step]:
    npm = shutil.which("npm")
    if not (FRONTEND / "package.json").is_file():
        return []
    if npm is None:
        return [Step("vitest", [], skip="Node.js is not installed (https://nodejs.org)")]
    install = (
        []
        if (FRONTEND / "node_modules").is_dir()
        else [Step("npm ci", [npm, "ci", "--no-audit", "--no-fund"], FRONTEND)]
    )
    return [*install, Step("tsc", [npm, "run", "--silent", "check"], FRONTEND), Step("vitest", [npm, "test"], FRONTEND)]


def run(step: Step) -> tuple[int, str]:
    """The exit status and the last line that says something; the output is shown as it comes."""
    last = ""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        step.words,
        cwd=step.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = re.sub(r"\x1b\[[\d;]*m", "", line).strip(" =\n") or last
    return process.returncode, last[:90]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
