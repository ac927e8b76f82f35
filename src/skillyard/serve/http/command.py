"""Running the HTTP service until a signal ends it."""

from __future__ import annotations

import sys

from skillyard.serve.http.app import create_app
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.server import Server, announce, listening_socket

SWITCH_S = 0.0005
"""Seconds after which a computing thread yields (Python's default is 0.005). A response passes
through several threads, and each may have to wait for a computing one."""


def serve(options: ServiceOptions | None = None) -> None:
    """Serve until SIGTERM or SIGINT; then finish the running requests and return.

    Raises InvalidSkillsRoot for a root that is not a folder, InvalidInput for an address that
    cannot be listened on, and the errors of :func:`~skillyard.serve.http.app.create_app`.
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
