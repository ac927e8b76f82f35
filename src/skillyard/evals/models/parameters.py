"""The request parameters of a provider's models, without a connection.

Dry runs and replays use only these, so they need no library, no key and no network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from skillyard.errors import InvalidInput
from skillyard.evals.models.profiles import Profile, check_profiles, profile_of
from skillyard.evals.models.protocol import ModelFailed, Reply, Request

__all__ = [
    "ADDRESSES",
    "ANTHROPIC_VERSION",
    "VARIABLES",
    "OfflineModel",
    "address_of",
    "anthropic_parameters",
    "hostname",
    "openai_parameters",
]

ADDRESSES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""The providers' own."""
VARIABLES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
"""The environment variable for another address."""
ANTHROPIC_VERSION = "2026-10-21"
"""The ``anthropic-version`` that version 2 of the library sends."""
SCHEMA_NAME = "reply"


def address_of(
    provider: str, base_url: str | None = None, environment: Mapping[str, str] = os.environ
) -> str:
    """Return the base URL: the one given, else the environment's, else the provider's."""
    if provider not in ADDRESSES:
        raise InvalidInput(f"no provider {provider!r}; known: {', '.join(sorted(ADDRESSES))}")
    return base_url or environment.get(VARIABLES[provider], "").strip() or ADDRESSES[provider]


def anthropic_parameters(profile: Profile, request: Request) -> dict[str, object]:
    """Return the parameters of a Messages request besides model and texts."""
    parameters: dict[str, object] = {"max_tokens": request.max_tokens}
    if request.temperature is not None and profile.temperature:
        parameters["temperature"] = request.temperature
    if request.schema is not None and profile.structured:
        parameters["output_config"] = {
            "format": {"type": "json_schema", "schema": dict(request.schema)}
        }
    return parameters


def openai_parameters(profile: Profile, request: Request) -> dict[str, object]:
    """Return the parameters of a Chat Completions request besides model and texts."""
    parameters: dict[str, object] = {profile.max_tokens_field: request.max_tokens}
    if request.temperature is not None and profile.temperature:
        parameters["temperature"] = request.temperature
    if request.seed is not None and profile.seed:
        parameters["seed"] = request.seed
    if request.schema is not None and profile.structured:
        parameters["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": SCHEMA_NAME, "schema": dict(request.schema), "strict": True},
        }
    return parameters


_PARAMETERS: Mapping[str, Callable[[Profile, Request], dict[str, object]]] = {
    "anthropic": anthropic_parameters,
    "openai": openai_parameters,
}


class OfflineModel:
    """A ``ChatModel`` that knows what would be sent, and never asks anybody."""

    def __init__(
        self,
        provider: str,
        host: str,
        profiles: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Raises InvalidInput for an unknown provider and for ``profiles`` that are none."""
        if provider not in _PARAMETERS:
            raise InvalidInput(f"no provider {provider!r}; known: {', '.join(sorted(_PARAMETERS))}")
        check_profiles(profiles or {})
        self._provider = provider
        self._host = host
        self._profiles = profiles

    @property
    def provider(self) -> str:
        """Its name."""
        return self._provider

    @property
    def host(self) -> str:
        """Of the server that would be asked."""
        return self._host

    def sent(self, request: Request) -> dict[str, object]:
        """Return the parameters beside model and texts."""
        version = ANTHROPIC_VERSION if self._provider == "anthropic" else ""
        profile = profile_of(self._provider, request.model, version, self._profiles)
        return _PARAMETERS[self._provider](profile, request)

    def complete(self, request: Request, timeout_s: float) -> Reply:
        """Raise ModelFailed: nobody is asked."""
        raise ModelFailed("connection", "the network is forbidden in this run", permanent=True)

    def count_tokens(self, request: Request) -> int | None:
        """Return None: nobody is asked."""
        return None


def hostname(address: str) -> str:
    """Return the host of a base URL, without port, credentials and path."""
    return urlsplit(address if "//" in address else f"//{address}").hostname or ""
