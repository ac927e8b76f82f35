"""OpenAI's models, and servers with the same protocol, through OpenAI's library, version 3.

The protocol is Chat Completions, which self-hosted servers support.
"""

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
from skillyard.evals.models.parameters import ADDRESSES, openai_parameters
from skillyard.evals.models.profiles import check_profiles, profile_of
from skillyard.evals.models.protocol import Reply, Request, Usage

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["OPENAI_URL", "OpenAIModel", "open_openai"]

OPENAI_URL = ADDRESSES["openai"]

_STOPS = {
    "stop": "end",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def _library() -> ModuleType:
    try:
        import openai
    except ImportError:
        raise missing_library("openai") from None
    return openai


def open_openai(
    key: str, base_url: str = OPENAI_URL, profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> OpenAIModel:
    """Return the models at a base URL, which ends with ``/v1`` for most servers.

    Raises ModelFailed (``missing_library``), and InvalidInput for invalid ``profiles``.
    """
    client = _library().OpenAI(
        api_key=key, base_url=base_url, max_retries=0, http_client=bounded_client()
    )
    return OpenAIModel(client, profiles)


class OpenAIModel:
    """A ``ChatModel`` over an ``openai.OpenAI`` client. Safe for many threads.

    ``profiles`` go before the table in ``profiles.py``.
    """

    def __init__(
        self, client: Any, profiles: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        check_profiles(profiles or {})
        self._openai = _library()
        own = isinstance(client, self._openai.OpenAI)
        self._own = own
        self._client = client.with_options(max_retries=0) if own else client
        completions = self._client.chat.completions
        self._completions = completions.with_raw_response if own else completions
        self._profiles = profiles
        self._secrets = key_of(client, "api_key", "admin_api_key")
        self._host = host_of(getattr(client, "base_url", ""))

    def __repr__(self) -> str:
        return f"OpenAIModel({self._host!r})"

    def close(self) -> None:
        """Close the client and its connections; nothing can be asked afterwards."""
        self._client.close()

    @property
    def provider(self) -> str:
        """``openai``."""
        return "openai"

    @property
    def host(self) -> str:
        """Host and port of the base URL."""
        return self._host

    def sent(self, request: Request) -> dict[str, object]:
        """Return the parameters beside model and texts, as they stand in the request's body."""
        profile = profile_of("openai", request.model, own=self._profiles)
        return openai_parameters(profile, request)

    def complete(self, request: Request, timeout_s: float) -> Reply:
        """Ask once, for at most ``timeout_s`` seconds. Raises ModelFailed."""
        parameters = self.sent(request)
        messages = [{"role": "user", "content": request.user}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})

        # The library looks through every part of a message for what it would have to rename, which
        # costs a quarter of the call; what stands in `extra_body` goes into the body as it is.
        body: dict[str, Any] = {"messages": messages}
        if self._own:
            body = {"messages": (), "extra_body": body}

        def send() -> Any:
            return self._completions.create(
                model=request.model, **body, **parameters, timeout=timeout_s
            )

        library = self._openai
        return timed_reply(
            lambda: call_library(send, library, library.OpenAIError, "openai", self._secrets),
            lambda completion: self._read(completion, parameters),
            "openai",
            "chat completion",
            raw=self._own,
        )

    def count_tokens(self, request: Request) -> int | None:
        """Return None: the protocol has no way to ask."""
        return None

    def _read(self, completion: Any, parameters: Mapping[str, object]) -> Reply:
        """Return the reply. Raises one of the errors of an unreadable body."""
        choice = attribute(completion, "choices")[0]
        message = attribute(choice, "message")
        if message is None:
            raise TypeError("no message")
        stop = attribute(choice, "finish_reason")
        stop = _STOPS.get(stop, stop_word(stop)) if isinstance(stop, str) else stop_word(stop)
        content = attribute(message, "content")
        text = "" if content is None else content
        if not isinstance(text, str):
            text = joined_text(text)
        refusal = attribute(message, "refusal")
        if isinstance(refusal, str) and refusal:
            stop = "refusal"
        usage = attribute(completion, "usage")
        return Reply(
            "" if stop == "refusal" else text,
            stop,
            Usage(
                count(attribute(usage, "prompt_tokens")),
                count(attribute(usage, "completion_tokens")),
            ),
            dict(parameters),
            sdk=f"openai {self._openai.__version__}",
        )
