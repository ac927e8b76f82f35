"""Make the folders of a project what its lock file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from skillyard.errors import SkillyardError
from skillyard.remote.install.accepted import Accepted, accepted_of
from skillyard.remote.install.record import note_written
from skillyard.remote.install.verdict import check_accept
from skillyard.remote.sources.protocol import Package, SourceFailed
from skillyard.remote.sources.settings import Settings
from skillyard.shapes import installation as shapes
from skillyard.shapes.encoder import from_attributes
from skillyard.usecases.installation.admission import admit
from skillyard.usecases.installation.packages import ReportFetched, fetch_packages
from skillyard.usecases.installation.problems import (
    Problem,
    is_unreachable,
    name_in_shell,
    problem_of,
    problem_of_state,
)
from skillyard.usecases.installation.project import (
    BEHIND,
    CURRENT,
    LINKED,
    MISSING,
    RACED,
    InstalledSkill,
    Project,
    changed_meanwhile,
    open_project,
)

__all__ = ["Synced", "SyncedSkill", "sync_skills"]

LACKING = (MISSING, BEHIND)
"""States in which a skill is installed."""
INSTALLED = "installed"
PLANNED = "planned"
REFUSED = "refused"
UNREACHABLE = "unreachable"
_TRIES = 5
"""How often a skill is looked at again that another run changed meanwhile."""


class SyncedSkill(NamedTuple):
    """One skill of the lock."""

    name: str
    state: str
    """A state of ``project``, or ``installed``, ``planned`` (without ``--dry-run`` it would be
    installed), ``refused`` or ``unreachable``."""
    folders: tuple[str, ...]
    pinned: bool
    problem: Problem | None = None
    accepted: tuple[Accepted, ...] = ()
    """Findings of the scan in an installed skill that the lock accepts."""


class Synced(NamedTuple):
    """What the lock and the folders have in common now."""

    lock: str
    skills: tuple[SyncedSkill, ...]
    extra: tuple[str, ...]
    """Skill folders that the lock does not name. They are left."""
    frozen: bool
    dry_run: bool
    allow_extra: bool

    @property
    def differs(self) -> bool:
        """True where a folder is not what the lock says and stays so."""
        good = (CURRENT, INSTALLED, LINKED, PLANNED)
        if self.frozen and self.extra and not self.allow_extra:
            return True
        return any(skill.state not in good for skill in self.skills)

    @property
    def unreached(self) -> bool:
        """True where the only difference is that sources cannot be reached."""
        bad = {skill.state for skill in self.skills} - {CURRENT, INSTALLED, LINKED, PLANNED}
        return bad == {UNREACHABLE}

    def document(self) -> shapes.Synced:
        """Return ``skillyard.sync/1``."""
        return shapes.Synced(
            lock=self.lock,
            frozen=self.frozen,
            dry_run=self.dry_run,
            skills=tuple(
                from_attributes(
                    shapes.SyncedSkill,
                    skill,
                    problem=skill.problem and skill.problem.document(),
                    accepted=tuple(
                        from_attributes(shapes.LockAccepted, each) for each in skill.accepted
                    ),
                )
                for skill in self.skills
            ),
            extra=self.extra,
            differs=self.differs,
        )


def sync_skills(
    into: str | None = None,
    *,
    frozen: bool = False,
    dry_run: bool = False,
    allow_extra: bool = False,
    accept: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    report: ReportFetched | None = None,
) -> Synced:
    """Install the skills of the lock whose folders are missing, as the lock pins them.

    Folders with local changes and folders that the lock does not name are reported and left.
    ``frozen`` writes nothing, asks nobody, and makes every difference count (``allow_extra``: but
    for folders that the lock does not name). ``accept`` is as in ``add_skill``. One skill that
    fails does not stop the others. Raises SkillIoError for the lock file, InvalidInput.
    """
    reasons = check_accept(accept or {})
    project = open_project(into)
    if frozen or dry_run:
        return _compared(project, frozen=frozen, dry_run=dry_run, allow_extra=allow_extra)
    installed: dict[str, SyncedSkill] = {}
    for _ in range(_TRIES):
        project.complete()
        skills = project.skills(project.lock.read())
        _note_current(skills)
        lacking = [skill for skill in skills if skill.state in LACKING]
        entries = [skill.entry for skill in lacking]
        packages = fetch_packages(
            entries, pinned=True, folder=project.folder, settings=settings, report=report
        )
        results = {skill.entry.name: _synced(skill, skill.state) for skill in skills}
        for skill, package in zip(lacking, packages, strict=True):
            results[skill.entry.name] = _install(skill, package, project, reasons)
        for name, result in results.items():
            if result.state == INSTALLED:
                installed[name] = result
            elif result.state == CURRENT and name in installed:  # by an earlier try
                results[name] = installed[name]
        if not any(each.problem and each.problem.code == RACED for each in results.values()):
            break
    extra = tuple(project.extra(skills))
    listed = tuple(results.values())
    return Synced(project.lock.path, listed, extra, frozen, dry_run, allow_extra)


def _compared(project: Project, *, frozen: bool, dry_run: bool, allow_extra: bool) -> Synced:
    """Return the differences as they are, with nothing written."""
    skills = project.skills(project.lock.read())
    results = [
        _synced(skill, PLANNED if not frozen and skill.state in LACKING else skill.state)
        for skill in skills
    ]
    extra = tuple(project.extra(skills))
    return Synced(project.lock.path, tuple(results), extra, frozen, dry_run, allow_extra)


def _note_current(skills: list[InstalledSkill]) -> None:
    """Note what is as the lock says: the lock may be ahead of it the next time."""
    for skill in skills:
        for copy in skill.copies:
            if copy.state == CURRENT and skill.entry.digest is not None:
                note_written(copy.folder, skill.entry.digest)


def _synced(skill: InstalledSkill, state: str) -> SyncedSkill:
    problem = problem_of_state(skill) if state not in (CURRENT, LINKED, PLANNED) else None
    return SyncedSkill(skill.entry.name, state, skill.folders, skill.is_pinned, problem)


def _install(
    skill: InstalledSkill,
    package: Package | SkillyardError,
    project: Project,
    accept: Mapping[str, str],
) -> SyncedSkill:
    """Write one skill. Never raises for it."""
    entry, lock = skill.entry, project.lock
    result = SyncedSkill(entry.name, INSTALLED, skill.folders, skill.is_pinned)
    try:
        if isinstance(package, SkillyardError):
            raise package
        admission = admit(entry, package, known=entry, lock=lock, accept=accept)
        # The entry stays as it is, byte for byte, unless a finding was accepted now.
        by_lock = accepted_of(entry, lock.path)
        applied = accepted_of(admission.entry, lock.path)
        accepted = set(applied) - set(by_lock)

        def check() -> None:
            if lock.read().get(entry.name) not in (entry, admission.entry):
                raise changed_meanwhile(entry.name, lock)

        admission.write(skill.into, entry, lock, note=bool(accepted), check=check)
    except SkillyardError as error:
        state = UNREACHABLE if is_unreachable(error) else REFUSED
        problem = problem_of(error)
        if isinstance(error, SourceFailed) and error.code == "not_found" and entry.commit:
            newest = f"`skillyard update {name_in_shell(entry.name)}` takes the newest version"
            problem = problem._replace(hint=f"the commit may have been removed upstream; {newest}")
        return result._replace(state=state, problem=problem)
    return result._replace(accepted=tuple(each for each in applied if each in by_lock))
