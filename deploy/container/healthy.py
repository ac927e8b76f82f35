#!/usr/bin/env -S python3 -I
"""Exit 0 when an address answers 200, 1 when it does not.

    skillyard-healthy http://127.0.0.1:8765/readyz

For health checks of containers, where there is no curl.
"""

from __future__ import annotations

import http.client
import sys
from urllib.parse import urlsplit

TIMEOUT_S = 4.0
"""Less than a health check waits for, so that its reason is printed."""


def status_of(address: str) -> int:
    """Return the status that an address answers with.

    Raises ValueError for what is no address, OSError and HTTPException where nobody answers.
    """
    parts = urlsplit(address)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"not an http address: {address}")
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status
    finally:
        connection.close()


def main(arguments: list[str]) -> int:
    """Ask once and return the exit code; 2 for wrong use."""
    if len(arguments) != 1:
        print("usage: skillyard-healthy ADDRESS", file=sys.stderr)
        return 2
    try:
        status = status_of(arguments[0])
    except (OSError, http.client.HTTPException, ValueError) as error:
        print(f"no answer: {error}", file=sys.stderr)
        return 1
    if status != http.client.OK:
        print(f"answered {status}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
