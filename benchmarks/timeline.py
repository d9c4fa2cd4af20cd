"""Timelines of searches: when each thread gathers, evaluates and decodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyengine import _core
from pyengine.base.files import replacing
from pyengine.eval import Evaluator


class Span(NamedTuple):
    """An interval of work on one thread.

    Attributes:
        kind: "gather" (requests of a batch, including the walks between them), "evaluate" or
            "decode".
        thread: index of the thread, by first appearance.
        rows: number of rows of the batch at the end.
        begin, end: seconds on a clock shared by all threads.
    """

    kind: str
    thread: int
    rows: int
    begin: float
    end: float


class Traced(Evaluator):
    """An evaluator that records a timeline of a search's requests.

    Recording takes about 0.1 us per leaf.

    Args:
        evaluator: any evaluator. The work of a device is part of ``evaluate``.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._trace = _core.Trace()
        super().__init__(_core.traced_evaluator(evaluator, self._trace), evaluator.spec)

    def take(self) -> list[Span]:
        """Return the spans since the last call. Do not call it during a search."""
        return [Span(*one) for one in self._trace.take()]


def shares(spans: Sequence[Span], threads: int) -> dict[str, float]:
    """Return the fraction of time for each kind.

    For gathering and decoding, this is the fraction of the time of all ``threads``. For evaluation,
    it is the fraction of time with at least one batch in evaluation.
    """
    begun, ended = min(span.begin for span in spans), max(span.end for span in spans)
    found = {
        kind: sum(s.end - s.begin for s in spans if s.kind == kind) / (threads * (ended - begun))
        for kind in ("gather", "decode")
    }
    covered, last = 0.0, begun
    for span in sorted((s for s in spans if s.kind == "evaluate"), key=lambda s: s.begin):
        covered += max(0.0, span.end - max(span.begin, last))
        last = max(last, span.end)
    return found | {"evaluate": covered / (ended - begun)}


def events(name: str, number: int, spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Return a search's spans as events of Chrome's trace format. ``number`` identifies the search.

    Format: "Trace Event Format", complete events (``ph`` "X"), microseconds.
    """
    begun = min(span.begin for span in spans)
    head = {"name": "process_name", "ph": "M", "pid": number, "tid": 0, "args": {"name": name}}
    return [
        head,
        *(
            {
                "name": span.kind,
                "ph": "X",
                "pid": number,
                "tid": span.thread,
                "ts": (span.begin - begun) * 1e6,
                "dur": (span.end - span.begin) * 1e6,
                "args": {"rows": span.rows},
            }
            for span in spans
        ),
    ]


def write(file: Path, searches: dict[str, Sequence[Span]]) -> None:
    """Write the searches' timelines to a file for chrome://tracing or ui.perfetto.dev."""
    found = [
        event
        for number, (name, spans) in enumerate(searches.items(), 1)
        for event in events(name, number, spans)
    ]
    text = json.dumps({"traceEvents": found, "displayTimeUnit": "ms"}) + "\n"
    with replacing(file) as temporary:
        temporary.write_text(text, "utf-8")
