"""Files that a kill or a full disk leaves whole."""

import os
from pathlib import Path
from typing import TextIO


def write(path: Path, content: bytes) -> None:
    """Writes a file under another name and renames it, so that nobody ever sees half of it."""
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def open_to_append(path: Path) -> TextIO:
    """A text file to append lines to; a last line that a kill cut short is cut off."""
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with path.open("r+b") as file:
                file.truncate(whole)
    return path.open("a", encoding="utf-8", newline="\n")
