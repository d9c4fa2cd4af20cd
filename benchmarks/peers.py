"""Peers: searches of other libraries measured alternately with ours on the same machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from . import common
    from ._peers import batched, environment, graphs, leela, openspiel, paths
    from .common import Options, Report
else:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from benchmarks import common
    from benchmarks._peers import batched, environment, graphs, leela, openspiel, paths
    from benchmarks.common import Options, Report

NAME = "peers"
DESCRIPTION = "simulations, visits or searches per second in other libraries and in this one"

Peer = Callable[[Report, Options, Path], None]
PEERS: dict[str, Peer] = {
    "openspiel": openspiel.run,
    "mctx": batched.run,
    "leela-zero": leela.run,
    "paths": paths.run,
    "graphs": graphs.run,
}


def run(report: Report, options: Options) -> None:
    """Compare with every available peer. Name the others in the notes."""
    report.fingerprint = openspiel.CONFIG.fingerprint()
    folder = environment.cache_folder()
    for name, peer in PEERS.items():
        with report.attempt(f"{NAME}/{name}"):
            environment.attempt(partial(peer, report, options, folder), report.notes)
    report.notes.append(
        "peer/s, pyengine/s: median simulations (Leela Zero: visits) per second; ratio: median of"
        " the pairs; cpu ratio: by processor time, which other programs disturb less; same formula:"
        " the ratio with PUCT configured exactly like the peer's; python bot: ratio to OpenSpiel's"
        " Python bot"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
