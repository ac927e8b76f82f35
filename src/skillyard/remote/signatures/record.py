"""The signer in an entry of the lock file, under ``sigstoreSigner``: identity, issuer, digest.

The digest is that of the entry, so a signer of other content no longer counts.
"""

from __future__ import annotations

from dataclasses import replace

from skillyard.policy.signers import SIGNER_KEY, Signer, signer_in_entry
from skillyard.remote.install.javascript_json import stringify
from skillyard.remote.install.lock_entries import LockedSkill

__all__ = ["signer_of", "with_signer"]


def signer_of(entry: LockedSkill | None) -> Signer | None:
    """Return who signed what an entry pins; None where it does not say."""
    return None if entry is None else signer_in_entry(entry.to_json())


def with_signer(entry: LockedSkill, signer: Signer | None) -> LockedSkill:
    """Return the entry with this signer, or without one, instead of another."""
    others = [pair for pair in entry.extra if pair[0] != SIGNER_KEY]
    if signer is None or entry.digest is None:
        return entry if len(others) == len(entry.extra) else replace(entry, extra=others)
    record = {"digest": entry.digest, "identity": signer.identity, "issuer": signer.issuer}
    return replace(entry, extra=[*others, (SIGNER_KEY, stringify(dict(record)))])
