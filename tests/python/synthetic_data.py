"""A small configuration and made-up positions, for tests of the learner."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyengine
from pyengine.train import LearnerConfig, NetworkConfig, OptimiserConfig, TrainConfig

AUXILIARY = ("reply", "short_value", "ownership", "score")


def small_config(**parts: Any) -> TrainConfig:
    """Return small settings with some parts replaced."""
    small: dict[str, Any] = {
        "network": NetworkConfig(blocks=1, filters=8, value_hidden=8),
        "optimiser": OptimiserConfig(schedule="constant", learning_rate=0.05),
        "learner": LearnerConfig(batch_size=32, threads=1, log_steps=5, device="cpu"),
    }
    return TrainConfig(**{**small, **parts})


class SyntheticData:
    """Random positions; the policy is a fixed move, the value the player with more stones."""

    def __init__(
        self,
        game: str = "tic_tac_toe",
        positions: int = 200,
        *,
        later: bool = False,
    ) -> None:
        """Play random games until there are enough positions.

        ``later`` adds targets for auxiliary heads: the policy as the reply, values for one horizon,
        and the stones as the last board.
        """
        self.game = pyengine.load_game(game)
        self.spec = pyengine.ModelSpec()
        rng = np.random.default_rng(0)
        planes: list[Any] = []
        policy = np.zeros((positions, self.game.num_distinct_actions()), np.float32)
        while len(planes) < positions:
            state = self.game.new_initial_state()
            while not state.is_terminal() and len(planes) < positions:
                policy[len(planes), state.legal_actions()[0]] = 1
                planes.append(state.observation_tensor(self.spec))
                state.apply_action(int(rng.choice(state.legal_actions())))
        stacked = np.stack(planes)
        value = np.sign(stacked[:, 0].sum((1, 2)) - stacked[:, 1].sum((1, 2)))
        self.rows = {
            "planes": stacked,
            "policy": policy,
            "value": value.astype(np.float32),
            "root_value": np.zeros(positions, np.float32),
            "full": np.ones(positions, bool),
        }
        if later:
            self.rows["reply"] = policy
            self.rows["replied"] = rng.random(positions) < 0.9
            self.rows["short_values"] = value.astype(np.float32)[:, None]
            self.rows["ownership"] = stacked[:, 0] - stacked[:, 1]
            self.rows["score"] = self.rows["ownership"].sum((1, 2))
            self.rows["ended"] = rng.random(positions) < 0.9

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.rows["value"])

    def sample(
        self, size: int, rng: np.random.Generator, augment: bool = True
    ) -> dict[str, np.ndarray]:
        """Return random rows without applying symmetries."""
        chosen = rng.integers(len(self), size=size)
        return {name: rows[chosen] for name, rows in self.rows.items()}
