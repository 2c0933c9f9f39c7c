"""An outside program that answers GTP commands: found, started without a shell, watched, ended."""

import collections
import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from goishi.errors import EngineFailure, EngineTimeout, MissingProgram, UsageError

FOLDERS = ("/usr/games", "/usr/local/games")
"""Where programs lie besides the folders of PATH: Debian's games."""

SOURCES = {
    "gnugo": "Debian and Ubuntu have it in the package gnugo: sudo apt install gnugo",
    "katago": "KataGo with a small network is in the PyPI package katrain, or at github.com/lightvector/KataGo",
    "pachi": "Pachi is built from github.com/pasky/pachi; Debian's package of the name pachi is another program",
}
"""Where to get a program, by its name."""

LONGEST_LINE = 1 << 16
LONGEST_ANSWER = 1 << 20
"""Bytes; a program that says more in one answer is broken."""
WAITING_LINES = 4096  # that nobody has read yet; a program that writes more has to wait
LAST_WORDS = 20  # lines of stderr that are kept
MOST_SHOWN = 160  # letters of what a program said, in a message
LEAVE_SECONDS = 3.0
"""How long a program may take to end after `quit`."""


class Refusal(EngineFailure):
    """A program answered `?`; the text is what it said."""


def words_of(command: str) -> list[str]:
    """A command line's words, with quotes as in a shell. Raises UsageError."""
    try:
        if os.name != "nt":
            words = shlex.split(command)
        else:  # a backslash parts folders there
            words = [word.strip('"') for word in shlex.split(command, posix=False)]
    except ValueError:
        raise UsageError(f"A quote is not closed in the command line {command!r}.") from None
    if not words:
        raise UsageError("gtp needs a command line: gtp:gnugo --mode gtp --level 10.")
    return words


def find(word: str) -> str:
    """The path of a program. Raises MissingProgram, which says where to get it."""
    found = shutil.which(word) or shutil.which(word, path=os.pathsep.join(FOLDERS))
    if found:
        return found
    source = SOURCES.get(name_of(word))
    if Path(word).exists():
        raise MissingProgram(f"{word} is no program that may be run; give the path of one, or change its permissions.")
    hint = f"{source}." if source else "install it, or give its whole path."
    raise MissingProgram(f"There is no program {word!r} on this machine; {hint}")


def name_of(path: str) -> str:
    """`gnugo` of `/usr/games/gnugo`."""
    return Path(path).stem.lower()


class Program:
    """A running program. One thread at a time asks it; its stderr is read, so that it never waits for a reader."""

    def __init__(self, words: Sequence[str]):
        """Starts it, in this process's working folder. Raises MissingProgram, EngineFailure."""
        self.words = [find(words[0]), *words[1:]]
        self._asked = 0
        self._noise = ""
        self._closed = threading.Event()
        self._lines: queue.Queue[bytes | None] = queue.Queue(WAITING_LINES)
        self._last_words: collections.deque[str] = collections.deque(maxlen=LAST_WORDS)
        try:
            self._process = subprocess.Popen(
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C is for us, who end it; and what it starts ends with it
            )
        except OSError as error:
            raise EngineFailure(f"{words[0]} can't be started: {error.strerror or error}.") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        self._threads = [
            threading.Thread(target=read, args=(stream,), name=f"{name_of(words[0])} {name}", daemon=True)
            for read, stream, name in (
                (self._read_answers, self._process.stdout, "stdout"),
                (self._read_words, self._process.stderr, "stderr"),
            )
        ]
        for thread in self._threads:
            thread.start()

    def ask(self, command: str, seconds: float) -> str:
        """The answer to a command, without its mark. What is said before it is skipped.

        Raises Refusal for an answer that begins with `?`, EngineTimeout, EngineFailure where the program ended or
        answered another command; the program is of no more use after the last two.
        """
        until = time.monotonic() + seconds
        self._asked += 1
        self._noise = ""
        try:
            self._stdin.write(f"{self._asked} {command}\n".encode())
            self._stdin.flush()
        except OSError:
            raise self._ended(command) from None
        rows: list[str] = []
        length = 0
        while True:
            line = self._line(command, until, seconds)
            length += len(line)
            if length > LONGEST_ANSWER:
                raise EngineFailure(f"It answers {_word(command)} without end{self._words()}.")
            text = "".join(letter for letter in line.decode("utf-8", "replace") if letter >= " " or letter == "\t")
            if not rows and not text.startswith(("=", "?")):
                self._noise = text.strip() or self._noise
                length = 0
            elif rows and not text.strip():
                break
            else:
                rows.append(text)
        return self._understood(command, rows)

    def close(self) -> None:
        """Asks it to leave, and ends it if it does not. It may be called twice."""
        if self._closed.is_set():
            return
        with contextlib.suppress(OSError):
            self._stdin.write(b"quit\n")
            self._stdin.flush()
        with contextlib.suppress(OSError):
            self._stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Ends it and what it has started, at once."""
        self._closed.set()
        if os.name == "nt":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with contextlib.suppress(OSError):
            self._stdin.close()
        for thread in self._threads:
            thread.join(1)

    def _understood(self, command: str, rows: list[str]) -> str:
        mark, rest = rows[0][0], rows[0][1:]
        number = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        if number and int(number) != self._asked:
            raise EngineFailure(f"It gave the answer {int(number)} when {_word(command)} was command {self._asked}.")
        said = "\n".join([rest[len(number) :].strip(), *rows[1:]]).strip()
        if mark == "?":
            raise Refusal(said)
        return said

    def _line(self, command: str, until: float, seconds: float) -> bytes:
        try:
            line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            noise = f"; it says {_short(self._noise)}" if self._noise else ""
            raise EngineTimeout(
                f"It did not answer {_word(command)} within {seconds:g} s{noise or self._words()}."
            ) from None
        if line is None:
            raise self._ended(command)
        return line

    def _ended(self, command: str) -> EngineFailure:
        try:
            status = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return EngineFailure(f"It closed its output instead of answering {_word(command)}{self._words()}.")
        self._threads[1].join(1)  # its last words
        how = f"with exit status {status}" if status >= 0 else f"by signal {-status}"
        return EngineFailure(f"It ended {how} instead of answering {_word(command)}{self._words()}.")

    def _words(self) -> str:
        said = [line for line in list(self._last_words) if line]
        return f"; its last words: {_short(' / '.join(said[-2:]))}" if said else ""

    def _read_answers(self, stream: IO[bytes]) -> None:
        with stream:
            while not self._closed.is_set():
                line = stream.readline(LONGEST_LINE)
                self._put(line or None)
                if not line:
                    return

    def _put(self, line: bytes | None) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=0.2)
                return

    def _read_words(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline(LONGEST_LINE):
                self._last_words.append(line.decode("utf-8", "replace").strip())


def _word(command: str) -> str:
    return f"`{command if len(command) <= 40 else command.split()[0]}`"


def _short(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return repr(shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 3]}...")
