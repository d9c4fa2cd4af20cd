"""Text nested deeper than Python reads is refused by name, not by a RecursionError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyengine import ConfigError, DataError, ModelSpec, SearchConfig
from pyengine.train.json_files import read_json, read_lines
from pyengine.train.loop.runfile import RunFile

JSON, TOML = "[" * 100_000, "a=" + "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    ("read", "text"),
    [(ModelSpec.from_json, JSON), (SearchConfig.from_toml, TOML), (RunFile.from_toml, TOML)],
)
def test_settings(read: Callable[[str], Any], text: str) -> None:
    with pytest.raises(ConfigError, match="recursion"):
        read(text)


def test_files_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    path.write_text(JSON)
    with pytest.raises(DataError, match=r"status\.json: expected JSON"):
        read_json(path)
    assert read_lines(path) == []
