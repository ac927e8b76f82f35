"""The skills that a lock file names, and what lies on the disk for each of them.

With ``--into DIR`` the folder of a skill is ``DIR/NAME``. Without it, it is the one below the
folder that its entry names (``into``), and each folder ``NAME`` in the folders of agent hosts in
the project (``.agents/skills``, ``.claude/skills``, …) that was written there on this machine, or
where nothing was, as after a clone, each folder ``NAME``; where there is none, it goes to the
folder that the entry names, else to ``.agents/skills``. A link to such a folder, as the common
installer makes them, is another name for it. The folder that an entry names as its source is the
user's own, wherever it lies.

The skills of a user are a project too: its lock is that of the common installer, and its folders
are those in which hosts look for all projects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from shlex import quote
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillError, SkillIoError, SkillyardError
from skillyard.base.io.files import is_below, remove_leftovers
from skillyard.base.shapes.installation import FileChange
from skillyard.base.text import folder_name
from skillyard.engine.discovery.hosts import expand_pattern, may_read_source
from skillyard.install.copies.file_paths import is_inside, name_in_shell, shown_path
from skillyard.install.copies.installed import (
    LINK,
    Installed,
    InstallRefused,
    forget_written,
    is_as_written,
    manifest_at,
    places_written,
    written_digest,
)
from skillyard.install.copies.lockfile import (
    Lock,
    LockedSkill,
    ProjectLock,
    UserLock,
    alone,
    project_lock_path,
    user_lock_path,
)
from skillyard.install.copies.placement import aside_of, complete, is_stopped, stopped_runs
from skillyard.install.operations.destinations import (
    SHARED,
    Agent,
    agents_named,
    check_inside,
    existing_folders,
    places_of,
)
from skillyard.install.origins.locked import skill_folder_of

RACED = "install_raced"
"""The code of an error: another run changed the entry meanwhile."""
_WORST = (
    "unreadable",
    "interrupted",
    "edited",
    "not_comparable",
    "behind",
    "refused",
    "missing",
    "current",
    "linked",
)
_LINKS = ("linked", "refused", "missing")
"""States of a link to the folder that the entry names."""


class Copy(NamedTuple):
    """One folder of a skill."""

    into: str
    name: str
    state: str
    problem: str = ""
    hint: str = ""
    """What to do about it, where that is not what the state asks for."""
    is_foreign: bool = False
    """True where what lies there is not of the entry."""
    files: tuple[FileChange, ...] = ()
    """What was edited, where that is known."""

    @property
    def folder(self) -> str:
        """Its path."""
        return os.path.join(self.into, self.name)

    @property
    def is_users(self) -> bool:
        """True for what is not the entry's, and for a link to the user's folder that it names."""
        return self.is_foreign or self.state in _LINKS


class InstalledSkill(NamedTuple):
    """An entry of the lock file, and the state of its folders."""

    entry: LockedSkill
    copies: tuple[Copy, ...]
    links: tuple[str, ...]
    """Links to one of the folders, or to where one was."""
    default: str
    """The folder of skills in which a missing one is installed."""
    lacking: tuple[str, ...] = ()
    """Folders of hosts that do not find it, and are to have a link to it."""
    option: str = ""
    """As :attr:`Project.option`."""

    @property
    def state(self) -> str:
        """The worst state of a folder; ``missing`` without one."""
        copy_states = {copy.state for copy in self.copies}
        return next((state for state in _WORST if state in copy_states), "missing")

    @property
    def problem(self) -> str:
        """Why the state is not a good one."""
        return next((copy.problem for copy in self.copies if copy.state == self.state), "")

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the skill, or the one that is missing."""
        name = folder_name(self.entry.name)
        return tuple(copy.folder for copy in self.copies) or (os.path.join(self.default, name),)

    @property
    def into(self) -> tuple[str, ...]:
        """The folders of skills in which it lies or would lie, without what is the user's own."""
        copies = tuple(copy.into for copy in self.copies if not copy.is_users)
        return copies if self.copies else (self.default,)


