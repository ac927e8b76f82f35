"""One call through a provider's library: what is sent, the validated reply, and its latency.

Our own clients have limits that those of the libraries lack: these apply a time limit to each read,
so that a server that sends a byte now and then holds a call open without end; they read bodies of
any size; and they follow redirects with the key in a header.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from skillyard.base.errors import InvalidInput
from skillyard.base.text import clean_line, shorten
from skillyard.evals.models.calls import (
    ChatModel,
    ModelFailed,
    ModelReply,
    ModelRequest,
    TokenUsage,
)
from skillyard.evals.models.providers import (
    address_of,
    bad_reply,
    failure_of,
    key_of,
    missing_library,
    parameters_of,
    server_of,
)

if TYPE_CHECKING:
    import httpx2

BACKEND_HEADER = "x-skillyard-backend"
"""A stand-in sets it to ``fake``; no real provider sends it."""
MAX_BODY = 32 * 1024 * 1024
"""Maximum bytes of one response, decompressed; about a hundred times the longest answer."""
_CONNECTIONS = 256
_CONNECT_S = 10.0
_WORD = 40
_MOST_TOKENS = 1_000_000_000
_SECRETS = ("api_key", "auth_token", "admin_api_key")
"""Attributes of clients that contain keys."""
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Exceptions of the libraries for an unexpected body."""


class SdkModel(ABC):
    """A ``ChatModel`` over a client of a provider's library, or one that behaves like it.

    Without a client it only knows what would be sent to ``host``. Plans and replays use it so, and
    need no library, no key and no network. Safe for many threads.
    """

    provider: str
    """The name of the provider and of its library."""
    client_class: str
    """The library's class of clients; the raw response is read from these alone."""
    _endpoint: ClassVar[str]
    """The part of a client that has ``create``."""
    _stops: ClassVar[Mapping[str, str]]
    """Our word for each of the provider's reasons to stop."""
    _inputs: ClassVar[Sequence[str]]
    """The counts whose sum is all input (Anthropic: ``Message.usage``); the first is needed."""
    _output: ClassVar[str]

    def __init__(self, client: Any = None, *, host: str = "") -> None:
        """Raises ModelFailed (``missing_library``)."""
        self.host = host
        self._client = client
        if client is None:
            return
        self.host = server_of(self.provider, getattr(client, "base_url", ""))
        self._library = _library(self.provider)
        self._own = isinstance(client, getattr(self._library, self.client_class))
        client = client.with_options(max_retries=0) if self._own else client
        api = attrgetter(self._endpoint)(client)
        self._create = (api.with_raw_response if self._own else api).create
        secrets = (getattr(client, name, None) for name in _SECRETS)
        self._secrets = tuple(each for each in secrets if isinstance(each, str))

    def close(self) -> None:
        """Close the client and its connections; nothing can be asked afterwards."""
        self._client.close()

    @abstractmethod
    def _format(self, schema: dict[str, object]) -> dict[str, object]:
        """Return the parameters that hold a reply to a JSON schema."""

    @abstractmethod
    def _texts(self, request: ModelRequest) -> dict[str, Any]:
        """Return the arguments of ``create`` that hold the two texts."""

    @abstractmethod
    def _text(self, body: Any) -> tuple[str, object]:
        """Return text and reason to stop. Raises an error of an unreadable body."""

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        """Return the parameters beside model and texts, as they stand in the request's body."""
        limit, takes_temperature = parameters_of(self.provider, request.model)
        parameters: dict[str, object] = {limit: request.max_tokens}
        if request.temperature is not None and takes_temperature:
            parameters["temperature"] = request.temperature
        if request.schema is not None:
            parameters |= self._format(dict(request.schema))
        return parameters

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Ask once, for at most ``timeout_s`` seconds. Raises ModelFailed."""
        if self._client is None:
            raise ModelFailed("connection", "the network is forbidden in this run", permanent=True)
        parameters = self.parameters(request)
        started = time.monotonic()
        response = self._send(
            {"model": request.model, **self._texts(request), **parameters}, timeout_s
        )
        latency_s = time.monotonic() - started
        text, reason, usage = self._read_response(response)
        word = self._stops.get(reason) or shorten(clean_line(reason), _WORD) or "unknown"
        backend = response.headers.get(BACKEND_HEADER, "") if self._own else ""
        return ModelReply(
            "" if word == "refusal" else text,
            word,
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
            text, reason = self._text(body)
            usage = _field(body, "usage")
            first, *cached = (_tokens(usage, name) for name in self._inputs)
            tokens = None if first is None else first + sum(filter(None, cached))
            counted = TokenUsage(tokens, _tokens(usage, self._output))
            return text, reason if isinstance(reason, str) else "", counted
        except _UNREADABLE:
            pass
        raise bad_reply(self.provider, "answered with something that is no answer", charged=True)


class AnthropicModel(SdkModel):
    """Claude through Anthropic's library, version 2: the Messages API."""

    provider = "anthropic"
    client_class = "Anthropic"
    _endpoint = "messages"
    _inputs = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    _output = "output_tokens"
    _stops: ClassVar[Mapping[str, str]] = {
        "end_turn": "end",
        "stop_sequence": "end",
        "max_tokens": "max_tokens",
        "model_context_window_exceeded": "max_tokens",  # the text ends early as well
        "refusal": "refusal",
    }

    def _format(self, schema: dict[str, object]) -> dict[str, object]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def _texts(self, request: ModelRequest) -> dict[str, Any]:
        system = {"system": request.system} if request.system else {}
        return {"messages": [{"role": "user", "content": request.user}], **system}

    def _text(self, body: Any) -> tuple[str, object]:
        return _joined_text(_field(body, "content")), _field(body, "stop_reason")


