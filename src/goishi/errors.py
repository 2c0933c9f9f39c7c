"""What Goishi raises on purpose: each error carries one sentence for a person that says what to do."""


class GoishiError(Exception):
    """Something a user can mend; the command line prints its text and no traceback."""

    status = 1  # exit status of the command line


class UsageError(GoishiError):
    """The words of a command, a spec or a setting are wrong."""

    status = 2


class UnknownGame(UsageError):
    """No game of this name, or a parameter that it does not take."""


class BadGame(GoishiError):
    """A game's file breaks the rules for games (see docs/new-game.md)."""


class IllegalMove(GoishiError):
    """A move that the rules forbid here, or the name of no point on this board."""


class BadModel(GoishiError):
    """A model's file is missing, broken, foreign, or made for another game."""


class BadRecord(GoishiError):
    """A game record or a puzzle file that cannot be read."""


class BadRun(GoishiError):
    """A training run's folder that cannot be used as it is."""


class MissingExtra(GoishiError):
    """A part of Goishi that is not installed; the text names the extra."""


class MissingProgram(GoishiError):
    """An outside program that is not on this machine; the text names what brings it."""


class EngineFailure(GoishiError):
    """An outside program ended, answered nothing sensible, or refused what it must accept."""


class EngineTimeout(EngineFailure):
    """An outside program did not answer in time."""
