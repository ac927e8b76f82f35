"""The names of sources, the sources of the settings, and the transport that they share.

A built-in source is one module and one line of ``BUILT_IN`` in ``settings.py``. Its module has a
function ``build(settings, transport)``, which returns the sources of that name, and, for hosts of
its own, a function ``hosts(settings)``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.install.sources.settings import BUILT_IN, LOCAL, Settings

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.install.sources.protocol import Source
    from skillyard.install.sources.responses import ResponseCache
    from skillyard.install.sources.transport import RemoteHost, Transport


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in sources."""
    return (*BUILT_IN, LOCAL)


def source_names() -> tuple[str, ...]:
    """Return the names that can be enabled."""
    return (*builtin_names(), *sorted(source_factories()))


def source_factories() -> dict[str, Callable[[], Any]]:
    """Return what loads the function of each source that a package brings, by name."""
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group="skillyard.sources")}


def response_cache(settings: Settings) -> ResponseCache:
    """Return the cache of remote answers in the user's cache folder."""
    from skillyard.base.configuration import cache_folder
    from skillyard.install.sources.responses import ResponseCache

    return ResponseCache(
        os.path.join(cache_folder(), "remote"),
        max_bytes=settings.cache_bytes,
        oldest_s=settings.cache_days * 24 * 3600,
    )


def build_transport(settings: Settings, cache: ResponseCache | None = None) -> Transport:
    """Return the transport to the hosts of all built-in sources, enabled or not.

    A source may need the hosts of another one: the registry's skills are on GitHub.
    """
    from skillyard.install.sources.transport import Transport

    hosts: dict[str, RemoteHost] = {}
    for module in map(import_module, BUILT_IN.values()):
        if hasattr(module, "hosts"):
            hosts |= module.hosts(settings)
    return Transport(hosts, cache, offline=settings.offline)


def build_sources(
    settings: Settings,
    transport: Transport,
    names: Sequence[str] | None = None,
    catalog: Catalog | None = None,
) -> list[Source]:
    """Return the sources of the names (default: the enabled ones), in that order, each once.

    The entry point of a package is called with ``(settings, transport)`` and returns its source.
    Raises UnknownName; InvalidInput for ``local`` without a catalog, and for an object of a package
    that is not a source; SkillIoError for a registry file.
    """
    sources: list[Source] = []
    for name in dict.fromkeys(settings.enabled if names is None else names):
        if name in BUILT_IN:
            sources += import_module(BUILT_IN[name]).build(settings, transport)
        elif name == LOCAL:
            if catalog is None:
                raise InvalidInput("the source `local` needs a catalog: name a root")
            from skillyard.install.sources.local import LocalSource

            sources.append(LocalSource(catalog))
        else:
            sources.append(_package_source(name, settings, transport))
    return sources


def _package_source(name: str, settings: Settings, transport: Transport) -> Source:
    from skillyard.install.sources.protocol import Source

    entry_points = source_factories()
    if name not in entry_points:
        raise UnknownName("source", name, source_names())
    source = entry_points[name]()(settings, transport)
    if not isinstance(source, Source):
        raise InvalidInput(f"{name} gives {type(source).__name__}, which is not a source")
    return source
