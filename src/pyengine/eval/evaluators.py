"""The evaluators of the leaves of a search."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from pyengine import _core
from pyengine.base.arrays import Floats
from pyengine.base.checks import check_type, did_you_mean, integer, number, shortened
from pyengine.base.files import path_of
from pyengine.errors import ConfigError
from pyengine.eval import engine_cache, runtime
from pyengine.eval.bundled import bundled_models as bundled_models
from pyengine.eval.bundled import network_file
from pyengine.eval.evaluator import Evaluator as Evaluator
from pyengine.eval.evaluator import game_of_states
from pyengine.eval.final_board import FinalBoardNetwork
from pyengine.eval.onnx_files import read_onnx
from pyengine.eval.providers import (
    ProviderLike,
    check_on_gpus,
    device_list,
    is_provider,
    natural,
    provider_list,
    tell_of_graphs,
)
from pyengine.eval.rollout_policy import RolloutPolicy
from pyengine.eval.run_folder import player_of_run
from pyengine.eval.spec import ModelSpec, spec_of_model

_log = logging.getLogger("pyengine")

_MOST_ROLLOUTS = 1_000_000  # per position

#: ``fn(planes float32[N,C,H,W]) -> (policy [N,A], value [N] or [N,3])``
PlanesFunction: TypeAlias = Callable[[Floats], tuple[npt.ArrayLike, npt.ArrayLike]]
#: ``fn(states) -> (policy [N,A], value [N])``
StatesFunction: TypeAlias = Callable[[list[Any]], tuple[npt.ArrayLike, npt.ArrayLike]]
EvaluatorLike: TypeAlias = "Evaluator | str | os.PathLike[str] | PlanesFunction"


class UniformEvaluator(Evaluator):
    """Equal priors, value 0.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("connect_four").new_initial_state()
        >>> policy, value = pyengine.UniformEvaluator().evaluate([state])
        >>> float(policy[0, 0] * 7), float(value[0])
        (1.0, 0.0)
    """

    def __init__(self) -> None:
        super().__init__(_core.uniform_evaluator())
        self._made_by = UniformEvaluator, ()


class RolloutEvaluator(Evaluator):
    """Equal priors and the mean result of random playouts.

    Args:
        rollouts: playouts per position, 1 to 1,000,000.
        policy: a :class:`RolloutPolicy` of Go or its file. None = uniform moves; in Go, none that
            fill the player's own eyes.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4, 8])
        >>> policy, value = pyengine.RolloutEvaluator(rollouts=1000).evaluate([state])
        >>> float(policy[0].max()), bool(value[0] > 0)  # the mover has two in a row
        (0.25, True)
    """

    def __init__(
        self, rollouts: int = 1, policy: RolloutPolicy | str | os.PathLike[str] | None = None
    ) -> None:
        self.rollouts = integer("rollouts", rollouts, 1, _MOST_ROLLOUTS)
        self.policy = None if policy is None else _rollout_policy(policy)
        if self.policy is None:
            super().__init__(_core.rollout_evaluator(self.rollouts))
        else:
            super().__init__(_core.policy_rollout_evaluator(self.rollouts, self.policy.native))
        self._made_by = RolloutEvaluator, (self.rollouts, self.policy)

    def __repr__(self) -> str:
        policy = "" if self.policy is None else f", policy={self.policy!r}"
        return f"RolloutEvaluator(rollouts={self.rollouts}{policy})"


class PolicyEvaluator(Evaluator):
    """Priors from the rollout policy of Go and value 0, to be mixed with playouts.

    A prior is 0.9 of the policy's probability plus an equal share of 0.1, since the policy gives 0
    to moves that may be good, such as a pass.

    Args:
        policy: a :class:`RolloutPolicy` or its file.

    Example:
        >>> import numpy as np, pyengine
        >>> from pyengine.eval import PolicyEvaluator, RolloutPolicy
        >>> none = np.zeros(65536, np.float32)
        >>> policy = RolloutPolicy(none, none, {"capture_stone": 2.0, "distance_2": 1.0})
        >>> rollouts = pyengine.RolloutEvaluator(policy=policy)
        >>> evaluator = pyengine.MixedEvaluator(PolicyEvaluator(policy), rollouts, mix=1)
    """

    def __init__(self, policy: RolloutPolicy | str | os.PathLike[str]) -> None:
        self.policy = _rollout_policy(policy)
        super().__init__(_core.policy_priors_evaluator(self.policy.native))
        self._made_by = PolicyEvaluator, (self.policy,)

    def __repr__(self) -> str:
        return f"PolicyEvaluator({self.policy!r})"


def _rollout_policy(policy: Any) -> RolloutPolicy:
    if isinstance(policy, str | os.PathLike):
        return RolloutPolicy.load(policy)
    check_type("policy", policy, RolloutPolicy, "a RolloutPolicy or its file")
    return policy  # type: ignore[no-any-return]


class MixedEvaluator(Evaluator):
    """AlphaGo's leaf value ``(1-mix)*network + mix*rollout``, with the network's priors.

    Args:
        network, rollout: anything that :func:`as_evaluator` accepts.
        mix: weight of ``rollout``, 0 to 1. At 0 the search equals that of ``network`` and makes no
            playouts; at 1 the values are exactly those of ``rollout``.

    Example:
        >>> import pyengine
        >>> alphago = pyengine.MixedEvaluator("connect4", "rollout", mix=0.5)
        >>> config = pyengine.SearchConfig(exploration="alphago", c_puct=5.0, simulations=50)
        >>> engine = pyengine.Engine("connect_four", alphago, config=config)
        >>> int(engine.search(engine.game.new_initial_state()).visits.sum())
        50
    """

    def __init__(self, network: EvaluatorLike, rollout: EvaluatorLike, mix: float = 0.5) -> None:
        parts = as_evaluator(network), as_evaluator(rollout)
        self.mix = number("mix", mix, "a number between 0 and 1", lambda weight: 0 <= weight <= 1)
        super().__init__(_core.mixed_evaluator(*parts, self.mix), parts[0].spec)
        self.network, self.rollout = parts
        self._made_by = MixedEvaluator, (self.network, self.rollout, self.mix)

    @property
    def has_final_board(self) -> bool:
        """Whether the network predicts the final board."""
        return self.network.has_final_board

    def evaluate_final_board(
        self, states: Sequence[Any], *, game: Any = None
    ) -> tuple[Floats | None, Floats | None]:
        """Return the prediction of the network."""
        return self.network.evaluate_final_board(states, game=game)

    def __repr__(self) -> str:
        return f"MixedEvaluator({self.network!r}, {self.rollout!r}, mix={self.mix})"


class OnnxEvaluator(Evaluator):
    """A network in an ONNX file, run by ONNX Runtime from C++ without the GIL.

    Args:
        path: the file, or the name of a bundled model. The input is ``[N,C,H,W]`` (``[N,H,W,C]``,
            or flat ``[N,C*H*W]``), float32, float16 or, for planes of -1, 0 and 1, int8. The batch
            size is free, or fixed and then padded. ONNX Runtime computes all outputs of a file,
            even unused ones.
        spec: how the network reads a position. None = the metadata key ``pyengine.spec``, else
            ``MODEL.spec.json`` beside the file, else inferred from the shapes, the graph and a
            trial run, with a UserWarning that shows the assumed spec.
        providers: names in order of preference, such as ``"CUDAExecutionProvider"`` (or
            ``"cuda"``, ``"tensorrt"``, ``"cpu"``), or pairs of a name and its options for ONNX
            Runtime: ``("CUDAExecutionProvider", {"use_tf32": 0})``. A named provider that is
            unavailable is an error. None = CUDA if it works, else the CPU; the logger ``pyengine``
            records the choice.
            CUDA: ``cudnn_conv_algo_search = HEURISTIC`` and ``prefer_nhwc = 1`` by default, which
            are faster; ``enable_cuda_graph = 1`` captures a CUDA graph per batch size.
            TensorRT: one engine serves batches of all sizes; the engines of the 32 most recently
            used networks are cached in ``~/.cache/pyengine/tensorrt`` (``XDG_CACHE_HOME``), unless
            ``trt_engine_cache_enable = 0``. Options that are passed override these defaults.
        device_id: index of the GPU, if a provider's options do not name one.
        max_batch: maximum number of rows per call; None = the whole batch of the search.
        threads: threads within one call on the CPU; None = 1, since every search thread makes its
            own calls.
        devices: indices of GPUs that share the batches, ``[0, 1]``; a batch goes to the GPU with
            the fewest in flight. None = only ``device_id``.

    Raises:
        ModelError: the file is missing, damaged, not ONNX, ambiguous without a spec, or names data
            outside its folder; or a named provider or a device is unavailable or refuses an option.
            Whether the network fits a game is checked once the game is known.
        ConfigError: an argument is out of range.

    Evaluators of the same file with the same arguments share ONNX Runtime sessions until the last
    one is gone; a changed file is opened again.

    After ``os.fork`` a child must open its networks again: those of the parent raise
    EvaluationError. Other evaluators work in the child.

    Example:
        >>> import pyengine
        >>> file = pyengine.bundled_models()["connect4"]
        >>> network = pyengine.OnnxEvaluator(file, providers=["cpu"])
        >>> state = pyengine.load_game("connect_four").new_initial_state()
        >>> policy, value = network.evaluate([state])
        >>> policy.shape, value.shape
        ((1, 7), (1,))
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        spec: ModelSpec | None = None,
        providers: Sequence[ProviderLike] | None = None,
        device_id: int = 0,
        max_batch: int | None = None,
        threads: int | None = None,
        devices: Sequence[int] | None = None,
    ) -> None:
        file = network_file("path", path)
        requested = provider_list(providers)
        gpus = device_list(device_id, devices)
        most_rows = 0 if max_batch is None else natural("max_batch", max_batch, 1)
        call_threads = 0 if threads is None else natural("threads", threads, 1)
        models, open_on_cpu = _open_network(file, requested, gpus, most_rows, call_threads)
        if devices is not None:
            check_on_gpus(gpus, models)
        first = models[0]
        resolved = spec_of_model(first, file, spec)
        super().__init__(_core.onnx_evaluator(models, resolved), resolved)
        arguments = (file.absolute(), resolved, providers, device_id, max_batch, threads, devices)
        self._made_by = OnnxEvaluator, arguments
        self.path = file
        self._models = models
        self._final_board = FinalBoardNetwork(file, resolved, first, open_on_cpu)
        self.provider: str = first.provider
        self.provider_reason: str = first.provider_reason
        _log.info("%s runs on %s: %s", file, self.provider, self.provider_reason)
        for model in models:
            tell_of_graphs(model.provider_text)

    def is_unchanged(self) -> bool:
        """Return whether the file and its external data are unchanged since it was opened."""
        return all(model.unchanged() for model in self._models)

    @property
    def has_final_board(self) -> bool:
        """Whether the spec names an ownership or a score output."""
        return bool(self._final_board.outputs)

    def evaluate_final_board(
        self, states: Sequence[Any], *, game: Any = None
    ) -> tuple[Floats | None, Floats | None]:
        """Predict the final board, see :meth:`Evaluator.evaluate_final_board`.

        The first call opens the file again on the CPU.
        """
        native_game = game_of_states(states, game, "evaluate_final_board")
        if native_game is None or not self.has_final_board:
            return None, None
        return self._final_board.evaluate(states, native_game)

    def __repr__(self) -> str:
        return f"OnnxEvaluator({str(self.path)!r}, provider={self.provider!r})"


