"""Commands about the rules of Go, by the names of KataGo and KGS."""

from __future__ import annotations

import json
from typing import Any

from pyengine.data.sgf.record import rules_params
from pyengine.protocols.gtp.boards import change_rules
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import GtpError, exactly
from pyengine.protocols.lines import log

#: Names that SGF does not know, or uses differently.
_NAMES: dict[str, dict[str, Any]] = {
    "chinese": {"superko": "simple", "suicide": False},
    "chinese-kgs": {"superko": "positional", "suicide": False},
    "japanese": {"superko": "simple", "suicide": False},
    "korean": {"superko": "simple", "suicide": False},
    "stone-scoring": {"superko": "simple", "suicide": False},
    "aga-button": {"superko": "situational", "suicide": False},
}
_TERRITORY = ("japanese", "korean")
_KO = ("simple", "positional", "situational")


def _set_rules(client: Client, arguments: list[str]) -> str:
    text = " ".join(arguments)
    if text.startswith("{"):
        _set_fields(client, _json(text))
        return ""
    name = text.lower().replace("_", "-")
    params = _NAMES.get(name) or rules_params(name, client.game)
    if not params:
        raise GtpError("unknown rules")
    if name in _TERRITORY:
        _warn_of_territory()
    change_rules(client, **params)
    return ""


def _json(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise GtpError("expected a JSON object") from None
    if not isinstance(fields, dict):
        raise GtpError("expected a JSON object")
    return fields


def _set_rule(client: Client, arguments: list[str]) -> str:
    name, value = exactly(arguments, 2)
    given: Any = value.lower() == "true" if value.lower() in ("true", "false") else value
    _set_fields(client, {name: given})
    return ""


def _set_fields(client: Client, fields: dict[str, Any]) -> None:
    """Change the rules by KataGo's fields; those that pyengine lacks are ignored."""
    params: dict[str, Any] = {}
    for name, value in fields.items():
        text = str(value).lower()
        if name == "ko" and text in _KO:
            params["superko"] = text
        elif name == "suicide" and isinstance(value, bool):
            params["suicide"] = value
        elif name == "komi" and isinstance(value, int | float):
            params["komi"] = float(value)
        elif name == "scoring" and text == "territory":
            _warn_of_territory()
        elif name in ("ko", "suicide", "komi") or (name == "scoring" and text != "area"):
            raise GtpError(f"invalid value of {name}")
        elif text not in ("none", "false", "0", "area"):
            log(f"the rule {name} is not supported; ignored")
    change_rules(client, **params)


def _warn_of_territory() -> None:
    log("territory rules are not supported: the game is scored by area")


def _get_rules(client: Client, _: list[str]) -> str:
    params = client.game.params
    return json.dumps(
        {
            "hasButton": False,
            "ko": str(params["superko"]).upper(),
            "scoring": "AREA",
            "suicide": params["suicide"],
            "tax": "NONE",
            "whiteHandicapBonus": "0",
            "friendlyPassOk": False,
        }
    )


def _kgs_rules(client: Client, arguments: list[str]) -> str:
    name = exactly(arguments, 1)[0].lower()
    return _set_rules(client, ["chinese-kgs" if name == "chinese" else name])


GO_COMMANDS: dict[str, Handler] = {
    "kata-set-rules": _set_rules,
    "kata-set-rule": _set_rule,
    "kata-get-rules": _get_rules,
    "kgs-rules": _kgs_rules,
}