class LockedProject(NamedTuple):
    """A lock file and the folders of skills beside it."""

    lock: ProjectLock
    into: str | None
    """The one folder of skills that was named."""
    hosts: tuple[str, ...]
    """The folders of agent hosts in the project that exist, each once."""
    default: str
    """The folder in which a missing skill is installed."""
    agents: tuple[Agent, ...] = ()
    """The hosts for which skills are installed."""

    @property
    def option(self) -> str:
        """What a command needs to mean this project, with a space before it."""
        if self.into is not None:
            return f" --into {quote(shown_path(self.into))}"
        return " --global" if isinstance(self.lock, UserLock) else ""

    @property
    def folder(self) -> str:
        """The folder of the lock file."""
        return os.path.dirname(os.path.abspath(self.lock.path))

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders in which skills of the lock may lie."""
        return self.hosts if self.into is None else (self.into,)

    def _named(self, entry: LockedSkill) -> tuple[str, ...]:
        """Return the folder of skills that an entry names, if none was named now."""
        path = named_folder(entry, self.lock.path) if self.into is None else None
        return () if path is None else (path,)

    def skills(
        self, lock: Lock, entries: Iterable[LockedSkill] | None = None
    ) -> list[InstalledSkill]:
        """Return the state of some entries of the lock on the disk; of all by default."""
        owners: dict[str, str] = {}
        for entry in lock.skills:  # as Lock.in_folder decides
            name = folder_name(entry.name)
            if entry.name == name:
                owners[name] = name
            owners.setdefault(name, entry.name)
        chosen = lock.skills if entries is None else entries
        sources = self._sources(lock)
        return [
            self._installed(entry, owners[folder_name(entry.name)], sources) for entry in chosen
        ]

    def _installed(self, entry: LockedSkill, owner: str, sources: set[str]) -> InstalledSkill:
        """Return the state of an entry; ``owner`` is the name of the one that has its folder."""
        name = folder_name(entry.name)
        if owner != entry.name:
            problem = f"its folder is that of the entry {owner[:80]!a}"
            conflict = self._foreign(entry, problem, "drops this entry, and leaves the folder")
            return InstalledSkill(entry, (conflict,), (), self.default, (), self.option)
        copies, links, _ = self._copies_and_links(entry, sources)
        default, *_ = (*self._named(entry), self.default)
        if not copies and os.path.isdir(os.path.join(default, name)):
            problem = "it is missing, and in the place is a folder of yours"
            copies = [self._foreign(entry, problem, "drops its entry; then add it for a HOST")]
        real = {os.path.realpath(copy.folder) for copy in copies}
        lacking = tuple({each.folder: 0 for each in self.agents if not each.finds(name, real)})
        if not copies and not self.agents:
            default, *rest = self._former(entry) or [default]
            lacking = tuple(rest)
        if self.agents and not copies:
            folders = dict.fromkeys(agent.folder for agent in self.agents)
            (default, *_), lacking = places_of(
                tuple(folders), name, copy=False, user=isinstance(self.lock, UserLock)
            )
        return InstalledSkill(entry, tuple(copies), tuple(links), default, lacking, self.option)

    def _former(self, entry: LockedSkill) -> list[str]:
        """Return the folders of skills in which this user's record says a skill was written.

        One that got the files goes before those that got links.
        """
        name = folder_name(entry.name)
        folders = (*self.folders, *self._named(entry))
        places = {os.path.join(into, name): into for into in folders}
        written = {path: written_digest(path) for path in places if not os.path.lexists(path)}
        noted = sorted(filter(written.get, written), key=lambda path: written[path] == LINK)
        return [places[path] for path in noted]

    def _foreign(self, entry: LockedSkill, problem: str, effect: str) -> Copy:
        """Return the state of an entry in whose place something lies that is not its own."""
        hint = f"`skillyard remove {name_in_shell(entry.name)}` {effect}"
        name = folder_name(entry.name)
        return Copy(self.default, name, "unreadable", problem, hint, is_foreign=True)

    def _sources(self, lock: Lock) -> set[str]:
        """Return the real folders that entries name as their sources, which are the user's own."""
        return set(filter(None, (skill_folder_of(entry, self.folder) for entry in lock.skills)))

    def _copies_and_links(
        self, entry: LockedSkill, sources: set[str]
    ) -> tuple[list[Copy], list[str], list[str]]:
        """Return the copies of a skill, links to them, and what is not of it but has its name.

        Not of it is what another one than this user wrote where the user's records say what was
        written, and each folder that is a source or holds one.
        """
        name = folder_name(entry.name)
        folders = (*self.folders, *self._named(entry))
        places = {into: os.path.join(into, name) for into in (*folders, *self.hosts)}
        written = {into: written_digest(path) for into, path in places.items()}
        own = places_written(places.values())
        noted = {into for into, path in places.items() if path in own} or set(places)
        copies: list[Copy] = []
        links, foreign = [], []
        for into in folders:
            path = places[into]
            if os.path.islink(path):
                continue
            if is_stopped(into, name) or (
                os.path.lexists(path)
                and into in noted
                and written[into] != LINK
                and not _holds_source(path, sources)
            ):
                copies.append(_copy(into, name, entry))
            elif os.path.lexists(path):
                foreign.append(path)
        real_places = {os.path.realpath(copy.folder) for copy in copies}
        source = skill_folder_of(entry, self.folder)
        by_path = {os.path.realpath(host): host for host in self.hosts}
        for into, path in places.items():
            if not os.path.islink(path):
                continue
            real = os.path.realpath(path)
            above, last = os.path.split(real)
            home = by_path.get(above) if last == name and os.path.isdir(real) else None
            if real == source:
                copies += [self._link(into, name, source)] if into in noted else []
            elif real in real_places or not os.path.lexists(real):
                links.append(path)
            elif into not in folders:
                continue
            elif home in noted and not _holds_source(real, sources):
                assert home is not None
                copies.append(_copy(home, name, entry))
                real_places.add(real)
                links.append(path)
            elif into in noted:  # it is the user's own: nothing of it is replaced or removed
                problem = "the place is a link to a folder that is not one of a host's"
                copies.append(Copy(into, name, "unreadable", problem))
            else:
                foreign.append(path)
        return copies, links, foreign

    def _link(self, into: str, name: str, own: str) -> Copy:
        """Return the state of a link to the folder that the entry names.

        Both may have come with a clone: only what the user added may lie outside of the repository.
        """
        real = os.path.realpath(own)
        if not isinstance(self.lock, UserLock) and not may_read_source(real, self.folder):
            problem = f"it is a link to {shown_path(own)}, outside of the repository"
            where = f"--into {quote(shown_path(into))} --link"
            add = f"`skillyard add {quote(shown_path(real))} {where}`"
            hint = (
                f"if you know the folder, say {add}, which notes on this machine that it is yours"
            )
            return Copy(into, name, "refused", problem, hint)
        if os.path.isdir(real):
            return Copy(into, name, "linked")
        problem = f"it is a link to {shown_path(own)}, where no folder is"
        remove = f"`skillyard remove {name}`"
        hint = f"put the folder back there; if it moved, {remove} and add it from where it is now"
        return Copy(into, name, "missing", problem, hint)

    def extra(self, lock: Lock) -> tuple[str, ...]:
        """Return skill folders that the lock does not name or that it did not install, sorted.

        Looked at are all folders in which skills of the lock may lie, but for those of sources: the
        user's own skills are beside them.
        """
        named = {folder_name(entry.name) for entry in lock.skills}
        sources = self._sources(lock)
        looked_at = {*self.folders, self.default}
        real = {os.path.realpath(into): into for into in sorted(looked_at, reverse=True)}
        extra = {path for into in real.values() for path in _skills_in(into, named)}
        for entry in lock.skills:
            extra.update(filter(_is_skill, self._copies_and_links(entry, sources)[2]))
        users = set(map(os.path.dirname, sources))
        return tuple(sorted(p for p in extra if os.path.realpath(os.path.dirname(p)) not in users))

    def complete(self) -> dict[str, SkillyardError]:
        """Complete or undo what stopped runs left. Return why not, by the name of the folder.

        Left alone is what has neither an entry nor a note of this user. Raises SkillIoError for the
        lock file.
        """
        lock = self.lock.read()
        named = {folder_name(entry.name) for entry in lock.skills}
        folders = dict.fromkeys((*self.folders, *chain(*map(self._named, lock.skills))))
        with suppress(OSError):
            remove_leftovers(os.path.realpath(self.lock.path))
        failures: dict[str, SkillyardError] = {}
        for into in folders:
            try:
                names = stopped_runs(into)
            except OSError:
                continue
            for name in names:
                is_named = name in named or written_digest(aside_of(into, name)) is not None
                if is_stopped(into, name) and not is_named:
                    continue
                try:
                    with alone(into) as is_alone:
                        complete(into, name, self.lock, is_alone=is_alone)
                except (SkillError, OSError) as error:
                    what = f"a run was stopped here, and cannot be completed: {error}"
                    failures[name] = SkillIoError(what, path=os.path.join(into, name))
                    if isinstance(error, SkillError):
                        failures[name] = error
                    continue
                if name not in named:
                    self.unlink(name)
        return failures

    def unlink(self, name: str) -> list[str]:
        """Remove the links of a name that lead nowhere, where the skill's folder is gone.

        Forgets what was written in the places where nothing is any more.
        """
        removed = []
        for into in dict.fromkeys((*self.folders, *self.hosts, self.default)):
            path = os.path.join(into, name)
            target = os.path.realpath(path)
            above = os.path.dirname(target)
            places = (*self.folders, *self.hosts, self.default)
            inside = {os.path.realpath(each) for each in places}
            if os.path.islink(path) and not os.path.lexists(target) and above in inside:
                try:
                    os.unlink(path)
                except OSError:
                    continue
                removed.append(path)
            if not os.path.lexists(path):
                forget_written(path)
        return removed


