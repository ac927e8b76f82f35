"""From roots to candidate files: layouts, agent folders, ignores, links, depth.

Below a root the whole tree is looked at, within the limits: every folder with a ``SKILL.md``
(nested ones too, but not inside ``references/``, ``scripts/`` … of a skill), every ``.md`` below
``.skills/`` that is not below a skill folder, ``key_skills/*/SKILL.md``, and the convention
files. Heavy folders are skipped. Only the parts of a path *below* the root are judged, so it does
not matter where a project lies.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import Diagnostic, InvalidInput, InvalidSkillsRoot
from skillyard.formats.conventions import ROOT_ONLY, convention_of
from skillyard.formats.oasis import FOLDER as OASIS_FOLDER
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Origin, Reference
from skillyard.text import clean

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "AGENT_FOLDERS",
    "Candidate",
    "Scan",
    "discover_instruction_files",
    "discover_skill_files",
    "scan",
    "user_roots",
]

SKILL_FILE = "SKILL.md"
RUNTIME_FOLDER = ".skills"

HEAVY_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "site-packages", "__pycache__", ".venv", "venv"}
    | {".next", ".tox", ".nox", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
"""Never entered, whatever lies in them (names compared without case)."""
BUILD_FOLDERS = frozenset(["target", "dist", "build", "coverage"])
"""Entered only when they hold a ``SKILL.md`` themselves: these are also names of skills."""
OWN_FOLDERS = frozenset(["references", "scripts", "assets", "resources", "docs", "examples"])
"""Inside a skill these belong to the skill: no skill is looked for in them."""
REFERENCE_FOLDERS = ("references", "resources", "docs", "examples", "rules")
"""Where Skyll looks for reference documents, beside the siblings of ``SKILL.md``."""


class AgentFolder(NamedTuple):
    """Where one agent keeps the user's skills: ``home`` below the home folder, or by variable."""

    agent: str
    home: str
    variable: str = ""
    """Environment variable that replaces the folder above ``skills``, where the agent has one."""


# Source: the agents' own documentation, as gathered in spec/peers.md §3.6.
AGENT_FOLDERS = (
    AgentFolder("agents", ".agents/skills"),
    AgentFolder("agents (XDG)", ".config/agents/skills"),
    AgentFolder("Claude Code", ".claude/skills", "CLAUDE_CONFIG_DIR"),
    AgentFolder("Codex", ".codex/skills", "CODEX_HOME"),
    AgentFolder("Copilot", ".copilot/skills"),
    AgentFolder("Cursor", ".cursor/skills"),
    AgentFolder("Gemini CLI", ".gemini/skills"),
    AgentFolder("OpenCode", ".config/opencode/skills"),
)


class Stamp(NamedTuple):
    """What a file looked like when it was last seen; equal stamps mean an unchanged file."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    device: int


class Candidate(NamedTuple):
    """One file that should be a skill."""

    path: str
    """The root as it was given, joined with the path below it, with ``/``."""
    parts: tuple[str, ...]
    """The path below the root."""
    origin: str
    folder: str | None
    """Name of the skill's folder; None for single files."""
    stamp: Stamp
    scope: str
    root: int
    """Number of the root, in the order given."""
    references: tuple[Reference, ...] = ()
    target: str | None = None
    """The real file, where ``path`` is a link that stays inside its folder."""


class Root(NamedTuple):
    """One folder to look below."""

    path: str
    scope: str = "project"


class Scan(NamedTuple):
    """What was found, sorted by path, and what could not be looked at."""

    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]
    folders: int


def user_roots(environ: dict[str, str] | None = None) -> tuple[Root, ...]:
    """Return the user's agent folders that exist, in the order of the table."""
    variables = os.environ if environ is None else environ
    home = variables.get("HOME") or os.path.expanduser("~")
    roots = []
    for folder in AGENT_FOLDERS:
        base = variables.get(folder.variable) if folder.variable else None
        path = os.path.join(base, "skills") if base else os.path.join(home, folder.home)
        if os.path.isdir(path):
            roots.append(Root(path, "user"))
    return tuple(roots)


def discover_skill_files(root: str | os.PathLike[str]) -> list[Path]:
    """Return the skill files below a root, sorted, each once; convention files left out.

    Raises InvalidSkillsRoot when the root is not a folder.
    """
    from pathlib import Path  # here, because importing it costs more than a small scan

    found = scan([Root(_root_path(root))]).candidates
    return [Path(c.path) for c in found if c.origin != Origin.CONVENTION]


