"""``serve``: the service over HTTP and MCP."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.cli.console import Console, is_terminal
from skillyard.cli.options import OneOf, command, flag, library, value, values


@command(
    "serve",
    library(),
    OneOf(
        (
            value(
                "--mcp",
                "HOW",
                "serve only MCP: stdio for one client, http at /mcp for many",
                choices=("stdio", "http"),
            ),
            flag("--http", "serve HTTP with a web page, and MCP at /mcp (the default)"),
        )
    ),
    value(
        "--tools",
        "SET",
        "the MCP tools to offer: default, or all (default: SKILLYARD_TOOLS, else default)",
        choices=("default", "all"),
    ),
    value("--host", "HOST", "the address to listen on", default="127.0.0.1"),
    value(
        "--port", "PORT", "the port to listen on (default: 8765; 0 takes a free one)", default=8765
    ),
    value(
        "--token-file",
        "FILE",
        "the file with the bearer token (default: SKILLYARD_HTTP_TOKEN, else none)",
    ),
    value(
        "--store",
        "URL",
        "follow this catalog store instead of reading folders (postgresql://…, sqlite:///…)",
    ),
    "--caller",
    value(
        "--state-dir",
        "DIR",
        "folder of this node's copy of the store; one node, one folder (default: in the cache)",
    ),
    value(
        "--max-stale",
        "SECONDS",
        "report not ready (/readyz) when the data is older than this (default: never)",
        default=0.0,
    ),
    value(
        "--log-format",
        "FORM",
        "log lines for people (text) or as JSON (default: text on a terminal, else json)",
        choices=("text", "json"),
    ),
    flag(
        "--remote",
        "also ask every remote source that skillyard.toml enables (default: none but those that it "
        "names)",
    ),
    flag("--local-only", "ask no remote source, whatever else is set"),
    flag(
        "--feedback",
        "take feedback of clients (POST /feedback, the tool skill_feedback), and count it with "
        "yours in rankings (default: neither)",
    ),
    values("--allow-host", "NAME", "host name that clients use, for example through a proxy"),
    values(
        "--allow-origin", "ORIGIN", "web origin whose pages may call the service (https://NAME)"
    ),
    values(
        "--trust-proxy",
        "ADDRESS",
        "proxy address or network whose X-Forwarded-For header is trusted",
    ),
)
def serve(args: Namespace, console: Console) -> None:
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
    from skillyard.serve.runtime.options import ServiceOptions

    if args.store and (args.root or args.scope):
        raise InvalidInput("serve reads folders or follows a store (--store), not both")
    if not args.store and (args.caller or args.state_dir or args.max_stale):
        raise InvalidInput("--caller, --state-dir and --max-stale say how to follow a --store")
    # A broken policy ends the command here; a service would start and offer nothing.
    from skillyard.install.policy.library import library_spec

    spec = (
        None
        if args.store
        else library_spec(args.root, dict.fromkeys(args.scope), profile=args.library_profile)
    )
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
        from skillyard.serve.mcp.stdio import serve_stdio as run
    elif args.mcp == "http":
        from skillyard.serve.http.app import serve_mcp as run
    else:
        from skillyard.serve.http.app import serve as run
    run(options)


def log_format(args: Namespace, console: Console) -> str:
    """Return the form of the log: what is named, else what fits standard error."""
    if console.quiet:
        return "none"
    return args.log_format or ("text" if is_terminal(sys.stderr) else "json")
