"""The Go Text Protocol, version 2: an engine for Go and, as far as it makes sense, for every game with a board.

`Gtp.answer` is pure but for its own state: a line in, a whole reply out. Black is the first player. The commands are
methods: gtp_board.py has those about the board, gtp_play.py those that think, gtp_analysis.py those that tell what they
think, gtp_gogui.py GoGui's, gtp_records.py those about files.
"""

import time
import traceback
from collections.abc import Callable

import goishi
from goishi.core import registry
from goishi.core.game import Game
from goishi.errors import GoishiError
from goishi.protocols.gtp_gogui import GoguiCommands
from goishi.protocols.gtp_play import RESIGN
from goishi.protocols.gtp_records import RecordCommands
from goishi.protocols.gtp_words import Failure, command, commands_of, framed, split_id, split_line
from goishi.protocols.stdio import Gone, complain


class Gtp(GoguiCommands, RecordCommands):
    """One engine: a game, its position with all that led to it, clocks, and a player who may still be loading."""

    def __init__(
        self,
        spec: str,
        player: str | Callable[[Game], str],
        name: str = "Goishi",
        version: str = "",
        resign: float | None = RESIGN,
        ponder: bool = False,
    ):
        """player  a spec, or what finds one for a game
        name, version  what the commands of these names say; some programs go by it
        resign  the value in [-1, 0] below which the engine gives up, None never
        ponder  does it think on while it is the other's turn?
        """
        self.over = False
        self.say: Callable[[str], None] | None = None
        self._engine_name, self._version = name, version or goishi.__version__
        super().__init__(registry.find(spec), player, resign, ponder)
        self._commands = commands_of(self, self._is_go)

    def answer(self, line: str) -> str | None:
        """The reply to a line, its closing empty line included; None where there is nothing to say.

        What an analysis tells on its way goes to `say`, where there is one.
        """
        self._attention.turn()
        self._end_pondering()
        words = split_line(line)
        if not words:
            return None
        number, name = split_id(words[0])
        words = [name, *words[1:]] if name else words[1:]
        method, _ = self._commands.get(words[0], (None, False)) if words else (None, False)
        try:
            if method is None:
                raise Failure("unknown command")
            reply = method(words[1:])
        except Exception as error:
            if not isinstance(error, GoishiError):
                complain(traceback.format_exc())
            return f"?{number} {framed(str(error)) or type(error).__name__}\n\n"
        if isinstance(reply, str):
            return f"={number} {framed(reply)}\n\n"
        told: list[str] = []
        say = self.say or told.append
        say(f"={number}\n")
        try:
            reply(lambda row: say(f"{row}\n"))
        except Gone:
            raise
        except Exception as error:  # too late for a failure
            complain(str(error) if isinstance(error, GoishiError) else traceback.format_exc())
        return "".join([*told, "\n"])

    def interrupt(self, line: str) -> None:
        """From the thread that reads: there is another line. It ends an analysis and pondering; `# interrupt` ends a
        move, too."""
        self._attention.hear(line)

    def close(self) -> None:
        """Ends what may still think, and the programs that play."""
        self._end_pondering()
        if self._loading and self._loading.done() and not self._loading.exception():
            self._ready().player.close()

    # ---------------------------------------------------------------- what it is

    @command("protocol_version")
    def protocol_version(self, words: list[str]) -> str:
        return "2"

    @command("name")
    def name(self, words: list[str]) -> str:
        return self._engine_name

    @command("version")
    def version(self, words: list[str]) -> str:
        return self._version

    @command("known_command")
    def known_command(self, words: list[str]) -> str:
        return "true" if " ".join(words) in self._commands else "false"

    @command("list_commands")
    def list_commands(self, words: list[str]) -> str:
        return "\n".join(name for name, (_, listed) in self._commands.items() if listed)

    @command("quit")
    def quit(self, words: list[str]) -> str:
        self.over = True
        return ""

    @command("cputime")
    def cputime(self, words: list[str]) -> str:
        return f"{time.process_time():.3f}"

    @command("kgs-chat")
    def chat(self, words: list[str]) -> str:
        """What is said back."""
        return f"I am {self._engine_name} {self._version}, a program, and understand no words."
