"""A policy file, read strictly from TOML: an unknown key is an error, never ignored.

Also who may sign skills, and the signer in an entry of a lock file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, NamedTuple

from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.base.strict_toml import SomeText, parse_toml, read_record
from skillyard.base.text import clean_line
from skillyard.install.copies.file_paths import shown_path

SEVERITIES = ("none", "low", "medium", "high")
"""Severities of findings, ascending."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one file, or several combined ones, allow. The default allows everything."""

    allowed_sources: tuple[tuple[str, ...], ...] = ()
    """Sets of patterns, one set of each file; a source must match one pattern of every set."""
    unlocked: str = "allow"
    """``allow`` or ``deny`` for skills that no lock file names."""
    pins_required: bool = False
    max_severity: str = "high"
    """Highest severity of a finding with which a skill is installed; one of :data:`SEVERITIES`."""
    allowed_licences: tuple[tuple[str, ...], ...] = ()
    """Sets of SPDX identifiers in lower case; a licence must be in every set."""
    missing_licence: str = "allow"
    denied_tools: tuple[str, ...] = ()
    denied_skills: tuple[str, ...] = ()
    signed_sources: tuple[str, ...] = ()
    """Patterns of sources whose skills must be signed."""
    signers: tuple[tuple[SignerPattern, ...], ...] = ()
    """Sets of accepted signers, one set of each file; a signer must match one of every set."""
    same_signer: bool = False
    """Whether another version must be signed by the author who signed the one before."""
    allowed_tags: tuple[tuple[str, ...], ...] = ()
    """Sets of patterns; a skill must have a tag of every set."""
    where: Mapping[str, str] = field(default_factory=dict, compare=False, hash=False, repr=False)
    """The file that sets each rule, by the rule's key; the strictest where several do."""

    @property
    def checks_signatures(self) -> bool:
        """True where signatures are verified before a skill is installed."""
        return bool(self.signed_sources or self.signers or self.same_signer)

    @property
    def trust_roots(self) -> tuple[str, ...]:
        """The trust roots of accepted signers; ``("",)`` is Sigstore's public one alone."""
        return tuple(sorted({each.trust_root for set_ in self.signers for each in set_})) or ("",)

    def value(self, rule: str) -> str:
        """Return what a rule is set to, as one line; sets of several files are joined by ``and``.

        Raises KeyError for an unknown rule.
        """
        if rule == "signatures.trust_root":
            return clean_line(", ".join(filter(None, self.trust_roots)))
        value = getattr(self, _ATTRIBUTES[rule])
        if isinstance(value, str | bool):
            return str(value).lower()
        if rule == "signatures.identity":
            signers = ([CertificateSigner(*each[:2]).shown for each in set_] for set_ in value)
            return " and ".join(map(", ".join, signers))
        if rule == "signatures.required" and ANY_SOURCE[0] in value:
            return "true"
        sets = value if rule.endswith(".allowed") else (value,)
        return clean_line(" and ".join(", ".join(each) or "nothing" for each in sets))


NO_RULES = Rules()

_ATTRIBUTES = {
    "sources.allowed": "allowed_sources",
    "sources.unlocked": "unlocked",
    "pins.required": "pins_required",
    "scan.max_severity": "max_severity",
    "licences.allowed": "allowed_licences",
    "licences.missing": "missing_licence",
    "tools.denied": "denied_tools",
    "skills.denied": "denied_skills",
    "tags.allowed": "allowed_tags",
    "signatures.required": "signed_sources",
    "signatures.identity": "signers",
    "signatures.same_signer": "same_signer",
}
"""The attribute of each rule; ``signatures.trust_root`` is a part of the signers."""
_ASCENDING = {
    "unlocked": ("allow", "deny"),
    "missing_licence": ("allow", "deny"),
    "max_severity": SEVERITIES[::-1],
}
"""The values of words, the strictest last."""


def _normal(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({each.strip().lower() for each in patterns}))


_Patterns = Annotated[tuple[SomeText, ...], _normal]
_Choice = Literal["allow", "deny"]


class _Sources(NamedTuple):
    allowed: _Patterns = ()
    unlocked: _Choice = "allow"


class _Licences(NamedTuple):
    allowed: _Patterns = ()
    missing: _Choice = "allow"


class _Pins(NamedTuple):
    required: bool = False


class _Scan(NamedTuple):
    max_severity: Literal["none", "low", "medium", "high"] = "high"


class _Denied(NamedTuple):
    denied: _Patterns = ()


class _Tags(NamedTuple):
    allowed: _Patterns = ()


class _Tables(NamedTuple):
    sources: _Sources
    licences: _Licences
    pins: _Pins
    scan: _Scan
    tools: _Denied
    skills: _Denied
    tags: _Tags
    signatures: SignaturesTable


def parse_policy(data: bytes, path: str) -> Rules:
    """Return what a policy file says. Raises SkillIoError (``policy_invalid``) for any fault."""
    try:
        file = parse_toml(data, path)
        tables = read_record(_Tables, [(file, file.tables)])
    except SkillIoError as fault:
        fault.code, fault.hint = "policy_invalid", fault.hint or "correct it"
        raise
    return _rules(tables, file.tables, path)


