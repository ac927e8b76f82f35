"""Servers that run for one test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard_testkit import FakeServers


@pytest.fixture
def up() -> Iterator[FakeServers]:
    with FakeServers() as running:
        yield running
