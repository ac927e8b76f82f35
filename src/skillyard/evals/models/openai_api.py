"""OpenAI's models, and servers with the same protocol, through OpenAI's library, version 3.

The protocol is Chat Completions, which self-hosted servers support.
"""

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

_STOPS = {"stop": "end", "length": "max_tokens", "content_filter": "refusal"}


class OpenAIModel(SdkModel):
    """A ``ChatModel`` over an ``openai.OpenAI`` client."""

    provider = "openai"
    client_class = "OpenAI"
    _answer = "chat completion"
    _secret_names = ("api_key", "admin_api_key")
    _stops = _STOPS

    def _api(self, client: Any) -> Any:
        return client.chat.completions

    def _format(self, schema: dict[str, object]) -> dict[str, object]:
        reply = {"name": "reply", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": reply}}

    def _arguments(self, request: ModelRequest, parameters: Mapping[str, object]) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": request.user}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        # The library looks through every part of a message for what it would have to rename, which
        # costs a quarter of the call; what stands in `extra_body` goes into the body as it is.
        body: dict[str, Any] = {"messages": messages}
        if self._own:
            body = {"messages": (), "extra_body": body}
        return {"model": request.model, **body, **parameters}

    def _read(self, body: Any) -> tuple[str, object, TokenUsage]:
        choice = attribute(body, "choices")[0]
        message = attribute(choice, "message")
        if message is None:
            raise TypeError("no message")
        content = attribute(message, "content")
        text = "" if content is None else content
        refusal = attribute(message, "refusal")
        refuses = isinstance(refusal, str) and refusal
        usage = attribute(body, "usage")
        return (
            text if isinstance(text, str) else joined_text(text),
            "content_filter" if refuses else attribute(choice, "finish_reason"),
            TokenUsage(
                token_count(usage, "prompt_tokens"), token_count(usage, "completion_tokens")
            ),
        )
