"""``serve``: the one command that starts another surface."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from skillyard.cli.console import Console, is_terminal
from skillyard.cli.quick import Values
from skillyard.errors import InvalidInput
from skillyard.extras import install_command

__all__ = ["log_format", "serve"]


def serve(values: Values, console: Console) -> int:
    """Answer over HTTP, over MCP or over both, until SIGINT or SIGTERM."""
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        command = install_command("serve", "remote")
        raise InvalidInput(f"serve needs {', '.join(missing)}, which is not installed: {command}")
    from skillyard.serving.http import ServiceOptions

    named = [values.place] if values.place is not None else []
    if values.store and (named or values.root or values.scope):
        raise InvalidInput("serve reads folders or follows a store (--store), not both")
    if not values.store and (values.caller or values.state_dir or values.max_stale):
        raise InvalidInput("--caller, --state-dir and --max-stale say how to follow a --store")
    options = ServiceOptions(
        roots=tuple([*named, *values.root] or ["."]),
        scopes=tuple(dict.fromkeys(values.scope)),
        host=values.host,
        port=values.port,
        allowed_hosts=tuple(values.allow_host),
        allowed_origins=tuple(values.allow_origin),
        trusted_proxies=tuple(values.trust_proxy),
        local_only=values.local_only,
        store=values.store or "",
        caller=values.caller or "",
        state_dir=values.state_dir or "",
        max_stale_s=values.max_stale,
        log_format=log_format(values, console),
    )
    if values.mcp == "stdio":
        from skillyard.serving.mcp import serve_stdio as run
    elif values.mcp == "http":
        from skillyard.serving.mcp import serve_http as run
    else:
        from skillyard.serving.http import serve as run
    run(options)
    return 0


def log_format(values: Values, console: Console) -> str:
    """Return the form of the log: what is named, else what fits standard error."""
    if console.quiet:
        return "none"
    if values.log_format:
        return str(values.log_format)
    return "text" if is_terminal(sys.stderr) else "json"