def _open_network(
    file: Path,
    providers: list[tuple[str, dict[str, str]]],
    gpus: list[int],
    max_batch: int,
    threads: int,
) -> tuple[list[_core.OnnxModel], Callable[[], _core.OnnxModel]]:
    """Open a network on each GPU; also return a function that opens it on the CPU.

    Without ``providers`` it may run on a GPU; ``max_batch`` and ``threads`` are 0 if not given.
    """
    contents = read_onnx(file)  # refuses data outside the model's folder
    if not providers or not all(is_provider(name, runtime.CPU) for name, _ in providers):
        runtime.preload_cuda()
    library = runtime.find_library()
    engines = None
    if any(is_provider(name, runtime.TENSORRT) for name, _ in providers):
        engines = engine_cache.engine_folder(file, _core.ort_report(library)[0])
    open_file = functools.partial(
        _core.open_onnx, file, library=library, threads=threads, weights=contents.weights
    )
    models = [
        open_file(
            providers=providers,
            device_id=device,
            max_batch=max_batch,
            engine_cache=engines,
            last_operators=contents.last_operators,
        )
        for device in gpus
    ]
    if engines is not None:
        engine_cache.keep(engines)
    on_cpu = functools.partial(open_file, providers=[(runtime.CPU, {})], device_id=0, max_batch=0)
    return models, on_cpu


