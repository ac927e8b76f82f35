"""Gemini CLI's extensions: each may have a folder ``skills``.

Source: google-gemini/gemini-cli 5411f113 (2026-08-21), packages/cli/src/config/extension-manager.ts
and extensions/extensionEnablement.ts. The names of their skills have no prefix there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from skillyard.base.io.processes import shell_command
from skillyard.base.text import clean_line
from skillyard.engine.discovery.hosts import expand_pattern
from skillyard.engine.discovery.layout import Root
from skillyard.engine.discovery.manifests import (
    Problems,
    mapping_of,
    read_manifest,
    text_of,
    texts_of,
)

_HOME = "~/.gemini/extensions"
_MANIFEST = "gemini-extension.json"
_INSTALLATION = ".gemini-extension-install.json"
_ENABLEMENT = "extension-enablement.json"


def extension_roots(environ: Mapping[str, str], folder: str, problems: Problems) -> Iterator[Root]:
    """Yield the folders of skills of the extensions that are enabled for a working directory."""
    home = expand_pattern(_HOME, environ)
    rules = read_manifest(os.path.join(home, _ENABLEMENT), problems)
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return
    for each in names:
        place = os.path.join(home, each)
        installation = read_manifest(os.path.join(place, _INSTALLATION), problems)
        if text_of(installation, "type") == "link":  # a folder elsewhere that is being developed
            place = text_of(installation, "source")
            if not os.path.isabs(place):  # it would be a folder of whatever project one is in
                continue
        name = text_of(read_manifest(os.path.join(place, _MANIFEST), problems), "name")
        skills = os.path.join(place, "skills")
        if not name or not os.path.isdir(skills):
            continue
        if _is_enabled(mapping_of(rules, name), os.path.abspath(folder)):
            yield Root(skills, "user", "gemini-cli")
        else:
            problems.add(
                "plugin_disabled",
                place,
                f"the extension {clean_line(name)} is installed and not enabled here",
                shell_command(["gemini", "extensions", "enable", clean_line(name)]),
                "info",
            )


def disabled_extensions(environ: Mapping[str, str], folder: str, problems: Problems) -> list[str]:
    """Return the extensions that rules disable for a working directory, sorted."""
    rules = read_manifest(os.path.join(expand_pattern(_HOME, environ), _ENABLEMENT), problems)
    here = os.path.abspath(folder)
    return sorted(name for name in rules if not _is_enabled(mapping_of(rules, name), here))


def _is_enabled(rules: dict[str, Any], folder: str) -> bool:
    """Return True unless the last rule that matches the folder begins with ``!``.

    A rule is a folder; with ``*`` at its end also everything below it.
    """
    here = _between_slashes(folder)
    enabled = True
    for rule in texts_of(rules, "overrides"):
        path = rule.removeprefix("!")
        start = _between_slashes(path.removesuffix("*"))
        if here == start or (path.endswith("*") and here.startswith(start)):
            enabled = not rule.startswith("!")
    return enabled


def _between_slashes(path: str) -> str:
    return f"/{path.replace(os.sep, '/').strip('/')}/".replace("//", "/")
