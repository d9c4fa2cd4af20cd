"""Evaluators: what evaluates the leaves of a search."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from pyengine import _core
from pyengine.base.arguments import check_type, did_you_mean, number, short_repr
from pyengine.base.files import path_of
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.eval import engine_cache, runtime
from pyengine.eval.evaluator import Evaluator as Evaluator
from pyengine.eval.evaluator import Floats, check_states, game_of_state
from pyengine.eval.final_board import FinalBoardNetwork
from pyengine.eval.onnx_files import external_files, last_operators
from pyengine.eval.providers import (
    ProviderLike,
    check_on_gpus,
    device_list,
    engine_folder_of,
    natural,
    provider_list,
    tell_of_graphs,
)
from pyengine.eval.rollout_policy import RolloutPolicy
from pyengine.eval.spec import ModelSpec, spec_of_model
from pyengine.games.game import as_game

_log = logging.getLogger("pyengine")

_MOST_ROLLOUTS = 1_000_000  # of a position

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

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return UniformEvaluator, ()


class RolloutEvaluator(Evaluator):
    """Equal priors and the mean result of random playouts.

    Args:
        rollouts: playouts of a position, 1 to 1,000,000. They are uniform over the legal actions;
            in Go, over those that do not fill an eye of one's own.
        policy: plays them instead, in Go: a :class:`RolloutPolicy`, or its file.

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

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return RolloutEvaluator, (self.rollouts, self.policy)

    def __repr__(self) -> str:
        policy = "" if self.policy is None else f", policy={self.policy!r}"
        return f"RolloutEvaluator(rollouts={self.rollouts}{policy})"


class PolicyEvaluator(Evaluator):
    """Priors by the rollout policy of Go, value 0: to be mixed with playouts.

    A prior is 0.9 of the policy's probability and 0.1 shared equally, since the policy gives 0 to
    moves that may be good, the pass among them. With ``mix=1`` the values are those of the playouts
    alone, in a tree that begins with the moves of the policy.

    Args:
        policy: a :class:`RolloutPolicy`, or its file.

    Example:
        >>> import numpy as np, pyengine
        >>> none = np.zeros(65536, np.float32)
        >>> policy = pyengine.RolloutPolicy(none, none, {"capture_stone": 2.0, "distance_2": 1.0})
        >>> rollouts = pyengine.RolloutEvaluator(policy=policy)
        >>> evaluator = pyengine.MixedEvaluator(pyengine.PolicyEvaluator(policy), rollouts, mix=1)
        >>> state = pyengine.load_game("go(board_size=9)").new_initial_state([40])
        >>> result = pyengine.search(state, evaluator=evaluator, simulations=100)
    """

    def __init__(self, policy: RolloutPolicy | str | os.PathLike[str]) -> None:
        self.policy = _rollout_policy(policy)
        super().__init__(_core.policy_priors_evaluator(self.policy.native))

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return PolicyEvaluator, (self.policy,)

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
        network, rollout: anything that :func:`as_evaluator` takes.
        mix: weight of ``rollout``, 0 to 1. With 0 the search is that of ``network`` alone, and no
            playout is made; with 1 the values are those of ``rollout``, exactly.

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
        expected = "a number between 0 and 1"
        weight = number("mix", mix, expected, lambda given: 0 <= given <= 1)
        super().__init__(_core.mixed_evaluator(*parts, weight), parts[0].spec)
        self.network, self.rollout = parts
        self.mix = weight

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return MixedEvaluator, (self.network, self.rollout, self.mix)

    @property
    def has_final_board(self) -> bool:
        """Whether the network predicts it."""
        return self.network.has_final_board

    def evaluate_final_board(
        self, states: Sequence[Any], *, game: Any = None
    ) -> tuple[Floats | None, Floats | None]:
        """Return the prediction of the network; playouts have none."""
        return self.network.evaluate_final_board(states, game=game)

    def __repr__(self) -> str:
        return f"MixedEvaluator({self.network!r}, {self.rollout!r}, mix={self.mix})"