class CallbackEvaluator(Evaluator):
    """A Python function on planes, called once per batch and never concurrently.

    Evaluators and engines with the same function take turns.

    Args:
        fn: ``fn(planes float32[N,C,H,W]) -> (policy [N,A], value [N])``, ``[N,H,W,C]`` if the
            spec's layout is NHWC. The spec defines the outputs: by default logits, and a value in
            [-1, 1] for the player to move; a 3-way value is ``[N,3]``. ``fn`` may keep ``planes``.
        spec: None = ``ModelSpec()``.

    An exception in ``fn`` stops the search with an EvaluationError whose ``__cause__`` is that
    exception; KeyboardInterrupt passes unchanged.

    Example:
        >>> import numpy as np, pyengine
        >>> def network(planes):
        ...     return np.zeros((len(planes), 7)), planes[:, 0].mean(axis=(1, 2))
        >>> evaluator = pyengine.CallbackEvaluator(network, pyengine.ModelSpec(planes=("own[0]",)))
        >>> engine = pyengine.Engine("connect_four", evaluator)
    """

    def __init__(self, fn: PlanesFunction, spec: ModelSpec | None = None) -> None:
        _refuse_torch_module(fn)
        spec = ModelSpec() if spec is None else spec
        super().__init__(_core.callback_evaluator(fn, spec), spec)
        self.fn = fn
        self._made_by = CallbackEvaluator, (self.fn, self.spec)


