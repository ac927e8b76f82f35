"""What the policy of a project says of the skills in its lock file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from skillyard.base.errors import SkillyardError
from skillyard.base.shapes.installation import SkillProblem
from skillyard.check.scanning import SkillFile, scan_files
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.placement import check_files
from skillyard.install.copies.project_lock import ProjectLock
from skillyard.install.copies.verdict import publisher_of
from skillyard.install.operations.problems import failure_of
from skillyard.install.operations.project import InstalledSkill
from skillyard.install.policy.decision import LockedSource, Policy, check_install, source_text
from skillyard.install.policy.places import find_policy
from skillyard.install.policy.rules import NO_RULES
from skillyard.install.policy.signers import Signer


def policy_of(lock: ProjectLock) -> Policy | None:
    """Return the policy that holds for a lock file. Raises SkillIoError for a broken one."""
    return find_policy(os.path.dirname(os.path.abspath(lock.path)), profile="")


def locked_source(entry: LockedSkill, signer: Signer | None) -> LockedSource:
    """Return what a policy decides on in an entry whose files somebody signed."""
    pin = entry.digest or entry.commit or entry.well_known_digest
    source = source_text(entry.source_type, entry.source, entry.source_url)
    return LockedSource(entry.name, source, bool(pin), signer)


def refusal_of(
    skill: InstalledSkill,
    entry: LockedSkill,
    files: Iterable[SkillFile],
    policy: Policy | None,
    signer: Signer | None,
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
