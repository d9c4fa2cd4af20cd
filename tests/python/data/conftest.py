"""What all tests of training data share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine dies here, and a busy disk may take seconds for a sync."""
    monkeypatch.setattr(os, "fsync", lambda _number: None)
