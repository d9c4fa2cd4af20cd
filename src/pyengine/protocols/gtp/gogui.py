"""Commands of GoGui: boards of any game, and analyze commands."""

from __future__ import annotations

from pyengine.games.outcomes import outcome_text
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.final_score import expected_owners
from pyengine.protocols.gtp.play import search
from pyengine.protocols.gtp.syntax import colour_of
from pyengine.protocols.gtp.vertices import move_name, names_of

#: Type, label and command of the entries in GoGui's analyze menu; the last are for Go alone.
_ANALYZE = (
    "pspairs/Network policy/pyengine-policy",
    "var/Best line/pyengine-line",
    "plist/Legal moves/gogui-rules_legal_moves",
    "string/Result/gogui-rules_final_result",
)
_ANALYZE_GO = (
    "dboard/Ownership/pyengine-ownership",
    "string/Score/final_score",
    "plist/Dead stones/final_status_list dead",
)
_UNKNOWN = "unknown"
_LEAST_SHARE = 0.005  # shown of a policy


def _game_id(client: Client, _: list[str]) -> str:
    return client.game.name.replace("_", "")


def _board(client: Client, _: list[str]) -> str:
    if not client.game.has_board:
        return f"\n{client.state}"
    return "\n" + "\n".join(" ".join(row) for row in client.state.board_rows())


def _board_size(client: Client, _: list[str]) -> str:
    rows, columns = client.game.board_shape
    return str(rows) if rows == columns else f"{columns} {rows}"


def _legal_moves(client: Client, _: list[str]) -> str:
    state = client.state
    return " ".join(move_name(state, action) for action in state.legal_actions())


def _side_to_move(client: Client, _: list[str]) -> str:
    return colour_of(client.position.player)


def _final_result(client: Client, _: list[str]) -> str:
    if not client.state.is_terminal():
        return _UNKNOWN
    return outcome_text(client.state, lambda player: colour_of(player).capitalize(), None)


def _interrupt(_: Client, _arguments: list[str]) -> str:
    return ""  # its presence says that "# interrupt" works


# --- the analyze menu


def _analyze_commands(client: Client, _: list[str]) -> str:
    more = _ANALYZE_GO if "final_status_list" in client.commands else ()
    return "\n".join((*_ANALYZE, *more))


def _policy(client: Client, _: list[str]) -> str:
    """The evaluator's priors, in percent."""
    state = client.state
    if state.is_terminal():
        return ""
    priors = client.session.engine.evaluator.evaluate([state])[0][0]
    shares = {action: float(priors[action]) for action in state.legal_actions()}
    return " ".join(
        f"{move_name(state, action)} {share:.0%}"
        for action, share in shares.items()
        if share >= _LEAST_SHARE
    )


def _line(client: Client, _: list[str]) -> str:
    with client.position.turn_of(client.position.player):
        return " ".join(names_of(client.state, search(client, charge=False).pv))


def _ownership(client: Client, _: list[str]) -> str:
    owners = expected_owners(client.state, client.session.engine.evaluator)
    return "\n" + "\n".join(" ".join(f"{value:.3f}" for value in row) for row in owners)


COMMANDS: dict[str, Handler] = {
    "gogui-analyze_commands": _analyze_commands,
    "gogui-interrupt": _interrupt,
    "gogui-rules_game_id": _game_id,
    "gogui-rules_board": _board,
    "gogui-rules_board_size": _board_size,
    "gogui-rules_legal_moves": _legal_moves,
    "gogui-rules_side_to_move": _side_to_move,
    "gogui-rules_final_result": _final_result,
    "pyengine-policy": _policy,
    "pyengine-line": _line,
}
GO_COMMANDS: dict[str, Handler] = {"pyengine-ownership": _ownership}
