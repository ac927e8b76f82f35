"""Runs the server: for one client over standard input and output, or for many over HTTP."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from skillyard.base.io.signals import on_signals
from skillyard.serve.mcp.http_app import McpApp, mcp_app, refusal
from skillyard.serve.mcp.messages import answered
from skillyard.serve.mcp.server import create_server
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.logging import STDIO, Log, redirect
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.server import Server, announce, library_of, listening_socket

PATH = "/mcp"


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


def serve_http(options: ServiceOptions | None = None) -> None:
    """Serve MCP at ``/mcp`` over streamable HTTP until SIGTERM or SIGINT.

    Address, token, names and origins are taken from the options and checked as for the HTTP
    service. Raises InvalidSkillsRoot for a root that is not a folder, InvalidInput for an address
    that cannot be listened on, SkillyardError for invalid settings.
    """
    options = options or ServiceOptions()
    options.check_roots()
    log = Log(options.log_format)
    server = McpServer(options, log)
    with listening_socket(options) as sock:
        announce(log, sock, options, PATH)
        server.run([sock])
    log.flush()
    log.write("stopped")


class McpServer(Server):
    """The server of the HTTP service (limits, log, shutdown) for MCP alone."""

    def __init__(self, options: ServiceOptions, log: Log) -> None:
        self.context = AppContext(options, (), log)
        super().__init__(http_application(self.context), options, log)


def http_application(context: AppContext) -> ASGIApp:
    """Return the application of :func:`serve_http`: guards, then MCP at its one path."""
    app = mcp_app(context)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(context, app, receive, send)
            return
        probe = context.probe(scope["path"])
        if probe is not None and scope["method"] in ("GET", "HEAD"):
            status, word = probe
            await PlainTextResponse(word, status)(scope, receive, send)
            return
        try:
            context.guard.check(scope)
            if scope["path"].rstrip("/") != PATH:
                raise Refused(404, "no_route", f"there is nothing at this path but {PATH}")
        except Refused as refused:
            log = context.log
            log.write_refusal(refused.code, refused.message, status=refused.status, route=PATH)
            await refusal(refused)(scope, receive, send)
            return
        await app(scope, receive, send)

    return application


async def _lifespan(context: AppContext, app: McpApp, receive: Receive, send: Send) -> None:
    await receive()
    async with _open(context, app):
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def _open(context: AppContext, app: McpApp) -> AsyncIterator[None]:
    context.follower.refresh()
    try:
        async with app.running():
            yield
    finally:
        await context.close()
