"""Makes Goishi's environment, `.venv` beside this checkout's pyproject.toml, and runs `goishi` or the tests in it.

Called by the scripts `goishi` and `goishi.cmd` with any Python from 3.11 on; uses the standard library alone. What is
installed is remembered in `.venv/goishi.json`, written last: an interrupted installation goes on where it stopped.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "goishi.json"

# What a command needs beyond the base; to measure networks is to build them.
EXTRAS = {"train": {"train"}, "learn": {"train"}, "bench": {"train"}, "test": {"train", "test"}}

FETCHED = re.compile(
    r"\s*(?:Downloading|Using cached) (?:\S*/)?([\w.]+-[\w.+]+?)-\S*\.whl \(([\d.]+ [MG]B)\)"
)  # by pip

TORCH_CPU = "torch==2.13.0+cpu"  # PyPI's Linux builds bring 3 GB of CUDA; this one does not
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def main() -> int:
    arguments = sys.argv[1:]
    command = next((word for word in arguments if not word.startswith("-")), "")
    asks_for_help = any(word in ("-h", "--help") for word in arguments)
    prepare(set() if asks_for_help else EXTRAS.get(command, set()))
    if arguments[:1] == ["test"]:
        return run([str(PYTHON), str(ROOT / "tools" / "test.py"), *arguments[1:]])
    return run([str(PYTHON), "-m", "goishi", *arguments])


def run(words: list[str]) -> int:
    """Becomes the program; on Windows, where a process cannot, waits for it."""
    if os.name != "nt":
        os.execv(words[0], words)
    with subprocess.Popen(words) as process:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # the program gets it too, and ends as it likes
                return process.wait()


def prepare(extras: set[str]) -> None:
    """Makes sure that the environment is there, for this checkout and with these extras."""
    if up_to_date(extras):
        return
    VENV.mkdir(exist_ok=True)
    with alone():
        if up_to_date(extras):  # another process made it meanwhile
            return
        began = time.monotonic()
        installed = set(read_stamp().get("extras", []))
        wanted = sorted(installed | extras)
        if not STAMP.exists():
            size = "1.8 GB with PyTorch" if wanted else "0.6 GB"
            say(f"Making Goishi's environment in {VENV} ({size}; a few minutes).")
        elif extras - installed:
            say(f"Adding what this command needs to {VENV} (1.2 GB; a few minutes).")
        else:
            say(f"Updating {VENV}.")
        if not works(PYTHON):
            make_venv()
        if wanted and not has_package("torch"):
            install_torch()
        pip("install", "--editable", f"{ROOT}[{','.join(wanted)}]" if wanted else str(ROOT), what="Goishi")
        say(f"Ready after {time.monotonic() - began:.0f} s.")
        written = STAMP.with_suffix(".new")
        written.write_text(json.dumps({"key": key(), "extras": wanted}), encoding="utf-8")
        written.replace(STAMP)


def up_to_date(extras: set[str]) -> bool:
    stamp = read_stamp()
    return stamp.get("key") == key() and extras <= set(stamp["extras"]) and PYTHON.exists()


def key() -> str:
    """Changes when the dependencies do, and when the checkout moves."""
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()).hexdigest()


def read_stamp() -> dict:
    with contextlib.suppress(OSError, ValueError):
        return json.loads(STAMP.read_text(encoding="utf-8"))
    return {}


def works(python: Path) -> bool:
    """Does this interpreter start, and has it pip? No when an installation stopped early, or its Python is gone."""
    try:
        return subprocess.run([python, "-I", "-m", "pip", "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def make_venv() -> None:
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        stop("This Python lacks its venv module; install it (Debian, Ubuntu: sudo apt install python3-venv).")
    base = getattr(sys, "_base_executable", None) or sys.executable
    made = subprocess.run([base, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
    if made.returncode:
        sys.stderr.write(made.stdout + made.stderr)
        stop(f"The environment could not be made in {VENV} (see above).")


def has_package(name: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([PYTHON, "-I", "-c", look]).returncode == 0


def install_torch() -> None:
    """PyTorch without CUDA where there is no NVIDIA GPU to use it; only Linux has two builds on offer."""
    if sys.platform != "linux" or shutil.which("nvidia-smi") or Path("/dev/nvidia0").exists():
        return
    if pip("install", "--no-deps", TORCH_CPU, what="PyTorch for the CPU", must=False):
        return
    quick = ("--retries", "0", "--timeout", "15")
    if not pip(
        "install",
        "--no-deps",
        *quick,
        "--extra-index-url",
        TORCH_INDEX,
        TORCH_CPU,
        what="PyTorch for the CPU",
        must=False,
    ):
        say("PyTorch's build without CUDA cannot be had here; the usual one follows, which downloads about 3 GB.")


def pip(*words: str, what: str, must: bool = True) -> bool:
    """Runs pip and tells each package that it fetches. Ends the program when it fails and must not."""
    command = [str(PYTHON), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", *words]
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if fetched := FETCHED.match(line):
                say(f"  {fetched[1]}, {fetched[2]}")
            elif line.startswith("Installing collected packages") and "," in line:
                say(f"  installing {line.count(',') + 1} packages")
    if process.returncode and must:
        sys.stderr.writelines(lines[-15:])
        stop(f"{what} could not be installed (see above); call again to go on where it stopped.")
    return process.returncode == 0


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Waits while another process works on the environment."""
    with open(ROOT / ".venv" / ".lock", "w") as file:
        try:
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                say("Another process makes the environment; waiting for it.")
                fcntl.flock(file, fcntl.LOCK_EX)
        except ImportError:  # Windows
            import msvcrt

            while True:
                with contextlib.suppress(OSError):  # it tries for ten seconds
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
                    break
        yield


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def stop(text: str) -> NoReturn:
    sys.exit(f"goishi: {text}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("goishi: Interrupted; call again to go on where it stopped.")
        sys.exit(130)
    except OSError as error:
        stop(f"The environment cannot be made: {error}.")
