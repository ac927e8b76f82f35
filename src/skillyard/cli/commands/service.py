"""``serve``: the service over HTTP and MCP."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.cli.console import Console, is_terminal
from skillyard.cli.options import (
    add_library,
    add_options,
    file_path,
    number,
    whole_number,
)
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_serve_command(commands: Commands) -> None:
    """Declare ``serve``."""
    parser = add_command(
        commands,
        "serve",
        ("serve search, rank, select, evaluate, why and the skills over HTTP and MCP"),
        run=serve,
        about=(
            "Listening beyond this machine, or under a public name (--allow-host), requires "
            "a bearer token in SKILLYARD_HTTP_TOKEN, or in a file (--token-file). On SIGINT and "
            "SIGTERM the server completes the running requests and stops."
        ),
        examples=(
            "skillyard serve",
            "skillyard serve ~/skills --port 9000",
            "skillyard serve ~/skills --remote",
            "skillyard serve --mcp stdio ~/skills",
            "skillyard serve --store postgresql://reader@db/skills --state-dir node",
        ),
    )
    add_library(parser)
    surface = parser.add_mutually_exclusive_group()
    surface.add_argument(
        "--mcp",
        metavar="HOW",
        choices=("stdio", "http"),
        help="serve only MCP: stdio for one client, http at /mcp for many",
    )
    parser.add_argument(
        "--tools",
        metavar="SET",
        choices=("default", "all"),
        help="the MCP tools to offer: default, or all (default: SKILLYARD_TOOLS, else default)",
    )
    surface.add_argument(
        "--http",
        action="store_true",
        help="serve HTTP with a web page, and MCP at /mcp (the default)",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        default="127.0.0.1",
        help="the address to listen on (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        metavar="PORT",
        type=whole_number,
        default=8765,
        help="the port to listen on (default: 8765; 0 takes a free one)",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=file_path,
        help="the file with the bearer token (default: SKILLYARD_HTTP_TOKEN, else none)",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        help="follow this catalog store instead of reading folders (postgresql://…, sqlite:///…)",
    )
    add_options(parser, "--caller", "--state-dir")
    parser.add_argument(
        "--max-stale",
        metavar="SECONDS",
        type=number,
        default=0.0,
        help="report not ready (/readyz) when the data is older than this (default: never)",
    )
    parser.add_argument(
        "--log-format",
        metavar="FORM",
        choices=("text", "json"),
        help="log lines for people (text) or as JSON (default: text on a terminal, else json)",
    )
    parser.add_argument(
        "--remote",
        action="store_true",
        help=(
            "also ask every remote source that skillyard.toml enables (default: none but those "
            "that it names)"
        ),
    )
    parser.add_argument(
        "--local-only", action="store_true", help="ask no remote source, whatever else is set"
    )
    parser.add_argument(
        "--feedback",
        action="store_true",
        help=(
            "take feedback of clients (POST /feedback, the tool skill_feedback), and count it "
            "with yours in rankings (default: neither)"
        ),
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="host name that clients use, for example through a proxy; may repeat",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="web origin whose pages may call the service (https://NAME); may repeat",
    )
    parser.add_argument(
        "--trust-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="proxy address or network whose X-Forwarded-For header is trusted; may repeat",
    )


def serve(args: Namespace, console: Console) -> int:
    """Answer over HTTP, over MCP or over both, until SIGINT or SIGTERM."""
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        command = install_command("serve", "remote")
        raise InvalidInput(f"serve needs {', '.join(missing)}, which is not installed: {command}")
    from skillyard.cli.source import library_of
    from skillyard.serve.http import ServiceOptions

    named = [args.place] if args.place is not None else []
    if args.store and (named or args.root or args.scope):
        raise InvalidInput("serve reads folders or follows a store (--store), not both")
    if not args.store and (args.caller or args.state_dir or args.max_stale):
        raise InvalidInput("--caller, --state-dir and --max-stale say how to follow a --store")
    # A broken policy ends the command here; a service would start and offer nothing.
    spec = None if args.store else library_of(args, args.place)
    options = ServiceOptions(
        roots=(".",) if spec is None else spec.roots,
        scopes=() if spec is None else spec.scopes,
        profile=args.library_profile,
        host=args.host,
        port=args.port,
        token_file=args.token_file or "",
        allowed_hosts=tuple(args.allow_host),
        allowed_origins=tuple(args.allow_origin),
        trusted_proxies=tuple(args.trust_proxy),
        local_only=args.local_only,
        remote=args.remote,
        store=args.store or "",
        caller=args.caller or "",
        state_dir=args.state_dir or "",
        max_stale_s=args.max_stale,
        feedback=args.feedback,
        tools=args.tools,
        log_format=log_format(args, console),
    )
    if args.mcp == "stdio":
        from skillyard.serve.mcp import serve_stdio as run
    elif args.mcp == "http":
        from skillyard.serve.http import serve_mcp as run
    else:
        from skillyard.serve.http import serve as run
    run(options)
    return 0


def log_format(args: Namespace, console: Console) -> str:
    """Return the form of the log: what is named, else what fits standard error."""
    if console.quiet:
        return "none"
    if args.log_format:
        return str(args.log_format)
    return "text" if is_terminal(sys.stderr) else "json"


COMMANDS = {"serve": add_serve_command}
