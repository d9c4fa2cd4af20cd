"""The analysis protocol on standard input and output: a JSON value per line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json, to_json  # come with pydantic

from pyengine.protocols.analysis.jobs import Send
from pyengine.protocols.analysis.service import Analysis
from pyengine.protocols.lines import Lines, Output


def serve(analysis: Analysis, lines: Lines, output: Output, *, wait: bool = True) -> None:
    """Answer the queries of a client until its input ends, then finish what is open.

    Args:
        analysis: answers the queries, and is finished at the end.
        lines: a query per line.
        output: receives a reply per line.
        wait: search the open queries to their end; False ends them.

    """

    def send(reply: Mapping[str, Any]) -> None:
        output.write(to_json(reply, inf_nan_mode="null").decode())

    at_once = True
    try:
        while (line := lines.read()) is not None:
            if line.strip():
                _handle(line, analysis, send)
        at_once = not wait
    except OSError:  # the client has gone
        pass
    finally:
        analysis.finish(at_once=at_once)


def _handle(line: str, analysis: Analysis, send: Send) -> None:
    try:
        query = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        send({"error": f"could not parse the line as JSON: {error}"})
        return
    analysis.handle(query, send)
