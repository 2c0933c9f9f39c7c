"""The command line: one command a function that parses, builds and calls. Answers on stdout, progress on stderr.

Everything heavy is imported inside the command that needs it, so that `goishi --help` is quick.
"""

import errno
import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from goishi import __version__
from goishi.errors import GoishiError, UsageError

app = typer.Typer(
    name="goishi",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Trains, measures and plays AlphaZero-class players for board games on your own computer.",
    epilog="[dim]A game is[/dim] connect4[dim],[/dim] gomoku:size=9,row=5[dim] or a path such as[/dim] ./mygame.py[dim]; "
    "a player is[/dim] random[dim],[/dim] rollout:visits=1000[dim],[/dim] net:NAME_OR_PATH,visits=400[dim] or the name of "
    "a model that ships.[/dim]",
)
bench = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Measure speed on this machine.")
app.add_typer(bench, name="bench")

Spec = Annotated[str, typer.Argument(metavar="GAME", help="A game: a name with its parameters, or a path to a .py file.")]
PlayerSpec = Annotated[str, typer.Argument(metavar="PLAYER", help="A player, as kind:argument,key=value,...")]
Seed = Annotated[int, typer.Option(help="Where chance starts: the same seed gives the same games.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object, for programs.")]
Openings = Annotated[str, typer.Option(metavar="none|random:PLIES|FILE", help="How games begin.")]
Runtime = Annotated[str, typer.Option(help="openvino, onnxruntime, torch, or auto: the quickest here.")]


def example(*lines: str) -> str:
    """The end of a command's help."""
    return "Example:\n\n" + "\n\n".join(lines)


