"""The page docs/reference/hosts.md, which ``tools/reference.py`` writes."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.discovery.hosts import HOST_FOLDERS, HOST_SCOPES, HOST_TITLES

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
"""


def host_page(generated: str) -> Iterator[str]:
    """Yield the lines of the page; ``generated`` is the remark that it is not written by hand."""
    yield _HEAD.replace("{GENERATED}", generated)
    yield "| host | name | project | user | system |"
    yield "|---|---|---|---|---|"
    for host in sorted(HOST_TITLES):
        cells = []
        for scope in HOST_SCOPES:
            rows = [row for row in HOST_FOLDERS if (row.host, row.scope) == (host, scope)]
            cells.append("<br>".join(_host_folder(row.pattern, row.system) for row in rows))
        yield f"| {HOST_TITLES[host]} | `{host}` | {' | '.join(cells)} |"
    yield from ("", "## Sources", "", "| source | date | hosts |", "|---|---|---|")
    for source in dict.fromkeys(row.source for row in HOST_FOLDERS):
        hosts = dict.fromkeys(row.host for row in HOST_FOLDERS if row.source == source)
        names = ", ".join(f"`{host}`" for host in hosts)
        names = names if len(hosts) < _MANY_HOSTS else f"{len(hosts)} hosts"
        yield f"| {source.title} | {source.date} | {names} |"


def _host_folder(pattern: str, system: str) -> str:
    return f"`{pattern}`" + (f" ({system})" if system else "")
