"""Runs the server for one client over standard input and output."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from skillyard.base.io.platforms import on_signals
from skillyard.serve.mcp.messages import answered
from skillyard.serve.mcp.server import create_server
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.logging import STDIO, Log, redirect
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.server import library_of


def serve_stdio(options: ServiceOptions | None = None) -> None:
    """Serve one client on standard input until it closes, or until SIGTERM or SIGINT.

    Only JSON-RPC is written to standard output; the log goes to standard error. Raises
    InvalidSkillsRoot for a root that is not a folder, and SkillyardError for invalid settings.
    """
    options = options or ServiceOptions()
    options.check_roots()
    log = Log(options.log_format)
    redirect(log, "mcp")
    context = AppContext(options, (), log)
    log.write("listening", url=STDIO, library=library_of(options), token=False)
    anyio.run(_stdio, context)


async def _stdio(context: AppContext) -> None:
    try:
        await _serve_stdio(context)
    except* (BrokenPipeError, anyio.BrokenResourceError):
        pass  # the client is gone
    finally:
        await context.close()


async def _serve_stdio(context: AppContext) -> None:
    server = create_server(context, show_folders=True)
    # A thread of the SDK waits for input and cannot be cancelled, so a signal ends the process.
    with on_signals(partial(os._exit, 0)):
        async with stdio_server() as (incoming, outgoing):
            messages: Any = answered(incoming, outgoing)
            await server.run(messages, outgoing, server.create_initialization_options())