@app.callback(invoke_without_command=True)
def start(version: Annotated[bool, typer.Option("--version", help="Print Goishi's version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command(epilog=example("goishi serve", "goishi serve --port 9000"))
def serve(
    port: Annotated[int, typer.Option(help="The port of the site.", min=0, max=65535)] = 8080,
    host: Annotated[str, typer.Option(help="The address it listens on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
) -> None:
    """Open the site: play in the browser."""
    from goishi.web.app import serve

    serve(host, port)


@app.command(epilog=example("goishi play connect4", "goishi play gomoku:size=9,row=5 rollout:visits=5000 --second"))
def play(
    game: Spec,
    player: Annotated[
        str | None, typer.Argument(metavar="[PLAYER]", help="Who plays against you; else the best model for the game.")
    ] = None,
    second: Annotated[bool, typer.Option("--second", help="The player begins, not you.")] = False,
    hints: Annotated[bool, typer.Option("--hints", help="Show what the player thinks of your moves beforehand.")] = False,
    seed: Seed = 0,
) -> None:
    """Play a game in the terminal."""
    from rich.console import Console

    from goishi import players, terminal
    from goishi.core import registry
    from goishi.core.position import Position

    rules = registry.find(game)
    opponent = players.find(player or default_player(rules), rules, seed)
    try:
        terminal.play(Position.start(rules), opponent, -1 if second else 1, Console(highlight=False), hints=hints)
    finally:
        opponent.close()


@app.command(
    epilog=example(
        "goishi train tictactoe --run runs/first --minutes 1",
        "goishi train gomoku:size=6,row=4 --run runs/six --minutes 10 --set search.visits=64",
        "goishi train --run runs/six --minutes 20   [dim](goes on where it was)[/dim]",
    )
)
def train(
    game: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="A game; may be left out where --run goes on.")
    ] = None,
    run: Annotated[Path, typer.Option("--run", metavar="DIR", help="The run's folder; one that is there goes on.")] = Path("runs/new"),
    preset: Annotated[str | None, typer.Option(help="Network and way of learning: small, medium, large or thesis.")] = None,
    minutes: Annotated[float | None, typer.Option(help="How long this call trains; else until Ctrl-C.", min=0)] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="One setting, as in search.visits=64.")
    ] = None,
    start_from: Annotated[
        str | None, typer.Option("--from", metavar="MODEL", help="Begin with this model instead of from nothing.")
    ] = None,
    seed: Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on the screen.")] = False,
) -> None:
    """Train a player from nothing, by games against itself."""
    from goishi.training.run import train

    train(game, run, preset=preset, minutes=minutes, sets=sets or [], start_from=start_from, seed=seed, quiet=quiet)


@app.command(epilog=example("goishi match connect4 net:connect4,visits=200 rollout:visits=5000 --games 50 --openings random:2"))
def match(
    game: Spec,
    a: Annotated[str, typer.Argument(metavar="PLAYER", help="The player whose score is told.")],
    b: Annotated[str, typer.Argument(metavar="PLAYER", help="The other one.")],
    games: Annotated[int, typer.Option(help="How many games; each opening is played twice, colors swapped.", min=1)] = 20,
    openings: Openings = "random:2",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the games there, as JSON (and SGF).")] = None,
    threads: Annotated[int, typer.Option(help="Games at once.", min=1)] = 1,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """Games between two players: the score with its error bars."""
    raise NotImplementedError


@app.command(epilog=example("goishi rate connect4 random rollout:visits=100 rollout:visits=1000 --games 20"))
def rate(
    game: Spec,
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Three players or more.")],
    games: Annotated[int, typer.Option(help="Games of each pair.", min=2)] = 20,
    openings: Openings = "random:2",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the games there.")] = None,
    threads: Annotated[int, typer.Option(help="Games at once.", min=1)] = 1,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """A rating table: every player against every other."""
    raise NotImplementedError


@app.command(epilog=example("goishi puzzles positions.txt --player net:connect4,visits=600 --game connect4"))
def puzzles(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Connect Four `moves score`, Othello .obf, or JSON lines.")],
    player: Annotated[str, typer.Option(help="Who solves them.")],
    game: Annotated[str | None, typer.Option(help="Where the file does not tell its game.")] = None,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """The share of positions in which a player finds a right move."""
    raise NotImplementedError


@app.command(epilog=example("goishi check ./mygame.py", "goishi check othello:size=6"))
def check(game: Spec, seed: Seed = 0) -> None:
    """Is this game's file right? Plays random games and compares."""
    raise NotImplementedError


@app.command(epilog=example("goishi games"))
def games(json_: Json = False) -> None:
    """The games that are there, with their parameters."""
    raise NotImplementedError


@app.command(epilog=example("goishi models", "goishi models runs/six"))
def models(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="A folder to look in, such as a run's.")] = None,
    json_: Json = False,
) -> None:
    """The models that ship, or those in a folder."""
    raise NotImplementedError


def default_player(game: Any) -> str:
    """A shipped model that plays this game, else a search by random games."""
    raise NotImplementedError


def main(words: list[str] | None = None) -> NoReturn:
    """Runs the command line and ends the process: 0 done, 1 failed, 2 wrong words, 130 interrupted."""
    sys.exit(status_of(words))


def status_of(words: list[str] | None = None) -> int:
    """Runs one command; every error that a person can cause is one sentence on stderr."""
    try:
        status = app(words, prog_name="goishi", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except GoishiError as error:
        return complain(str(error), error.status)
    except KeyboardInterrupt:
        return complain("Interrupted.", 130)
    except BrokenPipeError:  # whoever read our answer has gone, as in `goishi games | head -1`
        sys.stdout = open("/dev/null", "w")
        return 1
    except MemoryError:
        return complain("There is not enough memory for this; make it smaller.", 1)
    except OSError as error:
        return complain(sentence_of(error), 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # Typer's word for wrong words
            return complain(error.format_message(), 2)
        raise


def complain(text: str, status: int) -> int:
    print(f"goishi: {text}", file=sys.stderr)
    return status


def sentence_of(error: OSError) -> str:
    """What an error of the system means, with the file it is about."""
    where = f" ({error.filename})" if error.filename else ""
    what = {
        errno.ENOSPC: "The disk is full; make room and call again.",
        errno.EACCES: "The permission to read or write is missing.",
        errno.EADDRINUSE: "The port is in use; choose another one with --port.",
    }.get(error.errno or 0, f"{error.strerror or error}.")
    return f"{what[:-1]}{where}."
