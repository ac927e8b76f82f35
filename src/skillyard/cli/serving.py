"""``serve``: the one command that starts another surface."""

from __future__ import annotations

from importlib.util import find_spec

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.errors import InvalidInput

__all__ = ["serve"]


def serve(values: Values, console: Console) -> int:
    """Answer over HTTP until SIGINT or SIGTERM."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InvalidInput(
            f"not installed: {', '.join(missing)}; pip install 'skillyard[serve,remote]'"
        )
    from skillyard.http import ServiceOptions
    from skillyard.http import serve as run

    named = [values.place] if values.place is not None else []
    run(
        ServiceOptions(
            roots=tuple([*named, *values.root] or ["."]),
            scopes=tuple(dict.fromkeys(values.scope)),
            host=values.host,
            port=values.port,
            allowed_hosts=tuple(values.allow_host),
            allowed_origins=tuple(values.allow_origin),
            local_only=values.local_only,
            log_format="none" if console.quiet else "json",
        )
    )
    return 0
