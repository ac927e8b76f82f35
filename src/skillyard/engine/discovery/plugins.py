"""Claude Code's installed plugins, and the folders of skills of a plugin.

Source: code.claude.com/docs/en/plugins-reference and /plugin-marketplaces, read on 2026-11-28.

* ``plugins/installed_plugins.json`` in the folder of Claude Code lists installations by
  ``plugin@marketplace``: scope, path, and the project of those that are not the user's.
* ``enabledPlugins`` in the settings says which of them are loaded.
* ``.claude-plugin/plugin.json`` gives the plugin's name and further folders of skills.
* ``.claude-plugin/marketplace.json`` of the marketplace may name some of them too.

These files come from strangers: one is read up to a limit, and a path in it never leads out of the
folder that it belongs to.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.io.files import PlaceStamp, ancestors, is_below, place_stamp, read_regular
from skillyard.base.io.processes import shell_command
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.text import clean_line, name_fault
from skillyard.engine.discovery.entries import inside
from skillyard.engine.discovery.hosts import expand_pattern, folders_upwards
from skillyard.engine.discovery.layout import Root

KNOWN_MARKETPLACES = "plugins/known_marketplaces.json"
"""In the folder of Claude Code: the source and the folder of each marketplace."""
MARKETPLACE = ".claude-plugin/marketplace.json"
_MANIFESTS = {
    "claude-code": (".claude-plugin/plugin.json",),
    "codex": (".codex-plugin/plugin.json", ".claude-plugin/plugin.json"),
}
"""Host -> where the manifest of a plugin is; the first one counts."""
_SETTINGS = ("settings.json", "settings.local.json")


MAX_BYTES = 4_194_304
"""A manifest. The list of a marketplace with thousands of plugins has a tenth of it."""


class Problems(list[Diagnostic]):
    """The diagnostics of looking for folders, and what stood at the paths that were looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_at: dict[str, PlaceStamp] = {}

    def add(self, code: str, path: str, message: str, hint: str, severity: str = "warning") -> None:
        """Add a diagnostic."""
        self.append(Diagnostic(code, severity, path, message, hint))


def read_manifest(path: str, problems: Problems) -> dict[str, Any]:
    """Return the object in a JSON file; empty without a file.

    Anything else than an object is reported and read as empty.
    """
    data = read_bounded(path, problems)
    if data is None:
        return {}
    try:
        value = strict_loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        fault = f"it is not JSON ({error})"
    else:
        if isinstance(value, dict):
            return value
        fault = "it is not an object"
    unusable(path, fault, problems)
    return {}


def read_bounded(path: str, problems: Problems) -> bytes | None:
    """Return the bytes of a regular file; None without one, and for one that is not used.

    The latter is reported: a pipe, a device, a file that is too large or may not be read.
    """
    problems.looked_at[path] = place_stamp(path)
    try:
        return read_regular(path, MAX_BYTES, follow=True)[0]  # settings are often links
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EFBIG):
            unusable(path, str(error.strerror), problems)
        else:
            message = f"cannot read: {error.strerror}"
            problems.add("manifest_unreadable", path, message, "check permissions")
        return None


def unusable(path: str, fault: str, problems: Problems) -> None:
    """Report a file that is not used."""
    problems.add("manifest_unreadable", path, f"not used: {clean_line(fault)}", "repair the file")


def inner_folder(base: str, relative: str, manifest: str, problems: Problems) -> str | None:
    """Return a folder that a manifest names below ``base``; None, with a report, for another."""
    if not _can_be_path(relative):
        problems.add("manifest_path", manifest, f"{relative!a} is no path", "correct the path")
        return None
    path = os.path.normpath(os.path.join(base, relative))
    if os.path.isabs(relative) or not inside(os.path.realpath(path), os.path.realpath(base)):
        problems.add(
            "manifest_path",
            manifest,
            f"not read: {relative!r} leads out of its folder",
            "name a folder below it",
        )
        return None
    if not os.path.isdir(path):
        problems.add(
            "manifest_path", manifest, f"there is no folder {relative!r}", "correct the path"
        )
        return None
    return path


def text_of(mapping: dict[str, Any], key: str) -> str:
    """Return a text of a manifest; empty for anything else."""
    value = mapping.get(key)
    return value.strip() if isinstance(value, str) and _can_be_path(value) else ""


def texts_of(mapping: dict[str, Any], key: str) -> list[str]:
    """Return the texts of a list, or one text as a list; empty for anything else."""
    value = mapping.get(key)
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str) and each and _can_be_path(each)]


