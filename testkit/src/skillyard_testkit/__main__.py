"""``python -m skillyard_testkit``: the fake servers as a process, for trying a client."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from threading import Event
from typing import TextIO

from skillyard.base.errors import InvalidInput
from skillyard_testkit.configuration import toml
from skillyard_testkit.fake_servers import FakeServers
from skillyard_testkit.library import add_library

__all__ = ["serve"]


def serve(arguments: Sequence[str], out: TextIO, error: TextIO, stop: Event) -> int:
    """Serve until ``stop`` is set, and return the exit code: 0, or 2 for a wrong argument.

    What ``skillyard.toml`` needs to ask the servers is written to ``out``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m skillyard_testkit",
        description="Fake skills.sh, GitHub and well-known site, on the loopback address.",
    )
    parser.add_argument("--library", metavar="DIR", help="a folder with folders of skills")
    parser.add_argument(
        "--quota",
        metavar="N",
        type=int,
        default=60,
        help="GitHub API calls an hour without a token (default: 60, as there)",
    )
    options = parser.parse_args(arguments)
    servers = FakeServers()
    servers.switches.rate_limits["github_api"].anonymous = options.quota
    try:
        if options.library is not None:
            add_library(servers, options.library)
    except InvalidInput as wrong:
        error.write(f"{wrong}\n")
        return 2
    if options.library is None:
        error.write("nothing is listed: give --library DIR\n")
    with servers:
        out.write(toml({"sources": servers.sources()}))
        out.flush()
        stop.wait()
    return 0


def main() -> int:
    """Serve with this process's arguments until it is interrupted or told to end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return serve(sys.argv[1:], sys.stdout, sys.stderr, Event())
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
