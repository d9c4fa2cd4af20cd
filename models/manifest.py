"""The manifest of the bundled networks: what each file is, how it was made, how strong it is."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from pyengine.base.files import replacing

HEADER = """\
# The bundled networks. Written by make_models.py; the tests compare it with the files.
# made: by which run; commit: of the engine when the entry was written; seconds: of all sittings;
# games, positions: of self-play; curve: games so far and Elo above the first network, by a fit
# over all matches of the run.
# targets: a share of cases, or a score that counts a win 1, a draw 1/2, a loss 0; the interval is
# that of 95 %; least, more_than and most are what was asked, goal means beyond the target.
"""


def describe(path: Path) -> dict[str, Any]:
    """Return file name, sha256 and size."""
    content = path.read_bytes()
    return {
        "file": path.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }


def read(path: Path) -> dict[str, Any]:
    """Return the entries by the networks' names; none where there is no manifest."""
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def update(path: Path, name: str, entry: dict[str, Any]) -> None:
    """Replace one network's entry in the manifest; the file appears whole or not at all."""
    entries = read(path)
    entries[name] = entry
    parts = [HEADER] + [_table(key, entries[key]) for key in sorted(entries)]
    with replacing(path) as part:
        part.write_text("\n".join(parts), "utf-8")


def _table(name: str, entry: dict[str, Any]) -> str:
    """Return a table as TOML; tables inside it, and lists of them, follow its plain values."""
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
