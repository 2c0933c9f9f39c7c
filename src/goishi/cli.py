"""The command line: one command a function that parses, builds and calls. Answers on stdout, progress on stderr.

Everything heavy is imported inside the command that needs it, so that `goishi --help` is quick.
"""

import errno
import io
import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from goishi import __version__
from goishi.errors import BadModel, GoishiError, UsageError

app = typer.Typer(
    name="goishi",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Trains, measures and plays AlphaZero-class players for board games on your own computer.",
    epilog="A game is a name with its parameters, as in gomoku:size=9,row=5, or the path of a .py file. A player is "
    "random, perfect, rollout:visits=1000, uniform:visits=800, net:MODEL,visits=400, policy:MODEL, the name of a "
    "model that `goishi models` lists, or an outside engine: 'gtp:gnugo --mode gtp'.",
)
bench = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Measure speed on this machine.")
app.add_typer(bench, name="bench")

Spec = Annotated[
    str, typer.Argument(metavar="GAME", help="A game: a name with its parameters, or a path to a .py file.")
]
Seed = Annotated[int, typer.Option(help="Where chance starts: the same seed gives the same games.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object, for programs.")]
Games = Annotated[int, typer.Option(help="How many games, an even number: each opening is played from both sides.")]
Openings = Annotated[
    str,
    typer.Option(
        metavar="none|random:PLIES|FILE",
        help="How games begin. The seed draws random openings, which are not decided within the next two moves as "
        "long as there are such. A line of FILE is an opening: points (E5 D4), or x,y from the center (0,0, 1,0, 1,3).",
    ),
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A folder for the games; a match that it holds a part of goes on.")
]
Threads = Annotated[int, typer.Option(help="Games played at the same time.", min=1, max=1024)]
Network = Annotated[str, typer.Option(help="A preset (thesis, small, medium, large), or a model's name or path.")]
BenchGame = Annotated[str, typer.Option("--game", metavar="GAME", help="The game that is played.")]
BenchSeconds = Annotated[float, typer.Option("--seconds", help="For the whole, about.", min=0.5)]


BENCH_GAME = "gomoku:size=9,row=5"
EXTRAS = {"torch": "train", "tensorboard": "train", "matplotlib": "train"}
"""What brings the packages that the base install lacks."""
MOST_SHOWN = 500  # game records in a table
PUZZLE_FIGURES = ("positions", "right", "share", "unjudged", "seconds")


def example(*lines: str) -> str:
    """The end of a command's help."""
    return "Example:\n\n" + "\n\n".join(lines)