def _can_be_path(text: str) -> bool:
    """False for a text with a NUL or half a character: the system refuses it as a path."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def mapping_of(mapping: dict[str, Any], key: str) -> dict[str, Any]:
    """Return an object of a manifest; empty for anything else."""
    value = mapping.get(key)
    return value if isinstance(value, dict) else {}


class Plugin(NamedTuple):
    """A plugin of Claude Code or Codex whose files lie on this machine."""

    folder: str
    name: str
    """As it was installed; its manifest may give another one."""
    scope: str
    entry: dict[str, Any]
    """Its entry in the marketplace."""
    host: str = "claude-code"


def installed_plugins(scope: str, folder: str, problems: Problems) -> list[Root]:
    """Return the folders of skills of the plugins that are installed and enabled in a scope.

    ``user``: for every project. ``project``: for the project that ``folder`` lies in.
    """
    home = expand_pattern(CLAUDE_HOME)
    above = list(folders_upwards(folder))
    enabled = _switches([home], problems)
    if scope == "project":
        enabled.update(_switches(_settings_folders(folder), problems))
    else:  # a project may leave out what the user has, and enable nothing for them
        enabled.update(dict.fromkeys(disabled_plugins(folder, problems), False))
    listing = os.path.join(home, "plugins", "installed_plugins.json")
    roots: list[Root] = []
    for key, value in sorted(mapping_of(read_manifest(listing, problems), "plugins").items()):
        name, _, marketplace = key.partition("@")
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict) or not _applies(each, scope, above):
                continue
            if enabled.get(key) is not True:
                hint = shell_command(["claude", "plugin", "enable", clean_line(key)])
                message = f"the plugin {clean_line(key)} is installed and not enabled"
                problems.add("plugin_disabled", listing, message, hint, "info")
                continue
            path = text_of(each, "installPath")
            if not os.path.isabs(path) or not os.path.isdir(path):
                message = f"the files of the plugin {clean_line(key)} are not at its installPath"
                problems.add("manifest_path", listing, message, "install the plugin again")
                continue
            entry = _entry(home, marketplace, name)
            # The user's are only what Claude Code keeps: a hook asks for approval of other folders.
            store = os.path.realpath(os.path.join(home, "plugins"))
            place = scope if is_below(os.path.realpath(path), store) else "project"
            plugin = Plugin(path, name, place, entry)
            roots.extend(skill_roots(plugin, problems))
    return roots


def _applies(installation: dict[str, Any], scope: str, above: list[str]) -> bool:
    if text_of(installation, "scope") in ("project", "local"):
        project = os.path.realpath(text_of(installation, "projectPath") or os.sep)
        return scope == "project" and project in map(os.path.realpath, above)
    return scope == "user"


def disabled_plugins(folder: str, problems: Problems) -> list[str]:
    """Return the plugins that the settings of the project of ``folder`` disable, sorted."""
    switches = _switches(_settings_folders(folder), problems)
    return sorted(key for key, value in switches.items() if value is False)


def _settings_folders(folder: str) -> list[str]:
    """Return the folders of a project's settings, the nearest last."""
    return [os.path.join(each, ".claude") for each in reversed(list(folders_upwards(folder)))]


def _switches(folders: list[str], problems: Problems) -> dict[str, Any]:
    """Return which plugins the settings enable. Those of the last folder win."""
    enabled: dict[str, Any] = {}
    for folder in dict.fromkeys(folders):
        for name in _SETTINGS:
            settings = read_manifest(os.path.join(folder, name), problems)
            enabled.update(mapping_of(settings, "enabledPlugins"))
    return enabled


def _entry(home: str, marketplace: str, name: str) -> dict[str, Any]:
    """Return the marketplace's entry of an installed plugin; empty when unknown."""
    unreported = Problems()
    known = read_manifest(os.path.join(home, KNOWN_MARKETPLACES), unreported)
    place = text_of(mapping_of(known, marketplace), "installLocation")
    listing = read_manifest(os.path.join(place, MARKETPLACE), unreported) if place else {}
    plugins = listing.get("plugins")
    entries = plugins if isinstance(plugins, list) else []
    named = (each for each in entries if isinstance(each, dict) and text_of(each, "name") == name)
    return next(named, {})


def skill_roots(plugin: Plugin, problems: Problems) -> Iterator[Root]:
    """Yield the folders of skills of one plugin: ``skills``, and those that manifests name."""
    paths = [os.path.join(plugin.folder, each) for each in _MANIFESTS[plugin.host]]
    path = next(filter(os.path.lexists, paths), paths[0])
    manifest = read_manifest(path, problems)
    name = text_of(manifest, "name") or plugin.name
    if ":" in name or not name or name_fault(f"a{name}"):
        message = f"not read: {clean_line(name)!r} is no name for a plugin"
        problems.add("manifest_unreadable", path, message, "use letters, digits and hyphens")
        return
    relative_paths = [*texts_of(manifest, "skills"), *texts_of(plugin.entry, "skills")]
    if plugin.entry.get("strict") is False and texts_of(plugin.entry, "skills"):
        # The marketplace alone says what belongs to the plugin.
        relative_paths = texts_of(plugin.entry, "skills")
    elif os.path.isdir(os.path.join(plugin.folder, "skills")):
        relative_paths.insert(0, "skills")
    for relative in dict.fromkeys(relative_paths):
        folder = inner_folder(plugin.folder, relative, path, problems)
        if folder is not None:
            yield Root(folder, plugin.scope, plugin.host, name)


CLAUDE_HOME = "${CLAUDE_CONFIG_DIR:-~/.claude}"
_FOLDERS = ("skills", "plugins")


def is_read_by_claude_code(path: str) -> bool:
    """True for a skill's file in a folder of skills or plugins of Claude Code.

    Real paths are compared, so the answer does not depend on how a root is written. Both the folder
    itself and one skill in it may be links, as installers make them.
    """
    folder = os.path.dirname(os.path.abspath(path))
    real = os.path.realpath(os.path.dirname(path) or os.curdir)
    return any(
        real == place
        or is_below(real, place)
        or os.path.realpath(os.path.join(place, os.path.basename(folder))) == real
        for place in _places(folder, real)
    )


def _places(folder: str, real: str) -> Iterator[str]:
    """Yield the real paths of the host's folders: the user's, and those of projects above."""
    homes = [expand_pattern(CLAUDE_HOME)]
    homes += [
        os.path.join(above, ".claude") for each in (folder, real) for above in ancestors(each)
    ]
    for home in dict.fromkeys(homes):
        for name in _FOLDERS:
            place = os.path.join(home, name)
            if os.path.isdir(place):
                yield os.path.realpath(place)
