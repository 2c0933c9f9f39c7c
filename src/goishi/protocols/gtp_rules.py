"""Rule sets of Go as other programs write them: a name, or KataGo's JSON.

A RuleSet belongs to its game's module (games/go.py), which is loaded once for each size; so the module is handed over.
"""

import json
from typing import Any

from goishi.core.game import Game
from goishi.errors import UsageError
from goishi.protocols.gtp_words import Failure

KEYS = {
    "ko": "ko",
    "scoring": "scoring",
    "tax": "tax",
    "suicide": "suicide",
    "whiteHandicapBonus": "bonus",
    "friendlyPassOk": "friendly",
    "hasButton": "button",
}
"""KataGo's names and the fields of a RuleSet."""
YES_NO = ("suicide", "friendlyPassOk", "hasButton")
AS_THEY_ARE = ("whiteHandicapBonus",)  # the others are written in capitals


def of_game(game: Game) -> Any:
    """The RuleSet that a game's spec asks for."""
    module: Any = game.module
    return module.describe(module.RULES)


def to_json(rules: Any, module: Any) -> str:
    """As KataGo prints them: keys sorted, no blanks."""
    return json.dumps(module.as_katago(rules), sort_keys=True, separators=(",", ":"))


def read(text: str, module: Any) -> Any:
    """A RuleSet from a name or JSON; what the JSON leaves out is Tromp-Taylor's. Raises Failure."""
    if not text.lstrip().startswith("{"):
        try:
            return module.preset(text)
        except UsageError as error:
            raise Failure(str(error)) from None
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise Failure("these rules are neither a name nor JSON") from None
    rules = module.preset("tromp-taylor")
    if fields.get("scoring") == "TERRITORY":
        rules = rules._replace(tax="seki")
    for key, value in fields.items():
        rules = with_rule(rules, key, value, module)
    return rules


def with_rule(rules: Any, key: str, value: Any, module: Any) -> Any:
    """A RuleSet with one of KataGo's keys changed; value as JSON has it, or as text. Raises Failure."""
    if key not in KEYS:
        raise Failure(f"no rule {key!r}; there are {', '.join(KEYS)}")
    if key in YES_NO:
        value = {"true": True, "false": False}.get(str(value).lower())
        allowed: tuple[Any, ...] = (True, False)
    else:
        value = str(value).upper() if key in AS_THEY_ARE else str(value).lower()
        allowed = {"ko": module.KO, "scoring": module.SCORING, "tax": module.TAX}.get(key, module.BONUS)
    if value not in allowed:
        words = ", ".join(str(each).lower() if key in YES_NO else each.upper() for each in allowed)
        raise Failure(f"{key} is {words}")
    return rules._replace(**{KEYS[key]: value})
