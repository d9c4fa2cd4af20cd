"""Makes the scripts of models/ importable, which belong to no package."""

from __future__ import annotations

import pytest

from conftest import ROOT


@pytest.fixture(autouse=True)
def models_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "models"))
