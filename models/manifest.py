"""The manifest of the bundled networks: files, origin, and strength."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from pyengine.base.files import replacing

HEADER = """\
# The bundled networks. Written by make_models.py; the tests compare it with the files.
# strength: for players; kept when an entry is rewritten.
# made: the training run. commit: of the engine when the entry was written; seconds: total time;
# games, positions: self-play; curve: games so far and Elo above the first network, fitted to all
# matches of the run.
# targets: figure is a share of cases, or a score with win 1, draw 1/2, loss 0; interval is the
# 95 % interval; least, more_than and most are the target; goal marks an optional target.
"""
_WRITTEN_BY_HAND = ("strength",)


def describe(path: Path) -> dict[str, Any]:
    """Return file name, sha256 and size."""
    content = path.read_bytes()
    return {
        "file": path.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }


def read(path: Path) -> dict[str, Any]:
    """Return the entries by network; empty if there is no manifest."""
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def update(path: Path, name: str, entry: dict[str, Any], header: str = HEADER) -> None:
    """Replace an entry in the manifest, or in a similar file, atomically."""
    entries = read(path)
    written = {key: entries.get(name, {}).get(key) for key in _WRITTEN_BY_HAND}
    entries[name] = {key: value for key, value in written.items() if value is not None} | entry
    parts = [header] + [_table(key, entries[key]) for key in sorted(entries)]
    with replacing(path) as part:
        part.write_text("\n".join(parts), "utf-8")


def _table(name: str, entry: dict[str, Any]) -> str:
    """Return a table as TOML: plain values first, then nested tables and lists of tables."""
    lines = [f"[{name}]"]
    lines += [f"{key} = {_value(v)}" for key, v in entry.items() if not _nested(v)]
    text = "\n".join(lines) + "\n"
    for key, value in entry.items():
        if isinstance(value, dict):
            text += "\n" + _table(f"{name}.{key}", value)
        elif _nested(value):
            text += "".join(
                "\n"
                + _table(f"{name}.{key}", row).replace(f"[{name}.{key}]", f"[[{name}.{key}]]", 1)
                for row in value
            )
    return text


def _nested(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return repr(value)
