"""Where a skill is installed: a folder that was named, or those that agent hosts read.

For several hosts there is one folder, in ``.agents/skills``, and a link to it in the folder of each
host that does not read that one, as the common installer does it. For one host the skill lies in
its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillIoError, UnknownName
from skillyard.base.io.files import is_below
from skillyard.engine.discovery.hosts import HOST_FOLDERS, HOST_TITLES, expand_pattern, host_roots
from skillyard.install.copies.installed import LINK, InstallRefused, note_written
from skillyard.install.copies.lockfile import project_lock_path

SHARED = ".agents/skills"
"""The folder that most hosts read, in a project and (below ``~``) for the user."""


class InstallPlaces(NamedTuple):
    """Where one skill goes: folders of skills, without its name."""

    copies: tuple[str, ...]
    """They hold its files."""
    links: tuple[str, ...] = ()
    """They hold a link to the first copy."""


class Agent(NamedTuple):
    """An agent host, and its folders of skills in a project or of the user."""

    name: str
    folder: str
    """Where a skill is installed for it."""
    reads: tuple[str, ...]
    """All folders in which it looks."""

    def finds(self, name: str, places: Container[str]) -> bool:
        """True where one of them holds, links resolved, one of the real folders of a skill."""
        return any(os.path.realpath(os.path.join(each, name)) in places for each in self.reads)


def agents_named(names: Iterable[str], *, user: bool = False) -> tuple[Agent, ...]:
    """Return hosts with their folders in the project that the working folder is in.

    With ``user`` with those of the user. Raises UnknownName, InvalidInput for a host without such a
    folder, and InstallRefused for a folder of the project that is a link out of it.
    """
    lock_path = project_lock_path(".")
    root = os.path.dirname(lock_path)
    scope, shared = ("user", f"~/{SHARED}") if user else ("project", SHARED)
    agents = []
    for name in names:
        if name not in HOST_TITLES:
            raise UnknownName("agent", name, sorted(HOST_TITLES))
        patterns = [
            row.pattern
            for row in HOST_FOLDERS
            if row.host == name and row.scope == scope and not row.system and "*" not in row.pattern
        ]
        if not patterns:
            raise InvalidInput(
                f"{HOST_TITLES[name]} has no folder for the skills of a user; leave out --global"
            )
        reads = [
            expand_pattern(each) if user else os.path.join(root, *each.split("/"))
            for each in patterns
        ]
        folder = reads[patterns.index(shared) if shared in patterns else 0]
        if not user:
            check_inside(folder, lock_path)
        agents.append(Agent(name, folder, tuple(reads)))
    return tuple(agents)


def host_folders(agents: Iterable[str], *, user: bool = False) -> tuple[str, ...]:
    """Return the folders in which skills are installed for hosts, each once, in the order given.

    See :func:`agents_named`, also for the errors.
    """
    folders: dict[str, str] = {}
    for agent in agents_named(agents, user=user):
        folders.setdefault(os.path.realpath(agent.folder), agent.folder)
    return tuple(folders.values())


def existing_folders(lock_path: str, *, user: bool) -> dict[str, str]:
    """Return the folders of hosts that exist, by their real paths: the user's, or a project's.

    Those of the project lie beside its lock file, and are written as its path is. Links out of it
    are left out.
    """
    root = os.path.realpath(os.path.dirname(os.path.abspath(lock_path)))
    folders: dict[str, str] = {}
    for host in host_roots(["user" if user else "project"], folder=root):
        path, real = host.path, os.path.realpath(host.path)
        if not user:
            if not (is_below(path, root) and is_below(real, root)):
                continue
            path = path if os.path.isabs(lock_path) else os.path.relpath(path)
        folders.setdefault(real, path)
    return folders


def check_inside(into: str, lock_path: str) -> None:
    """Raise InstallRefused for a folder of a project that is a link out of it.

    A clone may hold such a link. A folder that was named and lies elsewhere is what the user means.
    """
    project = os.path.dirname(os.path.abspath(lock_path))
    if not is_below(os.path.abspath(into), project):
        return
    real = os.path.realpath(into)
    if not is_below(real, os.path.realpath(project)):
        raise InstallRefused(
            "a link leads out of the project",
            path=into,
            code="install_link",
            hint=f"remove the link, or name the folder that it leads to: --into {real}",
        )


def places_of(folders: Sequence[str], name: str, *, copy: bool, user: bool) -> InstallPlaces:
    """Return where a skill of that name goes, by what is in the folders already.

    ``copy`` asks for no links. A folder of that name stays one, and a link to one stays a link.
    """
    home = "~" if user else os.path.dirname(project_lock_path("."))
    shared = os.path.join(os.path.expanduser(home), *SHARED.split("/"))
    if not user and len(folders) > 1:
        check_inside(shared, project_lock_path("."))
    if len(folders) > 1 and not copy:
        others = [each for each in folders if not _same(each, shared)]
        copies, links = [shared], others
    else:
        copies, links = list(folders), []
    homes = {
        os.path.realpath(shared): shared,
        **existing_folders(project_lock_path("."), user=user),
    }
    for folder in tuple(copies):
        above, last = os.path.split(os.path.realpath(place := os.path.join(folder, name)))
        if os.path.islink(place) and last == name and above in homes:
            copies.remove(folder)
            copies += [] if homes[above] in copies else [homes[above]]
            links.append(folder)
    for folder in tuple(links):
        place = os.path.join(folder, name)
        if os.path.lexists(place) and not os.path.islink(place):
            links.remove(folder)
            copies.append(folder)
    return InstallPlaces(tuple(copies), tuple(links))


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def link_skill(source: str, folder: str, name: str, *, dry_run: bool = False) -> str:
    """Make ``folder/name`` a link to the folder ``source``; return its path.

    A link that leads there stays. Raises InstallRefused where something else is, and SkillIoError.
    """
    place = os.path.join(folder, name)
    if os.path.islink(place) and _same(place, source):
        if not dry_run:
            note_written(place, LINK)
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
        target = os.path.realpath(source)
        with suppress(ValueError):  # another drive of Windows
            # Relative below one home, so that a project may be moved.
            target = os.path.relpath(target, os.path.realpath(folder))
        os.symlink(target, place, target_is_directory=True)
    except FileExistsError:  # another run was faster
        if not _same(place, source):
            raise SkillIoError("cannot link: another run wrote here", path=place) from None
    except OSError as error:
        raise SkillIoError(
            f"cannot make a link: {error.strerror or error}",
            path=place,
            code="install_unwritable",
            hint="where links are not allowed, `skillyard add NAME --agent … --copy` copies",
        ) from None
    note_written(place, LINK)
    return place
