"""Players for tests: one that follows a script, one that always plays alike. Lets the tests import `archives`."""

import sys
from pathlib import Path

import pytest

from goishi.players import Decision

sys.path.insert(0, str(Path(__file__).parent))  # whatever pytest's import mode


class Scripted:
    """Plays a list of actions; an exception in it is raised."""

    def __init__(self, name, script):
        self.name = name
        self.script = list(script)
        self.closed = False

    def choose(self, position, limit=None):
        step = self.script.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step if isinstance(step, Decision) else Decision(step)

    def close(self):
        self.closed = True


class Lowest:
    """Plays the lowest legal action, always."""

    def __init__(self, name="lowest"):
        self.name = name

    def choose(self, position, limit=None):
        return Decision(position.actions[0])

    def close(self):
        pass


@pytest.fixture
def scripted():
    """The class of players that follow a script."""
    return Scripted


@pytest.fixture
def lowest():
    """The class of players that play the lowest legal action."""
    return Lowest
