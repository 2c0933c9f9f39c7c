"""GoGui's commands: maps of what the engine thinks, setting up, games with rules of their own.

GoGui plays any game on a board of points, Gomoku too, by asking the engine for the rules (`gogui-rules_...`).
"""

import numpy as np

from goishi.protocols.gtp_analysis import AnalysisCommands
from goishi.protocols.gtp_words import Failure, color_name, color_of, command

EVERYWHERE = (
    "gfx/Policy/goishi-policy",
    "sboard/Visits/goishi-visits",
    "sboard/Values/goishi-values",
    "var/Line/goishi-line",
    "param/Search/goishi-param",
    "string/Show Board/showboard",
)
IN_GO = (
    "dboard/Ownership/goishi-ownership",
    "plist/Dead Stones/final_status_list dead",
    "string/Score/final_score",
    "string/Estimated Score/estimate_score",
    "string/Rules/kata-get-rules",
    "none/Set Rules.../kata-set-rules %s",
)


class GoguiCommands(AnalysisCommands):
    """What GoGui asks, and a few things that single programs do."""

    @command("gogui-analyze_commands")
    def analyze_commands(self, words: list[str]) -> str:
        return "\n".join(EVERYWHERE + (IN_GO if self._is_go else ()))

    @command("gogui-interrupt", "gogui-version", "gogui-title")
    def take_note(self, words: list[str]) -> str:
        """The interrupt itself is the comment `# interrupt`; that there is one is all that is asked."""
        return ""

    # ---------------------------------------------------------------- maps

    @command("goishi-policy")
    def policy(self, words: list[str]) -> str:
        policy = self._look().policy
        likeliest = [action for action in np.argsort(-policy, kind="stable")[:20] if policy[action] >= 0.005]
        on_board = [action for action in likeliest if action != self._passing]
        most = max(float(policy.max()), 1e-9)
        shades = " ".join(f"{self._vertex(action)} {policy[action] / most:.2f}" for action in on_board)
        texts = " ".join(f"{self._vertex(action)} {100 * policy[action]:.0f}" for action in on_board)
        told = f"pass {100 * policy[self._passing]:.0f}%" if self._passing < len(policy) else "percent"
        return f"INFLUENCE {shades}\nLABEL {texts}\nTEXT {told}"

    @command("goishi-visits")
    def visits(self, words: list[str]) -> str:
        return self._board({each.action: str(each.visits) for each in self._look().candidates})

    @command("goishi-values")
    def values(self, words: list[str]) -> str:
        """What the side to move would win, in percent, by each move that was looked at."""
        tried = [each for each in self._look().candidates if each.visits]
        return self._board({each.action: f"{50 * (1 + each.value):.0f}" for each in tried})

    @command("goishi-ownership", go=True)
    def ownership(self, words: list[str]) -> str:
        """Black's as +1."""
        owners = self._owners(self._position)
        return "\n".join(" ".join(f"{each:.2f}" for each in row) for row in owners)

    @command("goishi-line")
    def line(self, words: list[str]) -> str:
        position, told = self._position, []
        for action in self._look().candidates[0].line:
            told.append(f"{color_name(position.player)[0]} {self._vertex(action)}")
            position = position.play(action)
        return " ".join(told)

    @command("top_moves_black", "top_moves_white", go=True)
    def top_moves(self, words: list[str]) -> str:
        tried = [each for each in self._look().candidates if each.action != self._passing]
        return " ".join(f"{self._vertex(each.action)} {50 * (1 + each.value):.1f}" for each in tried[:10])

    def _board(self, texts: dict[int, str]) -> str:
        columns, rows = self._size
        cells = [texts.get(point, '""') for point in range(rows * columns)]
        return "\n".join(" ".join(cells[row * columns : (row + 1) * columns]) for row in range(rows))

    # ---------------------------------------------------------------- setting up

    @command("gogui-setup", go=True)
    def setup(self, words: list[str]) -> str:
        return self.set_position(words)

    @command("gogui-setup_player", go=True)
    def setup_player(self, words: list[str]) -> str:
        color = color_of(words)
        self._arrange(self._position.stones.ravel().copy(), color, int(self._position.state.handicap))
        return ""

    @command("gogui-play_sequence")
    def play_sequence(self, words: list[str]) -> str:
        """All of the moves, or none."""
        moves, before = self._moves(words), len(self._line)
        try:
            for color, action in moves:
                self._play(color, action)
        except Failure:
            del self._line[before:]
            raise
        return ""

    # ---------------------------------------------------------------- games with rules of their own

    @command("gogui-rules_game_id", go=False)
    def game_id(self, words: list[str]) -> str:
        return self._game.name.title()

    @command("gogui-rules_board_size", go=False)
    def rules_board_size(self, words: list[str]) -> str:
        return self.query_boardsize([])

    @command("gogui-rules_board", go=False)
    def rules_board(self, words: list[str]) -> str:
        return "\n".join(" ".join(".XO"[stone] for stone in row) for row in self._position.stones)

    @command("gogui-rules_legal_moves", go=False)
    def rules_legal_moves(self, words: list[str]) -> str:
        return "" if self._position.over else self._vertices(self._position.mask)

    @command("gogui-rules_side_to_move", go=False)
    def rules_side_to_move(self, words: list[str]) -> str:
        return color_name(self._position.player)

    @command("gogui-rules_final_result", go=False)
    def rules_final_result(self, words: list[str]) -> str:
        position = self._position
        if not position.over:
            return f"{color_name(position.player).title()} is to move"
        if self._is_go:
            return self.final_score([])
        if position.score == 0:
            return "Draw"
        return f"{'Black' if position.score > 0 else 'White'} wins"

    # ---------------------------------------------------------------- servers of games

    @command("cgos-opponent_name", "cgos-opponent_rating")
    def opponent(self, words: list[str]) -> str:
        """It plays alike against all."""
        return ""
