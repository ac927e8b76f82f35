"""The hosts that addresses name, with their tokens of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput

if TYPE_CHECKING:
    from skillyard.install.sources.transport import Host

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def host_name(url: str) -> str:
    """Return the name of an address's host in ``host_tokens``, with any port but 443.

    Raises InvalidInput for an address without a valid host and port.
    """
    try:
        parts = urlsplit(url)
        port = "" if parts.port in (None, 443) else f":{parts.port}"
    except ValueError:  # whose text may repeat a part of a password
        raise InvalidInput("the address has no valid host and port; correct it") from None
    return f"{parts.hostname or ''}{port}"


def host_of(url: str, tokens: Mapping[str, str], *, named_by_user: bool = True) -> Host:
    """Return the host of an address with its token, if there is one.

    A host with a token may be in a private network. Raises InvalidInput where the token would be
    sent without encryption to another machine.
    """
    from skillyard.install.sources.transport import Host

    name = host_name(url)
    token = tokens.get(name, "")
    place = f'host_tokens."{name}" in [sources] of skillyard.toml'
    parts = urlsplit(url)
    if token and parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise InvalidInput(
            f"the token in {place} is not sent without encryption: write {url} with https, or"
            " remove the token"
        )
    return Host(
        url.rstrip("/"),
        token=token,
        token_places=(place,),
        named_by_user=named_by_user or bool(token),
    )
