"""Who may sign skills: the table ``[signatures]`` of a policy, and the signer in a lock entry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.strict_toml import SomeText
from skillyard.base.text import clean_line, shorten

ANY_SOURCE = ("*",)
"""What ``required = true`` means."""
SIGNER_KEY = "sigstoreSigner"
"""The key of the signer in an entry of a lock file. The common installer preserves it."""
_SHOWN = 160
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
        return f"{_line(self.identity)} ({_line(self.issuer)})"


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

    @property
    def shown(self) -> str:
        """One line for a person."""
        return f"{_line(self.identity)} ({_line(self.issuer)})"


def _line(text: str) -> str:
    return shorten(clean_line(text), _SHOWN)


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
