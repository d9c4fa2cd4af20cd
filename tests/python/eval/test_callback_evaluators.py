"""Python functions as evaluators: arguments, results and errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pyengine import ConfigError, Engine, EvaluationError, ModelError, State, load_game
from pyengine.eval.evaluators import CallbackEvaluator, StateEvaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games import as_game
from toy_games import Matches, ToyGame
from zero_network import zero_network


def tic_tac_toe(moves: tuple[int, ...] = ()) -> State:
    return load_game("tic_tac_toe").new_initial_state(moves)


def test_a_function_on_planes_receives_float32_in_the_layout_of_the_spec() -> None:
    seen: list[np.ndarray] = []

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(planes)
        return np.zeros((len(planes), 9)), np.zeros(len(planes))

    states = [tic_tac_toe(), tic_tac_toe((4,))]
    CallbackEvaluator(evaluate).evaluate(states)
    CallbackEvaluator(evaluate, ModelSpec(layout="NHWC", planes=("empty", "ones"))).evaluate(states)
    assert [planes.shape for planes in seen] == [(2, 3, 3, 3), (2, 3, 3, 2)]
    assert all(planes.dtype == np.float32 for planes in seen)
    for i, state in enumerate(states):
        assert np.array_equal(seen[0][i], state.observation_tensor())


def test_logits_become_probabilities_of_the_legal_actions() -> None:
    logits = np.log(np.arange(1, 10))
    evaluator = CallbackEvaluator(lambda planes: ([logits] * len(planes), [0.25] * len(planes)))
    policy, value = evaluator.evaluate([tic_tac_toe((0, 8))])
    np.testing.assert_allclose(policy[0], np.array([0, 2, 3, 4, 5, 6, 7, 8, 0]) / 35, atol=1e-6)
    assert value[0] == 0.25


def test_a_batch_is_evaluated_in_one_call() -> None:
    rows: list[int] = []
    evaluator = CallbackEvaluator(zero_network(9, rows=rows))
    evaluator.evaluate([tic_tac_toe()] * 20)
    evaluator.evaluate([tic_tac_toe()] * 2, symmetry="average")
    assert rows == [20, 16]


KINDS = (CallbackEvaluator, StateEvaluator)
ZEROS = np.zeros(2)
POLICY = np.zeros((2, 9))
WRONG_RESULTS: dict[str, tuple[Any, str]] = {
    "nothing": (None, "must|raised"),
    "one array": (POLICY, "must|raised"),
    "three parts": ((POLICY, ZEROS, ZEROS), "must|raised"),
    "other actions": ((np.zeros((2, 8)), ZEROS), r"policy .*\[2,9\].*\[2,8\]"),
    "too few rows": ((np.zeros((1, 9)), ZEROS), r"policy .*\[1,9\]"),
    "two values": ((POLICY, np.zeros((2, 2))), r"value .*\[2\].*\[2,2\]"),
    "words": (([["a"] * 9] * 2, ZEROS), "must|raised"),
    "complex": ((np.zeros((2, 9), complex), ZEROS), "must|raised"),
    "ragged": (([[0.0] * 9, [0.0] * 8], ZEROS), "must|raised"),
    "nan": ((POLICY * np.nan, ZEROS), "must|raised"),
    "infinite": ((POLICY, np.full(2, np.inf)), "must|raised"),
}


@pytest.mark.parametrize("wrong", WRONG_RESULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_result_is_an_error_and_the_evaluator_stays_usable(kind: Any, wrong: str) -> None:
    result, message = WRONG_RESULTS[wrong]
    results = [result, (POLICY, ZEROS)]
    evaluator = kind(lambda batch: results.pop(0))
    with pytest.raises(EvaluationError, match=message):
        evaluator.evaluate([tic_tac_toe()] * 2)
    assert evaluator.evaluate([tic_tac_toe()] * 2)[0].shape == (2, 9)


def test_a_pytorch_module_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Linear:
        def __call__(self, planes: Any) -> None: ...

    torch = SimpleNamespace(nn=SimpleNamespace(Module=Linear))
    monkeypatch.setitem(sys.modules, "torch", torch)
    for make in (CallbackEvaluator, lambda net: Engine("tic_tac_toe", net)):
        with pytest.raises(ConfigError, match=r"torch.nn.Module Linear: .*export_module"):
            make(Linear())


@pytest.mark.parametrize(
    ("prior", "value", "message"),
    [
        (0.1, 2.0, r"\[-1, 1\] .* got 2\.0+ in row 1$"),
        (0.1, np.nan, "got nan in row 1$"),
        (-1.0, 0.0, r"got -1\.0+ in row 1, action 0$"),
        (np.inf, 0.0, "got inf in row 1, action 0$"),
    ],
)
def test_a_wrong_number_of_a_function_on_states_is_located(
    prior: float, value: float, message: str
) -> None:
    policy = np.ones((2, 9))
    policy[1, 0] = prior
    evaluator = StateEvaluator(lambda states: (policy, np.array([0.0, value])))
    with pytest.raises(EvaluationError, match=message):
        evaluator.evaluate([tic_tac_toe()] * 2)


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_in_the_function_is_the_cause(kind: Any) -> None:
    def evaluate(batch: Any) -> Any:
        raise ZeroDivisionError("details")

    with pytest.raises(EvaluationError, match="ZeroDivisionError: details") as error:
        kind(evaluate).evaluate([tic_tac_toe()])
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    assert error.value.__cause__.__traceback__ is not None


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_unchanged(raised: type[BaseException]) -> None:
    def evaluate(batch: Any) -> Any:
        raise raised

    with pytest.raises(raised):
        StateEvaluator(evaluate).evaluate([tic_tac_toe()])


def test_a_function_on_states_sees_their_history() -> None:
    seen: list[State] = []

    def evaluate(states: list[State]) -> tuple[np.ndarray, np.ndarray]:
        seen.extend(states)
        return np.ones((len(states), 9)), np.zeros(len(states))

    states = [tic_tac_toe((4, 0)), tic_tac_toe(), tic_tac_toe((8,))]
    StateEvaluator(evaluate).evaluate(states)
    assert seen == states
    assert [state.history() for state in seen] == [[4, 0], [], [8]]
    seen[0].apply_action(1)  # a copy
    assert states[0].history() == [4, 0]


def test_priors_of_states_are_masked_and_normalised() -> None:
    def evaluate(states: list[State]) -> tuple[list[list[float]], list[float]]:
        return [[1, 1, 2, 0, 0, 0, 0, 0, 4]] * len(states), [1.005] * len(states)

    policy, value = StateEvaluator(evaluate).evaluate([tic_tac_toe((8,))])
    np.testing.assert_allclose(policy[0], [0.25, 0.25, 0.5, 0, 0, 0, 0, 0, 0])
    assert value[0] == 1  # rounding errors are clipped


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_before_tanh_is_also_an_error_in_a_search(kind: Any) -> None:
    evaluator = kind(lambda batch: (np.ones((len(batch), 9)), np.full(len(batch), 1.3)))
    engine = Engine("tic_tac_toe", evaluator, simulations=10)
    with pytest.raises(EvaluationError, match=r"in \[-1, 1\].* got 1\.3"):
        engine.search(tic_tac_toe())


def test_a_function_receives_the_states_of_a_users_game() -> None:
    seen: list[Any] = []

    def evaluate(states: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        seen.extend(states)
        return np.ones((len(states), 3)), np.zeros(len(states))

    game = as_game(ToyGame(Matches))
    evaluator = StateEvaluator(evaluate)
    policy, _ = evaluator.evaluate([game.new_initial_state(), Matches((0, 2, 2, 2))], game=game)
    assert [type(state) for state in seen] == [Matches, Matches]
    assert [state.left for state in seen] == [11, 1]
    np.testing.assert_allclose(policy, [[1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
    with pytest.raises(ConfigError, match="game"):
        evaluator.evaluate([Matches((2, 2, 1))])


def test_a_users_game_without_planes_is_refused_by_a_function_on_planes() -> None:
    state = as_game(ToyGame(Matches)).new_initial_state()
    with pytest.raises(ModelError, match=r"give its states observation_tensor\(\)$"):
        CallbackEvaluator(lambda planes: ([], [])).evaluate([state])
    with pytest.raises(ModelError, match="observation"):
        state.observation_tensor()
    with pytest.raises(ModelError, match=r"has no observation$"):
        tic_tac_toe().observation_tensor(ModelSpec(planes=("observation",)))


class SlowCallable:
    """A function that counts the threads inside it."""

    def __init__(self) -> None:
        self.inside = 0
        self.most: list[int] = []

    def __call__(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        self.inside += 1
        self.most.append(self.inside)
        time.sleep(0.005)  # releases the GIL
        self.inside -= 1
        return np.zeros((len(batch), 9)), np.zeros(len(batch))

    def method(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate as a bound method, a new object on each access."""
        return self(batch)


