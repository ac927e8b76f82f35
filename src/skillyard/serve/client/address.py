"""The address of a service, its token and its timeouts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.base.io.sockets import bearer_token, is_loopback
from skillyard.base.version import __version__
from skillyard.install.sources.transport import origin_of

DEFAULT_URL = "http://127.0.0.1:8765"
"""The default address of ``skillyard serve``."""
TOKEN = "SKILLYARD_HTTP_TOKEN"
"""The environment variable with the bearer token, for the service and its clients."""
ANSWER_BYTES = 64 * 1024 * 1024
"""Maximum bytes of one unpacked response: fifty skills with references have about a tenth."""
KEPT_S = 2.0
"""Seconds after which idle connections are closed, before the server closes them (5 s)."""
CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class Service:
    """The address of a service. Raises InvalidInput for an invalid address, token or timeout."""

    url: str = ""
    """The address, with a path if the service is below one; empty takes the default."""
    token: str | None = field(default=None, repr=False)
    """The bearer token; None takes that of :data:`TOKEN`, empty sends none."""
    timeout_s: float = 30.0
    """Time limit in seconds of each step: connecting, sending, and the next part of a response."""
    deadline_s: float = 120.0
    """Time limit in seconds of a whole response."""
    answer_bytes: int = ANSWER_BYTES

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "url", _address(self.url or DEFAULT_URL))
        put(
            self,
            "token",
            bearer_token(os.environ.get(TOKEN, "") if self.token is None else self.token),
        )
        for name in ("timeout_s", "deadline_s", "answer_bytes"):
            _check_positive(name, getattr(self, name))

    def headers(self) -> Mapping[str, str]:
        """Return the headers of every request."""
        agent = {"User-Agent": f"skillyard/{__version__}", "Accept-Encoding": "gzip"}
        return {**agent, "Authorization": f"Bearer {self.token}"} if self.token else agent

    def settings(self) -> dict[str, Any]:
        """Return the arguments for the httpx2 client of this service.

        Redirects are not followed and cookies are not stored. Requests to this machine bypass the
        proxies of the environment.
        """
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx2

        return {
            "headers": self.headers(),
            "timeout": httpx2.Timeout(self.timeout_s),
            "limits": httpx2.Limits(max_connections=CONNECTIONS, keepalive_expiry=KEPT_S),
            "follow_redirects": False,
            "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
            "trust_env": not is_loopback(urlsplit(self.url).hostname or ""),
        }


def _address(url: object) -> str:
    """Return the address without a trailing slash."""
    if not isinstance(url, str):
        raise InvalidInput("url must be text", field="url")
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise InvalidInput(f"url: give the token in {TOKEN}, not in the address", field="url")
    try:
        origin_of(url)
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidInput(f"url: {error}", field="url") from None
    if "?" in url or "#" in url or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput("url must be scheme, host and path, like http://host:8765", field="url")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _check_positive(name: str, value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < 1e12:  # type: ignore[operator]
        raise InvalidInput(f"{name} must be a number above 0", field=name)
