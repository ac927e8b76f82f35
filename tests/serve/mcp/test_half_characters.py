"""A message with half a character in it is answered with its id, and no client waits for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard.serve.mcp.stdio import refusal_of, refusal_of_surrogates
from tests.requirements import requirement
from tests.serve.mcp.local_servers import LIBRARY, Serving, post, write_tree
from tests.serve.mcp.messages import line
from tests.serve.mcp.test_stdio import PING, Spoken

pytestmark = requirement("mcp:half-characters")


def call(number: Any, text: str) -> bytes:
    """Return a call as a client writes it that escapes what is not ASCII."""
    params = {"name": "search_skills", "arguments": {"query": text}}
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def test_over_stdio_the_error_has_the_requests_id(tmp_path: Path) -> None:
    spoken = Spoken(write_tree(tmp_path / "skills", LIBRARY))
    try:
        spoken.hello()
        spoken.say(call(7, "pdf \ud800"), call("seven", "\udfff"), call("\ud800", "x"), line(PING))
        told = {each["id"]: each for each in spoken.until("last")}
        assert [told[number]["error"]["code"] for number in (7, "seven", None)] == [-32602] * 3
        assert "half a character" in told[7]["error"]["message"]
        assert spoken.end() == (0, b"")
    finally:
        spoken.close()


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_over_http_the_error_has_the_requests_id(served: Serving, version: str) -> None:
    for number in (7, "seven"):
        body = call(number, "pdf \ud800")
        answer = post(
            served.port, body, "Content-Type: application/json",
            "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}",
            f"MCP-Protocol-Version: {version}",
        )  # fmt: skip
        found = json.loads(answer.body)
        assert (answer.status, found["id"], found["error"]["code"]) == (400, number, -32602)


def test_a_line_that_is_too_deep_has_its_id_and_one_that_is_no_json_has_none() -> None:
    deep = refusal_of(
        '{"jsonrpc":"2.0","id":3,"method":"x","params":' + "[" * 300 + "]" * 300 + "}"
    )
    assert (deep.id, deep.error.code) == (3, -32600)
    assert (refusal_of("[" * 100_000).id, refusal_of("{").error.code) == (None, -32700)
    assert refusal_of_surrogates(b'{"id": 1, "a": "\\ud800"').__class__ is type(None)
