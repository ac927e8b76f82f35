"""The signer in an entry of the lock file, under ``sigstoreSigner``: identity, issuer, digest.

The digest is that of the entry, so a signer of other content no longer counts.
"""

from __future__ import annotations

from dataclasses import replace

from skillyard.install.copies.lock_entries import Json, LockedSkill
from skillyard.install.policy.signers import SIGNER_KEY, Signer, signer_in_entry


def signer_of(entry: LockedSkill | None) -> Signer | None:
    """Return who signed what an entry pins; None where it does not say."""
    return None if entry is None else signer_in_entry(entry.to_json())


def with_signer(entry: LockedSkill, signer: Signer | None) -> LockedSkill:
    """Return the entry with this signer, or without one, instead of another."""
    others = {key: value for key, value in entry.extra.items() if key != SIGNER_KEY}
    if signer is None or entry.digest is None:
        return replace(entry, extra=others)
    record: Json = {
        "digest": entry.digest,
        "identity": signer.identity,
        "issuer": signer.issuer,
    }
    return replace(entry, extra={**others, SIGNER_KEY: record})
