"""Claude through Anthropic's library, version 2: the Messages API, one call, no retries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillyard.evals.models.adapter import (
    attribute,
    call_library,
    count,
    host_of,
    joined_text,
    key_of,
    stop_word,
    timed_reply,
)
from skillyard.evals.models.bounded_client import bounded_client
from skillyard.evals.models.failures import missing_library
from skillyard.evals.models.parameters import ADDRESSES, anthropic_parameters
from skillyard.evals.models.profiles import Profile, check_profiles, profile_of
from skillyard.evals.models.protocol import Reply, Request, Usage

if TYPE_CHECKING:
    from types import ModuleType

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


def _library() -> ModuleType:
    try:
        import anthropic
    except ImportError:
        raise missing_library("anthropic") from None
    return anthropic


def open_anthropic(
    key: str, base_url: str = ANTHROPIC_URL, profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> AnthropicModel:
    """Return Claude's models at a base URL.

    Raises ModelFailed (``missing_library``), and InvalidInput for invalid ``profiles``.
    """
    client = _library().Anthropic(
        api_key=key, base_url=base_url, max_retries=0, http_client=bounded_client()
    )
    return AnthropicModel(client, profiles)


class AnthropicModel:
    """A ``ChatModel`` over an ``anthropic.Anthropic`` client. Safe for many threads.

    ``profiles`` go before the table in ``profiles.py``.
    """

    def __init__(
        self, client: Any, profiles: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        check_profiles(profiles or {})
        self._anthropic = _library()
        own = isinstance(client, self._anthropic.Anthropic)
        self._own = own
        self._client = client.with_options(max_retries=0) if own else client
        self._messages = self._client.messages.with_raw_response if own else self._client.messages
        self._profiles = profiles
        self._secrets = key_of(client, "api_key", "auth_token")
        self._host = host_of(getattr(client, "base_url", ""))
        headers = getattr(client, "default_headers", None)
        self._version = str(headers.get(_VERSION, "")) if isinstance(headers, Mapping) else ""

    def __repr__(self) -> str:
        return f"AnthropicModel({self._host!r})"

    def close(self) -> None:
        """Close the client and its connections; nothing can be asked afterwards."""
        self._client.close()

    @property
    def provider(self) -> str:
        """``anthropic``."""
        return "anthropic"

    @property
    def host(self) -> str:
        """Host and port of the base URL."""
        return self._host

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

        return timed_reply(
            lambda: self._ask(send), lambda message: self._read(message, parameters), "anthropic",
            "message",
            raw=self._own,
        )  # fmt: skip

    def count_tokens(self, request: Request) -> int | None:
        """Return the provider's count of the input tokens, free of charge. Raises ModelFailed."""

        def send() -> Any:
            return self._messages.count_tokens(**self._texts(request), timeout=_COUNT_S)

        def read(count_reply: Any) -> Reply:
            tokens = count(attribute(count_reply, "input_tokens"))
            if tokens is None:
                raise TypeError("no count")
            return Reply("", "end", Usage(tokens))

        reply = timed_reply(
            lambda: self._ask(send), read, "anthropic", "count of tokens", raw=self._own
        )
        return reply.usage.input_tokens

    def _ask(self, send: Any) -> Any:
        library = self._anthropic
        return call_library(send, library, library.AnthropicError, "anthropic", self._secrets)

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
        stop = attribute(message, "stop_reason")
        stop = _STOPS.get(stop, stop_word(stop)) if isinstance(stop, str) else stop_word(stop)
        return Reply(
            "" if stop == "refusal" else text,
            stop,
            _usage(attribute(message, "usage")),
            dict(parameters),
            sdk=f"anthropic {self._anthropic.__version__}",
        )


def _usage(usage: Any) -> Usage:
    parts = [count(attribute(usage, name)) for name in _INPUT]
    input_tokens = None if parts[0] is None else sum(each or 0 for each in parts)
    return Usage(input_tokens, count(attribute(usage, "output_tokens")))
