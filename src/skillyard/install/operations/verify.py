"""Compare the folders of a project with its lock file, without a network."""

from __future__ import annotations

import os

from skillyard.base.errors import SkillIoError, SkillyardError
from skillyard.base.io.folder_manifest import manifest_of
from skillyard.base.shapes import installation as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.installation import (
    SignatureState,
    SkillProblem,
    StaleAccepted,
    Verified,
    VerifiedSkill,
)
from skillyard.check.scanning import files_of_folder, scan_files
from skillyard.check.scanning.engine import without_accepted
from skillyard.engine.resources import read_file
from skillyard.install.copies.installed import LIMITS
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.verdict import accepted_of, publisher_of
from skillyard.install.operations import states
from skillyard.install.operations.admission import (
    SignatureCheck,
    invalid_signature,
    other_signer,
    policy_of,
    refusal_of,
    verify_signature,
)
from skillyard.install.operations.problems import failure_of, problem_of_state
from skillyard.install.operations.project import InstalledSkill, LockedProject, open_project
from skillyard.install.origins.archive import ARCHIVE
from skillyard.install.policy.decision import AdmissionPolicy, check_signer, locked_source
from skillyard.install.policy.rules import NO_RULES, CertificateSigner
from skillyard.install.signatures import FOLDER_BUNDLE, signer_of
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.well_known import WellKnown

UNCHECKED = "signature_unchecked"
_STATES = {"signature_invalid": "invalid", UNCHECKED: "unchecked"}
"""States of a signature by the code of the error; any other is ``refused``."""
_OF_ARCHIVES = (ARCHIVE, WellKnown.name)
"""Types of sources whose signature may lie beside an archive, which is not installed."""


def verify_skills(
    into: str | None = None, *, user: bool = False, allow_extra: bool = False
) -> Verified:
    """Return the state of each skill of the lock, or of that of the user, and who signed it.

    Writes nothing. ``allow_extra`` accepts skill folders that the lock does not name. Raises
    SkillIoError for the lock file and the policy, InvalidInput.
    """
    project = open_project(into, user=user)
    policy = policy_of(project.lock)
    lock = project.lock.read()
    listed = tuple(_verified(each, project, policy) for each in project.skills(lock))
    extra = project.extra(lock)
    return Verified(
        lock=project.lock.path,
        skills=listed,
        extra=extra,
        differs=bool(
            states.of(listed) - states.GOOD
            or any(skill.stale or skill.problem for skill in listed)
            or (extra and not allow_extra)
        ),
    )


def _verified(
    skill: InstalledSkill, project: LockedProject, policy: AdmissionPolicy | None
) -> VerifiedSkill:
    entry, folder, state = skill.entry, skill.folders[0], skill.state
    problem = None if state in states.GOOD else problem_of_state(skill)
    stale: tuple[StaleAccepted, ...] = ()
    signature, signer = None, signer_of(entry)
    if state == states.CURRENT:
        state = states.CURRENT if skill.is_pinned else states.UNPINNED
        stale = _stale(entry, folder, project.lock.path)
        signature, signer, problem = _signature(skill, folder, policy)
    if problem is None and state in (states.CURRENT, states.UNPINNED, states.LINKED):
        problem = refusal_of(skill, entry, files_of_folder(folder), policy, signer)
        state = state if problem is None else states.REFUSED
    return VerifiedSkill(
        name=entry.name,
        state=state,
        folders=skill.folders,
        stale=stale,
        problem=problem,
        signature=signature,
    )


def refusal_in_place(skill: InstalledSkill, policy: AdmissionPolicy | None) -> SkillProblem | None:
    """Return why a policy refuses the folder of a skill that is as the lock says, or None."""
    if policy is None or skill.state not in (states.CURRENT, states.LINKED):
        return None
    folder, signer, problem = skill.folders[0], signer_of(skill.entry), None
    if skill.state == states.CURRENT and policy.rules.checks_signatures:
        _, signer, problem = _signature(skill, folder, policy)
    return problem or refusal_of(skill, skill.entry, files_of_folder(folder), policy, signer)


def _signature(
    skill: InstalledSkill, folder: str, policy: AdmissionPolicy | None
) -> tuple[SignatureState | None, CertificateSigner | None, SkillProblem | None]:
    """Return the signature of a folder that is as the lock says, its signer, and what is wrong.

    The signature is None where neither the policy nor the lock asks for one.
    """
    rules = NO_RULES if policy is None else policy.rules
    entry = skill.entry
    signer = note = signer_of(entry)
    if note is None and not rules.checks_signatures:
        return None, None, None
    state, problem = ("unsigned" if note is None else "recorded"), None
    try:
        if (proof := verify_signature(entry.name, _installed(folder), rules)) is not None:
            signer, state = proof, "verified"
            if (check := SignatureCheck(proof, note)).change == "changed":
                raise other_signer(check)
        elif note is not None and entry.source_type not in _OF_ARCHIVES:
            raise invalid_signature(entry.name, f"{FOLDER_BUNDLE} is not in the folder")
        check_signer(policy, locked_source(entry, signer))
    except SkillyardError as error:
        reason = failure_of(error, skill)[1]
        if reason.code != UNCHECKED or rules.checks_signatures:
            state, problem = _STATES.get(reason.code, "refused"), reason
    shown = signer and from_attributes(shapes.Signer, signer)
    return SignatureState(state=state, signer=shown), signer, problem


def _installed(folder: str) -> Package:
    """Return every file of a folder that is as the lock says, as it was signed.

    ``local_package`` leaves out what is no part of a skill of the user's. Raises SkillIoError.
    """
    try:
        files = manifest_of(folder, LIMITS).of_kind("file")
    except OSError as error:
        raise SkillIoError(f"cannot read: {error.strerror or error}", path=folder) from None
    data = {
        each.path: read_file(os.path.join(folder, *each.path.split("/")), each.size).data
        for each in files
    }
    return Package(data, folder)


def _stale(entry: LockedSkill, folder: str, lock_path: str) -> tuple[StaleAccepted, ...]:
    """Return what the entry accepts and the scan does not find. Raises SkillIoError."""
    accepted = accepted_of(entry, lock_path)
    if not accepted:
        return ()
    publisher = publisher_of(entry.source_type, entry.source)
    _, taken = without_accepted(scan_files(files_of_folder(folder), publisher), accepted)
    stale = sorted(set(accepted) - {used for _, used in taken})
    return tuple(from_attributes(StaleAccepted, each) for each in stale)
