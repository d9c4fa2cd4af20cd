"""Timelines of searches: which thread gathers, evaluates and decodes when."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyengine
from pyengine import _core
from pyengine.base.files import replacing


class Span(NamedTuple):
    """What a thread did.

    Attributes:
        kind: "gather" (requests of a batch, with the walks between them), "evaluate" or "decode".
        thread: its number, in the order in which they came.
        rows: of the batch at the end.
        begin, end: seconds of a clock that all threads share.
    """

    kind: str
    thread: int
    rows: int
    begin: float
    end: float


class Traced(pyengine.Evaluator):
    """An evaluator with a timeline of what a search asks of it.

    The notes take some 0.1 us a leaf.

    Args:
        evaluator: of any kind; a device's own work is within ``evaluate``.
    """

    def __init__(self, evaluator: pyengine.Evaluator) -> None:
        self._trace = _core.Trace()
        super().__init__(_core.traced_evaluator(evaluator, self._trace), evaluator.spec)

    def take(self) -> list[Span]:
        """Return the spans since the last call; not while a search runs."""
        return [Span(*one) for one in self._trace.take()]


def shares(spans: Sequence[Span], threads: int) -> dict[str, float]:
    """Return each kind's share of the time: of gathering and decoding that of all ``threads``.

    Of evaluating the share in which there was a batch in evaluation.
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
    """Return a search's spans as events of Chrome's trace format; ``number`` tells it from others.

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
    """Write the searches' timelines to a file that chrome://tracing and ui.perfetto.dev show."""
    found = [
        event
        for number, (name, spans) in enumerate(searches.items(), 1)
        for event in events(name, number, spans)
    ]
    text = json.dumps({"traceEvents": found, "displayTimeUnit": "ms"}) + "\n"
    with replacing(file) as temporary:
        temporary.write_text(text, "utf-8")
