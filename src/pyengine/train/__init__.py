"""Training: networks, the learner, ONNX export, and the loop of self-play, training and gate.

Needs the extra ``train`` (PyTorch, onnx), which is imported only where it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyengine.base import extras
from pyengine.base.arguments import found
from pyengine.errors import ConfigError
from pyengine.train.configs import (
    AverageConfig,
    LearnerConfig,
    LossConfig,
    NetworkConfig,
    OptimiserConfig,
    TrainConfig,
)
from pyengine.train.errors import TrainingError
from pyengine.train.loop.curve import plot_curve
from pyengine.train.loop.gate import GateResult, play_gate
from pyengine.train.loop.run import ActorProgress, RunProgress, RunReport, train_run
from pyengine.train.loop.run_configs import GateConfig
from pyengine.train.loop.runfile import RunFile
from pyengine.train.rollout_policy_fit import (
    RolloutFit,
    RolloutFitProgress,
    RolloutScores,
    rollout_policy,
)
from pyengine.train.schedule import learning_rate

if TYPE_CHECKING:
    from pyengine.train.learner import Learner, StepReport
    from pyengine.train.module_export import export_module
    from pyengine.train.network import Network
    from pyengine.train.onnx_export import ExportReport, export

__all__ = [
    "ActorProgress",
    "AverageConfig",
    "ExportReport",
    "GateConfig",
    "GateResult",
    "Learner",
    "LearnerConfig",
    "LossConfig",
    "Network",
    "NetworkConfig",
    "OptimiserConfig",
    "RolloutFit",
    "RolloutFitProgress",
    "RolloutScores",
    "RunFile",
    "RunProgress",
    "RunReport",
    "StepReport",
    "TrainConfig",
    "TrainingError",
    "export",
    "export_module",
    "learning_rate",
    "need",
    "play_gate",
    "plot_curve",
    "rollout_policy",
    "train_run",
]

_LAZY = {
    "ExportReport": "onnx_export",
    "Learner": "learner",
    "Network": "network",
    "StepReport": "learner",
    "export": "onnx_export",
    "export_module": "module_export",
}


def need(module: str) -> Any:
    """Return a module that needs the extra ``train``. Raises EngineError that names the extra."""
    if not (isinstance(module, str) and module):
        raise ConfigError(f"module: expected the name of a module, found {found(module)}")
    return extras.need(module, "train")


def __getattr__(name: str) -> Any:
    """Import what needs PyTorch when it is asked for. Raises EngineError that names the extra."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(need(f"pyengine.train.{_LAZY[name]}"), name)
