"""The options of a service, validated on construction."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Annotated, Literal, NamedTuple, get_args

from skillyard.base.errors import InvalidInput, InvalidSkillsRoot
from skillyard.base.io.connections import bearer_token, is_loopback
from skillyard.base.operation import Spelling
from skillyard.install.sources.settings import Settings

TOKEN = "SKILLYARD_HTTP_TOKEN"
_FORMER_TOKEN_FILE = "SKILLYARD_HTTP_TOKEN_FILE"
"""Of earlier releases. Without a word, their services would start without a token."""
TOKEN_BYTES = 4_096
"""Maximum bytes of a token file: headers could not contain more."""
TOOLS = "SKILLYARD_TOOLS"
"""The environment variable with the set of MCP tools: default or all."""
ToolSet = Literal["default", "all"]
TOOL_SETS = get_args(ToolSet)
LOG_FORMATS = ("json", "text", "none")
PORTS = 65_535


class ServiceLimits(NamedTuple):
    """The limits of a service."""

    at_once: int = 16
    """Number of requests that run concurrently."""
    queue: int = 688
    """Number of requests that wait; further ones get 429. Both are shared fairly: one client alone
    may have 528 (:class:`.guards.FairShare`)."""
    threads: int = 4
    """Number of threads that rank and read files."""
    body_bytes: int = 4 * 1024 * 1024
    """Bytes of one request body."""
    bodies_bytes: int = 64 * 1024 * 1024
    """Bytes of all request bodies in transit; shared fairly among clients."""
    body_s: float = 20.0
    """Seconds that a client may take to send a body."""
    header_s: float = 10.0
    """Seconds from connecting until the request line and headers must be complete."""
    send_s: float = 30.0
    """Seconds that a response may wait for a client that does not read it."""
    connections: int = 8_192
    """Number of open connections, limited by the system's descriptors. Without room, the connection
    that has been idle longest is closed."""
    sessions: int = 1_400
    """Number of open MCP sessions, shared fairly; the longest idle one is ended first."""
    look_s: float = 1.0
    """Minimum seconds between two scans of the files of the catalog."""
    drain_s: float = 10.0
    """Seconds that running requests may take when the service stops."""


DEFAULT_LIMITS = ServiceLimits()


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """All options of a service.

    Raises InvalidInput for invalid options, such as an address beyond this machine without a token.
    """

    roots: tuple[str, ...] = (".",)
    scopes: tuple[str, ...] = ()
    tools: Annotated[
        ToolSet | None,
        "The MCP tools to offer: default, or all (default: SKILLYARD_TOOLS, else default).",
        Spelling(metavar="SET"),
    ] = None
    host: Annotated[str, "The address to listen on.", Spelling(metavar="HOST")] = "127.0.0.1"
    port: Annotated[
        int, "The port to listen on (default: 8765; 0 takes a free one).", Spelling(metavar="PORT")
    ] = 8765
    token: str | None = field(default=None, repr=False)
    """The bearer token that every request must contain; empty for none. None reads it from
    ``token_file``, else from :data:`TOKEN`."""
    token_file: Annotated[
        str,
        "The file with the bearer token (default: SKILLYARD_HTTP_TOKEN, else none).",
        Spelling(metavar="FILE"),
    ] = ""
    store: Annotated[
        str,
        "Follow this catalog store instead of reading folders (postgresql://…, sqlite:///…).",
        Spelling(metavar="URL"),
    ] = field(default="", repr=False)
    caller: Annotated[
        str, "Serve what this caller of the store may see (default: all).", Spelling(metavar="NAME")
    ] = ""
    state_dir: Annotated[
        str,
        "Folder of this node's copy of the store; one node, one folder (default: in the cache).",
        Spelling(metavar="DIR"),
    ] = ""
    max_stale_s: Annotated[
        float,
        "Report not ready (/readyz) when the data is older than this (default: never).",
        Spelling(flag="--max-stale", metavar="SECONDS"),
    ] = 0.0
    remote: Annotated[
        bool,
        "Also ask every remote source that skillyard.toml enables (default: none but those that it"
        " names).",
    ] = False
    local_only: Annotated[bool, "Ask no remote source, whatever else is set."] = False
    feedback: Annotated[
        bool,
        "Take feedback of clients (POST /feedback, the tool skill_feedback), and count it with"
        " yours in rankings (default: neither).",
    ] = False
    allowed_hosts: Annotated[
        tuple[str, ...],
        "Host name (name or name:port) that clients use, for example through a proxy; one that is"
        " not local needs a token.",
        Spelling(flag="--allow-host", metavar="NAME"),
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...],
        "Web origin whose pages may call the service (https://NAME).",
        Spelling(flag="--allow-origin", metavar="ORIGIN"),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        "Proxy address or network whose X-Forwarded-For header is trusted.",
        Spelling(flag="--trust-proxy", metavar="ADDRESS"),
    ] = ()
    settings: Settings | None = field(default=None, repr=False)
    """The settings of remote sources; None reads the user's settings."""
    log_format: str = "json"
    """``json``, ``text``, or ``none``: only errors, as text."""
    limits: ServiceLimits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("roots", "scopes", "allowed_hosts", "allowed_origins", "trusted_proxies"):
            put(self, name, _texts(name, getattr(self, name)))
        token = _found_token(self.token_file) if self.token is None else self.token
        put(self, "token", bearer_token(token))
        if not 0 <= self.port <= PORTS:
            raise InvalidInput(f"port must be an integer of 0 to {PORTS}")
        if not 0 <= self.max_stale_s < 1e9:
            raise InvalidInput("max_stale_s must be seconds, 0 or more")
        if self.log_format not in LOG_FORMATS:
            raise InvalidInput(f"log_format must be one of {', '.join(LOG_FORMATS)}")
        put(self, "tools", self.tools or os.environ.get(TOOLS) or TOOL_SETS[0])
        if self.tools not in TOOL_SETS:
            raise InvalidInput(f"tools ({TOOLS}) must be one of {', '.join(TOOL_SETS)}")
        for origin in self.allowed_origins:
            _check_origin(origin)
        for proxy in self.trusted_proxies:
            _check_network(proxy)
        if not self.token:
            _check_alone(self.host, self.allowed_hosts)

    @property
    def library(self) -> str:
        """The served library as text: the store's address, or the folders."""
        return self.store or ", ".join(self.roots)

    def check_roots(self) -> None:
        """Raise InvalidSkillsRoot for a root that is not a folder, when folders are served."""
        for root in () if self.store else self.roots:
            if not os.path.isdir(root):
                hint = "name one that holds skills"
                raise InvalidSkillsRoot("not a folder", path=root, hint=hint)


