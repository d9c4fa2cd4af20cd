"""Fixtures for the tests of training data."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip fsync: these tests survive no power failure, and a busy disk may take seconds."""
    monkeypatch.setattr(os, "fsync", lambda _number: None)
