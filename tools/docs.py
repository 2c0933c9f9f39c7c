"""Writes the table of all training settings into docs/training.md; `--check` only tells whether it is right there."""

import sys
from pathlib import Path

from goishi import config
from goishi.training.settings import Run

FILE = Path(__file__).parent.parent / "docs" / "training.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->\n"


def table() -> str:
    """A Markdown table of every key, its default and its sentence."""
    lines = ["| setting | default | what it does |", "|---|---|---|"]
    for setting in config.describe(Run):
        default = "none" if setting.default is None else str(setting.default).lower() or '""'
        lines.append(f"| `{setting.key}` | {default} | {setting.text.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    old = FILE.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    after = rest.partition(END)[2]
    new = before.rstrip("\n") + "\n\n" + BEGIN + table() + END + after
    if new == old:
        return 0
    if "--check" in sys.argv:
        print(f"{FILE.name} is out of date: run .venv/bin/python tools/docs.py", file=sys.stderr)
        return 1
    FILE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
