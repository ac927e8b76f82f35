"""Who may sign skills: the table ``[signatures]`` of a policy, and the signer in a lock entry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from skillyard.base.text import clean_line, shorten

ANY_SOURCE = ("*",)
"""What ``required = true`` means."""
SIGNER_KEY = "sigstoreSigner"
"""The key of the signer in an entry of a lock file. The common installer preserves it."""
_SHOWN = 160
_MAX_PATTERNS = 256
_KEYS = ("required", "identity", "same_signer", "trust_root")


def matches_pattern(text: str, pattern: str) -> bool:
    """Return True where a pattern of a policy matches: ``*`` is any text, all else is itself."""
    plain = pattern.replace("[", "[[]").replace("?", "[?]")
    return text == pattern or fnmatchcase(text, plain)


class Signer(NamedTuple):
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
        return f"{_line(self.identity)} ({_line(self.issuer)})"


class SignerPattern(NamedTuple):
    """Signers that a policy accepts. ``*`` stands for any text; case counts."""

    identity: str = "*"
    issuer: str = "*"
    trust_root: str = ""
    """Absolute path of a file; empty for Sigstore's public trust root."""

    def matches(self, signer: Signer) -> bool:
        """Return True for a signer that is accepted."""
        return (
            signer.trust_root in (None, self.trust_root)
            and matches_pattern(signer.identity, self.identity)
            and matches_pattern(signer.issuer, self.issuer)
        )

    @property
    def shown(self) -> str:
        """One line for a person."""
        return f"{_line(self.identity)} ({_line(self.issuer)})"


class RuleFault(ValueError):
    """A value of a rule that is refused."""

    def __init__(self, key: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.key = key
        self.hint = hint


def _line(text: str) -> str:
    return shorten(clean_line(text), _SHOWN)


def parse_signatures(table: Mapping[str, object], folder: str) -> dict[str, Any]:
    """Return the attributes of ``Rules`` that a table ``[signatures]`` sets.

    ``folder`` is that of the policy file; a relative trust root is below it. Raises RuleFault,
    without a hint for an unknown key.
    """
    for key in table:
        if key not in _KEYS:
            raise RuleFault(f"signatures.{key}", "", "")
    root = table.get("trust_root")
    if root is not None and (not isinstance(root, str) or not root.strip() or "\0" in root):
        hint = 'write trust_root = "trusted_root.json"'
        raise RuleFault("signatures.trust_root", "must be the path of a file", hint)
    if isinstance(root, str) and root.startswith(("//", "\\\\")):
        hint = "copy it beside the policy"
        raise RuleFault("signatures.trust_root", "is a file of another machine", hint)
    place = os.path.normpath(os.path.join(os.path.abspath(folder), root)) if root else ""
    patterns = _patterns(table.get("identity"), place) if "identity" in table else ()
    if place and not patterns:
        patterns = (SignerPattern(trust_root=place),)
    same = table.get("same_signer", False)
    if not isinstance(same, bool):
        raise RuleFault("signatures.same_signer", "must be true or false", "write true or false")
    return {
        "signed_sources": _sources(table.get("required", False)),
        "signers": (patterns,) if patterns else (),
        "same_signer": same,
    }


def _sources(value: object) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ANY_SOURCE if value else ()
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        hint = 'write required = true, or ["github:acme/*"]'
        message = "must be true, false or a list of patterns of sources"
        raise RuleFault("signatures.required", message, hint)
    return tuple(sorted({each.strip().lower() for each in value}))


def _patterns(value: object, trust_root: str) -> tuple[SignerPattern, ...]:
    hint = 'write identity = [{ identity = "…", issuer = "https://…" }]'
    if not isinstance(value, list) or not 0 < len(value) <= _MAX_PATTERNS:
        message = f"must be a list of 1 to {_MAX_PATTERNS} tables"
        raise RuleFault("signatures.identity", message, hint)
    patterns = set()
    for each in value:
        members = each if isinstance(each, dict) else {}
        values = [members.get(key) for key in ("identity", "issuer")]
        texts = [text for text in values if isinstance(text, str) and text.strip()]
        if len(texts) != 2 or len(members) != 2:
            message = "must have an identity and an issuer in each table, and nothing else"
            raise RuleFault("signatures.identity", message, hint)
        patterns.add(SignerPattern(texts[0], texts[1], trust_root))
    return tuple(sorted(patterns))


def signer_in_entry(entry: Mapping[str, object]) -> Signer | None:
    """Return the signer in an entry of a lock file, read as JSON; None where there is none.

    A signer of other content than the entry pins, or in another form, is none.
    """
    value = entry.get(SIGNER_KEY)
    if not isinstance(value, dict) or not value.get("digest"):
        return None
    identity, issuer = value.get("identity"), value.get("issuer")
    if not isinstance(identity, str) or not isinstance(issuer, str) or not identity:
        return None
    return Signer(identity, issuer) if value["digest"] == entry.get("digest") else None
