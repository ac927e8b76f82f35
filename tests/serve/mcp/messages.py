"""Twenty-six messages that no client should send, after the initialize handshake of an old one."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["INITIALIZE", "INITIALIZED", "MESSAGES", "line"]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "init",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def line(message: Any) -> bytes:
    return json.dumps(message).encode()


def _request(method: str, params: Any = None, number: Any = 1) -> bytes:
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _call(name: Any, arguments: Any) -> bytes:
    return _request("tools/call", {"name": name, "arguments": arguments})


MESSAGES: dict[str, bytes] = {
    "no JSON": b"hello",
    "half of JSON": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"',
    "a number": b"7",
    "null": b"null",
    "an empty object": b"{}",
    "an empty list": b"[]",
    "a batch": b"[" + _request("ping") + b"," + _request("ping", number=2) + b"]",
    "deep nesting": b"[" * 100_000,
    "a deep argument": _call("load_skill", {"name": None}).replace(
        b"null", b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    ),
    "not UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}',
    "another version": line({"jsonrpc": "1.0", "id": 1, "method": "ping"}),
    "no version": line({"id": 1, "method": "ping"}),
    "an id that is a list": _request("ping", number=[1]),
    "an id that is null": line({"jsonrpc": "2.0", "id": None, "method": "ping"}),
    "a method that is a number": line({"jsonrpc": "2.0", "id": 1, "method": 7}),
    "an unknown method": _request("skills/delete", {"uri": "skill://deploy/SKILL.md"}),
    "an empty method": _request(""),
    "parameters that are a list": _request("tools/list", [1, 2]),
    "a result that nobody asked for": line({"jsonrpc": "2.0", "id": 99, "result": {}}),
    "a cancellation of nothing": line(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}
    ),
    "progress for nothing": line(
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "x", "progress": 1},
        }
    ),
    "arguments that are text": _call("load_skill", "deploy"),
    "a name that is an object": _call({"a": 1}, {}),
    "half a character": _call("load_skill", {"name": "\ud800"}),
    "a number beyond all": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    b'{"name":"list_skills","arguments":{"limit":1' + b"0" * 5_000 + b"}}}",
    "a megabyte of name": _call("load_skill", {"name": "x" * 1_000_000}),
}
assert len(MESSAGES) == 26
