"""A cluster of Ray: the driver's connection to it, and the actors of a run there."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from pyengine.base.extras import need
from pyengine.distributed.actor import Actor, Contract, Order, Reply
from pyengine.distributed.loopback import ask_for_token, on_loopback
from pyengine.distributed.policy import room
from pyengine.distributed.workers import LostError
from pyengine.errors import ConfigError, EngineError
from pyengine.train.loop.run_configs import DistributedConfig
from pyengine.train.loop.runfile import RunFile

_STORE_BYTES = 256 << 20  # of the object store of a Ray of our own: a few networks and packets

_FETCH_SECONDS = 60.0  # for an answer that is there; meanwhile no other one is taken

_RESERVE_SECONDS = 30.0  # that learner and gate wait for their share of the driver's node

_TRIES = 3  # to start a Ray of our own


def cpus_of_an_actor(run: RunFile) -> float:
    """Return what the run says, else the threads of an actor's search; 1 where those are all."""
    if run.distributed.cpus is not None:
        return run.distributed.cpus
    return float(run.selfplay_config(0).search.threads or 1)


def needs(run: RunFile) -> dict[str, float]:
    """Return what an actor needs, by Ray's names of resources."""
    config = run.distributed
    return {"CPU": cpus_of_an_actor(run), "GPU": config.gpus, **config.resources}


def parts_need(config: DistributedConfig) -> dict[str, dict[str, float]]:
    """Return what learner and gate need on the driver's node."""
    return {
        "learner": {"CPU": config.learner_cpus, "GPU": config.learner_gpus},
        "gate": {"CPU": config.gate_cpus, "GPU": config.gate_gpus},
    }


@contextmanager
def connected(address: str, run: RunFile, options: Mapping[str, Any]) -> Iterator[None]:
    """Be a driver of a cluster. One that Ray is connected to already is used, and stays.

    Args:
        address: ``"local"`` starts a Ray on this machine, which listens on 127.0.0.1 alone and ends
            with the block; ``"auto"`` is the one that runs on this machine; else the address of
            one.
        run: what a Ray of our own must have room for.
        options: of ``ray.init``.

    Raises:
        ConfigError: the address is a Ray client's.
        EngineError: no cluster answers there.

    """
    if address.startswith("ray://"):
        raise ConfigError(
            f"expected to run on a node of the cluster, which holds the run's folder, got the "
            f"client address {address}: start it there (for example with `ray job submit`)"
        )
    local = address == "local"
    if local:
        ask_for_token()
    ray = need("ray", "distributed")
    if ray.is_initialized():
        yield
        return
    own = _own_ray(run) if local else {}
    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        with on_loopback() if local else nullcontext():
            _init(ray, address, {**quiet, **own, **options})
        yield
    finally:
        ray.shutdown()


def _init(ray: Any, address: str, options: Mapping[str, Any]) -> None:
    """Connect. A Ray of our own that does not come up in Ray's 30 s is tried again: a busy machine.

    Raises EngineError.
    """
    for left in reversed(range(_TRIES if address == "local" else 1)):
        try:
            ray.init(address=address, **options)
            return
        except Exception as error:  # Ray raises plain ones, too
            ray.shutdown()
            if left == 0:
                advice = "" if address == "local" else "; start one with `ray start --head`"
                raise EngineError(
                    f"expected a Ray cluster at {address!r}, got none that answers: {error}{advice}"
                ) from error


def _own_ray(run: RunFile) -> dict[str, Any]:
    """Return the options of a Ray for this machine alone.

    Its processors are counted so that all parts fit: like the processes of a run without Ray,
    they share what there is.
    """
    config = run.distributed
    cores = os.cpu_count() or 1
    actors = config.actors or max(1, int(cores / max(1.0, cpus_of_an_actor(run))))
    play = actors * max(1.0, cpus_of_an_actor(run))
    return {
        "num_cpus": max(cores, int(play + config.learner_cpus + config.gate_cpus + 0.999)),
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
    }


def this_node(config: DistributedConfig) -> str:
    """Return the driver's node. Raises ConfigError if learner or gate does not fit there."""
    ray = need("ray", "distributed")
    node = str(ray.get_runtime_context().get_node_id())
    has = _nodes().get(node, {})
    for resource in ("CPU", "GPU"):
        wanted = {name: wants[resource] for name, wants in parts_need(config).items()}
        if sum(wanted.values()) > has.get(resource, 0.0):
            told = " and ".join(f"{name}_{resource.lower()}s" for name in wanted)
            raise ConfigError(
                f"distributed.{told}: expected at most {has.get(resource, 0.0):g} together, which "
                f"the driver's node has, got {sum(wanted.values()):g}"
            )
    return node


