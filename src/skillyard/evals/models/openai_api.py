"""OpenAI's models, and servers with the same protocol, through OpenAI's library, version 3.

The protocol is Chat Completions, which self-hosted servers support.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.evals.models.adapter import attribute, count, joined_text
from skillyard.evals.models.parameters import ADDRESSES, openai_parameters
from skillyard.evals.models.profiles import profile_of
from skillyard.evals.models.protocol import Reply, Request, Usage
from skillyard.evals.models.sdk_model import SdkModel, open_client

__all__ = ["OPENAI_URL", "OpenAIModel", "open_openai"]

OPENAI_URL = ADDRESSES["openai"]

_STOPS = {
    "stop": "end",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def open_openai(
    key: str, base_url: str = OPENAI_URL, profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> OpenAIModel:
    """Return the models at a base URL, which ends with ``/v1`` for most servers.

    Raises ModelFailed (``missing_library``), and InvalidInput for invalid ``profiles``.
    """
    return OpenAIModel(open_client("openai", "OpenAI", key, base_url), profiles)


class OpenAIModel(SdkModel):
    """A ``ChatModel`` over an ``openai.OpenAI`` client."""

    _provider = "openai"
    _client_class = "OpenAI"
    _error_class = "OpenAIError"
    _secret_names = ("api_key", "admin_api_key")
    _stops = _STOPS

    def __init__(
        self, client: Any, profiles: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        super().__init__(client, profiles)
        self._completions = self._raw(self._client.chat.completions)

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

        return self._timed(
            send, lambda completion: self._read(completion, parameters), "chat completion"
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
        stop = self._stop_of(choice, "finish_reason")
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
            sdk=self._sdk,
        )