class OnnxEvaluator(Evaluator):
    """A network in an ONNX file, run by ONNX Runtime from C++ without the GIL.

    Args:
        path: the file, or the name of a bundled model. Its input is ``[N,C,H,W]`` (``[N,H,W,C]``,
            or flat ``[N,C*H*W]``), float32, float16 or, for planes of -1, 0 and 1, int8; its batch
            is free or fixed (then padded). ONNX Runtime computes all outputs of a file, unread
            ones too.
        spec: how it reads a position; None = the metadata key ``pyengine.spec``, else
            ``MODEL.spec.json`` beside the file, else what shapes, the graph and a trial run tell,
            with a UserWarning that shows what is assumed.
        providers: names such as ``"CUDAExecutionProvider"`` (or ``"cuda"``, ``"tensorrt"``,
            ``"cpu"``), the most wanted first, or pairs of a name and its options as ONNX Runtime
            takes them: ``("CUDAExecutionProvider", {"use_tf32": 0})``. CUDA's own defaults but for
            ``cudnn_conv_algo_search = HEURISTIC`` and ``prefer_nhwc = 1``, which are faster.
            With ``enable_cuda_graph = 1`` each size of batches is captured as a CUDA graph.
            TensorRT gets one engine for batches of all sizes (``trt_profile_*_shapes``), kept with
            its timings in ``~/.cache/pyengine/tensorrt`` (``XDG_CACHE_HOME``) for the 32 networks
            used last; ``trt_engine_cache_enable = 0`` keeps none. What is named here wins.
            None = CUDA when it works, else the CPU; the choice is logged (logger ``pyengine``). A
            provider that is named is used or an error.
        device_id: which GPU, if a provider's options do not name one.
        max_batch: most rows of one call of the network; None = the whole batch of the search.
        threads: threads within one call on the CPU; None = 1, since every thread of a search
            makes calls of its own.
        devices: GPUs that share the batches, which go to whichever has the fewest in service:
            ``[0, 1]``. None = the one of ``device_id``. Devices that are no working GPUs are an
            error.

    Raises:
        ModelError: the file is missing, damaged, no ONNX, cannot be read without a spec or names
            data outside its own folder, or a named provider cannot be had, is not known or refuses
            an option; says what was expected and what was found. Whether it fits a game, and
            whether its outputs are what the spec says, is checked when the game is known.
        ConfigError: an argument is out of range.

    Evaluators of one file with the same arguments share ONNX Runtime's sessions, until the last of
    them is gone; a file that has changed is opened again.

    After ``os.fork`` the child cannot use networks opened before (EvaluationError): it opens its
    own, or is started with ``spawn``. Evaluators of other kinds work in the child.

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
        file = model_file(path_of("path", path))
        wanted = provider_list(providers)
        chosen = device_list(device_id, devices)
        max_batch = 0 if max_batch is None else natural("max_batch", max_batch, 1)
        threads = 0 if threads is None else natural("threads", threads, 1)
        weights = external_files(file)  # refuses data outside the model's folder
        operators = last_operators(file)
        if any("cpu" not in name.lower() for name, _ in wanted) or not wanted:
            runtime.preload_cuda()
        library = runtime.find_library()
        engines = engine_folder_of(file, library, wanted)
        models = [
            _core.open_onnx(
                file,
                library=library,
                providers=wanted,
                device_id=device,
                max_batch=max_batch,
                threads=threads,
                engine_cache=engines,
                last_operators=operators,
                weights=weights,
            )
            for device in chosen
        ]
        model = models[0]
        if engines is not None:
            engine_cache.keep(engines)
        if devices is not None:
            check_on_gpus(chosen, models)
        found = spec_of_model(model, file, spec)
        super().__init__(_core.onnx_evaluator(models, found), found)
        self._opened_by = (
            file.absolute(),
            found,
            providers,
            device_id,
            max_batch or None,
            threads or None,
            devices,
        )
        self.path = file
        self._models = models
        self._final_board = FinalBoardNetwork(file, found, library, threads, model)
        self.provider: str = model.provider
        self.provider_reason: str = model.provider_reason
        _log.info("%s runs on %s: %s", file, self.provider, self.provider_reason)
        for model in models:
            tell_of_graphs(model.provider_text)

    def is_unchanged(self) -> bool:
        """Whether the file, and its weights elsewhere, are what they were when it was opened."""
        return all(model.unchanged() for model in self._models)

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return OnnxEvaluator, self._opened_by

    @property
    def has_final_board(self) -> bool:
        """Whether the spec names an output for it."""
        return bool(self._final_board.outputs)

    def evaluate_final_board(
        self, states: Sequence[Any], *, game: Any = None
    ) -> tuple[Floats | None, Floats | None]:
        """Return the prediction; see :class:`Evaluator`.

        The first call opens the file once more, on the CPU.
        """
        check_states(states)
        if not self.has_final_board or (game is None and not states):
            return None, None
        played = as_game(game) if game is not None else game_of_state(states[0])
        return self._final_board.evaluate(states, played)

    def __repr__(self) -> str:
        return f"OnnxEvaluator({str(self.path)!r}, provider={self.provider!r})"


class CallbackEvaluator(Evaluator):
    """A Python function on planes, called once a batch and never concurrently.

    Evaluators and engines that have the same function take turns.

    Args:
        fn: ``fn(planes float32[N,C,H,W]) -> (policy [N,A], value [N])`` with outputs as ``spec``
            says: by default logits and a value in [-1, 1] for the mover; a 3-way value is
            ``[N,3]``. ``[N,H,W,C]`` when the spec's layout says so. It may keep ``planes``.
        spec: None = ``ModelSpec()``.

    What ``fn`` raises stops the search as an EvaluationError with that exception as its
    ``__cause__``; KeyboardInterrupt passes unchanged.

    Example:
        >>> import numpy as np
        >>> import pyengine
        >>> def network(planes):
        ...     return np.zeros((len(planes), 7)), planes[:, 0].mean(axis=(1, 2))
        >>> evaluator = pyengine.CallbackEvaluator(network, pyengine.ModelSpec(planes=("own[0]",)))
        >>> engine = pyengine.Engine("connect_four", evaluator)
    """

    def __init__(self, fn: PlanesFunction, spec: ModelSpec | None = None) -> None:
        _refuse_torch_module(fn)
        spec = ModelSpec() if spec is None else spec
        check_type("spec", spec, ModelSpec, "a ModelSpec or None")
        super().__init__(_core.callback_evaluator(fn, spec), spec)
        self.fn = fn

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return CallbackEvaluator, (self.fn, self.spec)


def _refuse_torch_module(fn: Any) -> None:
    """Refuse a module: it takes tensors alone and would fail within the search."""
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if module is not None and isinstance(fn, module):
        raise ConfigError(
            f"expected a function of NumPy's arrays, got the torch.nn.Module {type(fn).__name__}:"
            " write it to a file by pyengine.train.export_module, or call it in a function, "
            "torch.no_grad()(lambda planes: net(torch.from_numpy(planes)))"
        )


class StateEvaluator(Evaluator):
    """A Python function on states, called once a batch, never concurrently and never cached.

    Args:
        fn: ``fn(states) -> (policy [N,A], value [N])``. States have ``history()``; of a user's
            game they are the user's own objects (clones). ``policy`` holds priors, which are
            masked by the legal actions and normalised; ``value`` in [-1, 1] is for the mover.

    Errors as :class:`CallbackEvaluator`.

    Example:
        >>> import numpy as np
        >>> import pyengine
        >>> def short_games(states):
        ...     return np.ones((len(states), 9)), [-0.1 * len(s.history()) for s in states]
        >>> engine = pyengine.Engine("tic_tac_toe", pyengine.StateEvaluator(short_games))
    """

    def __init__(self, fn: StatesFunction) -> None:
        super().__init__(_core.state_evaluator(fn))
        self.fn = fn

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        return StateEvaluator, (self.fn,)


def model_file(path: Path) -> Path:
    """Return the file of a network: the path's own, else that of the bundled one of its name."""
    if path.exists():
        return path
    return bundled_models().get(str(path), path)