@app.callback(invoke_without_command=True)
def start(version: Annotated[bool, typer.Option("--version", help="Print Goishi's version.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command(epilog=example("goishi serve", "goishi serve --port 9000", "goishi serve --game ./mygame.py"))
def serve(
    port: Annotated[int, typer.Option(help="The port of the site.", min=0, max=65535)] = 8080,
    host: Annotated[str, typer.Option(help="The address it listens on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the browser.")] = True,
    game: Annotated[
        list[str] | None, typer.Option(metavar="GAME", help="Another game or size to offer; may come several times.")
    ] = None,
    player: Annotated[
        list[str] | None, typer.Option(metavar="PLAYER", help="Another player to offer; may come several times.")
    ] = None,
) -> None:
    """Open the site: play in the browser."""
    from goishi.web.app import serve

    serve(host, port, open_, games=game or (), players=player or ())


@app.command(epilog=example("goishi play connect4", "goishi play gomoku:size=9,row=5 rollout:visits=5000 --second"))
def play(
    game: Spec,
    player: Annotated[
        str | None, typer.Argument(metavar="[PLAYER]", help="Who plays against you; else the best model for the game.")
    ] = None,
    second: Annotated[bool, typer.Option("--second", help="The player begins, not you.")] = False,
    hints: Annotated[
        bool, typer.Option("--hints", help="Show what the player thinks of your moves beforehand.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Play a game in the terminal."""
    from rich.console import Console

    from goishi import players, terminal
    from goishi.core import registry
    from goishi.core.position import Position

    rules = registry.find(game)
    opponent = players.find(player or terminal.adversary(rules), rules, seed)
    try:
        terminal.play(Position.start(rules), opponent, -1 if second else 1, Console(highlight=False), hints=hints)
    finally:
        opponent.close()


@app.command(
    epilog=example(
        "goishi train gomoku:size=6,row=4 --run runs/six --minutes 10",
        "goishi train connect4 --run runs/four --set search.visits=64 --set games.at_once=256",
        "goishi train --run runs/six --minutes 20",
    )
)
def train(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game; left out where a run goes on.")] = None,
    *,
    run: Annotated[Path, typer.Option("--run", metavar="DIR", help="The run's folder; one that is there goes on.")],
    preset: Annotated[
        str | None, typer.Option(help="Many settings at once; thesis is the AlphaZero Gomoku thesis's.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="How long the run lasts in all, over its starts; else until Ctrl-C.", min=0)
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="One setting; docs/training.md lists them.")
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings from a TOML file.")] = None,
    start_from: Annotated[
        str | None, typer.Option("--from", metavar="MODEL", help="Begin with this model instead of from nothing.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Where chance starts.", min=0)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on the screen.")] = False,
) -> None:
    """Train a player from nothing, by games against itself. Ctrl-C saves; the same --run goes on."""
    from goishi.training.run import train

    options: dict[str, Any] = {"preset": preset, "minutes": minutes, "sets": sets or [], "config_file": config}
    best = train(game, run, start_from=start_from, seed=seed, quiet=quiet, **options)
    print(best)


@app.command(
    epilog=example(
        "goishi match connect4 rollout:visits=1000 rollout:visits=100 --games 20 --openings random:2",
        'goishi match go:size=9,rules=chinese rollout:visits=2000 "gtp:gnugo --mode gtp --chinese-rules" --out games',
    )
)
def match(
    game: Spec,
    a: Annotated[str, typer.Argument(metavar="PLAYER", help="The player whose score is told.")],
    b: Annotated[str, typer.Argument(metavar="PLAYER", help="The other one.")],
    games: Games = 20,
    openings: Openings = "random:2",
    out: Out = None,
    threads: Threads = 1,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """Games between two players: the score with its error bars.

    An outside engine is gtp: and its command line, in quotes. What it says of a game's score is compared with ours.
    """
    from goishi import players, terminal
    from goishi.arena import tournament
    from goishi.core import registry

    rules = registry.find(game)
    make_a, make_b = (players.maker(player, rules, threads) for player in (a, b))
    with terminal.progress(f"{a} against {b}", games) as done:
        result = tournament.match(
            rules,
            make_a,
            make_b,
            games,
            openings,
            seed=seed,
            threads=threads,
            out=out,
            progress=lambda record, result: done(result.games),
            warn=warn,
        )
    tell_errors(result.errors)
    tell_errors(result.disagreements)
    if result.counts_otherwise:
        warn(result.counts_otherwise)
    figures = result.to_json()
    note = terminal.MATCH_NOTE + terminal.compared(figures)
    answer(figures, json_, f"{rules.spec}: {a} against {b}", [terminal.match_row(figures)], note)


@app.command(epilog=example("goishi rate connect4 random rollout:visits=100 rollout:visits=1000 --games 20"))
def rate(
    game: Spec,
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Two players or more.")],
    games: Games = 20,
    openings: Openings = "random:2",
    out: Out = None,
    threads: Threads = 1,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """A rating table: every player against every other, GAMES games a pair."""
    from goishi import terminal
    from goishi.arena import tournament
    from goishi.core import registry
    from goishi.players import maker

    rules = registry.find(game)
    makers = [maker(player, rules, threads) for player in players]
    played = itertools.count(1)
    with terminal.progress("games", games * len(players) * (len(players) - 1) // 2) as done:
        shared: tournament.Options = {"threads": threads, "warn": warn, "progress": lambda *_: done(next(played))}
        table = tournament.rate(rules, makers, games, openings, seed=seed, out=out, **shared)
    tell_errors([error for each in table.matches for error in each.errors])
    figures = table.to_json()
    rows = [terminal.rating_row(row) for row in figures["players"]]
    answer(figures, json_, f"{rules.spec}: Elo, {table.anchor} at 0", rows, terminal.RATING_NOTE)


@app.command(
    epilog=example(
        "goishi puzzles Test_L3_R1 --player rollout:visits=1000",
        "goishi puzzles endgames.obf --player net:othello,visits=400 --json",
        "goishi puzzles 9x9.tst --player net:go9,visits=400",
    )
)
def puzzles(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The puzzles, or a folder of such files.")],
    player: Annotated[str, typer.Option(metavar="PLAYER", help="Who solves them.")],
    game: Annotated[str | None, typer.Option(metavar="GAME", help="For JSON lines that do not tell theirs.")] = None,
    solver_positions: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many positions the exact Connect Four judge looks at before it leaves a move unjudged.",
        ),
    ] = 1_000_000_000,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """The share of positions in which a player finds a right move.

    A line of FILE is a Connect Four position and its score (`4455326 -3`), an Othello position with the values of its
    moves (.obf), or JSON such as {"game": "tictactoe", "moves": ["b2", "a1"], "best": ["c1"]}.

    A FILE.tst is a regression suite of a GTP engine, as GoGui's and GNU Go's: commands, and the answers that are right.
    Answers that depend on commands of another engine's own are counted as unjudged.

    Connect Four moves are judged by an exact search, which takes most of the time where a position has few pieces.
    What it leaves unjudged is counted apart; the share is of the others.
    """
    from goishi import terminal
    from goishi.arena.puzzles import puzzles
    from goishi.protocols import regression

    with terminal.stages() as tell:
        if regression.is_suite(file):
            figures = regression.score(file, player, game or "go", tell)
        else:
            figures = puzzles(file, player, game, seed=seed, solver_positions=solver_positions, progress=tell)
    rows = [{"set": name, **row} for name, row in figures.get("by_set", {}).items()]
    answer(figures, json_, f"{player} on {file}", [*rows, {"set": "all", **pick(figures, *PUZZLE_FIGURES)}])


@app.command(
    epilog=example(
        "goishi gtp --game go:size=9",
        "goishi gtp --game go:rules=chinese-ogs --ponder",
        "goishi gtp --game go:size=9 --level 3",
        "goishi gtp --name KataGo --version 1.18.1",
        "goishi gtp --game gomoku:size=15 --player rollout:visits=5000",
    )
)
def gtp(
    player: Annotated[
        str | None, typer.Option(metavar="PLAYER", help="Who answers genmove; else the best model for the game.")
    ] = None,
    game: Annotated[
        str, typer.Option(metavar="GAME", help="The game at the start; boardsize changes its size.")
    ] = "go",
    name: Annotated[str, typer.Option(help="The answer to `name`; some programs go by it.")] = "Goishi",
    version: Annotated[str, typer.Option(help="The answer to `version`; else Goishi's own.")] = "",
    level: Annotated[
        int | None,
        typer.Option(help="1 to 10: how strong a network plays; else all it can.", min=1, max=10),
    ] = None,
    ponder: Annotated[bool, typer.Option("--ponder", help="Think on while it is the other's turn.")] = False,
    resign: Annotated[
        float, typer.Option(help="Give up below this value, -1 a sure loss; 0 never gives up.", min=-1, max=0)
    ] = -0.95,
) -> None:
    """A GTP engine on standard input and output, for the programs that Go players use."""
    from goishi import terminal
    from goishi.protocols import stdio
    from goishi.protocols.gtp import Gtp

    def named(game: Any) -> str:
        spec = player or terminal.adversary(game)
        return spec if level is None else f"{spec},level={level}" if ":" in spec else f"{spec}:level={level}"

    who = player if player and level is None else named
    stdio.run(Gtp(game, who, name, version, resign or None, ponder))


@app.command(
    epilog=example(
        "goishi analysis --player rollout:visits=2000 --game go:size=9",
        "goishi analysis --websocket 127.0.0.1:8771",
        "goishi analysis -quit-without-waiting -override-config reportAnalysisWinratesAs=WHITE",
    )
)
def analysis(
    player: Annotated[
        str | None,
        typer.Option(
            help="Who analyzes, else the best model for the game; its visits are for queries without maxVisits."
        ),
    ] = None,
    game: Annotated[
        str,
        typer.Option(
            metavar="GAME", help="The game; queries choose the board's size, and this one is loaded from the start."
        ),
    ] = "go",
    websocket: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve WebSockets there, instead of the standard streams.")
    ] = None,
    version: Annotated[str, typer.Option(help="The answer to query_version; else Goishi's own.")] = "",
    quit_: Annotated[
        bool, typer.Option("-quit-without-waiting", help="Stop at the input's end, whatever is still to be answered.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "-override-config",
            metavar="KEY=VALUE,...",
            help="KataGo's maxVisits, maxTime, reportAnalysisWinratesAs, wideRootNoise, rootPolicyTemperature or "
            "analysisPVLen for all queries; its other settings are passed over.",
        ),
    ] = None,
    katago: Annotated[
        list[str] | None,
        typer.Option("-model", "-config", "-human-model", metavar="FILE", help="KataGo's own words: passed over."),
    ] = None,
) -> None:
    """KataGo's JSON analysis protocol on standard input and output or by WebSocket, for KaTrain and its like."""
    from goishi import terminal
    from goishi.core import registry
    from goishi.protocols import analysis as protocol

    settings = protocol.settings_of(overrides or [])
    player = player or terminal.adversary(registry.find(game))
    if websocket is None:
        protocol.serve(game, player, settings, version, not quit_)
    else:
        from goishi.web.app import serve_lines

        host, colon, port = websocket.rpartition(":")
        if not colon or not port.isdecimal():
            raise UsageError(f"--websocket takes HOST:PORT, as in 127.0.0.1:8771, not {websocket!r}.")
        serve_lines(
            host.strip("[]"),
            int(port),
            lambda: protocol.Hall(protocol.Analyst(game, player, settings, version)),
        )
    protocol.leave_process()


@app.command(
    epilog=example(
        "goishi sgf game.sgf",
        "goishi sgf records --check",
        "goishi sgf old.gib --clean records",
        "goishi sgf records --check --game gomoku:rule=exact",
    )
)
def sgf(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Record files (SGF, GIB, NGF, PSQ), or folders of them.")
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Read them all and tell what is wrong: exit status 1 where one is broken.")
    ] = False,
    clean: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write each game as a clean SGF file into this folder; checks too."),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="Play the moves by these rules; the size is each record's own."),
    ] = None,
    json_: Json = False,
) -> None:
    """Show a game record; check or clean many."""
    from goishi import terminal
    from goishi.arena import sgf_files, sgf_game

    files = sgf_files.find(paths)
    if check or clean:
        root = paths[0] if len(paths) == 1 and paths[0].is_dir() else None
        with terminal.progress("reading", len(files)) as done:
            report = sgf_files.check(files, game=game or "", out=clean, root=root, progress=done)
        figures = report.to_json()
        if not json_:
            tell_errors(report.broken)
        rows = [{**row, "where": row["where"][0]} for row in figures["remarks"]]
        counts = pick(figures, "files", "games", "moves", "odd", "written", "seconds") | {"broken": len(report.broken)}
        told = ", ".join(f"{key} {terminal.figure(value)}" for key, value in counts.items())
        answer(figures, json_, told, rows)
        if report.broken:
            raise typer.Exit(1)
        return
    broken: list[str] = []
    records = sgf_files.read(files, broken)
    if json_:
        print(json.dumps({"games": [record.to_json() for record in records]}))
    else:
        shown = list(itertools.islice(records, MOST_SHOWN))
        left = sum(1 for _ in records)
        if len(shown) == 1:
            rules = sgf_game.find_game(shown[0], game or "")
            terminal.show_record(shown[0], sgf_game.replay(shown[0], rules) if rules else None)
        else:
            terminal.show([record.row() for record in shown], note=f"And {left:,} more." if left else "")
    tell_errors(broken)
    if broken:
        raise typer.Exit(1)


@app.command(epilog=example("goishi check ./mygame.py", "goishi check othello:size=6"))
def check(
    game: Spec,
    seconds: Annotated[float, typer.Option(help="The longest that one step of the rules may take.", min=0.1)] = 60,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """Is this game's file right? Random games show whether its rules keep their promises."""
    from goishi.core.check import check_file

    report = check_file(game, seconds, seed)
    if json_:
        claims = [claim._asdict() for claim in report.claims]
        print(json.dumps({"game": report.spec, "ok": report.ok, "claims": claims}))
    else:
        for claim, ok, detail in report.claims:
            print(f"{'yes' if ok else ' NO'}  {claim}" + (f": {detail}" if detail else ""))
        print(f"{report.spec} is {'right' if report.ok else 'not right yet'}.")
    if not report.ok:
        raise typer.Exit(1)


@app.command(epilog=example("goishi games"))
def games(json_: Json = False) -> None:
    """The games that are there, with their parameters."""
    import inspect

    from goishi.core import registry

    rows: list[dict[str, Any]] = []
    for name in registry.names():
        game = registry.find(name)
        setup = getattr(game.module, "setup", None)
        parameters = {key: each.default for key, each in inspect.signature(setup).parameters.items()} if setup else {}
        about = (game.module.__doc__ or "").strip().split("\n")[0]
        rows.append({"game": name, "parameters": parameters, "actions": game.actions, "about": about})
    shown = [
        {**row, "parameters": ",".join(f"{key}={value}" for key, value in row["parameters"].items())} for row in rows
    ]
    answer({"games": rows}, json_, "", shown)


@app.command(epilog=example("goishi models", "goishi models runs/six"))
def models(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="A folder to look in, such as a run's.")
    ] = None,
    json_: Json = False,
) -> None:
    """The models that come with Goishi, or those in a folder."""
    from goishi.networks import store

    paths = sorted((folder or store.models_folder()).rglob("*.onnx"))
    if folder and not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.")
    rows = []
    for path in paths:
        try:
            model = store.read(path)
        except BadModel as error:
            warn(str(error))
            continue
        size = path.stat().st_size
        network = str(model.architecture.get("network", ""))
        row = {
            "model": model.name,
            "game": model.game,
            "network": network,
            "steps": model.steps,
            "rating": model.rating,
        }
        rows.append({**row, "bytes": size, "path": str(path), "card": model.card})
    if not rows and not json_:
        print(f"There is no model in {folder}." if folder else "No model comes with this version of Goishi.")
    else:
        answer({"models": rows}, json_, "", [pick(row, "model", "game", "network", "steps", "bytes") for row in rows])


@bench.command("games", epilog=example("goishi bench games", "goishi bench games gomoku:size=9,row=5 --json"))
def bench_games(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="Games; else all, and some sizes.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="For each figure.", min=0.05)] = 1,
    threads: Annotated[int, typer.Option(help="Threads that play.", min=1)] = 2,
    json_: Json = False,
) -> None:
    """Rules: random games, moves and looks a second."""
    from goishi.core import measure

    answer_rows(measure.games(games or None, seconds, threads), json_)


@bench.command(
    "network", epilog=example("goishi bench network", "goishi bench network --network small --game connect4 --json")
)
def bench_network(
    network: Network = "thesis",
    game: BenchGame = BENCH_GAME,
    seconds: BenchSeconds = 20,
    json_: Json = False,
) -> None:
    """Networks: positions a second in each runtime, against this machine's matrix products."""
    from goishi.networks import measure

    answer_measured(json_, measure.network, game, network, seconds=seconds)


@bench.command(
    "search", epilog=example("goishi bench search", "goishi bench search --network small --seconds 60 --json")
)
def bench_search(
    network: Network = "thesis",
    game: BenchGame = BENCH_GAME,
    seconds: BenchSeconds = 120,
    json_: Json = False,
) -> None:
    """Search: its rate against the raw network's in one run, and a signature of what it chooses."""
    from goishi.search import measure

    answer_measured(json_, measure.search, game, network, seconds=seconds)


@bench.command("selfplay", epilog=example("goishi bench selfplay", "goishi bench selfplay --game connect4 --json"))
def bench_selfplay(
    game: BenchGame = BENCH_GAME,
    seconds: BenchSeconds = 30,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """Self-play: games and positions a second."""
    from goishi.training import measure

    answer_rows(measure.selfplay(game, seconds=seconds, seed=seed), json_)


@bench.command("train", epilog=example("goishi bench train", "goishi bench train --game connect4 --json"))
def bench_train(
    game: BenchGame = BENCH_GAME,
    seconds: BenchSeconds = 30,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """Learning: samples a second in the trainer."""
    from goishi.training import measure

    answer_rows(measure.train(game, seconds=seconds, seed=seed), json_)


def main(words: list[str] | None = None) -> NoReturn:
    """Runs the command line and ends the process: 0 done, 1 failed, 2 wrong words, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without the stones' characters still plays
    sys.exit(status_of(words))


def status_of(words: list[str] | None = None) -> int:
    """Runs one command; every error that a person can cause is one sentence on stderr."""
    try:
        status = app(words, prog_name="goishi", standalone_mode=False)
        sys.stdout.flush()
        if status == 130:  # Typer's answer to Ctrl-C
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0
    except GoishiError as error:
        return complain(str(error), error.status)
    except KeyboardInterrupt:
        return complain("Interrupted.", 130)
    except BrokenPipeError:  # whoever read our answer has gone, as in `goishi games | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        return complain(f"This needs {error.name}, which is not installed: pip install 'goishi[{extra}]'.", 1)
    except MemoryError:
        return complain("There is not enough memory for this; make it smaller.", 1)
    except OSError as error:
        return complain(sentence_of(error), 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # Typer's word for wrong words
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "goishi"
            return complain(f"{error.format_message().rstrip('.')}; `{command} --help` tells more.", 2)
        raise


def answer(figures: dict[str, Any], as_json: bool, title: str, rows: list[dict[str, Any]], note: str = "") -> None:
    """The answer on stdout: one JSON object, or rows for a person."""
    if as_json:
        print(json.dumps(figures))
    else:
        from goishi import terminal

        terminal.show(rows, title, note)


def answer_rows(figures: dict[str, Any], as_json: bool) -> None:
    """The figures of a bench: its rows as a table below the others."""
    from goishi import terminal

    rows = figures.get("rows") or [figures]
    rest = [f"{key.replace('_', ' ')} {terminal.figure(value)}" for key, value in figures.items() if key != "rows"]
    answer(figures, as_json, ", ".join(rest) if "rows" in figures else "", rows)


def answer_measured(as_json: bool, measure: Callable[..., dict[str, Any]], *words: str, **options: Any) -> None:
    """The figures of a bench that tells its progress."""
    from goishi import terminal

    with terminal.progress("measuring", 1) as done:
        figures = measure(*words, progress=done, **options)
    answer_rows(figures, as_json)


def pick(figures: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Some of the figures."""
    return {key: figures[key] for key in keys if key in figures}


def warn(text: str) -> None:
    """Tells the person something beside the answer."""
    print(text, file=sys.stderr)


def tell_errors(errors: list[str]) -> None:
    """Sentences about games that did not go as they should; the first ten."""
    for error in errors[:10]:
        warn(error)
    if len(errors) > 10:
        warn(f"And {len(errors) - 10} more.")


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
