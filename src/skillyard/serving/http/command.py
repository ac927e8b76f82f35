"""Running the HTTP service until a signal ends it."""

from __future__ import annotations

import sys

from skillyard.serving.http.app import create_app
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.options import ServiceOptions
from skillyard.serving.runtime.server import Server, announce, listening_socket

__all__ = ["serve"]

SWITCH_S = 0.0005
"""After so long a thread that computes lets the others go on (Python's own is five milliseconds):
an answer passes through several threads, and at each it may have to wait for one that computes."""


def serve(options: ServiceOptions | None = None) -> None:
    """Serve until SIGTERM or SIGINT; then answer what has been asked, and return.

    Raises InvalidSkillsRoot for a root that is no folder, InvalidInput for an address that cannot
    be listened on, and what :func:`~skillyard.serving.http.app.create_app` raises.
    """
    options = options or ServiceOptions()
    options.check_roots()
    log = Log(options.log_format)
    sys.setswitchinterval(SWITCH_S)
    server = Server(create_app(options, log=log), options, log)
    with listening_socket(options) as sock:
        announce(log, sock, options)
        server.run([sock])
    log.flush()
    log.write("stopped")
