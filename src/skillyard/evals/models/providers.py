"""The providers: addresses of their servers, keys, and the parameters that their models accept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.evals.models.protocol import ModelFailed

ADDRESSES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""The providers' own."""


def address_of(
    provider: str, base_url: str | None = None, environment: Mapping[str, str] = os.environ
) -> str:
    """Return the base URL: the one given, else the environment's, else the provider's.

    Raises InvalidInput for an invalid one. The message omits it, for it may contain a key.
    """
    if provider not in ADDRESSES:
        raise InvalidInput(f"no provider {provider!r}; known: {', '.join(sorted(ADDRESSES))}")
    variable = f"{provider.upper()}_BASE_URL"  # ANTHROPIC_BASE_URL or OPENAI_BASE_URL
    address = base_url or environment.get(variable, "").strip() or ADDRESSES[provider]
    fault = address_fault(address)
    if fault:
        source = "the base URL" if base_url else variable
        raise InvalidInput(f"{source} {fault}; write http://HOST:PORT or https://HOST")
    return address


def address_fault(address: str) -> str:
    """Return why an address is not one of http or https, or holds credentials; empty if good."""
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
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
    """Return what identifies a server in cache keys: its base URL.

    Two servers on one machine are different models, whatever name they give to them. The
    provider's own address is identified by its host alone.
    """
    address = str(base_url).rstrip("/")
    return urlsplit(address).hostname or "" if address == ADDRESSES[provider] else address


_BY_DEFAULT = ("gpt-oss",)
_NEW_NAME = ("gpt-3.5", "gpt-4", "chatgpt-4")
_THINKS = ("gpt-", "o1", "o3", "o4")


def parameters_of(provider: str, model: str) -> tuple[str, bool]:
    """Return the name of the limit of output tokens, and whether a model takes a temperature.

    A parameter that a model refuses fails each call with status 400. Claude refuses temperature,
    top_p and top_k at any value since API version 2026-10-21 (platform.claude.com). OpenAI's models
    take ``max_completion_tokens``, and those that reason only the default temperature
    (developers.openai.com, reasoning guide). Other servers take what the chat completions protocol
    has, as llama.cpp, Ollama and vLLM document it.
    """
    name = model.casefold()
    if provider == "anthropic":
        return "max_tokens", False
    if name.startswith(_NEW_NAME):
        return "max_completion_tokens", True
    if name.startswith(_THINKS) and not name.startswith(_BY_DEFAULT):
        return "max_completion_tokens", False
    return "max_tokens", True
