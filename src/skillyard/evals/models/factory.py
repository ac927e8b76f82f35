"""Creates a model from a provider's name and the environment, or from an existing client."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillyard.errors import InvalidInput
from skillyard.evals.models.parameters import VARIABLES
from skillyard.evals.models.protocol import ChatModel, ModelFailed

if TYPE_CHECKING:
    from skillyard.evals.models.anthropic_api import AnthropicModel
    from skillyard.evals.models.openai_api import OpenAIModel

__all__ = ["PROVIDERS", "as_model", "open_model"]

PROVIDERS = ("anthropic", "openai")
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_METHODS = ("provider", "host", "sent", "complete", "count_tokens")


def open_model(
    provider: str,
    *,
    base_url: str | None = None,
    environment: Mapping[str, str] = os.environ,
    profiles: Mapping[str, Mapping[str, Any]] | None = None,
) -> AnthropicModel | OpenAIModel:
    """Return a provider's models: ``anthropic``, or ``openai`` for every server of that protocol.

    The key is read only from ``ANTHROPIC_API_KEY`` or ``OPENAI_API_KEY``. The address is
    ``base_url``, else ``ANTHROPIC_BASE_URL`` or ``OPENAI_BASE_URL``, else the provider's own.
    ``profiles`` override the table of parameters by the beginning of a model's id. No request is
    sent; ``close`` ends the connections.

    Raises InvalidInput for an unknown provider, an invalid address and invalid profiles, and
    ModelFailed (``missing_key``, ``missing_library``).
    """
    if provider not in PROVIDERS:
        raise InvalidInput(f"no provider {provider!r}; known: {', '.join(PROVIDERS)}")
    address = base_url or environment.get(VARIABLES[provider], "").strip()
    source = "the base URL" if base_url else VARIABLES[provider]
    if address:
        _check_address(address, source)
    key = _key(provider, environment)
    if provider == "anthropic":
        from skillyard.evals.models.anthropic_api import ANTHROPIC_URL, open_anthropic

        return open_anthropic(key, address or ANTHROPIC_URL, profiles)
    from skillyard.evals.models.openai_api import OPENAI_URL, open_openai

    return open_openai(key, address or OPENAI_URL, profiles)


def as_model(client: object) -> ChatModel:
    """Return a client as a ChatModel: one that is a ChatModel already, or a library's own.

    ``anthropic.Anthropic`` and ``openai.OpenAI`` are taken, and objects with the same methods; a
    library's own retries are switched off. Raises InvalidInput for anything else, asynchronous
    clients among it.
    """
    kind = type(client)
    module, name = kind.__module__.partition(".")[0], kind.__name__
    if name.startswith("Async"):
        raise InvalidInput(f"client: {name} is asynchronous; give {name.removeprefix('Async')}")
    if module not in PROVIDERS and all(hasattr(kind, method) for method in _METHODS):
        return client  # type: ignore[return-value]  # by its methods, as protocols are
    if hasattr(client, "messages"):
        from skillyard.evals.models.anthropic_api import AnthropicModel

        return AnthropicModel(client)
    if hasattr(client, "chat"):
        from skillyard.evals.models.openai_api import OpenAIModel

        return OpenAIModel(client)
    raise InvalidInput(f"client: {name} is neither a ChatModel nor a client of anthropic or openai")


def _check_address(address: str, source: str) -> None:
    """Raise InvalidInput for an invalid base URL. The message omits it, for it may hold a key."""
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        good = False
    if not good:
        raise InvalidInput(f"{source} is no address: write http://HOST:PORT or https://HOST")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInput(
            f"{source} holds more than scheme, host, port and path; keys come from the environment"
        )


def _key(provider: str, environment: Mapping[str, str]) -> str:
    """Return the key. Raises ModelFailed where it is missing or invalid."""
    name = _KEYS[provider]
    key = environment.get(name, "").strip()
    if not key:
        raise ModelFailed(
            "missing_key",
            f"{name} is not set: export the key of your account there"
            " (a server of your own that wants no key takes any text)",
            permanent=True,
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelFailed(
            "missing_key",
            f"{name} holds characters that no key has, blanks or line breaks perhaps",
            permanent=True,
        )
    return key