def bundled_models() -> dict[str, Path]:
    """Return the networks that ship with the package: name and file."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "models", package.parents[1] / "models"):  # installed; in a checkout
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("*.onnx"))}
    return {}


def as_evaluator(evaluator: EvaluatorLike) -> Evaluator:
    """Return what users give as an evaluator.

    Args:
        evaluator: an :class:`Evaluator`; ``"uniform"``, ``"rollout"``; the name of a bundled
            model; the path of an ONNX file; that of a rollout policy (``.npz``); or a callable,
            which becomes a :class:`CallbackEvaluator` with the default spec.

    Raises:
        ConfigError: it is none of these.
        ModelError: the file cannot be used.

    """
    if isinstance(evaluator, Evaluator):
        return evaluator
    if isinstance(evaluator, str):
        return _by_name(evaluator)
    if isinstance(evaluator, os.PathLike):
        return _of_file(str(path_of("evaluator", evaluator)))
    if callable(evaluator):
        return CallbackEvaluator(evaluator)
    raise ConfigError(
        "evaluator must be an Evaluator, a name, a path or a callable, "
        f"got {type(evaluator).__name__}"
    )


def _of_file(path: str) -> Evaluator:
    return RolloutEvaluator(policy=path) if path.endswith(".npz") else OnnxEvaluator(path)


def _by_name(name: str) -> Evaluator:
    bundled = bundled_models()
    if name == "uniform":
        return UniformEvaluator()
    if name == "rollout":
        return RolloutEvaluator()
    if name in bundled:
        return OnnxEvaluator(bundled[name])
    # pathlib raises if no file can have such a name.
    if name.endswith((".onnx", ".npz")) or os.sep in name or os.path.exists(name):  # noqa: PTH110
        return _of_file(name)
    known = ["uniform", "rollout", *bundled]
    raise ConfigError(
        f"evaluator {short_repr(name)} is neither a file nor one of: {', '.join(known)}"
        f"{did_you_mean(name, known)}"
    )
