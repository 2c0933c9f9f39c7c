"""Ten thousand lines of nonsense and of sense: the process stays alive, and each line has one answer."""

import re
import subprocess
import sys

import numpy as np
import pytest

from goishi.protocols.gtp import Gtp

COLORS = ["b", "W", "black", "white", "x"]
VERTICES = ["a1", "C3", "e5", "d4", "b2", "pass", "PASS", "i5", "z9", "a0", "a6", "a-1", "5a"]
NUMBERS = ["0", "1", "2", "3", "-1", "2.5", "-7.5", "nan", "inf", "1e400", "99999999999999999999", "x", "5"]
OTHERS = ["true", "false", "dead", "alive", "", "é", "\x01", "\x00", "#", "# x", "ko", "SIMPLE", "japanese", "{}", "="]
OTHERS += ["maxmoves", "ownership", "avoid", "a1,b2", "c1", '{"ko":"X"}', "none", "byoyomi", "fischer", "%s"]
SLOW = {"printsgf", "goishi-ownership", "estimate_score", "reg_genmove", "kgs-genmove_cleanup"}
LINES = 10_000


def nonsense(rng, names):
    """A line: a command and words that fit it or do not, seldom something else."""
    if rng.random() < 0.02:
        return "".join(chr(rng.integers(1, 300)) for _ in range(rng.integers(0, 30))).replace("\n", "")
    name = str(rng.choice(names))
    if name in SLOW and rng.random() < 0.9:
        name = "play"
    words = [name]
    if rng.random() < 0.7 and name in ("play", "genmove", "is_legal", "lz-analyze", "kata-analyze", "time_left"):
        words += [str(rng.choice(COLORS)), str(rng.choice(VERTICES + NUMBERS))]
    else:
        for _ in range(rng.integers(0, 5)):
            words.append(str(rng.choice([COLORS, VERTICES, NUMBERS, OTHERS][rng.integers(0, 4)])))
    identity = str(rng.choice(["", "", "7 ", "0012", "2147483647 ", "99999999999 ", "12"]))
    return identity + str(rng.choice([" ", "\t", "  "])).join(words) + str(rng.choice(["", "\r", " "]))


def lines_of(seed, count):
    rng = np.random.default_rng(seed)
    names = [name for name in Gtp("go:size=5", "random")._commands if name not in ("quit", "level")]
    lines = []
    while len(lines) < count:
        line = nonsense(rng, names)
        size = re.search(r"boardsize\s+(\S+)\s*(\S*)", line)
        if size and (size[1].isdigit() and 2 <= int(size[1][:9]) <= 25) and size[1] != "5":
            continue  # each size of a board takes seconds to compile
        if size and size[2][:1].isdigit():
            continue
        lines.append(line)
    return lines


@pytest.mark.parametrize("player", ["uniform:visits=4", "random"])
def test_every_line_has_one_answer_and_stdout_nothing_else(player, tmp_path):
    lines = lines_of(1, LINES if player != "random" else 1000)
    command = [sys.executable, "-m", "goishi", "gtp", "--game", "go:size=5", "--player", player]
    text = "\n".join(lines) + "\n77 protocol_version\n"
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert b"Traceback" not in done.stderr
    replies = done.stdout.decode().split("\n\n")
    assert replies[-2:] == ["=77 2", ""]
    spoken = [re.sub("#.*", "", line.replace("\t", " ")) for line in text.split("\n")]
    spoken = ["".join(letter for letter in line if letter >= " " and letter != "\x7f").strip() for line in spoken]
    spoken = [line for line in spoken if line]
    assert len(replies) - 1 == len(spoken)
    for line, reply in zip(spoken, replies, strict=False):
        identity = re.match(r"\d*", line)[0]
        identity = str(int(identity)) if identity and int(identity) < 2**31 else ""
        assert re.match(rf"[=?]{identity}( |\n|$)", reply), (line, reply)
