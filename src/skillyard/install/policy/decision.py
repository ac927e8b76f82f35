"""Decides whether a policy allows one skill. Nothing here reads a file."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.base.io.files import is_below
from skillyard.base.text import folder_name
from skillyard.engine.skill import Origin, Skill
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.lockfile import LockedSkill
from skillyard.install.policy.rules import (
    NO_RULES,
    SEVERITIES,
    CertificateSigner,
    Rules,
    matches_pattern,
)

REFUSED = "refused_by_policy"
"""The code of the diagnostics about skills that a policy refuses."""
_BY_URL = ("git", "gitlab", "well-known")
_OF_CONTENT = (
    "allowed_licences",
    "missing_licence",
    "denied_tools",
    "denied_skills",
    "allowed_tags",
)
"""The rules that a skill's content decides, without a lock file and without a scan."""


class PolicyRefused(SkillError):
    """A policy refuses a skill that was to be installed, or that is. Nothing was written."""

    kind = "PolicyRefused"


class LockedSource(NamedTuple):
    """What a lock file says of one skill."""

    name: str
    source: str
    """``github:owner/repo``, ``well-known:https://…``, ``local:folder``."""
    is_pinned: bool
    """It has a commit or a digest."""
    signer: CertificateSigner | None = None
    """Who signed what the entry pins."""


def locked_source(entry: LockedSkill, signer: CertificateSigner | None) -> LockedSource:
    """Return what a policy decides on in an entry whose files somebody signed: what is fetched.

    Beside the source, which may be any text then, entries of some kinds may have an address. The
    path of a folder is without steps such as ``..``.
    """
    kind, source = entry.source_type, entry.source
    if kind == "local":
        path = posixpath.normpath(source)
        source = f"./{path}" if source.startswith("./") and not path.startswith("../") else path
    pin = entry.digest or entry.commit or entry.well_known_digest
    text = f"{kind}:{(kind in _BY_URL and entry.source_url) or source}"
    return LockedSource(entry.name, text, bool(pin), signer)


class RuleRefusal(NamedTuple):
    """One rule that refuses a skill."""

    rule: str
    """The key of the rule, such as ``tools.denied``."""
    file: str
    """The policy file that sets it."""
    message: str


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """The combined rules of all policy files, with what they need to know of the lock file.

    Its ``repr`` is complete and stable: indexes are named by it.
    """

    rules: Rules = NO_RULES
    files: tuple[str, ...] = ()
    """The policy files that hold, the system's first."""
    locked: tuple[LockedSource, ...] = ()
    lock_folder: str = ""
    """Real path of the folder of the lock file; skills below it are looked up in ``locked``."""

    def source_of(self, path: str) -> LockedSource | None:
        """Return the lock's entry of the skill in the folder of ``path``, or None."""
        if not self.lock_folder:
            return None
        folder = os.path.dirname(os.path.realpath(path))
        if not is_below(folder, self.lock_folder):
            return None
        name = os.path.basename(folder)
        entries = [each for each in self.locked if folder_name(each.name) == name]
        exact = (each for each in entries if each.name == name)
        return next(exact, entries[0] if entries else None)

    def of_store(self) -> AdmissionPolicy | None:
        """Return what holds for skills of a catalog store, which no lock file is about, or None."""
        mine = {name: getattr(self.rules, name) for name in _OF_CONTENT}
        rules = replace(NO_RULES, **mine, where=self.rules.where)
        return None if rules == NO_RULES else AdmissionPolicy(rules)

    def diagnostic(self, skill: Skill) -> Diagnostic | None:
        """Return why a skill of a library is not offered, or None. Convention files are exempt."""
        if skill.origin == Origin.CONVENTION:
            return None
        refusals = decide(self.rules, skill, self.source_of(skill.path))
        if not refusals:
            return None
        return Diagnostic(REFUSED, "warning", skill.path, _words(refusals), _hint(refusals))


def _words(refusals: Iterable[RuleRefusal]) -> str:
    return "; ".join(f"{each.message} ({each.rule} in {each.file})" for each in refusals)


def _hint(refusals: tuple[RuleRefusal, ...], action: str = "remove the skill") -> str:
    rule, file, _ = refusals[0]
    if rule == "signatures.required" and action.startswith("remove"):
        action = f"say `skillyard update`, which notes who signed it, {action}"
    return f"{action}, or change {rule} in {file}"


