"""Ray: the connection to a cluster, and the actors of a run on it."""

from __future__ import annotations

import importlib
import logging
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from pyengine.base.extras import need
from pyengine.distributed.actor import Actor, Contract, Order, Reply
from pyengine.distributed.workers import LostError, room
from pyengine.errors import ConfigError, EngineError
from pyengine.train.loop.run_configs import DistributedConfig
from pyengine.train.loop.runfile import RunFile

_STORE_BYTES = 256 << 20  # object store of a local Ray, for a few networks and packets
_FETCH_SECONDS = 60.0  # to fetch an answer; blocks the others
_RESERVE_SECONDS = 30.0  # to reserve resources for learner and gate
_TRIES = 3  # to start a local Ray, which fails after 30 s on a busy machine
_LOOPBACK = "127.0.0.1"

#: If false, Ray's servers listen only on 127.0.0.1, as by default on macOS and Windows. (Ray would
#: replace ``_node_ip_address="127.0.0.1"`` by the machine's address.) Processes of the node read
#: the variable; this process read it when Ray was imported, so the constant is set too.
_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_CONSTANT = "ENABLE_RAY_CLUSTER"

_log = logging.getLogger("pyengine")


def cpus_of_an_actor(run: RunFile) -> float:
    """Return the setting, or the search threads of an actor, or 1 if those are all cores."""
    if run.distributed.cpus is not None:
        return run.distributed.cpus
    return float(run.selfplay_config(0).search.threads or 1)


def parts_need(config: DistributedConfig) -> dict[str, dict[str, float]]:
    """Return the resources of learner and gate on the driver's node."""
    return {
        "learner": {"CPU": config.learner_cpus, "GPU": config.learner_gpus},
        "gate": {"CPU": config.gate_cpus, "GPU": config.gate_gpus},
    }


@contextmanager
def connected(address: str, run: RunFile, options: Mapping[str, Any]) -> Iterator[None]:
    """Connect to a cluster for the duration of the block; an existing connection is reused.

    Args:
        address: ``"local"`` starts a Ray that listens only on 127.0.0.1 and ends with the block;
            ``"auto"`` connects to the Ray of this machine; otherwise an address.
        run: determines the size of a local Ray.
        options: of ``ray.init``.

    Raises:
        ConfigError: the address is that of a Ray client.
        EngineError: no cluster answers.

    """
    if address.startswith("ray://"):
        raise ConfigError(
            f"address: {address} is a Ray client; start the run on a node of the cluster instead "
            "(for example with `ray job submit`)"
        )
    local = address == "local"
    if local:
        ask_for_token()
    ray = need("ray", "distributed")
    if ray.is_initialized():
        yield
        return
    sizes = _local_options(run) if local else {}
    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        with on_loopback() if local else nullcontext():
            _init(ray, address, {**quiet, **sizes, **options})
        yield
    finally:
        ray.shutdown()


def _init(ray: Any, address: str, options: Mapping[str, Any]) -> None:
    for left in reversed(range(_TRIES if address == "local" else 1)):
        try:
            ray.init(address=address, **options)
            return
        except Exception as error:  # Ray raises many types
            ray.shutdown()
            if left == 0:
                advice = "" if address == "local" else "; start one with `ray start --head`"
                raise EngineError(
                    f"no Ray cluster answers at {address!r}: {error}{advice}"
                ) from error


def _local_options(run: RunFile) -> dict[str, Any]:
    """Return the options of a local Ray.

    It gets enough CPUs for all parts, which share the cores like the processes of a run without
    Ray.
    """
    config = run.distributed
    cores = os.cpu_count() or 1
    cpus = max(1.0, cpus_of_an_actor(run))
    actors = config.actors or max(1, int(cores / cpus))
    needed = math.ceil(actors * cpus + config.learner_cpus + config.gate_cpus)
    return {
        "num_cpus": max(cores, needed),
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
    }


def this_node(config: DistributedConfig) -> str:
    """Return the driver's node. Raises ConfigError if learner or gate does not fit there."""
    ray = need("ray", "distributed")
    node = str(ray.get_runtime_context().get_node_id())
    has = _nodes().get(node, {})
    for resource in ("CPU", "GPU"):
        needed = {name: part[resource] for name, part in parts_need(config).items()}
        if sum(needed.values()) > has.get(resource, 0.0):
            names = " and ".join(f"{name}_{resource.lower()}s" for name in needed)
            raise ConfigError(
                f"distributed.{names}: expected a sum of at most {has.get(resource, 0.0):g} (of "
                f"the driver's node), got {sum(needed.values()):g}"
            )
    return node


