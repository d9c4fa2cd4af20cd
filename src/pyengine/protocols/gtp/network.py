"""The command that shows the network's own view of a position."""

from __future__ import annotations

import numpy as np

from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import exactly
from pyengine.protocols.winrate import lead_from_win_rate
from pyengine.search.result import win_rate


def _raw_network(client: Client, arguments: list[str]) -> str:
    """Answer for White, as KataGo does; the symmetry asked for does not change the answer."""
    exactly(arguments, 1)
    with client.position.turn_of(client.position.player):
        state, evaluator = client.state.clone(), client.session.engine.evaluator
    policy, value = evaluator.evaluate([state])
    ownership, score = evaluator.evaluate_final_board([state])
    sign = -1 if state.current_player() == 0 else 1
    white = win_rate(sign * float(value[0]))
    lead = lead_from_win_rate(white, state.game) if score is None else sign * float(score[0])
    shares = np.full(policy.shape[1], np.nan)
    legal = state.legal_actions()
    shares[legal] = policy[0][legal]
    lines = [
        "symmetry 0",
        f"whiteWin {white:.6f}",
        f"whiteLoss {1 - white:.6f}",
        "noResult 0.000000",
        f"whiteLead {lead:.3f}",
        f"whiteScoreSelfplay {lead:.3f}",
        "policy",
        *_rows(shares[:-1].reshape(state.game.board_shape)),
        f"policyPass {shares[-1]:.6f}",
    ]
    if ownership is not None:
        lines += ["whiteOwnership", *_rows(sign * ownership[0])]
    return "\n".join(lines)


def _rows(values: np.ndarray) -> list[str]:
    return [
        " ".join("NAN" if np.isnan(value) else f"{value:.6f}" for value in row) for row in values
    ]


GO_COMMANDS: dict[str, Handler] = {"kata-raw-nn": _raw_network}
