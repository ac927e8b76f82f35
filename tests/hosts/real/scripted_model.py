"""A model of a few prepared answers, in the two streamed protocols that the hosts speak.

It keeps every request, which is what the tests look at: what a host really sends to its model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

__all__ = ["Call", "ScriptedModel", "scripted_model", "texts_in"]


WAIT = "WaitForMcpServers"


class Call(NamedTuple):
    """A tool that the model calls before it is done."""

    tool: str
    """The end of the name under which the host offers it."""
    arguments: Mapping[str, Any]


class ScriptedModel:
    """What was asked, and what is to be answered: the calls in turn, then ``done``."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Any] = []
        self.calls: list[Call] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(b'{"data": []}', "application/json")

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        asked = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith(("/messages", "/responses")):
            self.model.requests.append(asked)
            called = self._called(asked)
            number = len(self.model.requests)  # no host takes one call for another
            events = (_anthropic if path.endswith("/messages") else _openai)(called, number)
            lines = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
            self._answer(lines.encode(), "text/event-stream")
        else:
            self._answer(b'{"input_tokens": 5}', "application/json")

    def _called(self, asked: Any) -> tuple[dict[str, Any], Call] | None:
        """Return the tool to call with its arguments; None where the answer is a text."""
        if not self.model.calls:
            return None
        offered = {str(tool["name"]): tool for tool in _tools(asked)}
        wanted = self.model.calls[0]
        for name, tool in offered.items():
            if name.endswith(wanted.tool):
                return tool, self.model.calls.pop(0)
        # A server that is still starting is waited for, as Claude Code tells its model to do.
        waiting = offered.get(WAIT)
        return None if waiting is None else (waiting, Call(WAIT, {}))

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _tools(asked: Any) -> Iterator[dict[str, Any]]:
    """Yield every tool of a request, those of a namespace with the namespace's name."""
    for tool in asked.get("tools", ()):
        if tool.get("type") == "namespace":
            for inner in tool["tools"]:
                yield {**inner, "namespace": tool["name"]}
        elif "name" in tool:
            yield tool


def _anthropic(called: tuple[dict[str, Any], Call] | None, number: int) -> list[dict[str, Any]]:
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "done"}
    if called is not None:
        tool, call = called
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool["name"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    message: dict[str, Any] = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted",
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }  # fmt: skip
    why = "end_turn" if called is None else "tool_use"
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None},
         "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]  # fmt: skip


def _openai(called: tuple[dict[str, Any], Call] | None, number: int) -> list[dict[str, Any]]:
    item: dict[str, Any] = {
        "type": "message", "role": "assistant", "id": f"msg_{number}",
        "content": [{"type": "output_text", "text": "done"}],
    }  # fmt: skip
    if called is not None:
        tool, call = called
        item = {
            "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
            "name": tool["name"], "arguments": json.dumps(call.arguments),
        }  # fmt: skip
        if "namespace" in tool:
            item["namespace"] = tool["namespace"]
    usage = {
        "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
        "output_tokens_details": None, "total_tokens": 2,
    }  # fmt: skip
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
    ]


def texts_in(shape: Any) -> Iterator[str]:
    """Yield every text of a JSON value."""
    if isinstance(shape, str):
        yield shape
    elif isinstance(shape, dict):
        for value in shape.values():
            yield from texts_in(value)
    elif isinstance(shape, list):
        for value in shape:
            yield from texts_in(value)


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """Give a model that listens on loopback."""

    class Handler(_Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.model = ScriptedModel(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Handler.model
        finally:
            server.shutdown()
            thread.join()
