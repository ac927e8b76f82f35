"""A server that several tests ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.mcp.local_servers import Serving, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A library of three skills over HTTP; it is never changed."""
    with serving(tmp_path_factory.mktemp("library") / "skills") as server:
        yield server
        failures = [line for line in server.lines() if line["event"] == "failure"]
        assert failures == []
