"""The page docs/reference/hosts.md, which ``tools/reference.py`` writes."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.engine.discovery.hosts import HOST_FOLDERS, HOST_SCOPES, HOST_TITLES
from skillyard.engine.formats.file_names import CONVENTION_FOLDERS

__all__ = ["host_page"]

_MANY_HOSTS = 20
"""From this number on a source does not name its hosts."""
_HEAD = """\
# Folders of agent hosts

{GENERATED}

The folders in which agent hosts keep skills. `--scope project`, `--scope user` and `--scope system`
read those that exist, after the folders of `--root`; in Python it is `scopes=`. A folder that
several hosts share is read once. [Reading](../concepts/reading.md) describes what is read in a
folder.

- A project's folder is looked for in the working directory and in each folder above it, up to the
  one of the repository (with `.git`). The nearest wins.
- `~` is the home folder. `${NAME:-~/x}` is the environment variable `NAME`, or `~/x` without it.
- `*` is one folder of any name.

## Plugins, extensions, marketplaces and packages

- `user` includes the plugins of Claude Code that are installed for the user
  (`plugins/installed_plugins.json`) and enabled in `settings.json`. Names are `plugin:skill`.
  A plugin that the settings of the project disable is left out there.
- `project` includes those that are installed for this project and enabled in its settings.
- `user` includes the plugins of Codex in `plugins/cache` of its folder that `config.toml` lists and
  does not disable. Names are `plugin:skill`.
- `marketplaces` reads the plugins that a marketplace of Claude Code holds on this machine: those of
  the project's `.claude-plugin/marketplace.json`, and those of the places in
  `plugins/known_marketplaces.json`. A marketplace of Codex, `.agents/plugins/marketplace.json`, is
  read in the same places. Plugins with a remote source are listed and never fetched.
- `user` includes the extensions of Gemini CLI in `~/.gemini/extensions` that are enabled for the
  working directory. Their skills keep their names.
- `packages` reads what installed packages declare: `agents.skills` in the `package.json` of each
  npm package that the project depends on (onmax/npm-agentskills 3a41aa3c, 2026-11-28), and the
  entry points `skillyard.skills` of Python distributions. Their folders are not searched, and a
  folder must belong to the distribution that names it.

A hook decides for the folder of each prompt which plugins and extensions count.

A plugin's skills are in its folder `skills` and in those that `skills` in
`.claude-plugin/plugin.json` (Codex: `.codex-plugin/plugin.json`) names. What is not read is
reported as `plugin_disabled`, `plugin_remote`, `manifest_path` or `manifest_unreadable`; see
[Diagnostics](diagnostics.md).
Sources: code.claude.com/docs/en/plugins-reference and /plugin-marketplaces (2026-11-28),
openai/codex 03d21135, codex-rs/core-plugins (2026-11-28), google-gemini/gemini-cli 5411f113
(2026-08-21).

## Folders
"""


def host_page(generated: str) -> Iterator[str]:
    """Yield the lines of the page; ``generated`` is the remark that it is not written by hand."""
    yield _HEAD.replace("{GENERATED}", generated)
    for host in sorted(HOST_TITLES):
        scopes = []
        for scope in HOST_SCOPES:
            rows = [row for row in HOST_FOLDERS if (row.host, row.scope) == (host, scope)]
            folders = ", ".join(_host_folder(row.pattern, row.system) for row in rows)
            scopes += [f"{scope} {folders}"] if folders else []
        yield f"- {HOST_TITLES[host]} (`{host}`): {'; '.join(scopes)}"
    yield from ("", "## Conventions", "")
    for each in CONVENTION_FOLDERS:
        files = f"`{each.parent}/{each.name}/**/*{'`, `'.join(each.endings)}`"
        yield f"- {files} has the tag `{each.tag}` ({each.source})"
    yield from ("", "## Sources", "")
    for source in dict.fromkeys(row.source for row in HOST_FOLDERS):
        hosts = dict.fromkeys(row.host for row in HOST_FOLDERS if row.source == source)
        names = ", ".join(f"`{host}`" for host in hosts)
        names = names if len(hosts) < _MANY_HOSTS else f"{len(hosts)} hosts"
        yield f"- {source.title}, {source.date}: {names}"


def _host_folder(pattern: str, system: str) -> str:
    return f"`{pattern}`" + (f" ({system})" if system else "")
