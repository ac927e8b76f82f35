"""Claude through Anthropic's library, version 2: the Messages API, one call, no retries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.evals.models.protocol import ModelRequest, TokenUsage
from skillyard.evals.models.sdk_model import (
    SdkModel,
    attribute,
    joined_text,
    token_count,
)

_ARGUMENTS = ("max_tokens", "output_config")
"""Parameters that version 2 of the library knows; an own profile may know better."""
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""All input is the sum of these three (the library's ``Message.usage``)."""

_STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
"""The text ends early in both cases that are called ``max_tokens``."""


class AnthropicModel(SdkModel):
    """A ``ChatModel`` over an ``anthropic.Anthropic`` client."""

    provider = "anthropic"
    client_class = "Anthropic"
    _answer = "message"
    _secret_names = ("api_key", "auth_token")
    _stops = _STOPS

    def _api(self, client: Any) -> Any:
        return client.messages

    def _format(self, schema: dict[str, object]) -> dict[str, object]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def _arguments(self, request: ModelRequest, parameters: Mapping[str, object]) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": "user", "content": request.user}],
        }
        if request.system:
            arguments["system"] = request.system
        unknown = {name: parameters[name] for name in parameters if name not in _ARGUMENTS}
        if unknown:
            arguments["extra_body"] = unknown
        return arguments | {name: parameters[name] for name in parameters if name in _ARGUMENTS}

    def _read(self, body: Any) -> tuple[str, object, TokenUsage]:
        usage = attribute(body, "usage")
        parts = [token_count(usage, name) for name in _INPUT]
        input_tokens = None if parts[0] is None else sum(each or 0 for each in parts)
        return (
            joined_text(attribute(body, "content")),
            attribute(body, "stop_reason"),
            TokenUsage(input_tokens, token_count(usage, "output_tokens")),
        )
