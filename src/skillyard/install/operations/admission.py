"""What is fetched and checked before a skill is written, and the writing itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from skillyard.base.errors import SkillError, SkillyardError, SourceFailed
from skillyard.base.shapes import installation as shapes
from skillyard.base.shapes.details import ScanFinding
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.installation import SkillProblem
from skillyard.base.text import clean_line, folder_name, shorten
from skillyard.check.scanning import SkillFile, scan_files
from skillyard.engine.skill import Skill
from skillyard.install.copies.file_paths import name_in_shell, shown_path
from skillyard.install.copies.installed import Installed, InstallRefused
from skillyard.install.copies.lockfile import LOCAL, LockedSkill, ProjectLock
from skillyard.install.copies.placement import Placed, check_files, place_copies
from skillyard.install.copies.verdict import accepted_of, publisher_of, scan_package, with_accepted
from skillyard.install.operations.problems import failure_of
from skillyard.install.operations.project import InstalledSkill, LockedProject
from skillyard.install.origins.locked import locked_package, repinned
from skillyard.install.policy.decision import (
    AdmissionPolicy,
    check_install,
    check_source,
    locked_source,
)
from skillyard.install.policy.library import find_policy
from skillyard.install.policy.rules import NO_RULES, CertificateSigner, Rules
from skillyard.install.search import SearchService
from skillyard.install.signatures import (
    FOLDER_BUNDLE,
    SignatureInvalid,
    signer_of,
    verify_folder,
    with_signer,
)
from skillyard.install.sources.protocol import Package


class AdmittedSkill(NamedTuple):
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
        **options: Any,
    ) -> list[Placed]:
        """Write the skill to a folder of its name in each of ``folders``, and note the entry.

        ``known`` is the entry by which existing folders were installed. The entry is not noted when
        every folder holds the files already. See ``placement.place_copies`` for ``options`` and
        errors.
        """
        return place_copies(
            self.package.files,
            folders,
            folder_name(self.entry.name),
            lock,
            executable=self.package.executable,
            installed=Installed.by(known),
            entry=self.entry if note else None,
            **options,
        )


def admit(
    entry: LockedSkill,
    package: Package,
    *,
    known: LockedSkill | None,
    lock: ProjectLock,
    accept: Mapping[str, str],
    linked: str | None = None,
) -> AdmittedSkill:
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
        accepted_of(known),
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
    return AdmittedSkill(entry, package, verdict.findings, signature)


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


def policy_of(lock: ProjectLock) -> AdmissionPolicy | None:
    """Return the policy that holds for a lock file. Raises SkillIoError for a broken one."""
    return find_policy(os.path.dirname(os.path.abspath(lock.path)))


def refusal_of(
    skill: InstalledSkill,
    entry: LockedSkill,
    files: Iterable[SkillFile],
    policy: AdmissionPolicy | None,
    signer: CertificateSigner | None,
) -> SkillProblem | None:
    """Return why a policy refuses an installed skill, or why that cannot be decided.

    ``entry`` and ``files`` are those of the version in question.
    """
    if policy is None:
        return None
    listed = list(files)
    data = {each.path: each.data for each in listed if each.data is not None}
    is_scanned = policy.rules.max_severity != NO_RULES.max_severity
    publisher = publisher_of(entry.source_type, entry.source)
    severities = {each.severity for each in (scan_files(listed, publisher) if is_scanned else ())}
    try:
        parsed = check_files(data, f"{entry.name}/SKILL.md")
        check_install(policy, parsed, locked_source(entry, signer), severities)
    except SkillyardError as error:
        return failure_of(error, skill)[1]
    return None


class SignatureCheck(NamedTuple):
    """Who signed a version of a skill, and who signed the one that the lock pins."""

    signer: CertificateSigner | None = None
    before: CertificateSigner | None = None

    @property
    def change(self) -> str:
        """``none``, ``new``, ``changed`` (another author) or ``lost``."""
        if self.signer is None:
            return "none" if self.before is None else "lost"
        if self.before is None:
            return "new"
        return "none" if self.signer.author == self.before.author else "changed"

    def document(self) -> shapes.Signature | None:
        """Return it as documents show it; None where nothing is or was signed."""
        if self.signer is None and self.before is None:
            return None
        return shapes.Signature(
            signer=self.signer and from_attributes(shapes.Signer, self.signer),
            before=self.before and from_attributes(shapes.Signer, self.before),
            change=self.change,
        )


def check_signature(
    entry: LockedSkill, package: Package, known: LockedSkill | None, policy: AdmissionPolicy | None
) -> SignatureCheck:
    """Return who signed the files of a package.

    Signatures are verified where the policy has a rule of ``signatures``, or where what the lock
    pins, ``known``, is signed. Without both nothing is verified. Raises what
    :func:`verify_signature` raises, and InstallRefused for the content that the lock pins if
    another author signed it than the lock says.
    """
    rules = NO_RULES if policy is None else policy.rules
    before = signer_of(known)
    if not rules.checks_signatures:
        if before is None:
            return SignatureCheck()
        if known is not None and known.digest == entry.digest:
            return SignatureCheck(before, before)
    check = SignatureCheck(verify_signature(entry.name, package, rules), before)
    if known is not None and known.digest == entry.digest and check.change == "changed":
        raise other_signer(check)
    return check


def other_signer(check: SignatureCheck) -> InstallRefused:
    """Return the error of a lock that says of the same content that somebody else signed it."""
    assert check.signer is not None
    assert check.before is not None
    return InstallRefused(
        f"it is signed by {check.signer.shown}, and the lock names {check.before.shown}",
        code="signature_recorded",
        hint="if you trust the signer, remove the skill and add it again",
    )


def verify_signature(name: str, package: Package, rules: Rules) -> CertificateSigner | None:
    """Return who signed the files of a package; None for one without a bundle.

    Raises InstallRefused, whose code is ``signature_invalid``, or ``signature_unchecked`` without
    the extra; SkillIoError for a trust root.
    """
    try:
        if FOLDER_BUNDLE in package.files:
            return verify_folder(package.files, rules.trust_roots)
    except SignatureInvalid as error:
        raise invalid_signature(name, str(error)) from None
    return None


def invalid_signature(name: str, why: str) -> InstallRefused:
    """Return the error of a signature that does not sign the files."""
    return InstallRefused(
        f"the signature of {shorten(clean_line(name), 80)} is not valid: {why}",
        code="signature_invalid",
        hint="do not use it; tell its author, who can sign it again",
    )


ReportFetched: TypeAlias = Callable[[int, int], None]
"""Takes how many skills were fetched, and of how many."""
_AT_ONCE = 8


def fetch_packages(
    skills: Iterable[InstalledSkill],
    project: LockedProject,
    *,
    pinned: bool,
    report: ReportFetched | None = None,
) -> dict[str, Package | SkillyardError]:
    """Return the files of skills by the name of their entry, or why they cannot be had.

    ``pinned`` asks for the commits of the entries, and returns nothing that they do not pin;
    otherwise the newest of their branches or tags. Raises SkillIoError and InvalidInput for
    settings and the policy.
    """
    entries = [skill.entry for skill in skills]
    if not entries:
        return {}
    room, packages = asyncio.Semaphore(_AT_ONCE), dict[str, Package | SkillyardError]()
    policy = policy_of(project.lock)

    async def fetch(search: SearchService, entry: LockedSkill) -> None:
        result: Package | SkillyardError
        async with room:
            try:
                check_source(policy, locked_source(entry, None))
                result = await locked_package(search, entry, pinned=pinned, folder=project.folder)
                if pinned:
                    check_pin(entry, result)
            except SkillyardError as error:
                result = error
        packages[entry.name] = result
        if report is not None:
            report(len(packages), len(entries))

    async def fetch_all() -> None:
        async with SearchService() as search:
            await asyncio.gather(*(fetch(search, entry) for entry in entries))

    asyncio.run(fetch_all())
    return packages


def check_pin(entry: LockedSkill, package: Package, option: str = "") -> None:
    """Raise InstallRefused for files that are not those of the entry.

    ``option`` is what a command needs to mean its lock file, with a space before it.
    """
    expected = entry.content_hash if entry.digest is None else entry.digest
    if expected is not None and entry.pins_same(repinned(entry, package)):
        return
    name = shorten(clean_line(entry.name), 80)
    what = f"the lock pins no content of {name}"
    if expected is not None:
        what = f"what came for {name} is not what the lock pins: {clean_line(expected)[:19]}…"
    if package.skipped:
        what = f"{what} ({len(package.skipped)} left out: {package.skipped[0]})"
    hint = f"`skillyard update{option} {name_in_shell(entry.name)}` shows what changed, and pins it"
    raise InstallRefused(what, code="install_pin", hint=hint)
