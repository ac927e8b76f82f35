"""Take the newest version of installed skills, after showing what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from skillyard.errors import SkillyardError, UnknownName
from skillyard.remote.install.lock_entries import Lock, LockedSkill, folder_name
from skillyard.remote.install.verdict import check_accept
from skillyard.remote.origins.locked import repinned
from skillyard.remote.sources.protocol import Package
from skillyard.remote.sources.settings import Settings
from skillyard.shapes import installation as shapes
from skillyard.shapes.encoder import from_attributes
from skillyard.usecases.installation.admission import Admission, admit
from skillyard.usecases.installation.difference import Difference, difference_of, edited_paths
from skillyard.usecases.installation.packages import ReportFetched, fetch_packages
from skillyard.usecases.installation.problems import (
    Problem,
    is_unreachable,
    problem_of,
    problem_of_state,
)
from skillyard.usecases.installation.project import (
    BEHIND,
    CURRENT,
    EDITED,
    LINKED,
    MISSING,
    InstalledSkill,
    Project,
    changed_meanwhile,
    open_project,
)

__all__ = ["SkillUpdate", "Updated", "entries_named", "update_skills"]

AVAILABLE = "available"
"""There is a newer version, which was not taken."""
UPDATED = "updated"
PINNED = "pinned"
"""The files are the newest; now the lock pins them."""
REFUSED = "refused"
UNREACHABLE = "unreachable"


class SkillUpdate(NamedTuple):
    """One skill, and what its newest version changes."""

    name: str
    state: str
    """A state of ``project``, or one of those above."""
    folders: tuple[str, ...]
    pinned: str
    """The commit of the lock, else its digest; empty where it has none."""
    newest: str = ""
    """The commit of the newest version, else its digest; empty where it is not known."""
    difference: Difference | None = None
    problem: Problem | None = None


class Updated(NamedTuple):
    """The result for each skill."""

    lock: str
    skills: tuple[SkillUpdate, ...]
    dry_run: bool

    @property
    def refused(self) -> bool:
        """True where a newer version was not taken, or could not be."""
        good = {CURRENT, LINKED, UPDATED, PINNED} | ({AVAILABLE} if self.dry_run else set())
        return any(skill.state not in good for skill in self.skills)

    @property
    def unreached(self) -> bool:
        """True where the only failures are sources that cannot be reached."""
        return {skill.state for skill in self.skills} - {CURRENT, LINKED, UPDATED, PINNED} == {
            UNREACHABLE
        }

    def document(self) -> shapes.Updated:
        """Return ``skillyard.update/1``."""
        return shapes.Updated(
            lock=self.lock,
            dry_run=self.dry_run,
            skills=tuple(
                from_attributes(
                    shapes.SkillUpdate,
                    skill,
                    pinned=skill.pinned or None,
                    newest=skill.newest or None,
                    difference=skill.difference and skill.difference.document(),
                    problem=skill.problem and skill.problem.document(),
                )
                for skill in self.skills
            ),
        )


def update_skills(
    names: Iterable[str] = (),
    into: str | None = None,
    *,
    confirm: Callable[[SkillUpdate], bool],
    accept: Mapping[str, str] | None = None,
    dry_run: bool = False,
    settings: Settings | None = None,
    report: ReportFetched | None = None,
) -> Updated:
    """Replace skills by the newest of their branch or tag; all of the lock without names.

    ``confirm`` is called with each newer version and decides whether it is taken. A missing
    skill is installed in its newest version. A skill with
    local changes, or with a high finding of the scan that nobody accepted, is refused. One skill
    that fails does not stop the others. ``accept`` is as in ``add_skill``. Raises UnknownName,
    SkillIoError for the lock file, InvalidInput.
    """
    reasons = check_accept(accept or {})
    project = open_project(into)
    if not dry_run:
        project.complete()
    lock = project.lock.read()
    skills = project.skills(lock, entries_named(names, lock))
    fetched = [skill for skill in skills if skill.state in (CURRENT, BEHIND, MISSING)]
    packages = fetch_packages(
        [skill.entry for skill in fetched],
        pinned=False,
        folder=project.folder,
        settings=settings,
        report=report,
    )
    newest = {skill.entry.name: package for skill, package in zip(fetched, packages, strict=True)}
    edited = [skill for skill in skills if skill.state == EDITED and skill.is_pinned]
    pinned = fetch_packages(
        [skill.entry for skill in edited], pinned=True, folder=project.folder, settings=settings
    )
    original = {skill.entry.name: files for skill, files in zip(edited, pinned, strict=True)}
    results = []
    for skill in skills:
        name = skill.entry.name
        if (package := newest.get(name)) is None:
            results.append(_not_updated(skill, original.get(name)))
            continue
        results.append(_update(skill, package, project, reasons, None if dry_run else confirm))
    return Updated(project.lock.path, tuple(results), dry_run)


def entries_named(names: Iterable[str], lock: Lock) -> list[LockedSkill]:
    """Return the entries of the names, each once, or all without names. Raises UnknownName.

    A name is that of an entry, or exactly that of its folder.
    """
    entries: dict[str, LockedSkill] = {}
    for name in names:
        entry = lock.get(name) or (lock.in_folder(name) if folder_name(name) == name else None)
        if entry is None:
            raise UnknownName("skill of the lock file", name, [each.name for each in lock.skills])
        entries[entry.name] = entry
    return list(entries.values() or lock.skills)


def version_of(entry: LockedSkill) -> str:
    """Return the commit of an entry, else its digest, else nothing."""
    return entry.commit or entry.digest or ""


def _not_updated(skill: InstalledSkill, original: Package | SkillyardError | None) -> SkillUpdate:
    """Return the result for a skill whose folder is not what the lock says, or is a link."""
    if skill.state == LINKED:
        return SkillUpdate(skill.entry.name, LINKED, skill.folders, version_of(skill.entry))
    problem = problem_of_state(skill)
    if isinstance(original, Package):
        try:
            folder = next(copy.folder for copy in skill.copies if copy.state == EDITED)
            paths = edited_paths(folder, original.files)
        except (SkillyardError, OSError):
            paths = []
        named = ", ".join(ascii(path) for path in paths[:5])
        more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
        if named:
            problem = problem._replace(message=f"it has local changes: {named}{more}")
    return SkillUpdate(
        skill.entry.name, skill.state, skill.folders, version_of(skill.entry), problem=problem
    )


def _update(
    skill: InstalledSkill,
    package: Package | SkillyardError,
    project: Project,
    accept: Mapping[str, str],
    confirm: Callable[[SkillUpdate], bool] | None,
) -> SkillUpdate:
    """Show and take one version; without ``confirm`` only show it. Never raises for the skill."""
    entry = skill.entry
    result = SkillUpdate(entry.name, CURRENT, skill.folders, version_of(entry))
    try:
        if isinstance(package, SkillyardError):
            raise package
        new = repinned(entry, package)
        result = result._replace(newest=version_of(new))
        if new.digest == entry.digest and skill.state == CURRENT:
            return result
        result = result._replace(
            state=AVAILABLE, difference=difference_of(skill.folders[0], package.files)
        )
        admission = admit(new, package, known=entry, lock=project.lock, accept=accept)
        if confirm is None or not confirm(result):
            return result
        same = _write(skill, admission, project)
        return result._replace(state=PINNED if same else UPDATED)
    except SkillyardError as error:
        state = UNREACHABLE if is_unreachable(error) else REFUSED
        return result._replace(state=state, problem=problem_of(error))
    except OSError as error:
        problem = Problem("io_error", str(error.strerror or error), path=str(error.filename or ""))
        return result._replace(state=REFUSED, problem=problem)


def _write(skill: InstalledSkill, admission: Admission, project: Project) -> bool:
    """Write a version to every folder of a skill and note it; True if all had its files already.

    Raises InstallRefused, SkillIoError.
    """
    entry, lock = skill.entry, project.lock

    def check() -> None:
        if lock.read().get(entry.name) not in (entry, admission.entry):
            raise changed_meanwhile(entry.name, lock)

    placed = admission.write(skill.into, entry, lock, check=check)
    same = all(each.state == "unchanged" for each in placed)
    if same:
        lock.note(admission.entry)
    return same