def _check_alone(host: str, names: Iterable[str]) -> None:
    """Raise InvalidInput when a service without a token could be reached from other machines."""
    remedy = (
        f"set {TOKEN} to a secret that clients must send as `Authorization: Bearer …`, or name a"
        " file that holds it with --token-file"
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


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of texts")
    items = tuple(os.fspath(item) if isinstance(item, os.PathLike) else item for item in value)
    if not all(isinstance(item, str) and item for item in items):
        raise InvalidInput(f"{name} must hold texts that are not empty")
    return items


def _found_token(path: str) -> str:
    """Return the token of a file, else that of the environment. Raises InvalidInput."""
    if not path and os.environ.get(_FORMER_TOKEN_FILE):
        raise InvalidInput(f"{_FORMER_TOKEN_FILE} is not read any more: name it with --token-file")
    if not path:
        return os.environ.get(TOKEN, "")
    try:
        with open(path, encoding="utf-8") as file:
            content = file.read(TOKEN_BYTES).strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InvalidInput(f"the token file {path} cannot be read: {why}") from None
    if not content:
        raise InvalidInput(f"the token file {path} is empty, and would let everybody in")
    return content


def _check_network(address: str) -> None:
    try:
        ip_network(address)
    except ValueError as error:
        raise InvalidInput(f"trusted_proxies: {error}") from None


def _check_origin(origin: str) -> None:
    from skillyard.install.sources.transport import origin_of

    origin_of(origin)
    if origin.count("/") != 2:
        raise InvalidInput(f"allowed_origins: {origin!r} must be scheme and host, like https://a.b")
