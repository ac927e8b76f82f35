"""A policy file, read strictly from TOML: an unknown key is an error, never ignored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.text import clean_line, shorten
from skillyard.engine.skill import SCOPES
from skillyard.install.policy.signers import ANY_SOURCE, RuleFault, SignerPattern, parse_signatures

SEVERITIES = ("none", "low", "medium", "high")
"""Severities of findings, ascending."""
_CHOICES = ("allow", "deny")


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
        if rule in _WORDS:
            return str(getattr(self, _WORDS[rule][0]))
        if rule in _SWITCHES:
            return str(getattr(self, _SWITCHES[rule])).lower()
        if rule == "signatures.required" and ANY_SOURCE[0] in self.signed_sources:
            return "true"
        if rule == "signatures.trust_root":
            return clean_line(", ".join(filter(None, self.trust_roots)))
        if rule == "signatures.identity":
            return " and ".join(", ".join(each.shown for each in set_) for set_ in self.signers)
        value = getattr(self, _LISTS[rule])
        sets = value if rule.endswith(".allowed") else (value,)
        return clean_line(" and ".join(", ".join(each) or "nothing" for each in sets))


NO_RULES = Rules()

_LISTS = {
    "sources.allowed": "allowed_sources",
    "licences.allowed": "allowed_licences",
    "tags.allowed": "allowed_tags",
    "tools.denied": "denied_tools",
    "skills.denied": "denied_skills",
    "signatures.required": "signed_sources",
}
_WORDS = {
    "sources.unlocked": ("unlocked", _CHOICES),
    "licences.missing": ("missing_licence", _CHOICES),
    "scan.max_severity": ("max_severity", SEVERITIES),
}
_SWITCHES = {"pins.required": "pins_required", "signatures.same_signer": "same_signer"}
_SIGNATURES = "signatures"
_KEYS = sorted([*_LISTS, *_WORDS, *_SWITCHES, "signatures.identity", "signatures.trust_root"])
_OF_PROFILES = ("roots", "scopes", "tags")


@dataclass(frozen=True, slots=True)
class Profile:
    """What one file says of one profile."""

    roots: tuple[str, ...] = ()
    """As they are written; relative ones begin in the folder of the file."""
    scopes: tuple[str, ...] = ()
    rules: Rules = NO_RULES
    line: int | None = None
    """Where it begins."""


class PolicyFile(NamedTuple):
    """What one file says."""

    path: str
    rules: Rules
    profiles: Mapping[str, Profile]


def parse_policy(data: bytes, path: str) -> PolicyFile:
    """Return what a policy file says. Raises SkillIoError (``policy_invalid``) for any fault."""
    import tomllib

    try:
        text = data.decode("utf-8")
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _fault("the policy is not UTF-8 text", path, line, "save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _fault(
            f"the policy is not TOML: {error}", path, _line_of_error(str(error)), "correct it"
        ) from None
    profiles = document.pop("profiles", {})
    if not isinstance(profiles, dict) or not all(isinstance(p, dict) for p in profiles.values()):
        start = _line_of("profiles", text)
        raise _fault("profiles must be tables", path, start, "write [profiles.NAME]")
    return PolicyFile(
        path,
        _rules(document, text, path),
        {name: _profile(name, members, text, path) for name, members in profiles.items()},
    )


def _profile(name: str, members: dict[str, Any], text: str, path: str) -> Profile:
    start = _line_of(f"profiles.{name}", text)
    if start is not None:  # faults are in the lines from there on
        text = "\n" * (start - 1) + "\n".join(text.split("\n")[start - 1 :])
    lists: dict[str, tuple[str, ...]] = {}
    for key in _OF_PROFILES:
        if isinstance(members.get(key), dict):
            continue  # [profiles.NAME.tags] allowed = […]
        if key == "tags" and key not in members:
            continue  # an empty list allows nothing, as everywhere
        value = members.pop(key, [])
        if not isinstance(value, list) or not all(
            isinstance(each, str) and each and "\0" not in each for each in value
        ):
            hint = f'write {key} = ["…"]'
            raise _fault(f"profiles.{name}.{key} must be a list of texts", path, start, hint)
        lists[key] = tuple(dict.fromkeys(value))
    for scope in lists["scopes"]:
        if scope not in SCOPES:
            hint = f"known scopes: {', '.join(SCOPES)}"
            raise _fault(f"profiles.{name}.scopes has the unknown {scope}", path, start, hint)
    if "tags" in lists:
        members["tags"] = {"allowed": list(lists["tags"])}
    rules = _rules(members, text, path)
    return Profile(lists["roots"], lists["scopes"], rules, start)


def _rules(document: dict[str, Any], text: str, path: str) -> Rules:
    settings: dict[str, Any] = {}
    where: dict[str, str] = {}
    for table, members in document.items():
        if not isinstance(members, dict):
            raise _unknown(table, text, path, table)
        if table == _SIGNATURES:
            settings |= _signatures(members, text, path)
            where |= {f"{table}.{name}": path for name in members}
            continue
        for name, value in members.items():
            key = f"{table}.{name}"
            attribute, setting = _value(key, value, text, path)
            settings[attribute] = setting
            where[key] = path
        if not members and not any(key.startswith(f"{table}.") for key in _KEYS):
            raise _unknown(table, text, path, table)
    return Rules(**settings, where=where)


def _signatures(members: Mapping[str, object], text: str, path: str) -> dict[str, Any]:
    try:
        return parse_signatures(members, os.path.dirname(path))
    except RuleFault as fault:
        name = fault.key.partition(".")[2]
        if not fault.hint:
            raise _unknown(fault.key, text, path, name) from None
        raise _fault(f"{fault.key} {fault}", path, _line_of(name, text), fault.hint) from None


def _value(key: str, value: object, text: str, path: str) -> tuple[str, Any]:
    name = key.partition(".")[2]
    line = _line_of(name, text)
    if key in _LISTS:
        if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            raise _fault(f"{key} must be a list of texts", path, line, f'write {name} = ["…"]')
        items = tuple(sorted({each.strip().lower() for each in value}))
        return _LISTS[key], (items,) if key.endswith(".allowed") else items
    if key in _WORDS:
        attribute, words = _WORDS[key]
        if not isinstance(value, str) or value not in words:
            hint = f"write one of {', '.join(words)} in quotes"
            raise _fault(f"{key} has a value that is not known", path, line, hint)
        return attribute, value
    if key in _SWITCHES:
        if not isinstance(value, bool):
            raise _fault(f"{key} must be true or false", path, line, "write true or false")
        return _SWITCHES[key], value
    raise _unknown(key, text, path, name)


def _unknown(key: str, text: str, path: str, name: str) -> SkillIoError:
    shown = shorten(clean_line(key), 80)
    known = f"{', '.join(_KEYS)}; in [profiles.NAME] also {', '.join(_OF_PROFILES)}"
    hint = f"remove it; known keys: {known}"
    return _fault(f"there is no rule {shown}", path, _line_of(name, text), hint)


def _fault(message: str, path: str, line: int | None, hint: str) -> SkillIoError:
    error = SkillIoError(
        shorten(clean_line(message), 300), path=path, code="policy_invalid", hint=hint
    )
    error.line = line
    return error


def _line_of_error(message: str) -> int | None:
    digits = message.partition("at line ")[2].partition(",")[0]
    return int(digits) if digits.isdigit() else None


def _line_of(name: str, text: str) -> int | None:
    """Return the first line that sets a key or opens a table of that name."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip().lstrip("[").lstrip("\"'").startswith(name):
            return number
    return None


