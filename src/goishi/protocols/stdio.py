"""Speaks a protocol of lines over the standard streams: nothing but answers goes to stdout."""

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, NoReturn, Protocol


class LineProtocol(Protocol):
    """A protocol as a pure object: a line in, its answer out."""

    over: bool
    """Did it take leave? No line is read any more."""
    say: Callable[[str], None] | None
    """Writes what comes before an answer is complete; `serve` sets it, and any thread may call it."""

    def answer(self, line: str) -> str | None:
        """What is written in answer to a line, None for nothing."""

    def close(self) -> None:
        """Ends what it has started: programs, thinking."""

    def interrupt(self, line: str) -> None:
        """From the thread that reads, before `answer` gets it: there is another line, or the input's end as an empty
        one. Ends what goes on until there is one."""


class Gone(Exception):
    """Nobody reads what is written."""


def serve(protocol: LineProtocol, lines: BinaryIO | None = None, out: BinaryIO | None = None) -> None:
    """Answers each line in order until the input ends, the protocol takes leave, or nobody reads the answers.

    A thread of its own reads the lines, so that a search hears of the next one. What libraries print goes to stderr.
    """
    source: BinaryIO = lines or sys.stdin.buffer
    sink: BinaryIO = out or private_stdout()
    heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    writing = threading.Lock()

    def read() -> None:
        with suppress(OSError, ValueError):  # closed: the end as well
            for line in source:
                text = line.decode("utf-8", "replace")
                protocol.interrupt(text)
                heard.put(text)
        protocol.interrupt("")
        heard.put(None)

    def write(text: str) -> None:
        try:
            with writing:
                sink.write(text.encode())
                sink.flush()
        except (OSError, ValueError):
            raise Gone from None

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # at once, in the middle of a search too
    protocol.say = write
    threading.Thread(target=read, name="lines", daemon=True).start()
    try:
        while not protocol.over and (text := heard.get()) is not None:
            if (answer := protocol.answer(text)) is not None:
                write(answer)
    except Gone:
        return


def run(protocol: LineProtocol) -> NoReturn:
    """Serves the standard streams, then ends the process at once, whatever is still loading or thinking."""
    serve(protocol)
    protocol.close()
    sys.stderr.flush()
    os._exit(0)


def private_stdout() -> BinaryIO:
    """The process's stdout for this module alone; whatever else writes there reaches stderr from now on."""
    sys.stdout.flush()
    mine = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return mine


def complain(text: str) -> None:
    """Tells a person something on stderr, in lines that no program takes for an answer.

    Some programs read both streams as one, and some look for words at the beginning of a line (gtp2ogs, KaTrain).
    """
    for line in text.replace(" -> ", " to ").splitlines():
        if line.strip():
            sys.stderr.write(f"goishi: {line}\n")  # in one piece: the answers may go to the same place
            sys.stderr.flush()