class OpenAIModel(SdkModel):
    """OpenAI's models, and servers with the same protocol, through OpenAI's library, version 3.

    The protocol is Chat Completions, which self-hosted servers support.
    """

    provider = "openai"
    client_class = "OpenAI"
    _endpoint = "chat.completions"
    _inputs, _output = ("prompt_tokens",), "completion_tokens"
    _stops: ClassVar[Mapping[str, str]] = {
        "stop": "end",
        "length": "max_tokens",
        "content_filter": "refusal",
    }

    def _format(self, schema: dict[str, object]) -> dict[str, object]:
        reply = {"name": "reply", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": reply}}

    def _texts(self, request: ModelRequest) -> dict[str, Any]:
        system = [{"role": "system", "content": request.system}] if request.system else []
        return {"messages": [*system, {"role": "user", "content": request.user}]}

    def _text(self, body: Any) -> tuple[str, object]:
        choice = _field(body, "choices")[0]
        message = _field(choice, "message")
        if message is None:
            raise TypeError("no message")
        text = _field(message, "content") or ""
        reason = _field(choice, "finish_reason")
        if _field(message, "refusal"):
            reason = "content_filter"
        return text if isinstance(text, str) else _joined_text(text), reason


PROVIDERS: Mapping[str, type[SdkModel]] = {"anthropic": AnthropicModel, "openai": OpenAIModel}


def open_model(provider: str, *, base_url: str | None = None) -> SdkModel:
    """Return a provider's models: ``anthropic``, or ``openai`` for every server of that protocol.

    The key is read only from ``ANTHROPIC_API_KEY`` or ``OPENAI_API_KEY``. The address is
    ``base_url``, else ``ANTHROPIC_BASE_URL`` or ``OPENAI_BASE_URL``, else the provider's own.
    No request is sent; ``close`` ends the connections.

    Raises InvalidInput for an unknown provider and an invalid address, and ModelFailed
    (``missing_key``, ``missing_library``).
    """
    address = address_of(provider, base_url)
    key = key_of(provider)
    model_class = PROVIDERS[provider]
    client_class = getattr(_library(provider), model_class.client_class)
    client = client_class(
        api_key=key, base_url=address, max_retries=0, http_client=bounded_client()
    )
    return model_class(client)


def offline_model(provider: str, host: str) -> SdkModel:
    """Return models that are never asked: they know what would be sent to ``host``."""
    return PROVIDERS[provider](host=host)


def as_model(client: object) -> ChatModel:
    """Return a client as a ChatModel: one that is a ChatModel already, or a library's own.

    ``anthropic.Anthropic`` and ``openai.OpenAI`` are taken, and objects with the same methods; a
    library's own retries are switched off. Raises InvalidInput for anything else, asynchronous
    clients among it.
    """
    name = type(client).__name__
    if name.startswith("Async"):
        raise InvalidInput(f"client: {name} is asynchronous; give {name.removeprefix('Async')}")
    if hasattr(client, "complete") and hasattr(client, "parameters"):
        return client  # type: ignore[return-value]  # by its methods, as protocols are
    if hasattr(client, "messages"):
        return AnthropicModel(client)
    if hasattr(client, "chat"):
        return OpenAIModel(client)
    raise InvalidInput(f"client: {name} is neither a ChatModel nor a client of anthropic or openai")


def bounded_client(max_body: int = MAX_BODY) -> httpx2.Client:
    """Return an HTTP client for many threads, which follows no redirects.

    A request's read timeout is also the time by which its whole body must have come. A longer one
    is an error in reading, as is a body of more than ``max_body`` bytes.
    """
    import httpx2

    class Bounded(httpx2.Client):
        def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            limit_s = request.extensions.get("timeout", {}).get("read")
            deadline = float("inf") if limit_s is None else time.monotonic() + limit_s
            response = super().send(request, **{**options, "stream": True})
            body = bytearray()
            try:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > max_body:
                        raise httpx2.ReadError(f"the answer has more than {max_body:,} bytes")
                    if time.monotonic() > deadline:
                        raise httpx2.ReadTimeout("the body took too long", request=request)
            finally:
                response.close()
            # What the server said of the body as it was sent no longer fits.
            for name in ("content-encoding", "content-length", "transfer-encoding"):
                response.headers.pop(name, None)
            return httpx2.Response(
                response.status_code,
                headers=response.headers,
                content=bytes(body),
                request=response.request,
                extensions=response.extensions,
            )

    return Bounded(
        limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
        timeout=httpx2.Timeout(600.0, connect=_CONNECT_S),
        follow_redirects=False,
    )


def _library(provider: str) -> Any:
    try:
        return import_module(provider)
    except ImportError:
        raise missing_library(provider) from None


def _field(value: Any, name: str) -> Any:
    """Return a field of a library's object, or of a plain record; None where it is missing."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _tokens(value: Any, name: str) -> int | None:
    """Return a count of tokens in a field; None for an invalid one."""
    count = _field(value, name)
    is_count = isinstance(count, int) and not isinstance(count, bool)
    return count if is_count and 0 <= count <= _MOST_TOKENS else None


def _joined_text(parts: object) -> str:
    """Return the joined text of the blocks of type ``text``, in order.

    Blocks of other types (thinking, tool use) are ignored. Raises TypeError if the value is not a
    list or a text block holds no text.
    """
    if not isinstance(parts, list | tuple):
        raise TypeError("no list of blocks")
    texts = [_field(part, "text") for part in parts if _field(part, "type") == "text"]
    return "".join(texts)
