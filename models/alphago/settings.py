"""The settings of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import pyengine
from pyengine.train import NetworkConfig

__all__ = ["GAME", "MATCHES", "PLANES", "QUICK", "Settings"]

#: The komi that the teacher was trained with.
GAME = "go(board_size=9,komi=7.0)"

#: A subset of AlphaGo's features: stones, last moves, liberties, legal points, ko, colour.
PLANES = (
    *("own[0]", "opp[0]", "last[0]", "last[1]"),
    *("liberties[1]", "liberties[2]", "liberties[3+]"),
    *("legal", "ko", "first_to_move", "ones"),
)


#: Settings that affect only the table.
MATCHES = frozenset({"match_games", "simulations", "gnugo_level"})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes of all stages; the defaults are those of the full run."""

    seed: int = 0
    #: Number of teacher games, and simulations per move.
    teacher_games: int = 6000
    teacher_simulations: int = 64
    #: Residual blocks and filters of both networks.
    blocks: int = 5
    filters: int = 64
    #: Training of the policy network.
    policy_steps: int = 20_000
    batch_size: int = 256
    learning_rate: float = 1e-3
    #: Policy gradient: iterations, games per iteration, rate, iterations between pool versions.
    reinforce_iterations: int = 1000
    reinforce_games: int = 128
    reinforce_rate: float = 2e-4
    reinforce_pool: int = 50
    #: Value network: games of one position each, the latest ply of the position, training steps.
    value_games: int = 60_000
    value_plies: int = 60
    value_steps: int = 20_000
    #: Matches of the table: games, simulations per move, level of GNU Go.
    match_games: int = 200
    simulations: int = 400
    gnugo_level: int = 10

    @property
    def spec(self) -> pyengine.ModelSpec:
        """The spec of both networks."""
        return pyengine.ModelSpec(planes=PLANES)

    def network(self, kind: str) -> NetworkConfig:
        """Return the settings of a network."""
        return NetworkConfig(
            kind=kind,
            blocks=self.blocks,
            filters=self.filters,
            policy_filters=16,
            value_filters=16,
            value_hidden=64,
        )

    def scaled(self, factor: float) -> Settings:
        """Return the settings with games and steps scaled, except those of matches."""
        sizes = (
            "teacher_games",
            "policy_steps",
            "reinforce_iterations",
            "value_games",
            "value_steps",
        )
        scaled = {name: max(1, round(getattr(self, name) * factor)) for name in sizes}
        return replace(self, **scaled)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


#: A run of seconds, for tests.
QUICK = Settings(
    teacher_games=16,
    teacher_simulations=4,
    blocks=1,
    filters=16,
    policy_steps=30,
    batch_size=64,
    reinforce_iterations=4,
    reinforce_games=8,
    reinforce_pool=2,
    value_games=48,
    value_plies=30,
    value_steps=30,
    match_games=2,
    simulations=8,
    gnugo_level=1,
)
