"""One call through a provider's library: what is sent, the validated reply, and its latency."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from skillyard.base.text import clean_line, shorten
from skillyard.evals.models.bounded_client import bounded_client
from skillyard.evals.models.failures import bad_reply, failure_of, missing_library
from skillyard.evals.models.profiles import Profiles, check_profiles, profile_of
from skillyard.evals.models.protocol import (
    ModelFailed,
    ModelReply,
    ModelRequest,
    TokenUsage,
)
from skillyard.evals.models.servers import server_of

BACKEND_HEADER = "x-skillyard-backend"
"""A stand-in sets it to ``fake``; no real provider sends it."""
_WORD = 40
_MOST_TOKENS = 1_000_000_000
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Exceptions of the libraries for an unexpected body."""


class SdkModel(ABC):
    """A ``ChatModel`` over a client of a provider's library, or one that behaves like it.

    Without a client it only knows what would be sent to ``host``. Plans and replays use it so, and
    need no library, no key and no network. ``profiles`` go before the table in ``profiles.py``.
    Safe for many threads.
    """

    provider: str
    """The name of the provider and of its library."""
    client_class: str
    """The library's class of clients; the raw response is read from these alone."""
    _answer: str
    """What the API calls an answer."""
    _secret_names: tuple[str, ...]
    """Attributes of the client that contain keys."""
    _stops: Mapping[str, str]
    """Our word for each of the provider's reasons to stop."""

    def __init__(
        self, client: Any = None, profiles: Profiles | None = None, *, host: str = ""
    ) -> None:
        """Raises InvalidInput for invalid ``profiles``, ModelFailed (``missing_library``)."""
        check_profiles(profiles or {})
        self._profiles = profiles
        self.host = host
        self._client = client
        if client is None:
            return
        self.host = server_of(self.provider, getattr(client, "base_url", ""))
        self._library = _library(self.provider)
        self._own = isinstance(client, getattr(self._library, self.client_class))
        if self._own:
            self._client = client.with_options(max_retries=0)
        api = self._api(self._client)
        self._create = (api.with_raw_response if self._own else api).create
        secrets = (getattr(client, name, None) for name in self._secret_names)
        self._secrets = tuple(each for each in secrets if isinstance(each, str) and each)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.host!r})"

    def close(self) -> None:
        """Close the client and its connections; nothing can be asked afterwards."""
        self._client.close()

    @abstractmethod
    def _api(self, client: Any) -> Any:
        """Return the part of a client that has ``create``."""

    @abstractmethod
    def _format(self, schema: dict[str, object]) -> dict[str, object]:
        """Return the parameters that hold a reply to a JSON schema."""

    @abstractmethod
    def _arguments(self, request: ModelRequest, parameters: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments of ``create``."""

    @abstractmethod
    def _read(self, body: Any) -> tuple[str, object, TokenUsage]:
        """Return text, reason to stop and token counts. Raises an error of an unreadable body."""

    def sent(self, request: ModelRequest) -> dict[str, object]:
        """Return the parameters beside model and texts, as they stand in the request's body."""
        profile = profile_of(self.provider, request.model, self._profiles)
        parameters: dict[str, object] = {profile.max_tokens_field: request.max_tokens}
        if request.temperature is not None and profile.temperature:
            parameters["temperature"] = request.temperature
        if request.schema is not None and profile.structured:
            parameters |= self._format(dict(request.schema))
        return parameters

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Ask once, for at most ``timeout_s`` seconds. Raises ModelFailed."""
        if self._client is None:
            raise ModelFailed("connection", "the network is forbidden in this run", permanent=True)
        parameters = self.sent(request)
        started = time.monotonic()
        response = self._send(self._arguments(request, parameters), timeout_s)
        latency_s = time.monotonic() - started
        text, stop, usage = self._read_response(response)
        backend = response.headers.get(BACKEND_HEADER, "") if self._own else ""
        return ModelReply(
            "" if stop == "refusal" else text,
            stop,
            usage,
            parameters,
            latency_s,
            f"{self.provider} {self._library.__version__}",
            backend.strip().lower() == "fake",
        )

    def _send(self, arguments: Mapping[str, Any], timeout_s: float) -> Any:
        """Return the library's response; with headers and not yet parsed, from its own client.

        The library's exception is not chained, because it holds the request with the key and the
        unfiltered text of the server.
        """
        errors = getattr(self._library, f"{self.client_class}Error")
        failed: ModelFailed
        try:
            return self._create(**arguments, timeout=timeout_s)
        except (errors, TypeError, ValueError) as error:
            failed = failure_of(error, self._library, self.provider, self._secrets)
        raise failed

    def _read_response(self, response: Any) -> tuple[str, str, TokenUsage]:
        """Return text, reason to stop and token counts. Raises ModelFailed (``bad_reply``)."""
        try:
            body = response.parse() if self._own else response
            if isinstance(body, str | bytes | None):
                what = "answered with a page or plain text, not JSON; is the base URL right?"
                raise bad_reply(self.provider, what)
            text, stop, usage = self._read(body)
            return text, self._stop_word(stop), usage
        except _UNREADABLE:
            pass
        what = f"answered with something that is no {self._answer}"
        raise bad_reply(self.provider, what, charged=True)

    def _stop_word(self, stop: object) -> str:
        """Return our word for a reason to stop, else the provider's, cleaned, or ``unknown``."""
        if not isinstance(stop, str):
            return "unknown"
        return self._stops.get(stop) or shorten(clean_line(stop), _WORD) or "unknown"


def _library(provider: str) -> Any:
    """Return a provider's library. Raises ModelFailed (``missing_library``)."""
    try:
        return import_module(provider)
    except ImportError:
        raise missing_library(provider) from None


def open_client(model_class: type[SdkModel], key: str, base_url: str) -> Any:
    """Return a client of a provider's library, without retries and with bounded answers."""
    client_class = getattr(_library(model_class.provider), model_class.client_class)
    return client_class(api_key=key, base_url=base_url, max_retries=0, http_client=bounded_client())


def attribute(value: Any, name: str) -> Any:
    """Return a field of a library's object, or of a plain record; None where it is missing."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def token_count(value: Any, name: str) -> int | None:
    """Return a count of tokens in a field; None for an invalid one."""
    count = attribute(value, name)
    is_count = isinstance(count, int) and not isinstance(count, bool)
    return count if is_count and 0 <= count <= _MOST_TOKENS else None


def joined_text(parts: object) -> str:
    """Return the joined text of the blocks of type ``text``, in order.

    Blocks of other types (thinking, tool use) are ignored. Raises TypeError if the value is not a
    list or a text block holds no text.
    """
    if not isinstance(parts, list | tuple):
        raise TypeError("no list of blocks")
    texts = [attribute(part, "text") for part in parts if attribute(part, "type") == "text"]
    return "".join(texts)
