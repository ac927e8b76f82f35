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

`--scope project`, `--scope user` and `--scope system` read those of these folders that exist, after
those of `--root`. [Reading](../concepts/reading.md) describes what is read in a folder.

- A project's folder is looked for in the working directory and in each folder above it, up to the
  one of the repository (with `.git`). The nearest wins.
- `~` is the home folder. `${NAME:-~/x}` is the environment variable `NAME`, or `~/x` without it.
- `*` is one folder of any name.
- A folder without a scope is that of the project, and below `~` that of the user.

## Plugins and extensions

- `user` includes the enabled plugins of Claude Code that are installed for the user, `project`
  those for this project, and `user` those of Codex. Names are `plugin:skill`. A plugin's skills are
  in its folder `skills` and in those that its `plugin.json` names.
- `user` includes the enabled extensions of Gemini CLI. Their skills keep their names.

What is not read is reported as `plugin_disabled`, `manifest_path` or
`manifest_unreadable`. A hook decides for the folder of each prompt.
Sources: code.claude.com/docs/en/plugins-reference and /plugin-marketplaces (2026-11-28),
openai/codex 03d21135, codex-rs/core-plugins (2026-11-28), google-gemini/gemini-cli 5411f113
(2026-08-21).

## Folders
"""


def host_page(generated: str) -> Iterator[str]:
    """Yield the lines of the page; ``generated`` is the remark that it is not written by hand."""
    yield _HEAD.replace("{GENERATED}", generated)
    for host in sorted(HOST_TITLES):
        folders = {
            scope: [
                _host_folder(row.pattern, row.system)
                for row in HOST_FOLDERS
                if (row.host, row.scope) == (host, scope)
            ]
            for scope in HOST_SCOPES
        }
        if folders["user"] == [each.replace("`", "`~/", 1) for each in folders["project"]]:
            folders = {"": folders["project"], "system": folders["system"]}
        scopes = [f"{scope} {', '.join(each)}".strip() for scope, each in folders.items() if each]
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
