"""The names of sources: built-in ones and those of installed packages.

A built-in source is one module and one line of :data:`BUILT_IN`. Its module has a function
``build(settings, transport)``, which returns the sources of that name, and, for hosts of its own,
a function ``hosts(settings)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

BUILT_IN: Mapping[str, str] = {
    "registry": "skillyard.install.sources.registry_file",
    "skills.sh": "skillyard.install.sources.skills_sh",
    "github": "skillyard.install.sources.github",
    "well-known": "skillyard.install.sources.well_known",
    "servers": "skillyard.install.sources.server",
}
"""The module of each remote source. All are enabled unless the settings list others."""

LOCAL = "local"
"""The source over the caller's catalog; not a remote."""

ENTRY_POINT_GROUP = "skillyard.sources"


def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in sources."""
    return (*BUILT_IN, LOCAL)


def source_names() -> tuple[str, ...]:
    """Return the names that can be enabled."""
    return (*builtin_names(), *sorted(source_factories()))


def source_factories() -> dict[str, Callable[[], Any]]:
    """Return what loads the function of each source that a package brings, by name."""
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}
