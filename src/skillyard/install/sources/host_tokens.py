"""Tokens of hosts, from environment variables that contain the name of the host.

``SKILLYARD_TOKEN_SKILLS_EXAMPLE_COM`` is the token of ``skills.example.com``. A hyphen in the name
is two underscores. A port other than 443 follows the name (``SKILLYARD_TOKEN_LOCALHOST_8080``). A
host named by such a variable may be in a private network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput

if TYPE_CHECKING:
    from skillyard.install.sources.transport import Host

PREFIX = "SKILLYARD_TOKEN_"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def token_variable(url: str) -> str:
    """Return the name of the variable that has the token of an address's host.

    Raises InvalidInput for an address without a valid host and port.
    """
    try:
        parts = urlsplit(url)
        port = f"_{parts.port}" if parts.port not in (None, 443) else ""
    except ValueError:  # whose text may repeat a part of a password
        raise InvalidInput("the address has no valid host and port; correct it") from None
    host = (parts.hostname or "").replace("-", "__").replace(".", "_").replace(":", "_")
    return f"{PREFIX}{host.upper()}{port}"


def host_tokens(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the tokens by variable. Raises InvalidInput for one that no header may contain."""
    tokens = {
        name: value.strip()
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and value.strip()
    }
    for name, token in tokens.items():
        if not token.isascii() or not token.isprintable():
            raise InvalidInput(f"the token in {name} holds a character that no header may")
    return tokens


def host_of(url: str, tokens: Mapping[str, str], *, named_by_user: bool = True) -> Host:
    """Return the host of an address with its token, if there is one.

    Raises InvalidInput where the token would be sent without encryption to another machine.
    """
    from skillyard.install.sources.transport import Host

    variable = token_variable(url)
    token = tokens.get(variable, "")
    parts = urlsplit(url)
    if token and parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise InvalidInput(
            f"the token in {variable} is not sent without encryption: write {url} with https, or"
            " unset the token"
        )
    return Host(
        url.rstrip("/"),
        token=token,
        token_variables=(variable,),
        named_by_user=named_by_user or bool(token),
    )
