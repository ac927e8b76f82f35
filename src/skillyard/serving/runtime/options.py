"""What a service is started with, checked when it is made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple

from skillyard.errors import InvalidInput, InvalidSkillsRoot
from skillyard.remote.sources.settings import Settings
from skillyard.serving.runtime.clients import Proxies

__all__ = ["LOG_FORMATS", "TOKEN", "TOKEN_FILE", "ServiceLimits", "ServiceOptions", "is_loopback"]

TOKEN = "SKILLYARD_HTTP_TOKEN"
"""The environment variable that holds the bearer token."""
TOKEN_FILE = "SKILLYARD_HTTP_TOKEN_FILE"
"""The one that names a file with it instead, as credentials of systemd and secrets come."""
TOKEN_BYTES = 4_096
"""The most that is read of such a file: a request's headers could not hold more."""
LOG_FORMATS = ("json", "text", "none")
PORTS = 65_535


class ServiceLimits(NamedTuple):
    """How much the service takes upon itself at a time."""

    at_once: int = 16
    """Requests that are worked on together; the next ones wait."""
    queue: int = 688
    """Requests that wait; one more is answered 429. With those that are worked on they are shared
    fairly: one client alone may have 528 (:class:`.clients.FairShare`)."""
    threads: int = 4
    """Threads that rank, read files and compress."""
    body_bytes: int = 4 * 1024 * 1024
    """One request body."""
    bodies_bytes: int = 64 * 1024 * 1024
    """All bodies that are on their way in, together; shared fairly among clients."""
    body_s: float = 20.0
    """What a client may take to send a body."""
    body_start_s: float = 5.0
    """What of that may pass before …"""
    body_rate: int = 1_024
    """… a body must have come at so many bytes a second."""
    header_s: float = 10.0
    """What a client may take, from connecting, to send a request line and its headers."""
    send_s: float = 30.0
    """What a client may let an answer wait that it does not read."""
    connections: int = 8_192
    """Connections that are open at a time, fewer where the system allows fewer descriptors; shared
    fairly among clients. Where there is no room, the one that is idle for the longest is closed."""
    sessions: int = 1_400
    """MCP sessions that are open at a time, shared fairly; the longest idle one is ended first."""
    look_s: float = 1.0
    """The files of the catalog are looked at no more often than this."""
    drain_s: float = 10.0
    """What running requests may still take when the service is told to stop."""


