"""Creates a model from a provider's name and the environment, or from an existing client."""

from __future__ import annotations

import os
from collections.abc import Mapping

from skillyard.base.errors import InvalidInput
from skillyard.evals.models.anthropic_api import AnthropicModel
from skillyard.evals.models.openai_api import OpenAIModel
from skillyard.evals.models.profiles import Profiles
from skillyard.evals.models.protocol import ChatModel
from skillyard.evals.models.sdk_model import SdkModel, open_client
from skillyard.evals.models.servers import key_of, valid_address_of

PROVIDERS: Mapping[str, type[SdkModel]] = {"anthropic": AnthropicModel, "openai": OpenAIModel}
_METHODS = ("sent", "complete")


def open_model(
    provider: str,
    *,
    base_url: str | None = None,
    environment: Mapping[str, str] = os.environ,
    profiles: Profiles | None = None,
) -> SdkModel:
    """Return a provider's models: ``anthropic``, or ``openai`` for every server of that protocol.

    The key is read only from ``ANTHROPIC_API_KEY`` or ``OPENAI_API_KEY``. The address is
    ``base_url``, else ``ANTHROPIC_BASE_URL`` or ``OPENAI_BASE_URL``, else the provider's own.
    ``profiles`` override the table of parameters by the beginning of a model's id. No request is
    sent; ``close`` ends the connections.

    Raises InvalidInput for an unknown provider, an invalid address and invalid profiles, and
    ModelFailed (``missing_key``, ``missing_library``).
    """
    address = valid_address_of(provider, base_url, environment)
    model_class = PROVIDERS[provider]
    client = open_client(model_class, key_of(provider, environment), address)
    return model_class(client, profiles)


def offline_model(provider: str, host: str, profiles: Profiles | None = None) -> SdkModel:
    """Return models that are never asked: they know what would be sent to ``host``."""
    return PROVIDERS[provider](None, profiles, host=host)


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
        return AnthropicModel(client)
    if hasattr(client, "chat"):
        return OpenAIModel(client)
    raise InvalidInput(f"client: {name} is neither a ChatModel nor a client of anthropic or openai")