def named_folder(entry: LockedSkill | None, lock_path: str) -> str | None:
    """Return the folder of skills that an entry of a lock names; None outside of the project."""
    if entry is None or entry.into is None or (entry.into != "." and not is_inside(entry.into)):
        return None
    root = os.path.dirname(lock_path)
    path = os.path.normpath(os.path.join(root, entry.into))
    return path if is_below(os.path.realpath(path), os.path.realpath(root or ".")) else None


def open_project(
    into: str | None = None, *, user: bool = False, agents: Iterable[str] = ()
) -> LockedProject:
    """Return the project of a folder of skills or of the working folder, or the user's skills.

    ``agents`` names the hosts for which skills are installed. Raises SkillIoError when there is no
    lock file, InvalidInput for options that do not go together, and what
    ``destinations.agents_named`` raises.
    """
    agents = tuple(agents)
    if into is not None and (user or agents):
        other = "--global" if user else "--agent"
        raise InvalidInput(f"--into and {other} both say where skills are; give one of them")
    path = user_lock_path() if user else project_lock_path("." if into is None else into)
    if not os.path.lexists(path):
        hint = "`skillyard add NAME --into DIR` writes one; --into names a folder of its project"
        if user:
            hint = "`skillyard add NAME --agent HOST --global` writes one"
        raise SkillIoError("there is no lock file", path=path, code="lock_missing", hint=hint)
    default = into or os.path.join(os.path.dirname(path), *SHARED.split("/"))
    lock = ProjectLock(path)
    if user:
        default, lock = expand_pattern(f"~/{SHARED}"), UserLock(path)
    else:
        check_inside(default, path)
    hosts = existing_folders(path, user=user)
    return LockedProject(
        lock, into, tuple(hosts.values()), default, agents_named(agents, user=user)
    )