def discover_instruction_files(root: str | os.PathLike[str]) -> list[Path]:
    """Return the skill files and the convention files below a root, sorted, each once.

    Raises InvalidSkillsRoot when the root is not a folder.
    """
    from pathlib import Path

    return [Path(c.path) for c in scan([Root(_root_path(root))]).candidates]


def _root_path(root: str | os.PathLike[str]) -> str:
    path = os.fspath(root)
    if not isinstance(path, str) or "\0" in path:
        raise InvalidInput("root must be a path as text")
    return path or "."


def scan(roots: Iterable[Root], limits: Limits = DEFAULT_LIMITS) -> Scan:
    """Look below every root. Raises InvalidSkillsRoot for one that is not a folder."""
    walk = _Walk(limits)
    listed = list(roots)
    for root in listed:
        if not os.path.isdir(root.path):
            what = "is not a folder" if os.path.exists(root.path) else "does not exist"
            raise InvalidSkillsRoot(
                f"the root {what}", path=root.path, hint="name a folder that holds skills"
            )
        walk.real_roots.append(os.path.realpath(root.path))
    for number, root in enumerate(listed):
        walk.enter(number, root)
    walk.follow_links()
    walk.candidates.sort(key=lambda c: (c.root, c.parts))
    walk.diagnostics.sort(key=lambda d: (d.path, d.code, d.message))
    return Scan(tuple(walk.candidates), tuple(walk.diagnostics), walk.folders)


class _Place(NamedTuple):
    """A folder about to be listed."""

    path: str
    parts: tuple[str, ...]
    root: int
    scope: str
    runtime: bool
    """Below ``.skills``."""
    inside_skill: bool
    """Below a folder that holds a SKILL.md."""
    under_oasis: bool
    """A direct child of ``key_skills``."""
    inode: int = 0
    """What the parent's listing says this folder is; 0 for roots and links."""
    real: str = ""
    """The real path of a linked folder."""


