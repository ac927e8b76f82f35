"""The MCP server.

:func:`.stdio.serve_stdio` serves one client over standard input and output, and
:class:`.http_app.McpApp` is the ASGI application of streamable HTTP for the HTTP service.
:mod:`.server` dispatches requests to the tools (:mod:`.tools`) and to skills as resources
(:mod:`.extension`). Both answer from the newest view of the library (:mod:`.call`). The official
SDK (extra ``serve``) is imported by what needs it, its two packages as :class:`_LazyPackage`.
"""

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


class _LazyPackage(ModuleType):
    """A package whose own module runs once somebody wants a name of it.

    Those of the SDK import its client and its high-level server, a fifth of the start of a server
    that needs neither.
    """

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]
        self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]
        return getattr(self, name)


def _defer(name: str, parent: ModuleType | None) -> ModuleType | None:
    """Return the package, deferred unless it is loaded; None where it is not installed."""
    if name in sys.modules or (spec := find_spec(name)) is None:
        return sys.modules.get(name)
    package = sys.modules[name] = module_from_spec(spec)
    package.__class__ = _LazyPackage
    if parent is not None:  # as an import does
        setattr(parent, name.rpartition(".")[2], package)
    return package


if (_sdk := _defer("mcp", None)) is not None:
    _defer("mcp.server", _sdk)