def decide(rules: Rules, skill: Skill, source: LockedSource | None) -> tuple[RuleRefusal, ...]:
    """Return every rule that refuses a skill; empty where it may be offered.

    ``source`` is None for a skill that no lock file names. The rules about sources and pins do not
    hold for skills of a catalog store, which no lock file is about.
    """
    reasons: list[tuple[str, str]] = []
    names = [name for name in (skill.name, skill.slug) if name]
    denied_names = [each for each in rules.denied_skills if any(_match(n, [each]) for n in names)]
    if skill.id and skill.id.lower() in rules.denied_skills:  # it ends with a hash: no pattern
        denied_names.append(skill.id)
    if denied_names:
        reasons.append(
            ("skills.denied", f"skills of the name {shown_path(denied_names[0])} are denied")
        )
    if skill.stored:
        pass
    elif source is None:
        if rules.unlocked == "deny":
            reasons.append(("sources.unlocked", "no lock file says where the skill is from"))
    else:
        reasons += _of_source(rules, source)
        if rules.pins_required and not source.is_pinned:
            reasons.append(("pins.required", "the lock file has no commit and no digest of it"))
        reasons += _of_signer(rules, source)
    licence = (skill.license or "").strip()
    if not licence and rules.missing_licence == "deny":
        reasons.append(("licences.missing", "the skill names no licence"))
    elif licence and not all(licence.lower() in names for names in rules.allowed_licences):
        reasons.append(("licences.allowed", f"the licence {shown_path(licence)} is not allowed"))
    if not all(any(_match(tag, tags) for tag in skill.tags) for tags in rules.allowed_tags):
        reasons.append(("tags.allowed", "it has no tag that is allowed"))
    denied = [tool for tool in skill.allowed_tools if _denied(tool, rules.denied_tools)]
    if denied:
        reasons.append(("tools.denied", f"the tool {shown_path(denied[0])} is denied"))
    return _refusals(rules, reasons)


def check_source(policy: AdmissionPolicy | None, source: LockedSource) -> None:
    """Raise PolicyRefused for an entry whose source or name is refused, before it is fetched."""
    if policy is None:
        return
    rules, reasons = policy.rules, _of_source(policy.rules, source)
    if pattern := _match(source.name, rules.denied_skills):
        denied = ("skills.denied", f"skills of the name {shown_path(pattern)} are denied")
        reasons = [denied, *reasons]
    _refuse(source.name, _refusals(rules, reasons), "remove the skill")


def check_signer(policy: AdmissionPolicy | None, source: LockedSource) -> None:
    """Raise PolicyRefused where a policy refuses the signer of a skill, or that it has none."""
    if policy is not None:
        refusals = _refusals(policy.rules, _of_signer(policy.rules, source))
        _refuse(source.name, refusals, "remove the skill")


def _refusals(rules: Rules, reasons: Iterable[tuple[str, str]]) -> tuple[RuleRefusal, ...]:
    return tuple(RuleRefusal(rule, rules.where.get(rule, ""), message) for rule, message in reasons)


def _of_source(rules: Rules, source: LockedSource) -> list[tuple[str, str]]:
    if all(_match(source.source, patterns) for patterns in rules.allowed_sources):
        return []
    return [("sources.allowed", f"the source {shown_path(source.source)} is not allowed")]


def _of_signer(rules: Rules, source: LockedSource) -> list[tuple[str, str]]:
    signer = source.signer
    if signer is None:
        if _match(source.source, rules.signed_sources):
            return [("signatures.required", "it has no verified signature")]
    elif not all(any(each.matches(signer) for each in set_) for set_ in rules.signers):
        return [("signatures.identity", f"it is signed by {signer.shown}, who is not accepted")]
    return []


def _denied(tool: str, patterns: tuple[str, ...]) -> bool:
    """True for a tool with or without its arguments: ``Bash`` denies ``Bash(git:*)`` too.

    A skill that asks for every tool with ``*`` asks for each denied one.
    """
    bare = tool.partition("(")[0].strip()
    return bool(patterns) and (
        bare == "*" or bool(_match(tool, patterns) or _match(bare, patterns))
    )


def _match(text: str, patterns: Iterable[str]) -> str:
    """Return the first pattern that matches, ignoring case; empty where none does."""
    lowered = text.lower()
    return next((each for each in patterns if matches_pattern(lowered, each)), "")


def check_install(
    policy: AdmissionPolicy | None,
    skill: Skill,
    source: LockedSource,
    severities: Iterable[str] = (),
    signer_before: CertificateSigner | None = None,
) -> None:
    """Raise PolicyRefused where a policy does not allow a skill to be installed.

    ``source`` is what the lock file is going to say, ``severities`` those of all findings of
    the scan, accepted ones too, and ``signer_before`` signed the version that the lock pins now.
    """
    if policy is None:
        return
    rules = policy.rules
    refusals, more = decide(rules, skill, source), []
    highest = max(severities, key=SEVERITIES.index, default="none")
    if SEVERITIES.index(highest) > SEVERITIES.index(rules.max_severity):
        more.append(("scan.max_severity", f"the scan has a finding of severity {highest}"))
    if rules.same_signer and signer_before is not None:
        signer = source.signer
        if signer is None or signer.author != signer_before.author:
            now = "is not signed" if signer is None else f"is signed by {signer.shown}"
            message = f"the version before was signed by {signer_before.shown}, and this one {now}"
            more.append(("signatures.same_signer", message))
    _refuse(skill.name, refusals + _refusals(rules, more), "choose another skill")


def _refuse(name: str, refusals: tuple[RuleRefusal, ...], action: str) -> None:
    if refusals:
        what = f"the policy refuses {shown_path(name)}: {_words(refusals)}"
        raise PolicyRefused(what, code=REFUSED, hint=_hint(refusals, action))