@contextmanager
def reserved(config: DistributedConfig, node: str) -> Iterator[dict[str, dict[str, Any]]]:
    """Hold what learner and gate need on the driver's node; yield the options of their actors.

    Otherwise an actor that waits for room would take the place of a learner that died.

    Raises ConfigError when others use so much of the node that too little is left.
    """
    ray = need("ray", "distributed")
    needs = parts_need(config)
    held = [name for name, wants in needs.items() if any(wants.values())]
    group = _group(ray, [needs[name] for name in held], node) if held else None
    strategies = importlib.import_module("ray.util.scheduling_strategies")
    options: dict[str, dict[str, Any]] = {}
    for name, wants in needs.items():
        place = (
            strategies.PlacementGroupSchedulingStrategy(group, held.index(name))
            if name in held
            else strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        )
        options[name] = {
            "num_cpus": wants["CPU"],
            "num_gpus": wants["GPU"],
            "scheduling_strategy": place,
        }
    try:
        yield options
    finally:
        if group is not None:
            ray.util.remove_placement_group(group)


def _group(ray: Any, bundles: Sequence[Mapping[str, float]], node: str) -> Any:
    """Return what holds resources on a node. Raises ConfigError."""
    groups = importlib.import_module("ray.util.placement_group")
    given = [{name: amount for name, amount in each.items() if amount} for each in bundles]
    group = groups.placement_group(given, "STRICT_PACK", _soft_target_node_id=node)
    there = group.wait(_RESERVE_SECONDS) and set(
        ray.util.placement_group_table(group)["bundles_to_node_id"].values()
    )
    if there != {node}:
        ray.util.remove_placement_group(group)
        raise ConfigError(
            f"distributed: expected what learner and gate need, {given}, to be free on the "
            "driver's node, found it in use by others of the cluster"
        )
    return group


def _nodes() -> dict[str, dict[str, float]]:
    """Return the nodes that live and what each has in all."""
    return {
        str(node["NodeID"]): dict(node["Resources"])
        for node in need("ray", "distributed").nodes()
        if node["Alive"]
    }


class RayWorkers:
    """Actors of Ray: :class:`~pyengine.distributed.workers.Workers`.

    Args:
        run: says what an actor needs.
        node: the driver's.

    """

    def __init__(self, run: RunFile, node: str) -> None:
        """Start nothing yet."""
        self._ray, self._run = need("ray", "distributed"), run
        self._need = needs(run)
        parts = parts_need(run.distributed).values()
        self._reserved = {
            node: {name: sum(part[name] for part in parts) for name in ("CPU", "GPU")}
        }
        others = {k: v for k, v in self._need.items() if k not in ("CPU", "GPU")}
        self._class = self._ray.remote(Actor).options(
            num_cpus=self._need["CPU"],
            num_gpus=self._need["GPU"],
            resources=others,
            scheduling_strategy="SPREAD",
        )

    def room(self) -> int:
        """Return how many actors fit on the nodes beside learner and gate."""
        return room(_nodes(), self._need, self._reserved)

    def refuse_none(self) -> None:
        """Raise ConfigError where as many actors as there is room for would be none."""
        if self._run.distributed.actors is None and self.room() == 0:
            need = ", ".join(f"{name} {amount:g}" for name, amount in self._need.items() if amount)
            raise ConfigError(
                f'distributed.actors: expected room for "auto", got no node with {need} beside '
                "learner and gate: let one join, or lower what they need"
            )

    def start(self, contract: Contract) -> Any:
        """Ask for an actor; Ray starts it where and when there is room."""
        return self._class.remote(contract)

    def publish(self, data: bytes) -> Any:
        """Put a file into the object store; each node fetches it once."""
        return self._ray.put(data)

    def ask(self, actor: Any, order: Order, network: Any) -> Any:
        """Call ``exchange``."""
        return actor.exchange.remote(order, network)

    def answered(self, questions: Sequence[Any], seconds: float) -> list[Any]:
        """Return the calls that have ended, well or not; their packets are not fetched yet."""
        ready, _ = self._ray.wait(
            list(questions), num_returns=len(questions), timeout=0, fetch_local=False
        )
        if not ready:
            ready, _ = self._ray.wait(list(questions), timeout=seconds, fetch_local=False)
        return list(ready)

    def answer(self, question: Any) -> Reply:
        """Fetch what an actor answered. Raises LostError."""
        errors = self._ray.exceptions
        try:
            reply: Reply = self._ray.get(question, timeout=_FETCH_SECONDS)
        except errors.ActorUnavailableError as error:
            raise LostError(str(error), gone=False) from error
        except (errors.RayActorError, errors.RayTaskError) as error:
            raise LostError(str(error), gone=True) from error
        except errors.RayError as error:  # an object that was lost, or is late, on the way
            raise LostError(str(error), gone=False) from error
        return reply

    def end(self, actor: Any) -> None:
        """Kill an actor's process, or take back the request for it."""
        self._ray.kill(actor)
