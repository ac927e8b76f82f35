"""The Retry-After header of HTTP (RFC 9110 §10.2.3)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

_MAX_S = 1e9
"""Thirty years: a larger number is a mistake."""


def retry_after_s(header: str | None, now: float) -> float | None:
    """Return the seconds to wait, 0 or more; None where the header is missing or means nothing.

    The header is a number of seconds, decimals allowed, or a date, which is compared with ``now``
    (Unix time); one in the past is 0. The caller decides how long it waits at most.
    """
    text = (header or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        return _seconds_until(text, now)
    return seconds if 0 <= seconds < _MAX_S else None


def _seconds_until(date: str, now: float) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
