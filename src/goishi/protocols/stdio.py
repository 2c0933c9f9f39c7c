"""Speaks a protocol of lines over the standard streams: nothing but answers goes to stdout."""

import os
import queue
import signal
import sys
import threading
from typing import BinaryIO, Protocol


class LineProtocol(Protocol):
    """A protocol as a pure object: a line in, its answer out."""

    over: bool
    """Did it take leave? No line is read any more."""

    def answer(self, line: str) -> str | None:
        """What is written in answer to a line, None for nothing."""

    def interrupt(self) -> None:
        """From the thread that reads: there is another line; ends what goes on until there is one."""


def serve(protocol: LineProtocol, lines: BinaryIO | None = None, out: BinaryIO | None = None) -> None:
    """Answers each line in order until the input ends, the protocol takes leave, or nobody reads the answers.

    A thread of its own reads the lines, so that a search hears of the next one. What libraries print goes to stderr.
    """
    lines = lines or sys.stdin.buffer
    out = out or private_stdout()
    heard: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def read() -> None:
        for line in lines:
            heard.put(line)
            protocol.interrupt()
        heard.put(None)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # at once, in the middle of a search too
    threading.Thread(target=read, name="lines", daemon=True).start()
    while not protocol.over and (line := heard.get()) is not None:
        answer = protocol.answer(line.decode("utf-8", "replace"))
        if answer is None:
            continue
        try:
            out.write(answer.encode())
            out.flush()
        except OSError:  # nobody listens
            return


def private_stdout() -> BinaryIO:
    """The process's stdout for this module alone; whatever else writes there reaches stderr from now on."""
    sys.stdout.flush()
    mine = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return mine
