"""Where a skill is installed: a folder that was named, or those that agent hosts read.

For several hosts there is one folder, in ``.agents/skills``, and a link to it in the folder of each
host that does not read that one, as the common installer does it. For one host the skill lies in
its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.discovery.hosts import HOST_FOLDERS, HOST_TITLES, expand_pattern
from skillyard.errors import InvalidInput, SkillIoError, UnknownName
from skillyard.io.paths import is_below
from skillyard.remote.install.lockfile import project_lock_path
from skillyard.remote.install.refusal import InstallRefused

__all__ = ["Places", "host_folders", "link_skill", "places_of"]

SHARED = ".agents/skills"
"""The folder that most hosts read, in a project and (below ``~``) for the user."""


class Places(NamedTuple):
    """Where one skill goes: folders of skills, without its name."""

    copies: tuple[str, ...]
    """They hold its files."""
    links: tuple[str, ...] = ()
    """They hold a link to the first copy."""


def host_folders(agents: Iterable[str], *, user: bool = False) -> tuple[str, ...]:
    """Return the folders in which hosts look for skills, each once, in the order given.

    Those of the project that the working folder is in, or with ``user`` those of the user. Raises
    UnknownName, InvalidInput for a host without such a folder, and InstallRefused for a folder of
    the project that is a link out of it.
    """
    root = os.path.dirname(project_lock_path("."))
    folders: dict[str, str] = {}
    for agent in agents:
        if agent not in HOST_TITLES:
            raise UnknownName("agent", agent, sorted(HOST_TITLES))
        folder = _host_folder(agent, user=user)
        if not user:
            folder = os.path.join(root, *folder.split("/"))
            _check_inside(folder, root or ".")
        folders.setdefault(os.path.realpath(folder), folder)
    return tuple(folders.values())


def _host_folder(agent: str, *, user: bool) -> str:
    scope, shared = ("user", f"~/{SHARED}") if user else ("project", SHARED)
    patterns = [
        row.pattern
        for row in HOST_FOLDERS
        if row.host == agent and row.scope == scope and not row.system and "*" not in row.pattern
    ]
    if not patterns:
        raise InvalidInput(
            f"{HOST_TITLES[agent]} has no folder for the skills of a user; leave out --global"
        )
    return expand_pattern(shared if shared in patterns else patterns[0])


def _check_inside(folder: str, root: str) -> None:
    real = os.path.realpath(root)
    if not is_below(os.path.realpath(folder), real):
        raise InstallRefused(
            "a link leads out of the project",
            path=folder,
            code="install_link",
            hint="remove the link, or name a folder with --into",
        )


def places_of(folders: Sequence[str], name: str, *, copy: bool, user: bool) -> Places:
    """Return where a skill of that name goes, by what is in the folders already.

    ``copy`` asks for no links. A folder of that name stays one, and a link stays one.
    """
    shared = os.path.expanduser(f"~/{SHARED}") if user else _project_folder()
    if not user and len(folders) > 1:
        _check_inside(shared, os.path.dirname(project_lock_path(".")) or ".")
    if len(folders) > 1 and not copy:
        others = [each for each in folders if not _same(each, shared)]
        copies, links = [shared], others
    else:
        copies, links = list(folders), []
    for folder in tuple(copies):
        place = os.path.join(folder, name)
        if os.path.islink(place) and _same(place, os.path.join(shared, name)):
            copies.remove(folder)
            copies += [] if shared in copies else [shared]
            links.append(folder)
    for folder in tuple(links):
        place = os.path.join(folder, name)
        if os.path.lexists(place) and not os.path.islink(place):
            links.remove(folder)
            copies.append(folder)
    return Places(tuple(copies), tuple(links))


def _project_folder() -> str:
    return os.path.join(os.path.dirname(project_lock_path(".")), *SHARED.split("/"))


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def link_skill(source: str, folder: str, name: str, *, dry_run: bool = False) -> str:
    """Make ``folder/name`` a link to the folder ``source``; return its path.

    A link that leads there stays. Raises InstallRefused where something else is, and SkillIoError.
    """
    place = os.path.join(folder, name)
    if os.path.islink(place) and _same(place, source):
        return place
    if os.path.lexists(place):
        raise InstallRefused(
            "something else than a link to the skill is in the place",
            path=place,
            code="install_link",
            hint="move it away, or name another folder",
        )
    if dry_run:
        return place
    try:
        os.makedirs(folder, exist_ok=True)
        above = os.path.realpath(folder)
        os.symlink(_target(os.path.realpath(source), above), place, target_is_directory=True)
    except FileExistsError:  # another run was faster
        if not _same(place, source):
            raise SkillIoError("cannot link: another run wrote here", path=place) from None
    except OSError as error:
        raise SkillIoError(
            f"cannot make a link: {error.strerror or error}",
            path=place,
            code="install_unwritable",
            hint="say --copy where links are not allowed",
        ) from None
    return place


def _target(source: str, above: str) -> str:
    """Return what a link says: relative below one home, so that a project may be moved."""
    try:
        return os.path.relpath(source, above)
    except ValueError:  # another drive of Windows
        return source
