"""A stand-in, a clock and an empty cache for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard_testkit import FakeServers
from tests.install.sources.clients import Clock, Network


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Network]:
    clock = Clock()
    with FakeServers(clock=clock) as up:
        yield Network(up, clock, tmp_path / "cache")
