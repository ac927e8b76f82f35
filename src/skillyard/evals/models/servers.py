"""The servers that are asked: their addresses, what identifies them, and the keys for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.evals.models.protocol import ModelFailed

ADDRESSES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""The providers' own."""
NO_ADDRESS = "is no address"
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
    source = "the base URL" if base_url else _variable(provider)
    fault = address_fault(address)
    if fault == NO_ADDRESS:
        raise InvalidInput(f"{source} {fault}: write http://HOST:PORT or https://HOST")
    if fault:
        raise InvalidInput(f"{source} {fault}; keys come from the environment")
    return address


def address_fault(address: str) -> str:
    """Return why an address is not one of http or https, or holds credentials; empty if good."""
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_valid = False
    if not is_valid:
        return NO_ADDRESS
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "holds more than scheme, host, port and path"
    return ""


def key_of(provider: str, environment: Mapping[str, str]) -> str:
    """Return the key from the environment. Raises ModelFailed where it is missing or invalid."""
    name = f"{provider.upper()}_API_KEY"  # ANTHROPIC_API_KEY or OPENAI_API_KEY
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


def server_of(provider: str, base_url: object) -> str:
    """Return what identifies a server in cache keys: scheme, host, port and path of its base URL.

    Two servers on one machine are different models, whatever name they give to them. The
    provider's own address is identified by its host alone. The result contains no credentials and
    no query; it is empty where the base URL has no host.
    """
    parts = urlsplit(str(base_url))
    own = urlsplit(ADDRESSES.get(provider, ""))
    host = parts.hostname or ""
    address = (parts.scheme, _authority(parts), parts.path.rstrip("/"))
    if not host or address == (own.scheme, _authority(own), own.path):
        return host
    scheme, authority, path = address
    return f"{scheme}://{authority}{path}"


def _variable(provider: str) -> str:
    return f"{provider.upper()}_BASE_URL"  # ANTHROPIC_BASE_URL or OPENAI_BASE_URL


def _authority(parts: SplitResult) -> str:
    """Return host and port; without the port where it is that of the scheme, or no number."""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    try:
        port = parts.port
    except ValueError:
        port = None
    return host if port in (None, _PORTS.get(parts.scheme)) else f"{host}:{port}"
