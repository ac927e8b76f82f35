"""Streamable HTTP by bare requests: who may ask, what is refused, and that nothing ends it."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.serve.runtime.options import ServiceLimits
from tests.requirements import requirement
from tests.serve.http.local_server import running
from tests.serve.mcp.local_servers import (
    ERAS,
    Serving,
    called,
    connected,
    post,
    raw,
    run,
    serving,
    shows,
)
from tests.serve.mcp.messages import INITIALIZE
from tests.tables import for_each

# The SDK leaves the streams of an answer that nobody reads to the garbage collector, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

JSON = "Content-Type: application/json"
ACCEPT = "Accept: application/json, text/event-stream"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service with short patience; every test leaves it able to answer."""
    limits = ServiceLimits(body_s=0.3)
    with serving(tmp_path_factory.mktemp("library") / "skills", limits=limits) as server:
        yield server
        assert "Ship it." in shows(server.call("load_skill", {"name": "deploy"}))
        assert [each for each in server.lines() if each["event"] == "failure"] == []
    gc.collect()


@for_each("era", ERAS)
def test_both_eras_are_served_side_by_side(served: Serving, era: str) -> None:
    async def work() -> None:
        async with connected(served.url, era) as one, connected(served.url, "legacy") as other:
            found = await asyncio.gather(
                *(called(each, "load_skill", {"name": "deploy"}) for each in (one, other) * 20)
            )
            assert all("Ship it." in shows(each) for each in found)

    run(work())


@requirement("client:mcp-slash")
def test_either_address_is_served_without_a_redirect(tmp_path: Path) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    with running(tmp_path / "skills") as http, serving(tmp_path / "skills") as alone:
        for port in (http.port, alone.port):
            for path in ("/mcp", "/mcp/"):
                url = f"http://127.0.0.1:{port}{path}"
                answer = http.client.post(url, json=INITIALIZE, headers=headers)
                assert answer.status_code == 200, url
                assert "serverInfo" in answer.text


def bare(method: str, path: str = "/mcp", *headers: str, body: str = "") -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


REQUESTS: dict[str, tuple[bytes, int]] = {
    "another path": (bare("GET", "/other"), 404),
    "another method": (bare("PUT"), 405),
    "a session that is none": (
        bare("GET", "/mcp", "Accept: text/event-stream", "Mcp-Session-Id: none"), 404,
    ),
    "deleting nothing": (bare("DELETE", "/mcp", "Mcp-Session-Id: none"), 404),
    "another media type": (
        bare("POST", "/mcp", "Content-Type: text/plain", "Content-Length: 2", body="{}"), 415,
    ),
    "a large body": (bare("POST", "/mcp", JSON, "Content-Length: 99999999"), 413),
    "a body that does not come": (
        bare("POST", "/mcp", JSON, "Content-Length: 100", body="{"), 408,
    ),
    "a path of another": (bare("GET", "/mcp/../etc"), 404),
}  # fmt: skip


@for_each("name", REQUESTS)
def test_a_request_that_is_none_gets_its_status(attacked: Serving, name: str) -> None:
    request, status = REQUESTS[name]
    answer = raw(attacked.port, request)
    assert answer.status == status
    assert b"Traceback" not in answer.body


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=8,
    )
)
def test_any_json_is_refused_or_answered(attacked: Serving, message: Any) -> None:
    body = json.dumps(message).encode()
    answer = post(attacked.port, body)
    assert 400 <= answer.status < 500
