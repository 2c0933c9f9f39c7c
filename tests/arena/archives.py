"""Real records for the tests: the files of an archive beside the project."""

import tarfile
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"


def archive(name):
    """The names and bytes of an archive's files; skips the test where the archive is missing."""
    path = DATA / "sgf_messy" / name
    if not path.exists():
        pytest.skip(f"needs shared/data/sgf_messy/{name}")
    with tarfile.open(path) as file:
        for member in file:
            if member.isfile():
                yield member.name.split("/", 1)[1], file.extractfile(member).read()
