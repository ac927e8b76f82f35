"""The folders that each ``--scope`` adds, and the diagnostics of the files that name them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.io.files import PlaceStamp, ancestors, is_below, place_stamp
from skillyard.base.io.processes import shell_command
from skillyard.base.text import clean_line
from skillyard.engine.discovery.hosts import expand_pattern, host_roots
from skillyard.engine.discovery.layout import Root
from skillyard.engine.discovery.plugins import (
    Plugin,
    Problems,
    disabled_plugins,
    installed_plugins,
    mapping_of,
    read_bounded,
    read_manifest,
    skill_roots,
    text_of,
    texts_of,
    unusable,
)


class ScopeRoots(NamedTuple):
    """The folders of some scopes, each once, in the order in which they win."""

    roots: tuple[Root, ...]
    problems: tuple[Diagnostic, ...] = ()
    looked_at: Mapping[str, PlaceStamp] | None = None
    """What the folders depend on, by path; None where plugins make them depend on more."""


def places_of(scopes: Iterable[str], *, folder: str = ".") -> ScopeRoots:
    """Return the folders of scopes: those of hosts, then those of plugins and extensions.

    ``folder`` is that of :func:`~skillyard.engine.discovery.hosts.host_roots`.
    """
    enabled = set(scopes)
    problems = Problems()
    looked_at = problems.looked_at
    for above in ancestors(os.path.abspath(folder)):
        looked_at[os.path.join(above, ".git")] = place_stamp(os.path.join(above, ".git"))
    roots = list(host_roots(enabled, folder=folder, looked_at=looked_at))
    of_hosts = len(roots)
    listed = [each.partition("/*/")[0] for each in looked_at if "/*/" in each]
    listed.append(expand_pattern(_EXTENSIONS_HOME))
    looked_at.update((path, place_stamp(path)) for path in listed)
    for scope in ("project", "user"):
        if scope in enabled:
            roots.extend(installed_plugins(scope, folder, problems))
    if "user" in enabled:
        roots.extend(extension_roots(folder, problems))
        roots.extend(codex_plugins(problems))
    by_path: dict[str, Root] = {}
    for root in roots:
        by_path.setdefault(root.path, root)
    is_plain = not problems and len(roots) == of_hosts and not any(map(looked_at.get, listed))
    found = tuple(by_path.values()), tuple(dict.fromkeys(problems))
    return ScopeRoots(*found, looked_at if is_plain else None)


def disabled_for(folder: str) -> tuple[str, ...]:
    """Return the user's plugins and extensions that are not loaded for a working directory.

    With equal names the scope ``user`` has equal folders. Nothing is reported.
    """
    unreported = Problems()
    rules = read_manifest(os.path.join(expand_pattern(_EXTENSIONS_HOME), _ENABLEMENT), unreported)
    here = os.path.abspath(folder)
    extensions = sorted(name for name in rules if not _is_enabled(mapping_of(rules, name), here))
    return (*disabled_plugins(folder, unreported), *extensions)


_CODEX_HOME = "${CODEX_HOME:-~/.codex}"
_ID = r"([A-Za-z0-9_-]+)@([A-Za-z0-9_-]+)"
_VERSION = r"[A-Za-z0-9_.+-]+"
_LOCAL = "local"


def codex_plugins(problems: Problems) -> Iterator[Root]:
    """Yield the folders of skills of the plugins that are installed and enabled."""
    home = expand_pattern(_CODEX_HOME)
    config = os.path.join(home, "config.toml")
    store = os.path.join(home, "plugins", "cache")
    for key, value in sorted(mapping_of(_settings(config, problems), "plugins").items()):
        name = clean_line(key)
        match = re.fullmatch(_ID, key)
        if not isinstance(value, dict) or match is None:
            message = f"not read: {name!r} is no plugin of a marketplace"
            problems.add("manifest_unreadable", config, message, 'write [plugins."name@market"]')
        elif value.get("enabled", True) is not True:
            message = f"the plugin {name} is installed and not enabled"
            hint = f"set enabled = true below it in {clean_line(config)}"
            problems.add("plugin_disabled", config, message, hint, "info")
        else:
            folder = _active(os.path.join(store, match[2], match[1]))
            if folder is None:
                message = f"the files of the plugin {name} are not in {clean_line(store)}"
                problems.add("manifest_path", config, message, "install the plugin again")
            elif is_below(os.path.realpath(folder), os.path.realpath(store)):
                plugin = Plugin(folder, match[1], "user", {}, "codex")
                yield from skill_roots(plugin, problems)
            else:
                message = f"not read: the files of the plugin {name} are a link to elsewhere"
                problems.add("manifest_path", config, message, "install the plugin again")


def _settings(path: str, problems: Problems) -> dict[str, Any]:
    data = read_bounded(path, problems)
    if data is None:
        return {}
    import tomllib  # a query looks here each time, and loading it takes longer than the rest

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        unusable(path, f"it is not TOML ({error})", problems)
        return {}


def _active(plugin: str) -> str | None:
    """Return the folder of the version of a plugin that Codex loads; None without one."""
    try:
        with os.scandir(plugin) as entries:
            names = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return None
    versions = [name for name in names if re.fullmatch(_VERSION, name) and name not in (".", "..")]
    if not versions:
        return None
    return os.path.join(plugin, _LOCAL if _LOCAL in versions else max(versions, key=_precedence))


def _precedence(version: str) -> tuple[bool, list[int], bool, str]:
    """Order versions as semver does, and any other name before them."""
    match = re.fullmatch(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[^+]+)?(?:\+.*)?", version)
    if match is None:
        return False, [], False, version
    return True, [int(each) for each in match.groups()[:3]], match[4] is None, version


_EXTENSIONS_HOME = "~/.gemini/extensions"
_MANIFEST = "gemini-extension.json"
_INSTALLATION = ".gemini-extension-install.json"
_ENABLEMENT = "extension-enablement.json"


def extension_roots(folder: str, problems: Problems) -> Iterator[Root]:
    """Yield the folders of skills of the extensions that are enabled for a working directory."""
    home = expand_pattern(_EXTENSIONS_HOME)
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
