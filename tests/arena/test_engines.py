"""Whole games against the real programs: GNU Go, and KataGo where its command is given.

KataGo's test takes the command from the environment variable GOISHI_KATAGO, such as "katago gtp -config gtp.cfg"; it
must play on 9x9. docs/protocols.md tells how to get one.
"""

import json
import os

import pytest

from goishi import cli
from goishi.arena.record import read
from goishi.arena.scoring import UNEXPLAINED, count, margin
from goishi.arena.tournament import match
from goishi.core import registry
from goishi.core.position import Position
from goishi.errors import EngineFailure, MissingProgram
from goishi.players import engine, find, maker, program

pytestmark = pytest.mark.engines


def gnugo(options="", keys=""):
    """The spec of GNU Go. Skips the test where it is missing."""
    try:
        program.find("gnugo")
    except MissingProgram as missing:
        pytest.skip(str(missing))
    return f"gtp,timeout=60{keys}:gnugo --mode gtp --level 1 {options}".strip()


def played(spec, a, b, games, **options):
    """The result of a match in which nothing may go wrong."""
    game = registry.find(spec)
    result = match(game, maker(a, game), maker(b, game), games, "random:2", **options)
    assert result.errors == []
    assert {each.record.termination for each in result.finished} <= {"finished", "resignation"}
    assert [opinion for opinion in result.opinions if opinion.why == UNEXPLAINED] == []
    return result


def test_games_against_gnu_go_by_tromp_taylors_rules_are_scored_alike(tmp_path):
    result = played("go:size=9", "rollout:visits=20,pass=opponent", gnugo(), 4, out=tmp_path)
    assert result.disagreements == []
    assert len(result.opinions) == sum(each.record.termination == "finished" for each in result.finished)
    assert "GNU Go" not in (result.counts_otherwise or "")
    assert len(list(tmp_path.glob("*.sgf"))) == 4


def test_gnu_gos_own_rules_are_found_out():
    result = played("go:size=5", "rollout:visits=20,pass=opponent", gnugo("--allow-suicide --positional-superko"), 4)
    assert any("counts territory, not area" in words for words in result.disagreements)
    assert "--chinese-rules" in result.counts_otherwise


def test_gnu_go_takes_a_handicap_and_gives_it_back_in_the_score():
    game = registry.find("go:size=7,rules=chinese,handicap=2")
    player = find(gnugo(), game)
    position = Position.start(game)
    assert player.choose(position).action in position.actions
    judgement = player.judge(Position.after(game, [game.actions - 1] * 2))
    assert judgement.margin == 49 - 7.5 - 2
    player.close()


def test_gnu_go_takes_moves_back_and_plays_both_colors():
    game = registry.find("go:size=5")
    player = find(gnugo(), game)
    position = Position.start(game)
    for _ in range(6):
        decision = player.choose(position)
        assert not decision.resigns
        position = position.play(decision.action)
    back = Position.after(game, position.history[:4])
    assert player.choose(back).action in back.actions
    player.close()


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        ("tromp-taylor", "--chinese-rules --allow-suicide --positional-superko --capture-all-dead"),
        ("cgos", "--chinese-rules --positional-superko --capture-all-dead"),
        ("chinese", "--chinese-rules"),
        ("aga", "--chinese-rules --situational-superko"),
        ("japanese", "--japanese-rules"),
    ],
)
def test_gnu_go_is_told_the_rules_by_its_command_line(rules, options):
    assert engine.gnu_go_options(registry.find(f"go:size=5,rules={rules}")) == options.split()


def test_gnu_go_plays_on_square_boards_only():
    with pytest.raises(EngineFailure, match="GNU Go plays on square boards only"):
        find(gnugo(), registry.find("gomoku:columns=5,rows=4,row=4"))


def test_the_command_plays_scores_and_tells(tmp_path, capsys):
    words = ["match", "go:size=5", "rollout:visits=20,pass=opponent", gnugo(), "--games", "2"]
    assert cli.status_of([*words, "--openings", "none", "--out", str(tmp_path), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["games"], figures["errors"], figures["disagreements"]) == (2, 0, [])
    assert [record.number for record in read(tmp_path / "games.jsonl")] == [0, 1]


@pytest.mark.slow
def test_twenty_games_on_9x9_against_gnu_go():
    played("go:size=9", "rollout:visits=50,pass=opponent", gnugo(), 20)
    chinese = gnugo()
    result = played("go:size=9,rules=chinese", "rollout:visits=50,pass=opponent", chinese, 20)
    assert len(result.opinions) == 20 - sum(each.record.termination == "resignation" for each in result.finished)
    played("go:size=9,rules=japanese,komi=6.5", "rollout:visits=50,pass=opponent", gnugo(), 20)


@pytest.mark.slow
def test_four_games_on_19x19_against_gnu_go():
    played("go:size=19,rules=chinese", "rollout:visits=50,pass=opponent", gnugo(), 4)


@pytest.mark.slow
def test_a_few_games_against_katago():
    command = os.environ.get("GOISHI_KATAGO")
    if not command:
        pytest.skip("GOISHI_KATAGO does not give the command of a KataGo, such as 'katago gtp -config gtp.cfg'")
    game = registry.find("go:size=9,rules=chinese")
    player = find(f"gtp,timeout=300:{command}", game)
    other = find("rollout:visits=20", game)
    position = Position.start(game)
    for ply in range(12):
        decision = (player, other)[ply % 2].choose(position)
        assert not decision.resigns
        position = position.play(decision.action)
    shorter = Position.after(game, position.history[:9])
    assert player.choose(shorter).action in shorter.actions  # White's move, after undo
    finished = Position.after(game, walls(game))
    judgement = player.judge(finished)
    assert judgement.margin == margin(finished, count(finished).dead)
    player.close()
    other.close()


def walls(game):
    """Moves by which Black takes five of nine columns and White four, and both pass."""
    pairs = [(game.board.action(f"E{row}"), game.board.action(f"F{row}")) for row in range(1, 10)]
    return [action for pair in pairs for action in pair] + [game.actions - 1] * 2