def stricter(one: Rules, other: Rules) -> Rules:
    """Return rules that allow exactly what both allow. The order of the two does not matter."""
    severity = min(one.max_severity, other.max_severity, key=SEVERITIES.index)
    where = {**other.where, **one.where}
    for key, (attribute, _) in _WORDS.items():
        if getattr(one, attribute) != getattr(other, attribute):
            strict = severity if attribute == "max_severity" else "deny"
            strictest = one if getattr(one, attribute) == strict else other
            if key in strictest.where:
                where[key] = strictest.where[key]
    for key, attribute in (*_SWITCHES.items(), ("signatures.required", "signed_sources")):
        if getattr(other, attribute) and not getattr(one, attribute) and key in other.where:
            where[key] = other.where[key]
    return replace(
        one,
        allowed_sources=tuple(sorted({*one.allowed_sources, *other.allowed_sources})),
        unlocked="deny" if "deny" in (one.unlocked, other.unlocked) else "allow",
        pins_required=one.pins_required or other.pins_required,
        max_severity=severity,
        allowed_licences=tuple(sorted({*one.allowed_licences, *other.allowed_licences})),
        missing_licence="deny"
        if "deny" in (one.missing_licence, other.missing_licence)
        else "allow",
        denied_tools=tuple(sorted({*one.denied_tools, *other.denied_tools})),
        denied_skills=tuple(sorted({*one.denied_skills, *other.denied_skills})),
        signed_sources=tuple(sorted({*one.signed_sources, *other.signed_sources})),
        signers=tuple(sorted({*one.signers, *other.signers})),
        same_signer=one.same_signer or other.same_signer,
        allowed_tags=tuple(sorted({*one.allowed_tags, *other.allowed_tags})),
        where=where,
    )
