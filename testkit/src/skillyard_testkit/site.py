"""What all fake servers have in common: error documents, accounts and rate limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from skillyard_testkit.messages import Request, Response, text_response
from skillyard_testkit.rate_limits import RateLimit, RateLimitState
from skillyard_testkit.switches import Switches

__all__ = ["Site", "phrase"]


def phrase(status: int) -> str:
    """Return the standard words for a status, or its digits."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return str(status)


class Site:
    """One server's content. Subclasses define its responses and its error documents."""

    name = "other"

    def __init__(self, switches: Callable[[], Switches]) -> None:
        """``switches`` is called for every request, so that a test may replace the switches."""
        self._switches = switches
        self.clock: Callable[[], float] = time.time
        """Seconds since 1970."""
        self.base = ""
        """The URL of the server, once it runs."""

    @property
    def switches(self) -> Switches:
        """The switches as they stand now."""
        return self._switches()

    def respond(self, request: Request) -> Response:
        """Return the response to GET without faults. This one accepts any path."""
        return text_response("ok\n")

    def error(self, request: Request, status: int, message: str = "") -> Response:
        """Return an error in the shape of this server."""
        return text_response(f"{message or phrase(status)}\n", status)

    def account(self, request: Request) -> str:
        """Return the account whose limit a request counts against; empty for anonymous ones."""
        return ""

    def rate_limit(self, request: Request) -> RateLimit | None:
        """Return the rate limit that applies to a request, or None."""
        return self.switches.rate_limits.get(self.name)

    def rate_limited_response(self, request: Request, status: int, wait_s: int) -> Response:
        """Return the response to a request above the limit, without the limit's headers."""
        return self.error(request, status).with_headers(retry_after=str(wait_s))

    def secondary_limit_response(
        self, request: Request, status: int, retry_after: int | None
    ) -> Response:
        """Return the response to too many concurrent requests."""
        response = self.error(request, status)
        return response.with_headers(retry_after=str(retry_after)) if retry_after else response

    def rate_limit_headers(self, state: RateLimitState) -> dict[str, str]:
        """Return the headers that report the limit; most servers send none."""
        return {}

    def apply_rate_limit(self, request: Request, response: Response, *, is_fault: bool) -> Response:
        """Count a request; return its response with the limit's headers, or the refusal.

        An authorised 304 costs nothing. A response that is a fault is counted but not refused.
        """
        rate_limit = self.rate_limit(request)
        if rate_limit is None:
            return response
        account = self.account(request)
        cost = 0 if response.status == 304 and account else 1
        state = rate_limit.charge(account, cost, self.clock())
        if state is None:
            return response
        if not state.allowed and not is_fault:
            response = self.rate_limited_response(request, rate_limit.status, state.wait_s)
        return replace(response, headers={**self.rate_limit_headers(state), **response.headers})
