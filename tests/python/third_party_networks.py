"""Third-party networks and their specs."""

from __future__ import annotations

from dataclasses import dataclass

from pyengine.eval.spec import ModelSpec


@dataclass
class Network:
    game: str
    spec: ModelSpec


GOMOKU = ModelSpec(planes=("own[0]", "opp[0]", "last[0]", "first_to_move"))
NETWORKS = {
    "gomoku8x8_5": Network("gomoku(board_size=8)", GOMOKU),
    "gomoku6x6_4": Network("gomoku(board_size=6,win_length=4)", GOMOKU),
    "go9x9_pyaq": Network(
        'go(board_size=9,komi=7.0,superko="simple")',
        ModelSpec(
            planes=("own[0]", "opp[0]", "own[1]", "opp[1]", "own[2]", "opp[2]", "first_to_move"),
            rows="bottom_up",
            policy_rows="bottom_up",
            policy="probs",
        ),
    ),
    "othello8x8_ludax": Network("othello", ModelSpec(planes=("own[0]", "opp[0]"))),
    "connect4_sunshine": Network(
        "connect_four",
        ModelSpec(
            planes=("own[0]", "opp[0]"),
            policy="log_probs",
            value=("draw", "win", "loss"),
            value_kind="log_probs",
        ),
    ),
    "tictactoe_skyzero": Network(
        "tic_tac_toe",
        ModelSpec(
            planes=("own[2]", "opp[2]", "own[1]", "opp[1]", "own[0]", "opp[0]", "first_to_move")
        ),
    ),
}
