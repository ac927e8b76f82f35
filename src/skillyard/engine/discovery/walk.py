"""The walk below the roots. Each folder is opened once, and links are followed last."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput, InvalidSkillsRoot
from skillyard.base.invisible import clean
from skillyard.base.io.files import slashes
from skillyard.base.io.folders import Folder, entry_is_link, entry_status, open_folder
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.base.text import odd_file_name
from skillyard.engine.discovery.entries import (
    choose_spelling,
    inside,
    is_loop,
    join,
    kind_of,
    link_as_text,
    may_be_link,
    maybe_folder,
    real_path,
    references_beside,
    repository_of_worktree,
)
from skillyard.engine.discovery.layout import (
    BUILD_FOLDERS,
    HEAVY_FOLDERS,
    MAX_PAGES,
    OWN_FOLDERS,
    REFERENCE_FOLDERS,
    RUNTIME_FOLDER,
    SKILL_FILE,
    Candidate,
    FolderListing,
    Observations,
    Root,
    Scan,
    Stamp,
)
from skillyard.engine.formats.file_names import (
    LONGEST_NAME,
    OASIS_FOLDER,
    ROOT_ONLY,
    convention_of,
    endings_below,
)
from skillyard.engine.skill import Origin, Reference

if TYPE_CHECKING:
    from pathlib import Path

MAX_OBSERVED = 10_000
"""Folders whose listings a walk remembers: a few megabytes."""


def scan(roots: Iterable[Root], limits: Limits = DEFAULT_LIMITS) -> Scan:
    """Walk every root. Raises InvalidSkillsRoot for one that is not a folder."""
    walk = Walk(limits)
    list(walk.steps(list(roots)))
    walk.candidates.sort(key=lambda c: (c.root, c.parts))
    walk.diagnostics.sort(key=lambda d: (d.path, d.code, d.message))
    return Scan(tuple(walk.candidates), tuple(walk.diagnostics), walk.folders, walk.observations())


def iter_scan(
    roots: Iterable[Root], limits: Limits = DEFAULT_LIMITS
) -> Iterator[Candidate | Diagnostic]:
    """Yield what :func:`scan` returns, folder by folder, without holding it in memory.

    Roots come in the order given, those of plugins first, a folder before its sub-folders, names in
    code point order. Only the identity of each visited folder is stored. Raises InvalidSkillsRoot.
    """
    walk = Walk(limits)
    for _ in walk.steps(list(roots)):
        yield from sorted(walk.candidates, key=lambda candidate: candidate.parts)
        yield from walk.diagnostics
        walk.candidates.clear()
        walk.diagnostics.clear()
        walk.listings.clear()
        walk.absent.clear()


def discover_skill_files(root: str | os.PathLike[str]) -> list[Path]:
    """Return the skill files below a root, sorted, each once, without convention files.

    Raises InvalidSkillsRoot when the root is not a folder.
    """
    from pathlib import Path  # deferred: the import takes longer than a small scan

    candidates = scan([Root(_root_path(root))]).candidates
    return [Path(c.path) for c in candidates if c.origin != Origin.CONVENTION]


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
    """The inode in the listing of the parent folder. 0 for roots and links."""
    real: str = ""
    """The real path of a linked folder."""
    plugin: str = ""
    endings: tuple[str, ...] = ()
    """Of its convention files, below ``.claude/commands`` and others."""


class Walk:
    """One scan in progress. Each step adds to ``candidates`` and ``diagnostics``."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.candidates: list[Candidate] = []
        self.diagnostics: list[Diagnostic] = []
        self.real_roots: list[str] = []
        self.folders = 0
        self.listings: list[FolderListing] = []
        self.absent: list[str] = []
        """Paths at which a file would have changed the walk."""
        self.is_plain = True
        """False when the results depend on more than listings and stamps (on links, on errors), and
        when there are too many listings to remember."""
        self._began_ns = time.time_ns()
        self._walked: set[tuple[int, int]] = set()
        self._roots: Sequence[Root] = ()
        self._links: list[_Place] = []
        self._linked_files: list[tuple[Candidate, _Place]] = []
        self._full = False

    def steps(self, roots: Sequence[Root]) -> Iterator[None]:
        """Walk every root, one folder for each step. Raises InvalidSkillsRoot before the first."""
        self._roots = roots
        for root in roots:
            if not os.path.isdir(root.path):
                what = "is not a folder" if os.path.exists(root.path) else "does not exist"
                raise InvalidSkillsRoot(
                    f"the root {what}", path=root.path, hint="name a folder that holds skills"
                )
            self.real_roots.append(os.path.realpath(root.path))
        # A plugin first: in a folder that is also named otherwise, its skills have its prefix.
        for number, root in sorted(enumerate(roots), key=lambda each: not each[1].plugin):
            yield from self._enter(number, root)
        yield from self._follow_links()

    def observations(self) -> Observations | None:
        """Return the observations; None when the results depend on more than these."""
        if not self.is_plain:
            return None
        return Observations(self._began_ns, tuple(self.listings), tuple(self.absent), {})

    def _observe(self, listing: FolderListing) -> None:
        self.listings.append(listing)
        if len(self.listings) > MAX_OBSERVED:
            self.is_plain = False
        if not self.is_plain:
            self.listings.clear()

    def _enter(self, number: int, root: Root) -> Iterator[None]:
        base = os.path.basename(self.real_roots[number])
        path = "" if root.path == "." else slashes(root.path)
        # A root may itself be named .skills, or be a link of that name.
        runtime = RUNTIME_FOLDER in (base.lower(), os.path.basename(path).lower())
        place = _Place(path, (), number, root.scope, runtime, False, False, plugin=root.plugin)
        return self._walk(place, base)

    def _follow_links(self) -> Iterator[None]:
        """Follow the links that may be followed, to what was not walked yet.

        Links come last, so that what is also reached directly is listed by its own path.
        """
        while self._links:
            place = self._links.pop(0)
            real = real_path(place.path)
            if self._may_follow(place, place.path, real, is_folder=True):
                yield from self._walk(place._replace(real=real), os.path.basename(real))
        for candidate, place in self._linked_files:
            real = real_path(candidate.path)
            follows = self._may_follow(place, candidate.path, real, is_folder=False)
            if follows and not self._is_walked(real):
                self._add_file(candidate._replace(target=real), real)
        yield  # delivers the diagnostics of the links that were not followed

    def _may_follow(self, place: _Place, path: str, real: str, *, is_folder: bool) -> bool:
        """Return True for a link that may be followed; say why of any other.

        Links of a user are followed wherever they lead, but for those that came with a plugin or
        lie in a skill, and a SKILL.md that leads to no page, such as to a key. In a project they
        stay in a root or in its repository, or lead to a folder that this user added a skill from.
        """
        from skillyard.engine.discovery.hosts import may_read_source  # few roots have links

        root = self._roots[place.root]
        above = real_path(os.path.dirname(place.path) or ".")
        severity = "warning" if is_folder else "error"
        if is_loop(path):
            self._warn(path, "link_loop", "a link that leads to itself", "remove it", severity)
        elif not real or not (os.path.isdir(path) if is_folder else os.path.exists(path)):
            self._warn(path, "link_broken", "a link that leads nowhere", "remove it", severity)
        elif inside(above, real):
            self._warn(path, "link_loop", "a link to a folder that it lies in", "remove it")
        elif place.under_oasis and os.path.dirname(real) != above:
            what = f"a linked folder that leads out of {OASIS_FOLDER}"
            self._warn(path, "link_outside", what, "put the skill's own folder there", severity)
        elif (
            (
                root.scope in ("user", "system")
                and not (root.plugin or place.inside_skill)
                and (is_folder or real.lower().endswith(".md"))
            )
            or any(inside(real, each) for each in self.real_roots)
            or may_read_source(real if is_folder else os.path.dirname(real), root.path)
        ):
            return True
        else:
            self._warn(
                path,
                "link_outside",
                "a link that leads out of every root and of the repository",
                "name the real folder as a root, or say `skillyard add FOLDER --link` with it",
                severity,
            )
        return False

    def _is_walked(self, file: str) -> bool:
        """Return True for a SKILL.md in a folder that was walked: it is listed by its own path."""
        folder, name = os.path.split(file)
        status = os.stat(folder)
        return name.lower() == "skill.md" and (status.st_dev, status.st_ino) in self._walked

    def _walk(self, start: _Place, base: str) -> Iterator[None]:
        pending = [(start, base)]
        while pending:
            place, name = pending.pop()
            most = self.limits.folders_walked
            if self.folders >= most:
                message = f"stopped after {most:,} folders"
                hint = "name a root closer to the skills"
                if not self._full:
                    self._warn(place.path or ".", "too_many_folders", message, hint, "error")
                self._full = True
                yield
                return
            children = self._list(place, name)
            children.sort(key=lambda child: child[1], reverse=True)
            pending.extend(children)
            yield

    def _list(self, place: _Place, name: str) -> list[tuple[_Place, str]]:
        """Record the candidates of one folder and return its sub-folders.

        All reads go through one open descriptor, so that the folder cannot be replaced by a link
        between two of them.
        """
        path = place.path or "."
        try:
            # Only a root may itself be a link.
            folder = open_folder(place.real or path, follow=not (place.inode or place.real))
        except OSError as error:
            self._unreadable(path, error)
            return []
        try:
            status = folder.status
            key = (status.st_dev, status.st_ino)
            if key in self._walked:  # by another link, or as a folder of another root
                self.is_plain &= real_path(path) == os.path.abspath(path)
                return []
            if place.inode not in (0, status.st_ino) and not self._is_direct(place):
                self._warn(path, "changed_while_reading", "the folder was replaced", "load again")
                self.is_plain = False
                return []
            self._walked.add(key)
            entries = folder.entries()
            self.folders += 1
            self._observe((path, status, entries))
            return self._classify(place, name, entries, folder)
        except OSError as error:
            self._unreadable(path, error)
            return []
        finally:
            folder.close()

    def _is_direct(self, place: _Place) -> bool:
        """True when the folder is not reached by a link. Some file systems change inode numbers."""
        return real_path(place.path) == os.path.join(self.real_roots[place.root], *place.parts)

    def _unreadable(self, path: str, error: OSError) -> None:
        self.is_plain = False
        self._warn(path, "folder_unreadable", f"cannot list: {error.strerror}", "check permissions")

    def _classify(
        self, place: _Place, name: str, entries: list[os.DirEntry[str]], opened: Folder
    ) -> list[tuple[_Place, str]]:
        files: dict[str, os.DirEntry[str]] = {}
        folders: list[os.DirEntry[str]] = []
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and entry_is_link(entry):
                self.is_plain = False
                is_folder = maybe_folder(entry)
            if is_folder:
                folders.append(entry)
            else:
                files[entry.name] = entry
        if place.parts and ".git" in files and self._is_worktree(place, opened):
            return []
        folders.sort(key=lambda entry: entry.name)  # links are followed in this order
        skill_file = self._skill_file(place, files, folders)
        if skill_file is not None:
            reference_folders = self._reference_folders(place, opened, folders)
            references = references_beside(files, reference_folders, skill_file.name)
            oasis = place.under_oasis and skill_file.name == SKILL_FILE
            origin = Origin.OASIS if oasis else Origin.AGENTSKILLS
            origin = Origin.RUNTIME if place.runtime else origin
            self._add(place, skill_file, origin, name, references, self._pages(place, references))
        self._single_files(place, files, skill_file)
        for file in files:
            if may_be_link(name, file):
                self._link_as_text(place, opened, file)
        in_skill = place.inside_skill or skill_file is not None
        return self._children(place, name, folders, in_skill, skill_file is not None)

    def _is_worktree(self, place: _Place, opened: Folder) -> bool:
        """Return True for a second checkout of a repository in the root, and say so.

        Its skills are those of the repository once more, as on another branch.
        """
        self.is_plain = False
        repository = repository_of_worktree(opened)
        if not inside(repository, self.real_roots[place.root]):
            return False
        if not inside(real_path(place.path), repository):
            return False
        self._warn(
            place.path,
            "linked_worktree",
            "not entered: it is a worktree of the repository that it lies in",
            "name it as a root to read its skills",
            "info",
        )
        return True

    def _link_as_text(self, place: _Place, opened: Folder, name: str) -> None:
        self.is_plain = False  # a file that changes does not change its folder
        target = link_as_text(opened, name)
        if target:
            self._warn(
                join(place.path, name),
                "link_as_text",
                f"a link to {target} that was written as a text file",
                "say `git config core.symlinks true` and check the file out again, or copy the"
                " folder that it names",
                "error",
            )

    def _pages(self, place: _Place, references: Sequence[Reference]) -> tuple[Stamp, ...]:
        """Return the stamps of the references that count."""
        try:
            paths = [join(place.path, each.path) for each in references[:MAX_PAGES]]
            return tuple(map(Stamp.of, map(os.lstat, paths)))
        except OSError:  # one is gone since the folder was listed
            self.is_plain = False
            return ()

    def _reference_folders(
        self, place: _Place, opened: Folder, folders: list[os.DirEntry[str]]
    ) -> dict[str, list[os.DirEntry[str]]]:
        """Return the entries of each reference folder of a skill by its name."""
        entries_by_folder = {}
        for folder in folders:
            if folder.name not in REFERENCE_FOLDERS or entry_is_link(folder):
                continue
            try:
                with opened.folder(folder.name) as inner:
                    entries = entries_by_folder[folder.name] = inner.entries()
            except OSError:
                self.is_plain = False
                continue
            path = join(place.path, folder.name)
            self._observe((path, inner.status, entries))
        return entries_by_folder

    def _skill_file(
        self, place: _Place, files: dict[str, os.DirEntry[str]], folders: list[os.DirEntry[str]]
    ) -> os.DirEntry[str] | None:
        for folder in folders:
            if folder.name == SKILL_FILE and os.path.isdir(join(place.path, folder.name)):
                self._warn(
                    join(place.path, folder.name),
                    "not_a_regular_file",
                    "SKILL.md is a folder",
                    "make it a text file",
                )
        if place.runtime:
            return files.get(SKILL_FILE)
        name, remarks = choose_spelling(files)
        for each in remarks:
            self._warn(join(place.path, each.path), each.code, each.message, each.hint)
        return files[name] if name else None

    def _single_files(
        self,
        place: _Place,
        files: dict[str, os.DirEntry[str]],
        skill_file: os.DirEntry[str] | None,
    ) -> None:
        in_skill = place.inside_skill or skill_file is not None
        if place.runtime:
            for name, entry in files.items():
                if name.endswith(".md") and not in_skill:
                    self._add(place, entry, Origin.RUNTIME, None)
            return
        for name, entry in files.items():
            if len(name) <= LONGEST_NAME and convention_of(name) is not None:
                if not place.parts or name.lower() not in ROOT_ONLY:
                    self._add(place, entry, Origin.CONVENTION, None)
            elif place.endings and not in_skill and name.endswith(place.endings):
                self._add(place, entry, Origin.CONVENTION, None)

    def _add(
        self,
        place: _Place,
        entry: os.DirEntry[str],
        origin: str,
        folder: str | None,
        references: tuple[Reference, ...] = (),
        pages: tuple[Stamp, ...] = (),
    ) -> None:
        path = join(place.path, entry.name)
        if odd_file_name(entry.name) or (folder is not None and odd_file_name(folder)):
            self._odd_name(path)
            return
        candidate = Candidate(
            path,
            (*place.parts, entry.name),
            origin,
            folder,
            Stamp(0, 0, 0, 0, 0),
            place.scope,
            place.root,
            references,
            None,
            place.plugin,
            pages,
        )
        if not entry_is_link(entry):
            self._add_file(candidate, entry)
        elif inside(target := real_path(path), real_path(place.path or ".")) and os.path.exists(
            path
        ):
            self._add_file(candidate._replace(target=target), target)
        else:
            self._linked_files.append((candidate, place))

    def _add_file(self, candidate: Candidate, file: os.DirEntry[str] | str) -> None:
        """Record a candidate, with the stamp of its entry or of the real file behind its link."""
        try:
            if isinstance(file, str):
                status = os.stat(file, follow_symlinks=False)
            else:
                status = entry_status(file)
        except OSError as error:
            self.is_plain = False
            self._warn(
                candidate.path,
                "io_error",
                f"cannot look at it: {error.strerror}",
                "check it",
                "error",
            )
            return
        if not stat.S_ISREG(status.st_mode):
            self.is_plain = False
            self._warn(
                candidate.path,
                "not_a_regular_file",
                f"{candidate.parts[-1]} is a {kind_of(status.st_mode)}, not a file",
                "make it a text file",
            )
            return
        self.candidates.append(candidate._replace(stamp=Stamp.of(status)))

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
            path = join(place.path, entry.name)
            if (
                folded in BUILD_FOLDERS
                and not place.runtime
                and not os.path.lexists(join(path, SKILL_FILE))
            ):
                self.absent.append(join(path, SKILL_FILE))
                continue
            if odd_file_name(entry.name):
                self._odd_name(path)
                continue
            deepest = self.limits.tree_depth
            if len(place.parts) >= deepest:
                message = f"not entered: more than {deepest} folders below the root"
                self._warn(path, "tree_too_deep", message, "name a root closer to the skills")
                continue
            child = _Place(
                path,
                (*place.parts, entry.name),
                place.root,
                place.scope,
                place.runtime or folded == RUNTIME_FOLDER,
                inside_skill,
                is_oasis and not entry.name.startswith("."),
                plugin=place.plugin,
                endings=place.endings or endings_below(place.parts, entry.name),
            )
            if entry_is_link(entry):
                self._links.append(child)
            else:
                children.append((child._replace(inode=entry.inode()), entry.name))
        return children

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
        printable = clean(path.encode("utf-8", "backslashreplace").decode("utf-8"))
        printable = printable.replace("\n", "\\n").replace("\t", "\\t")
        self.diagnostics.append(Diagnostic(code, severity, printable, message, hint))
