"""Speaks recorded sessions with an engine, line by line, as a client would: through `serve`, in a thread of its own.

A session is a text: `< LINE` is sent (neighbouring ones in one write), `> LINE` must come back, `...` in it stands for
anything, and as a line for all others of a reply. `> info ...` stands for one or more lines of an analysis. `#` begins
a remark; `@game SPEC`, `@player SPEC`, `@name` and `@version` say how the engine is started.
"""

import os
import queue
import re
import threading
from itertools import groupby

from goishi.protocols.gtp import Gtp
from goishi.protocols.stdio import serve

PATIENCE = 20


class Client:
    """The other end of an engine's two pipes."""

    def __init__(self, engine):
        self._engine = engine
        lines, self._write = os.pipe()
        self._read, out = os.pipe()
        self.heard = queue.Queue()
        self._threads = [
            threading.Thread(target=self._serve, args=(lines, out), daemon=True),
            threading.Thread(target=self._listen, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, *lines):
        os.write(self._write, "".join(f"{line}\n" for line in lines).encode())

    def line(self, patience=PATIENCE):
        return self.heard.get(timeout=patience)

    def ask(self, line):
        """The reply's lines, without the empty one."""
        self.send(line)
        return list(iter(self.line, ""))

    def close(self):
        os.close(self._write)
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the engine does not end"
        self._engine.close()

    def _serve(self, lines, out):
        with open(lines, "rb", buffering=0) as source, open(out, "wb", buffering=0) as sink:
            serve(self._engine, source, sink)

    def _listen(self):
        with open(self._read, encoding="utf-8") as source:
            for line in source:
                self.heard.put(line.rstrip("\n"))


def is_like(line, wanted):
    return re.fullmatch(re.escape(wanted).replace(re.escape("..."), ".*"), line.rstrip()) is not None


def replay(text, **options):
    """Speaks a session; fails at the first line that is not as the session has it."""
    rest = False
    spoken = [line for line in text.splitlines() if line[:1] in ("<", ">")]
    given = dict(line[1:].split(None, 1) for line in text.splitlines() if line.startswith("@"))
    options |= {key: value for key, value in given.items() if key in ("name", "version")}
    client = Client(Gtp(given.get("game", "go:size=9"), given.get("player", "uniform:visits=20"), **options))
    try:
        for mark, lines in groupby(spoken, key=lambda line: line[0]):
            texts = [line[1:].removeprefix(" ") for line in lines]
            if mark == "<":
                client.send(*(text.replace("\\r", "\r") for text in texts))
                sent = texts
                continue
            for wanted in texts:
                if wanted == "...":
                    rest = True
                    continue
                line = client.line()
                while wanted == "" and line and (rest or line.startswith("info ")):
                    line = client.line()
                rest = False
                assert is_like(line, wanted.rstrip()), f"after {sent}: {line!r} is not {wanted!r}"
    finally:
        client.close()
    assert client.heard.empty(), f"more than the session has: {client.line()!r}"
