"""The providers: their servers, keys and parameters, the prices of models, and what errors mean.

Prices come from the table in genai-prices, read offline and never updated.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.connections import retry_after_s
from skillyard.base.text import clean_line, shorten
from skillyard.evals.models.calls import ModelFailed, Price

ADDRESSES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
"""The providers' own."""


def address_of(provider: str, base_url: str | None = None) -> str:
    """Return the base URL: the one given, else the environment's, else the provider's.

    Raises InvalidInput for an invalid one. The message omits it, for it may contain a key.
    """
    if provider not in ADDRESSES:
        raise InvalidInput(f"no provider {provider!r}; known: {', '.join(sorted(ADDRESSES))}")
    variable = f"{provider.upper()}_BASE_URL"  # ANTHROPIC_BASE_URL or OPENAI_BASE_URL
    address = base_url or os.environ.get(variable, "").strip() or ADDRESSES[provider]
    try:
        return checked_address(address)
    except InvalidInput as error:
        source = "the base URL" if base_url else variable
        raise InvalidInput(f"{source} {error}") from None


def checked_address(address: str) -> str:
    """Return an address. Raises InvalidInput for one that is none, or that holds credentials."""
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    why = "" if is_valid else "is no address"
    if is_valid and ("@" in parts.netloc or parts.query or parts.fragment):
        why = "holds more than scheme, host, port and path (keys come from the environment)"
    if why:
        raise InvalidInput(f"{why}; write http://HOST:PORT or https://HOST")
    return address


def key_of(provider: str) -> str:
    """Return the key from the environment. Raises ModelFailed where it is missing or invalid."""
    name = f"{provider.upper()}_API_KEY"  # ANTHROPIC_API_KEY or OPENAI_API_KEY
    key = os.environ.get(name, "").strip()
    if key and key.isascii() and key.isprintable() and " " not in key:
        return key
    why = "holds characters that no key has, blanks or line breaks perhaps"
    if not key:
        why = (
            "is not set: export the key of your account there"
            " (a server of your own that wants no key takes any text); to try it without one, write"
            " `python -m skillyard_testkit.fake_llm --` before the command"
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


@cache
def price(provider: str, model: str) -> Price | None:
    """Return the price of a model today (UTC), or None when it is unknown.

    A self-hosted server may use the name of a known model; the price is then the provider's.
    Raises ModelFailed (``missing_library``) without genai-prices.
    """
    try:
        from genai_prices import __version__
        from genai_prices.data import providers
        from genai_prices.data_snapshot import DataSnapshot
    except ImportError:
        raise missing_library("genai-prices") from None
    now = datetime.now(UTC)
    # The table that the package carries, whatever somebody else has updated.
    table = DataSnapshot(providers=providers, from_auto_update=False)
    try:
        _, entry = table.find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    rates = entry.get_prices(now)
    if rates.input_mtok is None or rates.output_mtok is None:
        return None
    return Price(rates, f"genai-prices {__version__} (bundled)", now.date().isoformat())


NO_MONEY = (
    # Anthropic: anthropic.types.shared, and error type of API errors
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "linked_organization_spend_limit_reached",
    "billing_error",
    "credit balance is too low",  # with status 400 and without a code
    # OpenAI: platform.openai.com, error codes
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
)
"""What the body of an error says where an account has no money, whatever its status."""
_ON_HOLD = "organization_on_hold"

_KINDS = {
    401: "authentication",
    402: "no_money",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "server",
    413: "too_large",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_PERMANENT = ("authentication", "permission", "not_found", "no_money")
_RETRIED = (408, 409, 429)
"""And all from 500 up (evals.md §1.17)."""
_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
"""Errors of the HTTP library after which no server has seen the request."""
_TEXT = 300
_MAX_TEXT_READ = 65_536
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*.-]{6,}|(?i:\bbearer)\s+\S+")


def failure_of(
    error: Exception, library: ModuleType, provider: str, secrets: Iterable[str]
) -> ModelFailed:
    """Return what an exception of a library means.

    ``library`` is ``anthropic`` or ``openai``: their exceptions have the same names. ``secrets``
    are taken out of every text.
    """
    if isinstance(error, library.APIStatusError):
        return _status_failure(error, provider, secrets)
    cause = error.__cause__
    charged = type(cause).__name__ not in _UNSENT
    if isinstance(error, library.APITimeoutError):
        what = f"{provider} did not answer in time"
        return ModelFailed("timeout", what, retry=True, charged=charged)
    text = _safe(str(cause or error), secrets) or type(cause).__name__
    if isinstance(error, library.APIConnectionError):
        what = f"the connection to {provider} failed: {text}"
        return ModelFailed("connection", what, retry=True, charged=charged)
    return ModelFailed("bad_request", f"the {provider} library refused the request: {text}")


def _status_failure(error: Any, provider: str, secrets: Iterable[str]) -> ModelFailed:
    status: int = error.status_code
    headers, body = error.response.headers, error.response.text.casefold()
    if status < 400:
        to = _safe(headers.get("location", ""), secrets)
        return bad_reply(provider, f"redirects to {to}; give the final address as base URL", status)
    kind = _KINDS.get(status, "server" if status >= 500 else "bad_request")
    if any(each in body for each in NO_MONEY):
        kind = "no_money"
    elif _ON_HOLD in body:
        kind = "permission"
    text = _safe(_message(error.body) or str(error.message), secrets)
    return ModelFailed(
        kind,
        f"{provider} said {status} ({kind}): {text}",
        retry=kind not in _PERMANENT and (status in _RETRIED or status >= 500),
        permanent=kind in _PERMANENT,
        retry_after_s=retry_after_s(headers.get("retry-after"), time.time()),
        status=status,
    )


def _message(body: object) -> str:
    """Return the message in the body of an error: OpenAI's library gives the inner object."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    message = inner.get("message") if isinstance(inner, dict) else inner
    return message if isinstance(message, str) else ""


def bad_reply(
    provider: str, what: str, status: int | None = None, *, charged: bool = False
) -> ModelFailed:
    """Return the failure of a reply that does not follow the protocol.

    It is not retried: a page in place of JSON comes from a wrong address, and a reply that the
    library cannot read has been paid for (``charged``).
    """
    return ModelFailed("bad_reply", f"{provider}: {what}", status=status, charged=charged)


def missing_library(name: str) -> ModelFailed:
    """Return the failure of a library that is not installed."""
    what = f"the {name} library is not installed: {install_command('eval')}"
    return ModelFailed("missing_library", what, permanent=True)


def redacted(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the secrets, and without what looks like some key."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", text)


def _safe(text: str, secrets: Iterable[str]) -> str:
    """Return a server's text on one line, without keys, control characters and length."""
    return shorten(clean_line(redacted(text[:_MAX_TEXT_READ], secrets)), _TEXT)
