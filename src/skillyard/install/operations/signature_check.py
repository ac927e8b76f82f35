"""Whether what is to be installed is signed, by whom, and by whom it was signed before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from skillyard.base.shapes import installation as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.text import clean_line, shorten
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.refusal import InstallRefused
from skillyard.install.policy.decision import Policy
from skillyard.install.policy.places import find_policy
from skillyard.install.policy.rules import NO_RULES, Rules
from skillyard.install.policy.signers import Signer
from skillyard.install.signatures.bundle import verify_archive, verify_folder
from skillyard.install.signatures.manifest import FOLDER_BUNDLE, SignatureInvalid
from skillyard.install.signatures.record import signer_of
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.settings import Settings


class SignatureCheck(NamedTuple):
    """Who signed a version of a skill, and who signed the one that the lock pins."""

    signer: Signer | None = None
    before: Signer | None = None

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


def checks_signatures(folder: str) -> bool:
    """Return whether the policy of a folder has a rule of ``signatures``. Raises SkillIoError."""
    policy = find_policy(folder, profile="")
    return policy is not None and policy.rules.checks_signatures


def with_bundles(settings: Settings, folder: str, entries: Iterable[LockedSkill]) -> Settings:
    """Return settings by which the bundles beside archives are fetched, where they are checked.

    ``folder`` is that of the lock file with the entries. Raises SkillIoError for the policy.
    """
    checks = checks_signatures(folder) or any(map(signer_of, entries))
    return settings._replace(archive_bundles=checks)


def check_signature(
    entry: LockedSkill, package: Package, known: LockedSkill | None, policy: Policy | None
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
        path="",
        code="signature_recorded",
        hint="if you trust the signer, remove the skill and add it again",
    )


def verify_signature(name: str, package: Package, rules: Rules) -> Signer | None:
    """Return who signed the files of a package; None for one without a bundle.

    The bundle beside an archive goes before the one in the folder. Raises InstallRefused, whose
    code is ``signature_invalid``, or ``signature_unchecked`` without the extra; SkillIoError for a
    trust root.
    """
    try:
        if package.bundle is not None:
            return verify_archive(package.bundle, rules.trust_roots)
        if FOLDER_BUNDLE in package.files:
            return verify_folder(package.files, rules.trust_roots)
    except SignatureInvalid as error:
        raise invalid_signature(name, str(error)) from None
    return None


def invalid_signature(name: str, why: str) -> InstallRefused:
    """Return the error of a signature that does not sign the files."""
    return InstallRefused(
        f"the signature of {shorten(clean_line(name), 80)} is not valid: {why}",
        path="",
        code="signature_invalid",
        hint="do not use it; tell its author, who can sign it again",
    )
