"""What every installation checks before it writes a skill, and the writing itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.shapes.scans import ScanFinding
from skillyard.base.text import folder_name
from skillyard.engine.skill import Skill
from skillyard.install.copies.accepted import accepted_of, with_accepted
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.installed import Installed
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.lockfile import LOCAL
from skillyard.install.copies.placement import Placed, check_files, place_copies, preview_copies
from skillyard.install.copies.project_lock import ProjectLock
from skillyard.install.copies.verdict import publisher_of, scan_package
from skillyard.install.operations.policy_check import locked_source, policy_of
from skillyard.install.operations.signature_check import SignatureCheck, check_signature
from skillyard.install.policy.decision import check_install
from skillyard.install.signatures.record import with_signer
from skillyard.install.sources.protocol import Package


class Admission(NamedTuple):
    """A fetched skill that may be written."""

    entry: LockedSkill
    """Its entry for the lock, with its signer and the accepted findings of the scan."""
    package: Package
    findings: tuple[ScanFinding, ...]
    """Findings that nobody accepted. None is high."""
    signature: SignatureCheck

    def write(
        self,
        folders: Sequence[str],
        known: LockedSkill | None,
        lock: ProjectLock,
        *,
        note: bool = True,
        check: Callable[[], None] | None = None,
        dry_run: bool = False,
    ) -> list[Placed]:
        """Write the skill to a folder of its name in each of ``folders``, and note the entry.

        ``known`` is the entry by which existing folders were installed. The entry is not noted when
        every folder holds the files already. ``dry_run`` returns what would be done.
        See ``placement.place_copies``, also for the errors.
        """
        name = folder_name(self.entry.name)
        if dry_run:
            installed, executable = Installed.by(known), self.package.executable
            return preview_copies(
                self.package.files, folders, name, installed, executable=executable
            )
        return place_copies(
            self.package.files,
            folders,
            name,
            executable=self.package.executable,
            installed=Installed.by(known),
            entry=self.entry if note else None,
            lock=lock,
            check=check,
        )


def admit(
    entry: LockedSkill,
    package: Package,
    *,
    known: LockedSkill | None,
    lock: ProjectLock,
    accept: Mapping[str, str],
    linked: str | None = None,
) -> Admission:
    """Return a skill that may be written: everything that is installed passes here first.

    ``known`` is its entry in the lock as it is now, ``linked`` the folder that is only linked:
    all of its files are scanned.

    ``accept`` gives reasons for rules of the scan. Raises SourceFailed for files that are no skill,
    InstallRefused for a high finding that nobody accepted and for a signature that is not valid,
    PolicyRefused for a skill that the project's policy does not allow, and SkillIoError for a
    policy or trust root that cannot be read.
    """
    skill = check_package(package, entry.name)
    verdict = scan_package(
        package.files,
        accepted_of(known, lock.path),
        accept,
        folder=linked,
        publisher=publisher_of(entry.source_type, entry.source),
    )
    verdict.check(shown_path(folder_name(entry.name)))
    policy = policy_of(lock)
    signature = check_signature(entry, package, known, policy)
    source = locked_source(entry, signature.signer)
    check_install(policy, skill, source, verdict.severities, signature.before)
    entry = with_signer(with_accepted(entry, verdict.accepted), signature.signer)
    return Admission(entry, package, verdict.findings, signature)


def check_package(package: Package, shown: str) -> Skill:
    """Return the skill that fetched files make. Raises SourceFailed: a remote sent something else.

    What is wrong is the remote's fault, not that of a file on this machine. Raises SkillError for a
    folder of the user's own.
    """
    if package.source_type == LOCAL:
        return check_files(package.files, shown_path(os.path.join(package.url, "SKILL.md")))
    try:
        return check_files(package.files, f"{shown}/SKILL.md")
    except SkillError as error:
        what = f"{error.path or shown}: {error.message}"
        hint = "nothing was written; tell the author of the skill, or add another one"
        raise SourceFailed("bad_answer", what, hint=hint) from error
