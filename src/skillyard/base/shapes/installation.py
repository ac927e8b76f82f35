"""What ``add``, ``sync``, ``update``, ``outdated``, ``verify`` and ``remove`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import ScanFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file that another version changes, or that was edited."""

    path: Annotated[str, "Below the folder of the skill."]
    change: Annotated[str, "added, removed or changed."]
    diff: Annotated[str, "A unified diff of a text; empty where there is none."]
    note: Annotated[str, "Why there is no diff, and what else is to say of it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillProblem:
    """Why a skill is not as it should be."""

    code: Annotated[str, "Names the kind of problem."]
    message: Annotated[str, "What is wrong."]
    hint: Annotated[str, "What to do."]
    path: Annotated[str, "The file or folder; empty for a remote."]
    files: Annotated[
        tuple[FileChange, ...], "Files that were edited since they were installed, where known."
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """Who signed a skill, as the certificate of the signature says."""

    identity: Annotated[str, "A workflow or an e-mail address."]
    issuer: Annotated[str, "The OpenID Connect provider that vouches for it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The verified signature of a version of a skill."""

    signer: Annotated[Signer | None, "Who signed it."]
    before: Annotated[Signer | None, "Who signed the version that the lock pinned."]
    change: Annotated[str, "none, new, changed (another author) or lost."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedSkillState:
    """One skill of the lock file."""

    name: Annotated[str, "Its name in the lock file."]
    state: Annotated[str, "What it is, or what became of it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockAccepted:
    """A finding of the scan that an entry of the lock accepts."""

    rule: Annotated[str, "The rule."]
    digest: Annotated[str, "The digest of the file."]
    reason: Annotated[str, "Why it was accepted."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedSkill(LockedSkillState):
    """One skill of the lock after ``sync``."""

    state: Annotated[
        str,
        "current, linked, installed, planned, missing, edited, behind, not_comparable, interrupted,"
        " unreadable, refused or unreachable.",
    ]
    folders: Annotated[tuple[str, ...], "Its folders, or the one that is missing."]
    pinned: Annotated[bool, "Whether the lock has a digest of it."]
    problem: Annotated[SkillProblem | None, "Why it is not current."]
    accepted: Annotated[
        tuple[LockAccepted, ...],
        "Findings of the scan in what was installed that the lock accepts.",
    ]
    links: Annotated[
        tuple[str, ...], "Links for the hosts of --agent that were made, or that are missing."
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The folders of a project and its lock file."""

    schema: Schema[Literal["skillyard.sync/1"]] = "skillyard.sync/1"
    lock: Annotated[str, "The lock file."]
    frozen: Annotated[bool, "Whether nothing was to be changed."]
    dry_run: Annotated[bool, "Whether it was only planned."]
    skills: Annotated[tuple[SyncedSkill, ...], "Each skill of the lock, in its order."]
    extra: Annotated[tuple[str, ...], "Skill folders that the lock does not name."]
    differs: Annotated[bool, "Whether a difference is left that fails the command."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What another version of a skill changes."""

    files: Annotated[tuple[FileChange, ...], "Its files, SKILL.md first."]
    tools_added: Annotated[tuple[str, ...], "Tools that only the new version allows."]
    tools_removed: Annotated[tuple[str, ...], "Tools that only the installed version allows."]
    findings: Annotated[tuple[ScanFinding, ...], "Findings that only the new version has."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillUpdate(LockedSkillState):
    """One skill and its newest version."""

    state: Annotated[
        str,
        "current, linked, updated, pinned, available, gone (from its source), refused, unreachable,"
        " or why its folder stops it: edited, interrupted or unreadable.",
    ]
    folders: Annotated[tuple[str, ...], "Its folders, or the one that is missing."]
    pinned: Annotated[str | None, "The commit of the lock, else its digest."]
    newest: Annotated[str | None, "The commit of the newest version, else its digest."]
    difference: Annotated[Difference | None, "What the newest version changes."]
    signature: Annotated[Signature | None, "Who signed the newest version, where it is checked."]
    problem: Annotated[SkillProblem | None, "Why it was not updated, or where it moved."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """Skills and their newest versions."""

    schema: Schema[Literal["skillyard.update/1"]] = "skillyard.update/1"
    lock: Annotated[str, "The lock file."]
    dry_run: Annotated[bool, "Whether it was only planned."]
    skills: Annotated[tuple[SkillUpdate, ...], "Each skill that was asked for."]
    extra: Annotated[
        tuple[str, ...], "Skill folders that the lock does not name, when no skill was named."
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedVersion(LockedSkillState):
    """One skill of the lock and its newest version."""

    state: Annotated[
        str,
        "outdated, moved (in its repository), gone (from its source), unreachable, refused,"
        " unsupported, else the state of its folders: current, linked, edited, missing, behind,"
        " not_comparable, interrupted or unreadable.",
    ]
    folder_state: Annotated[str, "The state of its folders in any case."]
    ref: Annotated[str | None, "The branch or tag that it follows; null for the default branch."]
    pinned: Annotated[str | None, "The commit of the lock, else its digest."]
    newest: Annotated[str | None, "The newest commit that changes it, else its digest."]
    problem: Annotated[
        SkillProblem | None, "Why the newest version is not known, or where it moved."
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """The versions of all skills of a lock."""

    schema: Schema[Literal["skillyard.outdated/1"]] = "skillyard.outdated/1"
    lock: Annotated[str, "The lock file."]
    skills: Annotated[tuple[LockedVersion, ...], "Each skill of the lock, in its order."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureState:
    """The signature of an installed skill."""

    state: Annotated[
        str,
        "verified (from the bundle in the folder), recorded (the lock says so; the extra"
        " sigstore is missing), unsigned, invalid, refused (by the policy, or the lock names"
        " another signer) or unchecked (the policy asks, and the extra is missing).",
    ]
    signer: Annotated[Signer | None, "Who signed it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSkill(LockedSkillState):
    """One skill of the lock and its folders."""

    state: Annotated[
        str,
        "current, linked, unpinned, edited, missing, behind, not_comparable, interrupted,"
        " unreadable, or refused by the policy.",
    ]
    folders: Annotated[tuple[str, ...], "Its folders, or the one that is missing."]
    signature: Annotated[
        SignatureState | None, "Its signature; null where the policy and the lock ask for none."
    ]
    problem: Annotated[SkillProblem | None, "Why it is not current."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The folders of a project and its lock file, compared."""

    schema: Schema[Literal["skillyard.verify/1"]] = "skillyard.verify/1"
    lock: Annotated[str, "The lock file."]
    skills: Annotated[tuple[VerifiedSkill, ...], "Each skill of the lock, in its order."]
    extra: Annotated[tuple[str, ...], "Skill folders that the lock does not name."]
    differs: Annotated[bool, "Whether there is any difference."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedFolder:
    """One folder that is gone."""

    folder: Annotated[str, "Where it was."]
    backup: Annotated[str | None, "Where it is now, if it had local changes."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedSkill(LockedSkillState):
    """One skill that was to be removed."""

    state: Annotated[str, "removed, unlinked, planned or refused."]
    folders: Annotated[tuple[RemovedFolder, ...], "Its folders."]
    links: Annotated[tuple[str, ...], "Links to them."]
    problem: Annotated[SkillProblem | None, "Why it was not removed."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """Skills that were to be removed."""

    schema: Schema[Literal["skillyard.remove/1"]] = "skillyard.remove/1"
    lock: Annotated[str, "The lock file."]
    dry_run: Annotated[bool, "Whether it was only planned."]
    skills: Annotated[tuple[RemovedSkill, ...], "Each skill that was named."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """One fetched skill, and where it was written."""

    schema: Schema[Literal["skillyard.add/1"]] = "skillyard.add/1"
    skill: Annotated[Mapping[str, Any], "The skill, as a search document holds it."]
    files: Annotated[tuple[str, ...], "Its files."]
    skipped: Annotated[tuple[str, ...], "Files that were left out, each with the reason."]
    look_alikes: Annotated[tuple[str, ...], "Names of installed skills that look like its own."]
    folder: Annotated[str | None, "Where it was installed."]
    state: Annotated[str, "What became of its folder: added, replaced, unchanged or linked."]
    digest: Annotated[str | None, "Names the content of the folder."]
    copies: Annotated[tuple[str, ...], "Where else it was installed."]
    links: Annotated[tuple[str, ...], "Links to it in the folders of agent hosts."]
    dry_run: Annotated[bool, "Nothing was written; the rest says what would be."]
    notes: Annotated[tuple[str, ...], "What to know of how the files came."]
    lock: Annotated[str | None, "The lock file that pins it."]
    findings: Annotated[tuple[ScanFinding, ...], "Findings of the scan that nobody accepted."]
    signature: Annotated[Signature | None, "Who signed it, where the signature is checked."]
