"""The providers: addresses of their servers, keys, and the parameters that their models accept.

A parameter that a model refuses fails each call with status 400, so only accepted ones are sent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.evals.models.protocol import ModelFailed

ADDRESSES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""The providers' own."""
_PORTS = {"http": 80, "https": 443}


def address_of(
    provider: str, base_url: str | None = None, environment: Mapping[str, str] = os.environ
) -> str:
    """Return the base URL: the one given, else the environment's, else the provider's."""
    if provider not in ADDRESSES:
        raise InvalidInput(f"no provider {provider!r}; known: {', '.join(sorted(ADDRESSES))}")
    return base_url or environment.get(_variable(provider), "").strip() or ADDRESSES[provider]


def valid_address_of(provider: str, base_url: str | None, environment: Mapping[str, str]) -> str:
    """Return the base URL that :func:`address_of` returns.

    Raises InvalidInput for an invalid one. The message omits it, for it may contain a key.
    """
    address = address_of(provider, base_url, environment)
    fault = address_fault(address)
    if fault:
        source = "the base URL" if base_url else _variable(provider)
        raise InvalidInput(f"{source} {fault}; write http://HOST:PORT or https://HOST")
    return address


def address_fault(address: str) -> str:
    """Return why an address is not one of http or https, or holds credentials; empty if good."""
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        return "is no address"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "holds more than scheme, host, port and path (keys come from the environment)"
    return ""


def key_of(provider: str, environment: Mapping[str, str]) -> str:
    """Return the key from the environment. Raises ModelFailed where it is missing or invalid."""
    name = f"{provider.upper()}_API_KEY"  # ANTHROPIC_API_KEY or OPENAI_API_KEY
    key = environment.get(name, "").strip()
    if key and key.isascii() and key.isprintable() and " " not in key:
        return key
    why = "holds characters that no key has, blanks or line breaks perhaps"
    if not key:
        why = (
            "is not set: export the key of your account there"
            " (a server of your own that wants no key takes any text)"
        )
    raise ModelFailed("missing_key", f"{name} {why}", permanent=True)


def server_of(provider: str, base_url: object) -> str:
    """Return what identifies a server in cache keys: scheme, host, port and path of its base URL.

    Two servers on one machine are different models, whatever name they give to them. The
    provider's own address is identified by its host alone. The result contains no credentials and
    no query; it is empty where the base URL has no host.
    """
    host, address = _identity(str(base_url))
    own = _identity(ADDRESSES.get(provider, ""))[1]
    return address if host and address != own else host


def _identity(address: str) -> tuple[str, str]:
    """Return the host of an address, and the address without what is not part of its identity."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    authority = f"[{host}]" if ":" in host else host
    try:
        port = parts.port
    except ValueError:
        port = None
    if port not in (None, _PORTS.get(parts.scheme)):
        authority += f":{port}"
    return host, f"{parts.scheme}://{authority}{parts.path.rstrip('/')}"


def _variable(provider: str) -> str:
    return f"{provider.upper()}_BASE_URL"  # ANTHROPIC_BASE_URL or OPENAI_BASE_URL


Profiles = Mapping[str, Mapping[str, Any]]
"""The user's fields of profiles, by the beginning of a model's id."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The parameters that a model accepts besides its texts."""

    temperature: bool = True
    """``temperature``; False where any value is refused."""
    structured: bool = True
    """A JSON schema for the reply."""
    max_tokens_field: str = "max_tokens"
    """The name of the parameter that limits the output tokens."""


_CLAUDE = ModelProfile(temperature=False)
_CLAUDE_PLAIN = ModelProfile(temperature=False, structured=False)
_NEW_NAME = ModelProfile(max_tokens_field="max_completion_tokens")
_THINKS = replace(_NEW_NAME, temperature=False)
_NO_SCHEMA = ModelProfile(structured=False)

PROFILES: Mapping[str, Mapping[str, ModelProfile]] = {
    "anthropic": {
        # platform.claude.com, migration to API version 2026-10-21: temperature, top_p and top_k
        # are refused at any value. Structured outputs: Claude 4.5 and later.
        "": _CLAUDE,
        "claude-v": _CLAUDE_PLAIN,
        "claude-2": _CLAUDE_PLAIN,
        "claude-3": _CLAUDE_PLAIN,
        "claude-instant": _CLAUDE_PLAIN,
        "claude-opus-4-0": _CLAUDE_PLAIN,
        "claude-opus-4-1": _CLAUDE_PLAIN,
        "claude-opus-4-2025": _CLAUDE_PLAIN,
        "claude-sonnet-4-0": _CLAUDE_PLAIN,
        "claude-sonnet-4-2025": _CLAUDE_PLAIN,
        "claude-haiku-4-2025": _CLAUDE_PLAIN,
    },
    "openai": {
        # The chat completions protocol as llama.cpp, Ollama and vLLM document it.
        "": ModelProfile(),
        "gpt-oss": ModelProfile(),
        # developers.openai.com, reasoning guide: only the default temperature,
        # max_completion_tokens in place of max_tokens.
        "gpt-": _THINKS,
        "o1": _THINKS,
        "o3": _THINKS,
        "o4": _THINKS,
        # developers.openai.com, structured outputs guide: from gpt-4o-2024-08-06 on.
        "gpt-4": _NO_SCHEMA,
        "gpt-3.5": _NO_SCHEMA,
        # developers.openai.com, chat completions reference.
        "gpt-4o": _NEW_NAME,
        "gpt-4.1": _NEW_NAME,
        "gpt-4.5": _NEW_NAME,
        "chatgpt-4o": _NEW_NAME,
    },
}
"""By provider and beginning of the model's id, case ignored; the longest one decides."""
_VALUES: Mapping[str, tuple[object, ...]] = {
    "max_tokens_field": ("max_tokens", "max_completion_tokens"),
    "structured": (True, False),
    "temperature": (True, False),
}


def profile_of(provider: str, model: str, own: Profiles | None = None) -> ModelProfile:
    """Return the profile of a model. A field of ``own`` replaces that of the table.

    ``own`` has passed :func:`check_profiles`.
    """
    name, table = model.casefold(), PROFILES[provider]
    profile = table[max((prefix for prefix in table if name.startswith(prefix)), key=len)]
    for prefix, overrides in sorted((own or {}).items(), key=lambda item: len(item[0])):
        if name.startswith(prefix.casefold()):
            profile = replace(profile, **overrides)
    return profile


def check_profiles(own: Profiles) -> None:
    """Raise InvalidInput for a field that profiles do not have, or a value of the wrong type."""
    for prefix, overrides in own.items():
        for name, value in overrides.items():
            where = f"profile {prefix!r}: {name}"
            if name not in _VALUES:
                raise InvalidInput(f"{where} is no field of a profile; known: {', '.join(_VALUES)}")
            allowed = [*map(repr, _VALUES[name])]
            if repr(value) not in allowed:  # 1 is equal to True
                raise InvalidInput(f"{where} must be {' or '.join(allowed)}, not {value!r}")
