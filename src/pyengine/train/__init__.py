"""Training: networks, the learner, ONNX export, and the loop of self-play, training and gate.

Needs the extra ``train`` (PyTorch, onnx, pydantic), which is imported only when it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyengine.base import extras

if TYPE_CHECKING:
    from pyengine.train.configs import AverageConfig as AverageConfig
    from pyengine.train.configs import LearnerConfig as LearnerConfig
    from pyengine.train.configs import LossConfig as LossConfig
    from pyengine.train.configs import NetworkConfig as NetworkConfig
    from pyengine.train.configs import OptimiserConfig as OptimiserConfig
    from pyengine.train.configs import TrainConfig as TrainConfig
    from pyengine.train.configs import learning_rate as learning_rate
    from pyengine.train.errors import TrainingError as TrainingError
    from pyengine.train.export_check import ExportReport as ExportReport
    from pyengine.train.learner import Learner as Learner
    from pyengine.train.log import StepReport as StepReport
    from pyengine.train.loop.curve import plot_curve as plot_curve
    from pyengine.train.loop.gate import GateResult as GateResult
    from pyengine.train.loop.gate import play_gate as play_gate
    from pyengine.train.loop.run import ActorProgress as ActorProgress
    from pyengine.train.loop.run import RunProgress as RunProgress
    from pyengine.train.loop.run import RunReport as RunReport
    from pyengine.train.loop.run import train_run as train_run
    from pyengine.train.loop.run_configs import GateConfig as GateConfig
    from pyengine.train.loop.runfile import RunFile as RunFile
    from pyengine.train.module_export import export_module as export_module
    from pyengine.train.network import Network as Network
    from pyengine.train.onnx_export import export as export
    from pyengine.train.rollout_policy_fit import RolloutFit as RolloutFit
    from pyengine.train.rollout_policy_fit import RolloutFitProgress as RolloutFitProgress
    from pyengine.train.rollout_policy_fit import RolloutScores as RolloutScores
    from pyengine.train.rollout_policy_fit import rollout_policy as rollout_policy

_MODULES = {
    "configs": (
        "AverageConfig",
        "LearnerConfig",
        "LossConfig",
        "NetworkConfig",
        "OptimiserConfig",
        "TrainConfig",
        "learning_rate",
    ),
    "errors": ("TrainingError",),
    "export_check": ("ExportReport",),
    "learner": ("Learner",),
    "log": ("StepReport",),
    "loop.curve": ("plot_curve",),
    "loop.gate": ("GateResult", "play_gate"),
    "loop.run": ("ActorProgress", "RunProgress", "RunReport", "train_run"),
    "loop.run_configs": ("GateConfig",),
    "loop.runfile": ("RunFile",),
    "module_export": ("export_module",),
    "network": ("Network",),
    "onnx_export": ("export",),
    "rollout_policy_fit": ("RolloutFit", "RolloutFitProgress", "RolloutScores", "rollout_policy"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [*_MODULE_OF, "need"]


def need(module: str) -> Any:
    """Return a module that needs the extra ``train``. Raises EngineError without the extra."""
    return extras.need(module, "train")


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(need(f"{__name__}.{_MODULE_OF[name]}"), name)
