"""Commands about the rules of Go, by the names of KataGo and KGS."""

from __future__ import annotations

import json
from typing import Any

from pyengine.protocols.gtp.boards import change_rules
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import GtpError, exactly
from pyengine.protocols.lines import log
from pyengine.protocols.rules import Rules, rules_from_parts, rules_named


def _set_rules(client: Client, arguments: list[str]) -> str:
    text = " ".join(arguments)
    return _change(client, rules_from_parts(_json(text)) if "{" in text else rules_named(text))


def _json(text: str) -> dict[str, Any]:
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        raise GtpError("expected a JSON object") from None
    if not isinstance(parts, dict):
        raise GtpError("expected a JSON object")
    return parts


def _set_rule(client: Client, arguments: list[str]) -> str:
    name, value = exactly(arguments, 2)
    flags = {"true": True, "false": False}
    parts = _parts(client) | {name: flags.get(value.lower(), value)}
    return _change(client, rules_from_parts(parts))


def _change(client: Client, rules: Rules) -> str:
    if rules.warning:
        log(rules.warning)
    if rules.bonus != "0":
        log("White gets no points for handicap stones; change the komi instead")
    komi = {} if rules.komi is None else {"komi": rules.komi}
    change_rules(client, superko=rules.superko, suicide=rules.suicide, **komi)
    return ""


def _get_rules(client: Client, _: list[str]) -> str:
    return json.dumps(_parts(client))


def _parts(client: Client) -> dict[str, Any]:
    params = client.game.params
    return {
        "hasButton": False,
        "ko": str(params["superko"]).upper(),
        "scoring": "AREA",
        "suicide": params["suicide"],
        "tax": "NONE",
        "whiteHandicapBonus": "0",
        "friendlyPassOk": False,
    }


def _kgs_rules(client: Client, arguments: list[str]) -> str:
    name = exactly(arguments, 1)[0].lower()
    return _set_rules(client, ["chinese-kgs" if name == "chinese" else name])


GO_COMMANDS: dict[str, Handler] = {
    "kata-set-rules": _set_rules,
    "kata-set-rule": _set_rule,
    "kata-get-rules": _get_rules,
    "kgs-rules": _kgs_rules,
}
