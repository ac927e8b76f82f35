"""Converts errors of libraries and servers to ModelFailed, with safe texts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from skillyard.base.extras import install_command
from skillyard.base.io.retry_after import retry_after_s
from skillyard.base.text import clean_line, shorten
from skillyard.evals.models.protocol import ModelFailed

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
    """Return what an answer with an error status means."""
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
