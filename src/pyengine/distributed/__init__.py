"""The loop of self-play, training and gate on several machines; needs the extra ``distributed``."""

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

__all__ = ["train"]


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

    Folder, settings and report are those of a run on one machine, and either kind can resume the
    other. Call it on a node of the cluster; that node holds the folder, learner and gate. An actor
    that dies is replaced; its delivered games are kept.

    Args:
        source, directory, resume, on_progress: as in ``train_run``.
        address: ``"local"`` starts a Ray on this machine, ``"auto"`` uses the cluster of this
            machine; otherwise an address of ``ray.init``.
        actors: overrides ``distributed.actors``: a number, or ``"auto"`` for as many as the nodes
            have room for at any time.
        options: additional arguments for ``ray.init``, such as ``runtime_env``.

    Raises:
        ConfigError: as in ``train_run``; learner or gate does not fit the driver's node; or
            ``selfplay.precision`` is not ``"float32"``: a cluster does not support copies.
        EngineError: ray is not installed, or no cluster answers at the address.
        TrainingError: a part or the actors of all seats keep dying.
        KeyboardInterrupt: Ctrl-C, after a clean end; ``resume`` continues the run.

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
            start = starter(run, node, places)
            return train_run(run, directory, resume=resume, on_progress=on_progress, start=start)
