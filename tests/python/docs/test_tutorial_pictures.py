"""The pictures of the tutorials are those of the search that their script runs."""

from __future__ import annotations

import re
import runpy

from conftest import ROOT

NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")  # machines may differ in the last digit


def test_the_pictures_of_a_tutorial_show_the_search() -> None:
    script = runpy.run_path(str(ROOT / "tools" / "tutorial_pictures.py"))
    for name, drawn in script["pictures"]():
        committed = ROOT / "docs" / "pictures" / f"alphazero-{name}.svg"
        assert NUMBER.sub("N", committed.read_text(encoding="utf-8")) == NUMBER.sub("N", drawn)
