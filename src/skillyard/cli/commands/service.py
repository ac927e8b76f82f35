"""``serve``: the service over HTTP and MCP."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.cli.console import Console, is_terminal
from skillyard.cli.options import OneOf, command, flag, library, value
from skillyard.install.policy.library import library_spec

if TYPE_CHECKING:
    from skillyard.serve.runtime.options import ServiceOptions


@command(
    "serve",
    library(),
    OneOf(
        (
            value("--mcp", "HOW", "only MCP: stdio, or http at /mcp", choices=("stdio", "http")),
            flag("--http", "serve HTTP with a web page, and MCP at /mcp (the default)"),
        )
    ),
    value(
        "--log-format",
        "FORM",
        "log lines for people (text) or as JSON (default: text on a terminal, else json)",
        choices=("text", "json"),
    ),
    request="skillyard.serve.runtime.options:ServiceOptions",
)
def serve(request: ServiceOptions, args: Namespace, console: Console) -> None:
    """Serve search, rank, select, evaluate, why and the skills over HTTP and MCP.

    Listening beyond this machine, or under a public name (--allow-host), requires a bearer token in
    SKILLYARD_HTTP_TOKEN, or in a file (--token-file). On SIGINT and SIGTERM the server completes
    the running requests and stops.

        skillyard serve
        skillyard serve ~/skills --port 9000
        skillyard serve ~/skills --remote
        skillyard serve --mcp stdio ~/skills
        skillyard serve --store postgresql://reader@db/skills --state-dir node
    """
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        command = install_command("serve", "remote")
        raise InvalidInput(f"serve needs {', '.join(missing)}, which is not installed: {command}")
    if args.store and (args.root or args.scope):
        raise InvalidInput("serve reads folders or follows a store (--store), not both")
    if not args.store and (args.caller or args.state_dir or args.max_stale_s):
        raise InvalidInput("--caller, --state-dir and --max-stale say how to follow a --store")
    # A broken policy ends the command here; a service would start and offer nothing.
    spec = None if args.store else library_spec(args.root, dict.fromkeys(args.scope))
    form = "text" if is_terminal(sys.stderr) else "json"
    options = replace(
        request,
        roots=(".",) if spec is None else spec.roots,
        scopes=() if spec is None else spec.scopes,
        log_format="none" if console.quiet else args.log_format or form,
    )
    if args.mcp == "stdio":
        from skillyard.serve.mcp.stdio import serve_stdio as run
    elif args.mcp == "http":
        from skillyard.serve.http.app import serve_mcp as run
    else:
        from skillyard.serve.http.app import serve as run
    run(options)
