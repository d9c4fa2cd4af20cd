"""A run on Ray."""

from __future__ import annotations

import importlib
import importlib.util
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import distributed, train
from pyengine.data import Dataset
from pyengine.distributed.cluster import connected
from pyengine.train.json_files import read_lines
from pyengine.train.loop.state import RunFolder
from run_games import numbers_in, run_of

RAY = importlib.util.find_spec("ray") is not None
TORCH = all(importlib.util.find_spec(name) for name in ("torch", "onnx"))

needs_ray = pytest.mark.skipif(
    not (RAY and TORCH) or os.name == "nt",
    reason="needs Ray and PyTorch: the extras distributed and train",
)


def test_a_missing_ray_is_an_error_that_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    message = r"needs the package ray: pip install 'pyengine-search\[distributed\]'"
    with pytest.raises(pyengine.EngineError, match=message):
        distributed.train(run_of(), tmp_path)


def test_a_client_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match="start the run on a node of the cluster"):
        distributed.train(run_of(), tmp_path, address="ray://10.0.0.1:10001")


def apart(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in a new process, as Ray leaves threads behind."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        pool.submit(function, *arguments).result()


@needs_ray
@pytest.mark.parametrize("actors", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_run_survives_the_death_of_an_actor_and_resumes_without_ray(
    actors: int, tmp_path: Path
) -> None:
    apart(run_in_which_an_actor_dies, actors, tmp_path)
    folder = RunFolder(tmp_path)
    data = Dataset(folder.data("tic_tac_toe"), verify=True)
    events = [event["event"] for event in read_lines(folder.log / "actors.jsonl")]
    assert events == ["starts"] * actors + ["died", "starts"]
    best = folder.best()
    assert best is not None
    assert best.is_network
    if actors == 4:
        steps = folder.status("learner")["step"] + 20
        local = train.train_run(run_of(run={"steps": steps}), tmp_path, resume=True)
        assert (local.reason, local.progress.step) == ("steps", steps)
        assert local.progress.games >= data.games


def run_in_which_an_actor_dies(actors: int, path: Path) -> None:
    """Run until a killed actor has a successor that plays and the learner has made steps."""
    forget_ray_variables()
    killed: list[tuple[int, int]] = []

    def kill_one(progress: train.RunProgress) -> bool:
        playing = [each for each in progress.actors if each.games and each.pid is not None]
        if not killed and len(playing) == actors and progress.step > 0:
            check_that_ray_is_private()
            pid = playing[0].pid
            assert pid is not None
            killed.append((pid, progress.games))
            os.kill(pid, signal.SIGKILL)
        back = [each for each in playing if each.deaths and each.pid != killed[0][0]]
        return not (killed and back and progress.games > killed[0][1] and progress.step >= 5)

    report = distributed.train(
        run_of(distributed={"shard_positions": 500}), path, actors=actors, on_progress=kill_one
    )
    assert (report.reason, report.progress.restarts) == ("stopped", 0)
    folder = RunFolder(path)
    data = Dataset(folder.data("tic_tac_toe"), verify=True)
    assert data.games == report.progress.games == delivered_in(folder) > killed[0][1]
    assert numbers_in(folder) == list(range(data.games))


def forget_ray_variables() -> None:
    for name in ("RAY_AUTH_MODE", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"):
        os.environ.pop(name, None)


def check_that_ray_is_private(*, token: bool = True) -> None:
    """Check that Ray requires a token and that its ports are closed at 127.0.0.2.

    That address reaches only listeners on all addresses; it exists on Linux only.
    """
    ray = importlib.import_module("ray")
    (node,) = ray.nodes()
    assert node["NodeManagerAddress"] == "127.0.0.1"
    head = ray.get_runtime_context().gcs_address.rpartition(":")[2]
    ports = [int(head), node["NodeManagerPort"], node["ObjectManagerPort"]]
    assert all(answers("127.0.0.1", port) for port in ports)
    if sys.platform == "linux":
        assert not any(answers("127.0.0.2", port) for port in ports)
    if token:
        assert os.environ["RAY_AUTH_MODE"] == "token"


@needs_ray
@pytest.mark.slow
def test_a_local_ray_is_private_although_ray_was_imported_before() -> None:
    apart(start_a_ray_after_its_import)


def start_a_ray_after_its_import() -> None:
    forget_ray_variables()
    importlib.import_module("ray")
    with connected("local", run_of(), {}):
        check_that_ray_is_private(token=False)
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in os.environ


def answers(address: str, port: int) -> bool:
    """Return whether a port is open."""
    with socket.socket() as knocking:
        knocking.settimeout(5)
        return knocking.connect_ex((address, port)) == 0


@needs_ray
@pytest.mark.slow
def test_a_dead_learner_is_restarted_although_actors_wait_for_room(tmp_path: Path) -> None:
    apart(run_in_which_the_learner_dies, tmp_path)


def run_in_which_the_learner_dies(path: Path) -> None:
    """Kill the learner of a run with more actors than room; run until it learns again."""
    folder = RunFolder(path)
    killed: list[tuple[int, int]] = []

    def kill_it(progress: train.RunProgress) -> bool:
        pid = folder.status("learner").get("pid")
        if not killed and progress.step > 0 and any(each.games for each in progress.actors):
            killed.append((pid, progress.step))
            os.kill(pid, signal.SIGKILL)
        back = bool(killed) and pid != killed[0][0] and progress.step > killed[0][1]
        waiting = Counter(each.state for each in progress.actors)["starts"]
        assert back or progress.restarts == 0 or waiting == 3, progress.actors
        return not back

    options = {"num_cpus": 3}
    distributed.train(
        run_of(distributed={"shard_positions": 500}),
        path,
        actors=4,
        on_progress=kill_it,
        options=options,
    )


@needs_ray
@pytest.mark.slow
def test_ctrl_c_on_a_cluster_keeps_the_games_and_the_run_resumes(tmp_path: Path) -> None:
    pytest.importorskip("typer", reason="the command needs the extra cli")
    file, folder = tmp_path / "run.toml", RunFolder(tmp_path / "run")
    command = [sys.executable, "-m", "pyengine.cli", "train", str(file), "--ray", "local"]
    command += ["--directory", str(folder.path), "--json"]
    file.write_text(run_of(distributed={"shard_positions": 500}).text)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while folder.status("learner").get("step", 0) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
    before = folder.produced("tic_tac_toe").games
    assert Dataset(folder.data("tic_tac_toe"), verify=True).games == before == delivered_in(folder)
    step = max(int(path.stem[-10:]) for path in folder.checkpoints.glob("*.pt"))
    file.write_text(run_of(run={"steps": step + 20}).text)
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    output = json.loads(again.stdout)
    assert (output["reason"], output["step"]) == ("steps", step + 20)
    assert output["games"] > before


def delivered_in(folder: RunFolder) -> int:
    """Return the number of games that the receiver reported."""
    return int(folder.status("selfplay")["games"])


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["disabled", "token"])
def test_a_new_node_plays_and_a_lost_node_costs_no_game(mode: str, tmp_path: Path) -> None:
    apart(run_in_which_nodes_come_and_go, mode, tmp_path)


def run_in_which_nodes_come_and_go(mode: str, path: Path) -> None:
    """Run on one node, then two, then one again."""
    os.environ |= {"RAY_AUTH_MODE": mode, "RAY_AUTH_TOKEN": uuid.uuid4().hex}
    cluster_utils = importlib.import_module("ray.cluster_utils")
    cluster = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 3, "include_dashboard": False},
    )
    joined: list[Any] = []
    gone: list[int] = []

    def join_and_vanish(progress: train.RunProgress) -> bool:
        playing = [each for each in progress.actors if each.state == "plays" and each.games]
        if len(playing) == 1 and not joined:
            joined.append(cluster.add_node(num_cpus=2))
        if len(playing) == 3 and not gone:
            cluster.remove_node(joined[0], allow_graceful=False)
            gone.append(progress.games)
        return not (gone and len(progress.actors) == 1 and progress.games > gone[0])

    try:
        report = distributed.train(
            run_of(distributed={"shard_positions": 500}),
            path,
            address=cluster.address,
            actors="auto",
            on_progress=join_and_vanish,
        )
    finally:
        cluster.shutdown()
    assert gone
    data = Dataset(RunFolder(path).data("tic_tac_toe"), verify=True)
    assert data.games == report.progress.games > gone[0]
