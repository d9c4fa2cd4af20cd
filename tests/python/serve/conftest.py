"""The server that most tests ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from serving import Client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(threads=1, max_searches=3, memory=512 << 20) as client:
        yield client
