"""Folders of records: what is found in them, and clean copies."""

import os

import pytest

from goishi.arena import sgf_files
from goishi.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    """Some records in a folder: two good ones, one with remarks, one with two games, one web page, one of no kind."""
    inner = tmp_path / "records" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.sgf").write_text("(;GM[4]SZ[9];B[aa];W[bb])")
    (inner.parent / "B.SGF").write_text("(;GM[4]SZ[9]KM[];B[aa];W[aa])")
    (inner.parent / "c.sgf").write_text("(;GM[4]SZ[9];B[aa]")
    (inner.parent / "d.sgfs").write_text("(;GM[4]SZ[9];B[aa])\n(;SZ[0])(;GM[4]SZ[9];B[bb])")
    (inner.parent / "e.sgf").write_text("<html>")
    (inner.parent / "notes.txt").write_text("nothing")
    return inner.parent


def test_a_folder_is_read_whole_and_counted(folder):
    heard = []
    report = sgf_files.check(sgf_files.find([folder]), progress=heard.append)
    assert (report.files, report.games, report.moves, report.odd) == (5, 6, 7, 1)
    assert heard == [1, 2, 3, 4, 5]
    assert len(report.broken) == 2
    assert "d.sgfs, line 2: a board has 1 to 52" in report.broken[0]
    assert "e.sgf is a web page" in report.broken[1]
    (row,) = report.to_json()["remarks"]
    assert (row["remark"], row["games"]) == ("cut off", 1)
    assert row["where"][0].endswith("c.sgf, line 1: the file ends at line 1, column 19, inside the game")


def test_moves_are_tried_by_the_rules_when_asked(folder):
    report = sgf_files.check(sgf_files.find([folder]), game="gomoku")
    assert len(report.broken) == 3
    assert report.broken[0].endswith("B.SGF, line 1: move 2, White A9: A9 may not be played here.")


def test_clean_copies_keep_their_place_and_have_one_game_each(folder, tmp_path):
    out = tmp_path / "clean"
    report = sgf_files.check(sgf_files.find([folder]), out=out, root=folder)
    written = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert written == ["B.sgf", "c.sgf", "d-3.sgf", "d.sgf", "inner/a.sgf"]
    assert report.written == 5
    text = (out / "inner" / "a.sgf").read_text(encoding="utf-8")
    assert text.startswith("(;FF[4]CA[UTF-8]GM[4]SZ[9]AP[Goishi:")
    again = sgf_files.check(sgf_files.find([out]))
    assert (again.games, again.moves, again.odd, again.broken) == (5, 7, 0, [])


def test_files_of_one_name_do_not_replace_each_other(tmp_path):
    for name, text in (("a.sgf", "(;SZ[9];B[aa])"), ("a.psq", "Piskvorky 9x9, 0:0, 0\n1,1,0\n")):
        (tmp_path / name).write_text(text)
    sgf_files.check(sgf_files.find([tmp_path]), out=tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["a.2.sgf", "a.sgf"]


def test_a_copy_never_replaces_what_is_read(folder):
    with pytest.raises(UsageError, match=r"would replace .*choose another folder"):
        sgf_files.check(sgf_files.find([folder]), out=folder, root=folder)
    assert (folder / "inner" / "a.sgf").read_text() == "(;GM[4]SZ[9];B[aa];W[bb])"


def test_a_copy_is_whole_or_not_there(folder, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(UsageError, match="can't be written: No space left"):
        sgf_files.check(sgf_files.find([folder]), out=tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(UsageError, match="no file or folder"):
        sgf_files.find([tmp_path / "none"])
    with pytest.raises(UsageError, match="no record"):
        sgf_files.find([tmp_path])
