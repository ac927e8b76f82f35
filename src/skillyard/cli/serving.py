"""``serve``: the one command that starts another surface."""

from __future__ import annotations

from importlib.util import find_spec

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.errors import InvalidInput

__all__ = ["serve"]


def serve(values: Values, console: Console) -> int:
    """Answer over HTTP, over MCP or over both, until SIGINT or SIGTERM."""
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InvalidInput(
            f"not installed: {', '.join(missing)}; pip install 'skillyard[serve,remote]'"
        )
    from skillyard.http import ServiceOptions

    named = [values.place] if values.place is not None else []
    options = ServiceOptions(
        roots=tuple([*named, *values.root] or ["."]),
        scopes=tuple(dict.fromkeys(values.scope)),
        host=values.host,
        port=values.port,
        allowed_hosts=tuple(values.allow_host),
        allowed_origins=tuple(values.allow_origin),
        local_only=values.local_only,
        log_format="none" if console.quiet else "json",
    )
    if values.mcp == "stdio":
        from skillyard.mcp import serve_stdio as run
    elif values.mcp == "http":
        from skillyard.mcp import serve_http as run
    else:
        from skillyard.http import serve as run
    run(options)
    return 0