def _refuse_torch_module(fn: Any) -> None:
    """Refuse a module: it takes tensors only and would fail within the search."""
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if module is not None and isinstance(fn, module):
        raise ConfigError(
            f"expected a function of NumPy arrays, got the torch.nn.Module {type(fn).__name__}: "
            "write it to a file with pyengine.train.export_module, or call it in a function, "
            "torch.no_grad()(lambda planes: net(torch.from_numpy(planes)))"
        )


class StateEvaluator(Evaluator):
    """A Python function on states, called once per batch, never concurrently and never cached.

    Args:
        fn: ``fn(states) -> (policy [N,A], value [N])``. States have ``history()``; those of a
            user's game are clones of the user's own objects. ``policy`` holds priors, which are
            masked by the legal actions and normalised; ``value`` is in [-1, 1] for the player to
            move.

    Raises errors as :class:`CallbackEvaluator` does.

    Example:
        >>> import numpy as np, pyengine
        >>> def short_games(states):
        ...     return np.ones((len(states), 9)), [-0.1 * len(s.history()) for s in states]
        >>> engine = pyengine.Engine("tic_tac_toe", pyengine.StateEvaluator(short_games))
    """

    def __init__(self, fn: StatesFunction) -> None:
        super().__init__(_core.state_evaluator(fn))
        self.fn = fn
        self._made_by = StateEvaluator, (self.fn,)


#: Evaluators without a network, by the names that users give.
NAMED: dict[str, Callable[[], Evaluator]] = {
    "uniform": UniformEvaluator,
    "rollout": RolloutEvaluator,
}


def as_evaluator(evaluator: EvaluatorLike) -> Evaluator:
    """Return an evaluator.

    Args:
        evaluator: an :class:`Evaluator`, ``"uniform"``, ``"rollout"``, the name of a bundled model,
            the path of an ONNX file, of a rollout policy (``.npz``) or of a training run's folder
            (its best network), or a callable, which becomes a :class:`CallbackEvaluator` with the
            default spec.

    Raises:
        ConfigError: the argument is none of these.
        ModelError: the file cannot be used.

    """
    if isinstance(evaluator, Evaluator):
        return evaluator
    if isinstance(evaluator, str):
        return _by_name(evaluator)
    if isinstance(evaluator, os.PathLike):
        return _from_file(path_of("evaluator", evaluator))
    if callable(evaluator):
        return CallbackEvaluator(evaluator)
    raise ConfigError(
        "evaluator must be an Evaluator, a name, a path or a callable, "
        f"got {type(evaluator).__name__}"
    )


def _from_file(path: str | os.PathLike[str]) -> Evaluator:
    name = player_of_run(os.fspath(path))
    if name in NAMED:
        return NAMED[name]()
    return RolloutEvaluator(policy=name) if name.endswith(".npz") else OnnxEvaluator(Path(name))


def _by_name(name: str) -> Evaluator:
    if name in NAMED:
        return NAMED[name]()
    if name in bundled_models():
        return OnnxEvaluator(name)
    # pathlib raises for names that no file can have.
    if name.endswith((".onnx", ".npz")) or os.sep in name or os.path.exists(name):  # noqa: PTH110
        return _from_file(name)
    raise unknown_evaluator(name)


def unknown_evaluator(name: str) -> ConfigError:
    """Return the error for a name that is neither an evaluator nor a file."""
    known = [*NAMED, *bundled_models()]
    return ConfigError(
        f"evaluator {shortened(name)} is neither a file nor one of: {', '.join(known)}"
        f"{did_you_mean(name, known)}"
    )
