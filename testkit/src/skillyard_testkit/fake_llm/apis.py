"""The two APIs: their routes, the shapes of their documents, and their errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from skillyard_testkit.fake_llm.agent import ToolCall
from skillyard_testkit.messages import Request, Response, json_response

__all__ = [
    "ANTHROPIC",
    "COUNT",
    "OPENAI",
    "ROUTES",
    "Call",
    "Reply",
    "error_response",
    "reply_response",
]

ANTHROPIC = "anthropic"
OPENAI = "openai"
COUNT = "/v1/messages/count_tokens"
ROUTES = {"/v1/messages": ANTHROPIC, COUNT: ANTHROPIC, "/v1/chat/completions": OPENAI}
BACKEND = {"x-skillyard-backend": "fake"}
"""Sent with every response, so that nobody takes it for a model's."""
_TOKEN_CHARS = 4
_CREATED = 1_700_000_000

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}
_STOPS = {"end": "stop", "tool": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


@dataclass(frozen=True)
class Call(Request):
    """One request, with its API."""

    @property
    def api(self) -> str:
        """Which API the path belongs to; ``other`` for none."""
        return ROUTES.get(self.path, "other")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, before it is written in the format of an API."""

    text: str
    stop: str = "end"
    """``end``, ``max_tokens``, ``refusal``, or another value, which is passed on."""
    thinking: str = ""
    """Sent in a block of its own before the text, where the API has such blocks."""
    usage: bool = True
    """False: the token counts are left out."""
    call: ToolCall | None = None
    """A tool that the model wants to be called, instead of an answer."""


def tokens(text: str) -> int:
    """Return an estimate of tokens: a quarter of the characters, at least 1."""
    return max(1, -(-len(text) // _TOKEN_CHARS))


def reply_response(api: str, body: Mapping[str, Any], prompt: str, reply: Reply) -> Response:
    """Return a reply in the format of the API. ``prompt`` is the text of the request."""
    document = _message if api == ANTHROPIC else _completion
    number = sha256(f"{prompt}|{reply}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return json_response(document(number, str(body.get("model", "")), prompt, reply))


def _message(number: str, model: str, prompt: str, reply: Reply) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": number})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    if reply.call is not None:
        call = {"name": reply.call.name, "input": dict(reply.call.arguments)}
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", **call})
    is_refusal = reply.stop == "refusal"
    document: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [] if is_refusal else blocks,
        "stop_reason": {"end": "end_turn", "tool": "tool_use"}.get(reply.stop, reply.stop),
        "stop_sequence": None,
    }
    if reply.usage:
        document["usage"] = {
            "input_tokens": tokens(prompt),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": tokens(reply.thinking + reply.text),
        }
    return document


def _completion(number: str, model: str, prompt: str, reply: Reply) -> dict[str, Any]:
    is_refusal = reply.stop == "refusal"
    choice: dict[str, Any] = {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": None if is_refusal else reply.text,
            "refusal": "I cannot help with that." if is_refusal else None,
        },
        "logprobs": None,
        "finish_reason": _STOPS.get(reply.stop, reply.stop),
    }
    if reply.call is not None:
        function = {"name": reply.call.name, "arguments": json.dumps(dict(reply.call.arguments))}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": calls}
    document: dict[str, Any] = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": _CREATED,
        "model": model,
        "choices": [choice],
    }
    if reply.usage:
        paid, gained = tokens(prompt), tokens(reply.thinking + reply.text)
        document["usage"] = {
            "prompt_tokens": paid,
            "completion_tokens": gained,
            "total_tokens": paid + gained,
        }
    return document


def error_response(
    api: str, status: int, message: str, *, code: str | None = None, param: str | None = None
) -> Response:
    """Return an error in the format of the API. ``code`` is its machine-readable word."""
    kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error: dict[str, Any]
    if api == OPENAI:
        openai_kind = code if code == "insufficient_quota" else kind
        error = {"message": message, "type": openai_kind, "param": param, "code": code}
        return json_response({"error": error}, status)
    error = {"type": kind, "message": message}
    if code is not None:
        error["details"] = {"error_code": code}
    document = {"type": "error", "error": error, "request_id": f"req_{status}"}
    return json_response(document, status, request_id=f"req_{status}")
