"""The loop on a cluster: :func:`train`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyengine.distributed.cluster import connected, reserved, this_node
from pyengine.distributed.parts import starter
from pyengine.train.loop.run import RunProgress, RunReport, train_run
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import RunFolder


def train(
    source: RunFile | str | Path | None,
    directory: str | os.PathLike[str],
    *,
    address: str = "local",
    actors: int | str | None = None,
    resume: bool = False,
    on_progress: Callable[[RunProgress], object] | None = None,
    options: Mapping[str, Any] | None = None,
) -> RunReport:
    """Run the loop of :func:`pyengine.train.train_run` with self-play on a cluster of Ray.

    The folder, the settings and the report are those of a run on one machine: a run may go on
    either way. Call it on a node of the cluster; that node has the folder, learner and gate. An
    actor that dies is replaced; what it had delivered stays.

    Args:
        source, directory, resume, on_progress: as of ``train_run``.
        address: ``"local"``: a Ray of its own on this machine; ``"auto"``: the cluster of which
            this machine is a node; or an address as ``ray.init`` takes it.
        actors: instead of the file's ``distributed.actors``: a number, or ``"auto"``: as many as
            the nodes have room for, which is looked at again and again.
        options: further options of ``ray.init``, such as ``runtime_env``.

    Raises:
        ConfigError: as of ``train_run``; the learner or the gate does not fit the driver's node; or
            ``selfplay.precision`` is ``"int8"``, as actors are sent the network alone.
        EngineError: ray is not installed, or no cluster is at the address.
        TrainingError: a part keeps dying, or actors do at every place.
        KeyboardInterrupt: Ctrl-C, when everything has ended cleanly; ``resume`` goes on.

    """
    if source is None:
        run = RunFolder(directory).run()
    else:
        run = source if isinstance(source, RunFile) else RunFile.from_toml(source)
    if run.selfplay.precision != "float32":
        run.selfplay.refuse("precision", '"float32" on a cluster', run.selfplay.precision)
    if actors is not None:
        run = run.with_actors(actors)
    with connected(address, run, options or {}):
        node = this_node(run.distributed)
        with reserved(run.distributed, node) as places:
            start = starter(node, places)
            return train_run(run, directory, resume=resume, on_progress=on_progress, start=start)
