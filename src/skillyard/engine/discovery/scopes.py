"""The folders that each ``--scope`` adds, and the diagnostics of the files that name them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.engine.discovery.codex import codex_plugins
from skillyard.engine.discovery.extensions import disabled_extensions, extension_roots
from skillyard.engine.discovery.hosts import host_roots
from skillyard.engine.discovery.layout import Root
from skillyard.engine.discovery.manifests import Problems
from skillyard.engine.discovery.plugins import (
    disabled_plugins,
    installed_plugins,
    marketplace_plugins,
)


class ScopeRoots(NamedTuple):
    """The folders of some scopes, each once, in the order in which they win."""

    roots: tuple[Root, ...]
    problems: tuple[Diagnostic, ...] = ()


def places_of(
    scopes: Iterable[str], *, environ: Mapping[str, str] | None = None, folder: str = "."
) -> ScopeRoots:
    """Return the folders of scopes: those of hosts, then those of plugins and extensions.

    ``environ`` and ``folder`` are those of :func:`~skillyard.engine.discovery.hosts.host_roots`.
    """
    variables = os.environ if environ is None else environ
    enabled = set(scopes)
    problems = Problems()
    roots = list(host_roots(enabled, environ=variables, folder=folder))
    for scope in ("project", "user"):
        if scope in enabled:
            roots.extend(installed_plugins(scope, variables, folder, problems))
    if "user" in enabled:
        roots.extend(extension_roots(variables, folder, problems))
        roots.extend(codex_plugins(variables, problems))
    if "marketplaces" in enabled:
        roots.extend(marketplace_plugins(variables, folder, problems))
    if "packages" in enabled:
        from skillyard.engine.discovery.packages import package_roots  # few need it

        roots.extend(package_roots(folder, problems))
    by_path: dict[str, Root] = {}
    for root in roots:
        by_path.setdefault(root.path, root)
    return ScopeRoots(tuple(by_path.values()), tuple(dict.fromkeys(problems)))


def disabled_for(folder: str, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the user's plugins and extensions that are not loaded for a working directory.

    With equal names the scope ``user`` has equal folders. Nothing is reported.
    """
    variables = os.environ if environ is None else environ
    unreported = Problems()
    extensions = disabled_extensions(variables, folder, unreported)
    return (*disabled_plugins(folder, unreported), *extensions)
