"""Converts errors of libraries and servers to ModelFailed, with safe texts."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from skillyard.base.extras import install_command
from skillyard.base.io.retry_after import retry_after_s
from skillyard.base.text import clean_line, shorten
from skillyard.evals.models.bounded_client import BodyTooLarge
from skillyard.evals.models.protocol import ModelFailed

NO_MONEY = frozenset(
    [
        # Anthropic: anthropic.types.shared, and error type of API errors
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
        "billing_error",
        # OpenAI: platform.openai.com, error codes
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
    ]
)
"""Error codes for an account without money."""
_NO_CREDIT = "credit balance is too low"
"""Anthropic reports this with status 400 and without a code."""
_ON_HOLD = "organization_on_hold"

_KINDS = {
    400: "bad_request",
    401: "authentication",
    402: "no_money",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "server",
    413: "too_large",
    422: "bad_request",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_PERMANENT = frozenset(["authentication", "permission", "not_found", "no_money"])
_RETRIED = frozenset([408, 409, 429])
"""And all from 500 up (evals.md §1.17)."""
_UNSENT = frozenset(
    ["ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol",
     "LocalProtocolError", "InvalidURL"]
)  # fmt: skip
"""Errors of the HTTP library after which no server has seen the request."""
_LONGEST_WAIT_S = 86_400.0
_TEXT = 300
_MAX_TEXT_READ = 65_536
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*.-]{6,}")
_BEARER = re.compile(r"(?i)\bbearer\s+\S+")


def failure_of(
    error: Exception, library: ModuleType, provider: str, secrets: Iterable[str]
) -> ModelFailed:
    """Return what an exception of a library means.

    ``library`` is ``anthropic`` or ``openai``: their exceptions have the same names. ``secrets``
    are taken out of every text.
    """
    if isinstance(error, library.APIStatusError):
        return _status_failure(error, provider, secrets)
    cause = type(error.__cause__).__name__
    if isinstance(error.__cause__, BodyTooLarge):
        return bad_reply(provider, str(error.__cause__), charged=True)
    if isinstance(error, library.APITimeoutError):
        return ModelFailed(
            "timeout",
            f"{provider} did not answer in time",
            retry=True,
            charged=cause not in _UNSENT,
        )
    if isinstance(error, library.APIConnectionError):
        why = _safe(str(error.__cause__ or error), secrets)
        return ModelFailed(
            "connection",
            f"the connection to {provider} failed: {why or cause}",
            retry=True,
            charged=cause not in _UNSENT,
        )
    if isinstance(error, TypeError) and "authentication" in str(error):
        return ModelFailed("missing_key", f"the {provider} client has no key", permanent=True)
    if isinstance(error, UnicodeError):
        what = "the texts hold half a surrogate pair, which UTF-8 cannot write"
        return ModelFailed("bad_request", f"nothing was sent to {provider}: {what}")
    what = _safe(str(error), secrets)
    return ModelFailed("bad_request", f"the {provider} library refused the request: {what}")


def _status_failure(error: Any, provider: str, secrets: Iterable[str]) -> ModelFailed:
    """Return what an answer with an error status means."""
    status: int = error.status_code
    words, text = _error_fields(error.body)
    headers = error.response.headers
    if status < 400:
        to = _safe(headers.get("location", ""), secrets)
        return bad_reply(provider, f"redirects to {to}; give the final address as base URL", status)
    kind = _KINDS.get(status, "server" if status >= 500 else "bad_request")
    if words & NO_MONEY or _NO_CREDIT in text.casefold():
        kind = "no_money"
    elif _ON_HOLD in words:
        kind = "permission"
    message_text = _safe(text, secrets) or _safe(str(error.message), secrets)
    return ModelFailed(
        kind,
        f"{provider} said {status} ({kind}): {message_text}",
        retry=kind not in _PERMANENT and (status in _RETRIED or status >= 500),
        permanent=kind in _PERMANENT,
        retry_after_s=wait_s_of(headers, time.time()),
        status=status,
    )


def _error_fields(body: object) -> tuple[set[str], str]:
    """Return the error types and codes, and the message, of an error body.

    OpenAI's library gives the inner object, Anthropic's the outer one.
    """
    if not isinstance(body, dict):
        return set(), body if isinstance(body, str) else ""
    inner = body.get("error")
    error: Mapping[Any, Any] = inner if isinstance(inner, dict) else body
    details = error.get("details")
    coded = details.get("error_code") if isinstance(details, dict) else None
    types = (error.get("type"), error.get("code"), coded)
    words = {word for word in types if isinstance(word, str)}
    message = error.get("message") if isinstance(inner, dict | None) else inner
    return words, message if isinstance(message, str) else ""


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
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", _BEARER.sub("[key]", text))


def _safe(text: str, secrets: Iterable[str]) -> str:
    """Return a server's text on one line, without keys, control characters and length."""
    return shorten(clean_line(redacted(text[:_MAX_TEXT_READ], secrets)), _TEXT)


def wait_s_of(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a server asks to wait, 0 to a day; None where it says nothing good.

    ``retry-after-ms`` goes before ``retry-after``; ``now`` is the Unix time that a date is compared
    with.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return min(max(milliseconds / 1000, 0.0), _LONGEST_WAIT_S)
    seconds = retry_after_s(headers.get("retry-after"), now)
    return None if seconds is None else min(seconds, _LONGEST_WAIT_S)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
