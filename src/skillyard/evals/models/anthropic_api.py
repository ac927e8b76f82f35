"""Claude through Anthropic's library, version 2: the Messages API, one call, no retries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.evals.models.adapter import attribute, count, joined_text
from skillyard.evals.models.parameters import ADDRESSES, anthropic_parameters
from skillyard.evals.models.profiles import Profile, profile_of
from skillyard.evals.models.protocol import Reply, Request, Usage
from skillyard.evals.models.sdk_model import SdkModel, open_client

__all__ = ["ANTHROPIC_URL", "AnthropicModel", "open_anthropic"]

ANTHROPIC_URL = ADDRESSES["anthropic"]
_COUNT_S = 30.0
_VERSION = "anthropic-version"

_STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
"""The text ends early in both cases that are called ``max_tokens``."""
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""All input is the sum of these three (the library's ``Message.usage``)."""


def open_anthropic(
    key: str, base_url: str = ANTHROPIC_URL, profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> AnthropicModel:
    """Return Claude's models at a base URL.

    Raises ModelFailed (``missing_library``), and InvalidInput for invalid ``profiles``.
    """
    return AnthropicModel(open_client("anthropic", "Anthropic", key, base_url), profiles)


class AnthropicModel(SdkModel):
    """A ``ChatModel`` over an ``anthropic.Anthropic`` client."""

    _provider = "anthropic"
    _client_class = "Anthropic"
    _error_class = "AnthropicError"
    _secret_names = ("api_key", "auth_token")
    _stops = _STOPS

    def __init__(
        self, client: Any, profiles: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        super().__init__(client, profiles)
        self._messages = self._raw(self._client.messages)
        headers = getattr(client, "default_headers", None)
        self._version = str(headers.get(_VERSION, "")) if isinstance(headers, Mapping) else ""

    def _profile(self, model: str) -> Profile:
        return profile_of("anthropic", model, self._version, self._profiles)

    def sent(self, request: Request) -> dict[str, object]:
        """Return the parameters beside model and texts, as they stand in the request's body."""
        return anthropic_parameters(self._profile(request.model), request)

    def complete(self, request: Request, timeout_s: float) -> Reply:
        """Ask once, for at most ``timeout_s`` seconds. Raises ModelFailed."""
        parameters = self.sent(request)
        # The library's version 2 has no such argument; an own profile may know better.
        extra = {name: parameters[name] for name in ("temperature",) if name in parameters}
        arguments = {name: value for name, value in parameters.items() if name not in extra}
        if extra:
            arguments["extra_body"] = extra

        def send() -> Any:
            return self._messages.create(**self._texts(request), **arguments, timeout=timeout_s)

        return self._timed(send, lambda message: self._read(message, parameters), "message")

    def count_tokens(self, request: Request) -> int | None:
        """Return the provider's count of the input tokens, free of charge. Raises ModelFailed."""

        def send() -> Any:
            return self._messages.count_tokens(**self._texts(request), timeout=_COUNT_S)

        def read(count_reply: Any) -> Reply:
            tokens = count(attribute(count_reply, "input_tokens"))
            if tokens is None:
                raise TypeError("no count")
            return Reply("", "end", Usage(tokens))

        return self._timed(send, read, "count of tokens").usage.input_tokens

    def _texts(self, request: Request) -> dict[str, Any]:
        texts: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": "user", "content": request.user}],
        }
        if request.system:
            texts["system"] = request.system
        return texts

    def _read(self, message: Any, parameters: Mapping[str, object]) -> Reply:
        """Return the reply. Raises one of the errors of an unreadable body."""
        text = joined_text(attribute(message, "content"))
        stop = self._stop_of(message, "stop_reason")
        return Reply(
            "" if stop == "refusal" else text,
            stop,
            _usage(attribute(message, "usage")),
            dict(parameters),
            sdk=self._sdk,
        )


def _usage(usage: Any) -> Usage:
    parts = [count(attribute(usage, name)) for name in _INPUT]
    input_tokens = None if parts[0] is None else sum(each or 0 for each in parts)
    return Usage(input_tokens, count(attribute(usage, "output_tokens")))
