"""Servers that run for one test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.standin import Upstreams


@pytest.fixture
def up() -> Iterator[Upstreams]:
    with Upstreams() as running:
        yield running
