"""Codex's plugins: those that are installed and enabled for the user.

Source: openai/codex 03d21135, codex-rs/core-plugins/src/store.rs and loader.rs (2026-11-28).

* ``[plugins."name@marketplace"]`` in ``config.toml`` of Codex lists them; ``enabled`` may be false.
* ``plugins/cache/MARKETPLACE/NAME/VERSION`` has the files. The version ``local`` wins, else the
  highest one.
* ``.codex-plugin/plugin.json``, else ``.claude-plugin/plugin.json``, gives the plugin's name and
  further folders of skills.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from skillyard.base.io.paths import is_below
from skillyard.base.text import clean_line
from skillyard.engine.discovery.hosts import expand_pattern
from skillyard.engine.discovery.layout import Root
from skillyard.engine.discovery.manifests import Problems, mapping_of, read_bounded, unusable
from skillyard.engine.discovery.plugins import Plugin, skill_roots

_HOME = "${CODEX_HOME:-~/.codex}"
_ID = re.compile(r"([A-Za-z0-9_-]+)@([A-Za-z0-9_-]+)")
_VERSION = re.compile(r"[A-Za-z0-9_.+-]+")
_LOCAL = "local"


def codex_plugins(environ: Mapping[str, str], problems: Problems) -> Iterator[Root]:
    """Yield the folders of skills of the plugins that are installed and enabled."""
    home = expand_pattern(_HOME, environ)
    config = os.path.join(home, "config.toml")
    store = os.path.join(home, "plugins", "cache")
    for key, value in sorted(mapping_of(_settings(config, problems), "plugins").items()):
        name = clean_line(key)
        match = _ID.fullmatch(key)
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
    try:
        return {} if data is None else tomllib.loads(data.decode("utf-8"))
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
    versions = [name for name in names if _VERSION.fullmatch(name) and name not in (".", "..")]
    if not versions:
        return None
    return os.path.join(plugin, _LOCAL if _LOCAL in versions else max(versions, key=_precedence))


def _precedence(version: str) -> tuple[bool, list[int], bool, str]:
    """Order versions as semver does, and any other name before them."""
    match = re.fullmatch(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[^+]+)?(?:\+.*)?", version)
    if match is None:
        return False, [], False, version
    return True, [int(each) for each in match.groups()[:3]], match[4] is None, version