@contextmanager
def reserved(config: DistributedConfig, node: str) -> Iterator[dict[str, dict[str, Any]]]:
    """Reserve the resources of learner and gate; yield the options of their actors.

    Without a reservation a waiting actor could take the resources of a learner that died.

    Raises:
        ConfigError: other users of the node leave too little.

    """
    ray = need("ray", "distributed")
    strategies = importlib.import_module("ray.util.scheduling_strategies")
    parts = parts_need(config)
    bundles = {name: part for name, part in parts.items() if any(part.values())}
    group = _group(ray, list(bundles.values()), node) if bundles else None
    on_node = strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    places = {
        name: strategies.PlacementGroupSchedulingStrategy(group, number)
        for number, name in enumerate(bundles)
    }
    try:
        yield {
            name: {
                "num_cpus": part["CPU"],
                "num_gpus": part["GPU"],
                "scheduling_strategy": places.get(name, on_node),
            }
            for name, part in parts.items()
        }
    finally:
        if group is not None:
            ray.util.remove_placement_group(group)


def _group(ray: Any, bundles: Sequence[Mapping[str, float]], node: str) -> Any:
    """Return a placement group on a node. Raises ConfigError if it does not fit."""
    groups = importlib.import_module("ray.util.placement_group")
    nonzero = [{name: n for name, n in bundle.items() if n} for bundle in bundles]
    group = groups.placement_group(nonzero, "STRICT_PACK", _soft_target_node_id=node)
    placed = group.wait(_RESERVE_SECONDS) and set(
        ray.util.placement_group_table(group)["bundles_to_node_id"].values()
    )
    if placed != {node}:
        ray.util.remove_placement_group(group)
        raise ConfigError(
            f"distributed: learner and gate need {nonzero} on the driver's node, but others use it"
        )
    return group


def _nodes() -> dict[str, dict[str, float]]:
    """Return the total resources of the live nodes."""
    return {
        str(node["NodeID"]): dict(node["Resources"])
        for node in need("ray", "distributed").nodes()
        if node["Alive"]
    }


class RayWorkers:
    """Ray's :class:`~pyengine.distributed.workers.Workers`; ``node`` is the driver's."""

    def __init__(self, run: RunFile, node: str) -> None:
        self._ray, self._run = need("ray", "distributed"), run
        config = run.distributed
        self._need = {"CPU": cpus_of_an_actor(run), "GPU": config.gpus, **config.resources}
        parts = parts_need(config).values()
        self._reserved = {
            node: {name: sum(part[name] for part in parts) for name in ("CPU", "GPU")}
        }
        self._class = self._ray.remote(Actor).options(
            num_cpus=self._need["CPU"],
            num_gpus=self._need["GPU"],
            resources=dict(config.resources),
            scheduling_strategy="SPREAD",
        )

    def room(self) -> int:
        return room(_nodes(), self._need, self._reserved)

    def check_room(self) -> None:
        """Raise ConfigError if ``actors`` is "auto" and no actor fits."""
        if self._run.distributed.actors is None and self.room() == 0:
            need = ", ".join(f"{name} {amount:g}" for name, amount in self._need.items() if amount)
            raise ConfigError(
                f'distributed.actors: "auto" needs a node with {need} beside learner and gate: '
                "add a node or reduce their resources"
            )

    def start(self, contract: Contract) -> Any:
        return self._class.remote(contract)

    def publish(self, data: bytes) -> Any:
        return self._ray.put(data)

    def ask(self, actor: Any, order: Order, network: Any) -> Any:
        return actor.exchange.remote(order, network)

    def answered(self, calls: Sequence[Any], seconds: float) -> list[Any]:
        wait = partial(self._ray.wait, list(calls), fetch_local=False)  # results are fetched later
        ready, _ = wait(num_returns=len(calls), timeout=0)
        return list(ready or wait(timeout=seconds)[0])

    def answer(self, call: Any) -> Reply:
        errors = self._ray.exceptions
        try:
            reply: Reply = self._ray.get(call, timeout=_FETCH_SECONDS)
        except errors.RayError as error:
            # Otherwise an object was lost or delayed in transit.
            died = isinstance(error, errors.RayActorError | errors.RayTaskError)
            unavailable = isinstance(error, errors.ActorUnavailableError)
            raise LostError(str(error), gone=died and not unavailable) from error
        return reply

    def end(self, actor: Any) -> None:
        self._ray.kill(actor)


def ask_for_token() -> None:
    """Require a token for connections to Ray, unless the user chose otherwise.

    Without one, anyone who reaches Ray's ports can run code as this user. Ray 2.59 and later do
    this for a local Ray. The mode is read when Ray is imported; afterwards nothing changes.
    """
    if "ray" not in sys.modules:
        os.environ.setdefault("RAY_AUTH_MODE", "token")


@contextmanager
def on_loopback() -> Iterator[None]:
    """Make a Ray that is started in the block listen only on 127.0.0.1."""
    constants = importlib.import_module("ray._private.ray_constants")
    variable, constant = os.environ.get(_VARIABLE), getattr(constants, _CONSTANT, None)
    os.environ[_VARIABLE] = "0"
    setattr(constants, _CONSTANT, False)
    try:
        yield
        address = importlib.import_module("ray").util.get_node_ip_address()
        if address != _LOOPBACK:
            advice = "block its ports in the firewall"
            _log.warning("Ray listens on %s, not only on %s: %s", address, _LOOPBACK, advice)
    finally:
        setattr(constants, _CONSTANT, constant)
        del os.environ[_VARIABLE]
        if variable is not None:
            os.environ[_VARIABLE] = variable