def _holds_source(path: str, sources: set[str]) -> bool:
    real = os.path.realpath(path)
    return any(source == real or is_below(source, real) for source in sources)


def unchanged_check(lock: ProjectLock, *entries: LockedSkill) -> Callable[[], None]:
    """Return a check that the lock still has one of some entries of one name.

    It raises InstallRefused (``RACED``) where another run was faster, SkillIoError for the lock.
    """
    name = entries[0].name

    def check() -> None:
        if lock.read().get(name) not in entries:
            raise InstallRefused(
                f"another run changed the entry {name!a} meanwhile",
                path=lock.path,
                code=RACED,
                hint="run the command again",
            )

    return check


def _copy(into: str, name: str, entry: LockedSkill) -> Copy:
    target = os.path.join(into, name)
    try:
        there = manifest_at(target)
        if there is None or is_stopped(into, name):
            return Copy(into, name, "interrupted")
        installed = Installed.by(entry)
        if installed.is_at(there, target):
            return Copy(into, name, "current")
        if is_as_written(there, target):
            return Copy(into, name, "behind")
        if entry.digest is None:
            what = (
                "the lock has no digest, and no hash or that of its source, of which `npx skills`"
            )
            why = f"{what} copies less (no metadata.json, and links as files); or it was edited"
            return Copy(into, name, "not_comparable", why)
        files, problem = installed.edits(there, target)
        return Copy(into, name, "edited", problem, files=tuple(files))
    except SkillError as error:
        return Copy(into, name, "unreadable", f"{error.path}: {error.message}")
    except OSError as error:
        return Copy(into, name, "unreadable", f"{target}: {error.strerror or error}")


def _skills_in(into: str, named: set[str]) -> list[str]:
    """Return the skill folders that have none of the names."""
    with suppress(OSError):
        names = [each for each in os.listdir(into) if each[0] != "." and each not in named]
        return [path for each in names if _is_skill(path := os.path.join(into, each))]
    return []


def _is_skill(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in ("SKILL.md", "skill.md"))