DEFAULT_LIMITS = ServiceLimits()


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Everything that a service is told at its start.

    Raises InvalidInput for what cannot be: above all an address beyond this machine without a
    token.
    """

    roots: tuple[str, ...] = (".",)
    scopes: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8765
    """0 takes any free port."""
    token: str | None = field(default=None, repr=False)
    """The bearer token that every request must carry; empty for none. None takes the one of
    :data:`TOKEN` or :data:`TOKEN_FILE`."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names (``name`` or ``name:port``) by which clients call this service. One that is
    not this machine's alone needs a token, as an address does: a proxy hands strangers in."""
    allowed_origins: tuple[str, ...] = ()
    """Further web origins (``https://name``) whose pages may ask."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies that say in X-Forwarded-For who their clients are; for how
    much each client may hold, and for nothing else."""
    local_only: bool = False
    """Search the catalog alone, and ask nobody else."""
    settings: Settings | None = field(default=None, repr=False)
    """How remote skills are found; None takes the user's settings."""
    log_format: str = "json"
    """``json``, ``text``, or ``none``: errors alone, as text."""
    limits: ServiceLimits = DEFAULT_LIMITS
    store: str = field(default="", repr=False)
    """The address of the catalog store to follow, instead of reading ``roots``; empty: none."""
    caller: str = ""
    """Whose view of the store is served; empty: everything."""
    state_dir: str = ""
    """Where the node keeps the store's skills; empty: in the user's cache."""
    max_stale_s: float = 0.0
    """``/readyz`` refuses a node that last had all that the store had longer ago; 0: none."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("roots", "scopes", "allowed_hosts", "allowed_origins", "trusted_proxies"):
            put(self, name, _texts(name, getattr(self, name)))
        put(self, "token", _token(_token_of_environment() if self.token is None else self.token))
        if type(self.port) is not int or not 0 <= self.port <= PORTS:
            raise InvalidInput(f"port must be an integer of 0 to {PORTS}")
        for name in ("store", "caller", "state_dir"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"{name} must be text")
        if isinstance(self.max_stale_s, bool) or not 0 <= self.max_stale_s < 1e9:
            raise InvalidInput("max_stale_s must be seconds, 0 or more")
        if self.log_format not in LOG_FORMATS:
            raise InvalidInput(f"log_format must be one of {', '.join(LOG_FORMATS)}")
        for origin in self.allowed_origins:
            _check_origin(origin)
        Proxies(self.trusted_proxies)
        _check_limits(self.limits)
        if not self.token:
            _check_alone(self.host, self.allowed_hosts)

    def check_roots(self) -> None:
        """Raise InvalidSkillsRoot for a root that is no folder, where folders are served."""
        for root in () if self.store else self.roots:
            if not os.path.isdir(root):
                hint = "name one that holds skills"
                raise InvalidSkillsRoot("not a folder", path=root, hint=hint)


def _check_alone(host: str, names: Iterable[str]) -> None:
    """Raise InvalidInput where others than this machine may reach a service without a token."""
    remedy = (
        f"set {TOKEN} to a secret that clients must send as `Authorization: Bearer …`, or"
        f" {TOKEN_FILE} to the path of a file that holds it"
    )
    if not is_loopback(host):
        raise InvalidInput(
            f"host {host!r} is no loopback address, so other machines may reach it: {remedy}, or"
            " use host 127.0.0.1"
        )
    for name in names:
        if not is_loopback(name) and not is_loopback(name.rpartition(":")[0]):
            raise InvalidInput(
                f"{name!r} is a name that other machines use, so others may reach the service"
                f" through a proxy: {remedy}"
            )


def is_loopback(host: str) -> bool:
    """True for an address that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of texts")
    items = tuple(os.fspath(item) if isinstance(item, os.PathLike) else item for item in value)
    if not all(isinstance(item, str) and item for item in items):
        raise InvalidInput(f"{name} must hold texts that are not empty")
    return items


def _token_of_environment() -> str:
    """Return the token that the environment holds or names. Raises InvalidInput."""
    token, path = os.environ.get(TOKEN, ""), os.environ.get(TOKEN_FILE, "")
    if not path:
        return token
    if token:
        raise InvalidInput(f"{TOKEN} and {TOKEN_FILE} are both set: unset one of them")
    try:
        with open(path, encoding="utf-8") as file:
            content = file.read(TOKEN_BYTES).strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InvalidInput(f"{TOKEN_FILE}: cannot read {path}: {why}") from None
    if not content:
        raise InvalidInput(f"{TOKEN_FILE}: {path} is empty, and would let everybody in")
    return content


def _token(token: object) -> str:
    if not isinstance(token, str):
        raise InvalidInput("token must be text")
    trimmed = token.strip()
    if not (trimmed.isascii() and trimmed.isprintable()) or " " in trimmed:
        raise InvalidInput(f"{TOKEN} must be visible ASCII characters without blanks")
    return trimmed


def _check_origin(origin: str) -> None:
    from skillyard.remote.sources.transport import origin_of

    origin_of(origin)
    if origin.count("/") != 2:
        raise InvalidInput(f"allowed_origins: {origin!r} must be scheme and host, like https://a.b")


def _check_limits(limits: ServiceLimits) -> None:
    for name, value in limits._asdict().items():
        whole = ServiceLimits._field_defaults[name].__class__ is int
        least = 0 if name in ("queue", "look_s", "drain_s") else 1 if whole else 0.001
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise InvalidInput(f"limits.{name} must be a number")
        if not least <= value < 1e12:
            raise InvalidInput(f"limits.{name} must be at least {least:g}")