class _Walk:
    """One scan in progress."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.candidates: list[Candidate] = []
        self.diagnostics: list[Diagnostic] = []
        self.real_roots: list[str] = []
        self.folders = 0
        self._seen: set[tuple[int, int]] = set()
        self._links: list[_Place] = []
        self._full = False

    def enter(self, number: int, root: Root) -> None:
        """Walk one root."""
        base = os.path.basename(self.real_roots[number])
        path = "" if root.path == "." else root.path.replace(os.sep, "/").rstrip("/") or "/"
        place = _Place(path, (), number, root.scope, base.lower() == RUNTIME_FOLDER, False, False)
        self._walk(place, base)

    def follow_links(self) -> None:
        """Follow linked folders whose real path lies inside a root and was not walked already.

        Links come last, so that a folder reached both ways is listed by its own path.
        """
        while self._links:
            place = self._links.pop(0)
            real = _resolved(place.path)
            if not os.path.isdir(real):
                self._warn(place.path, "link_broken", "a link that leads nowhere", "remove it")
            elif _inside(_resolved(os.path.dirname(place.path) or "."), real):
                self._warn(
                    place.path, "link_loop", "a link to a folder that it lies in", "remove it"
                )
            elif place.under_oasis and os.path.dirname(real) != _resolved(
                os.path.dirname(place.path)
            ):
                self._warn(
                    place.path,
                    "link_outside",
                    f"a linked folder that leads out of {OASIS_FOLDER}",
                    "put the skill's own folder there",
                )
            elif not any(_inside(real, root) for root in self.real_roots):
                self._warn(
                    place.path,
                    "link_outside",
                    "a linked folder whose real path lies outside every root",
                    "name the real folder as a root, or copy the skill",
                )
            else:
                self._walk(place._replace(real=real), os.path.basename(real))

    def _walk(self, start: _Place, base: str) -> None:
        pending = [(start, base)]
        while pending:
            place, name = pending.pop()
            if self.folders >= self.limits.folders_walked:
                self._stop(place)
                return
            children = self._list(place, name)
            children.sort(key=lambda child: child[1], reverse=True)
            pending.extend(children)

    def _stop(self, place: _Place) -> None:
        if not self._full:
            self._full = True
            self._warn(
                place.path or ".",
                "too_many_folders",
                f"stopped after {self.limits.folders_walked:,} folders",
                "name a root closer to the skills",
                "error",
            )

    def _list(self, place: _Place, name: str) -> list[tuple[_Place, str]]:
        """List one folder: record its candidates, return its sub-folders.

        The folder is opened once and looked at through that descriptor, so that nobody can put
        a link in its place between two looks.
        """
        path = place.path or "."
        try:
            descriptor = _open_folder(place)
        except OSError as error:
            self._unreadable(path, error)
            return []
        try:
            status = os.fstat(descriptor)
            key = (status.st_dev, status.st_ino)
            if key in self._seen:
                return []
            if place.inode not in (0, status.st_ino) and not self._unmoved(place):
                self._warn(path, "changed_while_reading", "the folder was replaced", "load again")
                return []
            self._seen.add(key)
            with os.scandir(descriptor) as entries:
                listed = list(entries)
            self.folders += 1
            return self._look(place, name, listed, descriptor)
        except OSError as error:
            self._unreadable(path, error)
            return []
        finally:
            os.close(descriptor)

    def _unmoved(self, place: _Place) -> bool:
        """True when no link leads to a folder: some file systems number their folders loosely."""
        return _resolved(place.path) == os.path.join(self.real_roots[place.root], *place.parts)

    def _unreadable(self, path: str, error: OSError) -> None:
        self._warn(path, "folder_unreadable", f"cannot list: {error.strerror}", "check permissions")

    def _look(
        self, place: _Place, name: str, listed: list[os.DirEntry[str]], descriptor: int
    ) -> list[tuple[_Place, str]]:
        files: dict[str, os.DirEntry[str]] = {}
        folders: list[os.DirEntry[str]] = []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and _maybe_dir(entry)):
                folders.append(entry)
            else:
                files[entry.name] = entry
        folders.sort(key=lambda entry: entry.name)  # links are followed in this order
        skill_file = self._skill_file(place, files, folders)
        if skill_file is not None:
            references = _references(descriptor, files, folders, skill_file.name)
            self._skill(place, name, skill_file, references)
        self._single_files(place, files, skill_file)
        inside = place.inside_skill or skill_file is not None
        return self._children(place, name, folders, inside, skill_file is not None)

    def _skill_file(
        self, place: _Place, files: dict[str, os.DirEntry[str]], folders: list[os.DirEntry[str]]
    ) -> os.DirEntry[str] | None:
        entry = files.get(SKILL_FILE)
        for other in folders:
            if other.name == SKILL_FILE:
                self._warn(
                    _join(place.path, other.name),
                    "not_a_regular_file",
                    "SKILL.md is a folder",
                    "make it a text file",
                )
        if entry is not None:
            return entry
        others = sorted(file for file in files if file.lower() == "skill.md")
        if not others or place.runtime:
            return None
        if "skill.md" in files:
            self._warn(
                _join(place.path, "skill.md"),
                "file_name_case",
                "the file is called skill.md",
                "rename it to SKILL.md",
            )
            return files["skill.md"]
        self._warn(
            _join(place.path, others[0]),
            "skill_md_missing",
            f"{others[0]} is not SKILL.md",
            "rename it to SKILL.md",
        )
        return None

    def _skill(
        self,
        place: _Place,
        name: str,
        entry: os.DirEntry[str],
        references: tuple[Reference, ...],
    ) -> None:
        oasis = place.under_oasis and entry.name == SKILL_FILE
        origin = Origin.OASIS if oasis else Origin.AGENTSKILLS
        if place.runtime:
            origin = Origin.RUNTIME
        self._add(place, entry, origin, name, references)

    def _single_files(
        self,
        place: _Place,
        files: dict[str, os.DirEntry[str]],
        skill_file: os.DirEntry[str] | None,
    ) -> None:
        if place.runtime:
            if place.inside_skill or skill_file is not None:
                return
            for name, entry in files.items():
                if name.endswith(".md"):
                    self._add(place, entry, Origin.RUNTIME, None)
            return
        for name, entry in files.items():
            if len(name) <= len("copilot.md") and convention_of(name) is not None:
                if place.parts and name.lower() in ROOT_ONLY:
                    continue
                self._add(place, entry, Origin.CONVENTION, None)

    def _add(
        self,
        place: _Place,
        entry: os.DirEntry[str],
        origin: str,
        folder: str | None,
        references: tuple[Reference, ...] = (),
    ) -> None:
        path = _join(place.path, entry.name)
        if not entry.name.isprintable() or (folder is not None and not folder.isprintable()):
            self._odd_name(path)
            return
        target = None
        try:
            if entry.is_symlink():
                target = os.path.realpath(path)
                if not _inside(target, os.path.realpath(place.path or ".")):
                    self._warn(
                        path,
                        "link_outside",
                        f"{entry.name} is a link that leads out of its folder",
                        "put the file itself there",
                        "error",
                    )
                    return
                status = os.stat(target, follow_symlinks=False)
            else:
                status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._warn(
                path, "io_error", f"cannot look at it: {error.strerror}", "check it", "error"
            )
            return
        if not stat.S_ISREG(status.st_mode):
            self._warn(
                path,
                "not_a_regular_file",
                f"{entry.name} is a {_kind(status.st_mode)}, not a file",
                "make it a text file",
            )
            return
        stamp = Stamp(
            status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev
        )
        self.candidates.append(
            Candidate(
                path,
                (*place.parts, entry.name),
                origin,
                folder,
                stamp,
                place.scope,
                place.root,
                references,
                target,
            )
        )

    def _children(
        self,
        place: _Place,
        name: str,
        folders: list[os.DirEntry[str]],
        inside_skill: bool,
        is_skill: bool,
    ) -> list[tuple[_Place, str]]:
        children = []
        is_oasis = name == OASIS_FOLDER
        for entry in folders:
            folded = entry.name.lower()
            if folded in HEAVY_FOLDERS or (is_skill and folded in OWN_FOLDERS):
                continue
            path = _join(place.path, entry.name)
            if folded in BUILD_FOLDERS and not os.path.lexists(_join(path, SKILL_FILE)):
                continue
            if not entry.name.isprintable():
                self._odd_name(path)
                continue
            if len(place.parts) >= self.limits.tree_depth:
                self._too_deep(path)
                continue
            child = _Place(
                path,
                (*place.parts, entry.name),
                place.root,
                place.scope,
                place.runtime or folded == RUNTIME_FOLDER,
                inside_skill,
                is_oasis and not entry.name.startswith("."),
            )
            if entry.is_symlink():
                self._links.append(child)
            else:
                children.append((child._replace(inode=entry.inode()), entry.name))
        return children

    def _too_deep(self, path: str) -> None:
        self._warn(
            path,
            "tree_too_deep",
            f"not entered: more than {self.limits.tree_depth} folders below the root",
            "name a root closer to the skills",
        )

    def _odd_name(self, path: str) -> None:
        self._warn(
            path,
            "odd_file_name",
            "skipped: the name holds control characters or is not valid text",
            "rename it",
        )

    def _warn(
        self, path: str, code: str, message: str, hint: str, severity: str = "warning"
    ) -> None:
        shown = clean(path.encode("utf-8", "backslashreplace").decode("utf-8"))
        shown = shown.replace("\n", "\\n").replace("\t", "\\t")
        self.diagnostics.append(Diagnostic(code, severity, shown, message, hint))


def _open_folder(place: _Place) -> int:
    """Open a folder for listing; only a root may be a link itself."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    if place.inode or place.real:
        flags |= os.O_NOFOLLOW
    return os.open(place.real or place.path or ".", flags)