@pytest.mark.parametrize(
    "make",
    [
        lambda function: [CallbackEvaluator(function)] * 4,
        lambda function: [kind(function) for kind in KINDS * 2],
        lambda function: [kind(function.method) for kind in KINDS * 2],
    ],
    ids=["one evaluator", "evaluators of a function", "evaluators of a method"],
)
def test_a_function_is_never_called_concurrently(make: Any) -> None:
    function = SlowCallable()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda evaluator: evaluator.evaluate([tic_tac_toe()]), make(function) * 5))
    assert function.most == [1] * 20


def test_a_function_may_call_an_evaluator_of_itself() -> None:
    def evaluate(batch: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(batch) > 1:
            CallbackEvaluator(evaluate).evaluate([tic_tac_toe()])
        return np.zeros((len(batch), 9)), np.zeros(len(batch))

    assert CallbackEvaluator(evaluate).evaluate([tic_tac_toe()] * 2)[1].shape == (2,)


ONE_INSIDE = """
import os, signal, threading, time
import numpy as np
from pyengine import CallbackEvaluator, load_game

state = load_game("tic_tac_toe").new_initial_state()
inside = threading.Event()
released = False
def evaluate(planes):
    inside.set()
    while not released:
        time.sleep(0.005)
    return np.zeros((len(planes), 9)), np.zeros(len(planes))
evaluator = CallbackEvaluator(evaluate)
thread = threading.Thread(target=evaluator.evaluate, args=([state],))
thread.start()
inside.wait()
"""


def run_alone(code: str) -> None:
    """Run code in a new process while another thread is inside the function, until released."""
    subprocess.run([sys.executable, "-c", ONE_INSIDE + code], timeout=60, check=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_forked_while_the_function_runs_can_call_it() -> None:
    run_alone("""
child = os.fork()
if child == 0:
    signal.alarm(20)  # a child that hangs is killed
    released = True
    CallbackEvaluator(evaluate).evaluate([state])
    evaluator.evaluate([state])
    os._exit(0)
status = os.waitpid(child, 0)[1]
released = True
thread.join()
evaluator.evaluate([state])
assert status == 0, status
""")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no setitimer")
def test_ctrl_c_works_while_another_thread_is_inside_the_function() -> None:
    run_alone("""
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    evaluator.evaluate([state])
except KeyboardInterrupt:
    released = True
thread.join()
""")