def _rules(tables: _Tables, given: Mapping[str, Any], path: str) -> Rules:
    """Return the rules of tables; ``given`` has the tables and keys that are in the file."""
    where = {f"{name}.{key}": path for name, members in given.items() for key in members}

    values: dict[str, Any] = signature_rules(tables.signatures, os.path.dirname(path))
    for key, name in _ATTRIBUTES.items():
        table, member = key.split(".")
        if table != "signatures":
            value = getattr(getattr(tables, table), member)
            is_set = member == "allowed"
            values[name] = ((value,) if key in where else ()) if is_set else value
    return Rules(where=where, **values)


def stricter(one: Rules, other: Rules) -> Rules:
    """Return rules that allow exactly what both allow. The order of the two does not matter."""
    where = {**other.where, **one.where}
    values: dict[str, Any] = {}
    for key, name in _ATTRIBUTES.items():
        mine, theirs = getattr(one, name), getattr(other, name)
        if isinstance(mine, tuple):
            values[name] = tuple(sorted({*mine, *theirs}))
        else:
            values[name] = max(mine, theirs, key=_ASCENDING.get(name, (False, True)).index)
        if mine != theirs == values[name] and key in other.where:
            where[key] = other.where[key]
    return Rules(**values, where=where)


ANY_SOURCE = ("*",)
"""What ``required = true`` means."""
SIGNER_KEY = "sigstoreSigner"
"""The key of the signer in an entry of a lock file. The common installer preserves it."""
_MAX_PATTERNS = 256


def matches_pattern(text: str, pattern: str) -> bool:
    """Return True where a pattern of a policy matches: ``*`` is any text, all else is itself."""
    plain = pattern.replace("[", "[[]").replace("?", "[?]")
    return text == pattern or fnmatchcase(text, plain)


class CertificateSigner(NamedTuple):
    """Who signed a skill, as the certificate says."""

    identity: str
    """An address of a workflow, or of a person's e-mail."""
    issuer: str
    """The address of the OpenID Connect provider that vouches for the identity."""
    trust_root: str | None = None
    """The trust root by which it was verified (empty: Sigstore's public one), or None where
    nothing was verified now."""

    @property
    def author(self) -> tuple[str, str]:
        """What stays the same from release to release.

        The identity of a workflow ends with the tag or branch that it ran for.
        """
        identity = self.identity
        return identity.partition("@refs/")[0] if "://" in identity else identity, self.issuer

    @property
    def shown(self) -> str:
        """One line for a person, shortened and cleaned."""
        return f"{shown_path(self.identity)} ({shown_path(self.issuer)})"


class SignerPattern(NamedTuple):
    """Signers that a policy accepts. ``*`` stands for any text; case counts."""

    identity: str = "*"
    issuer: str = "*"
    trust_root: str = ""
    """Absolute path of a file; empty for Sigstore's public trust root."""

    def matches(self, signer: CertificateSigner) -> bool:
        """Return True for a signer that is accepted."""
        return (
            signer.trust_root in (None, self.trust_root)
            and matches_pattern(signer.identity, self.identity)
            and matches_pattern(signer.issuer, self.issuer)
        )


def _trust_root(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise InvalidInput('must be the path of a file; write trust_root = "trusted_root.json"')
    if text.startswith(("//", "\\\\")):
        raise InvalidInput("is a file of another machine; copy it beside the policy")
    return text


class AcceptedSigner(NamedTuple):
    """One table of ``identity``."""

    identity: SomeText
    issuer: SomeText


def _some(signers: tuple[AcceptedSigner, ...]) -> tuple[AcceptedSigner, ...]:
    if not 0 < len(signers) <= _MAX_PATTERNS:
        raise InvalidInput(
            f"must be a list of 1 to {_MAX_PATTERNS} tables; write"
            ' identity = [{ identity = "…", issuer = "https://…" }]'
        )
    return signers


class SignaturesTable(NamedTuple):
    """The table ``[signatures]`` of a policy."""

    required: bool | tuple[SomeText, ...] = False
    identity: Annotated[tuple[AcceptedSigner, ...], _some] = ()
    same_signer: bool = False
    trust_root: Annotated[str, _trust_root] = ""


def signature_rules(table: SignaturesTable, folder: str) -> dict[str, Any]:
    """Return the attributes of ``Rules`` that a table ``[signatures]`` sets.

    ``folder`` is that of the policy file; a relative trust root is below it.
    """
    root, required = table.trust_root, table.required
    place = os.path.normpath(os.path.join(os.path.abspath(folder), root)) if root else ""
    patterns = {SignerPattern(*each, place) for each in table.identity}
    if place and not patterns:
        patterns = {SignerPattern(trust_root=place)}
    named = (ANY_SOURCE if required else ()) if isinstance(required, bool) else required
    return {
        "signed_sources": tuple(sorted({each.strip().lower() for each in named})),
        "signers": (tuple(sorted(patterns)),) if patterns else (),
        "same_signer": table.same_signer,
    }


def signer_in_entry(entry: Mapping[str, object]) -> CertificateSigner | None:
    """Return the signer in an entry of a lock file, read as JSON; None where there is none.

    A signer of other content than the entry pins, or in another form, is none.
    """
    value = entry.get(SIGNER_KEY)
    if not isinstance(value, dict) or not value.get("digest"):
        return None
    identity, issuer = value.get("identity"), value.get("issuer")
    if not isinstance(identity, str) or not isinstance(issuer, str) or not identity:
        return None
    return CertificateSigner(identity, issuer) if value["digest"] == entry.get("digest") else None