def _maybe_dir(entry: os.DirEntry[str]) -> bool:
    """True for a link to a folder, and for one that leads nowhere and is named like a folder."""
    try:
        return entry.is_dir() or (not entry.is_file() and "." not in entry.name)
    except OSError:  # a ring of links
        return True


def _references(
    descriptor: int,
    files: dict[str, os.DirEntry[str]],
    folders: list[os.DirEntry[str]],
    skill_file: str,
) -> tuple[Reference, ...]:
    """Return the Markdown beside a SKILL.md and in its reference folders, sorted by path."""
    found = [
        Reference(name, name)
        for name, entry in files.items()
        if name != skill_file and _is_reference(entry) and name.lower() != "skill.md"
    ]
    for folder in folders:
        if folder.name in REFERENCE_FOLDERS and not folder.is_symlink():
            found.extend(_documents(descriptor, folder.name))
    found.sort(key=lambda reference: reference.path)
    return tuple(found)


def _documents(parent: int, folder: str) -> list[Reference]:
    """Return the Markdown files of one reference folder, below an opened folder."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(folder, flags, dir_fd=parent)
    except OSError:
        return []
    try:
        with os.scandir(descriptor) as entries:
            return [
                Reference(entry.name, f"{folder}/{entry.name}")
                for entry in entries
                if _is_reference(entry)
            ]
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _is_reference(entry: os.DirEntry[str]) -> bool:
    return (
        entry.name[-3:].lower() == ".md"
        and entry.name.isprintable()
        and entry.is_file(follow_symlinks=False)
    )


def _join(folder: str, name: str) -> str:
    if not folder:
        return name
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def _resolved(path: str) -> str:
    """Return the real path; empty when the path changes while it is followed."""
    try:
        return os.path.realpath(path)
    except OSError:
        return ""


def _inside(real: str, folder: str) -> bool:
    """True when a real path is the folder or lies below it; whole components are compared."""
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    if stat.S_ISDIR(mode):
        return "folder"
    return "device"
