"""The signed list of files in a bundle: an in-toto statement of OpenSSF Model Signing 1.0.

https://github.com/ossf/model-signing-spec defines it. Every file that is installed must be in it:
paths that the author left out of the signature are refused like files that somebody added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skillyard.base.io.sha256 import sha256
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.text import clean_line, plural, shorten
from skillyard.install.copies.lock_entries import Json, LockedSkill
from skillyard.install.policy.signers import SIGNER_KEY, CertificateSigner, signer_in_entry

FOLDER_BUNDLE = "skill.sigstore.json"
"""The bundle in the folder of a skill. It is the one file that is not in its own list."""
PAYLOAD_TYPE = "application/vnd.in-toto+json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://model_signing/signature/v1.0"
_DIGEST = re.compile("[0-9a-f]{64}")
_SHOWN = 3


class SignatureInvalid(Exception):
    """A bundle that does not sign what came. Its text says why, cleaned."""

    def __init__(self, why: str) -> None:
        super().__init__(shorten(clean_line(why), 300))


def check_files_signed(payload: bytes, files: Mapping[str, bytes]) -> None:
    """Check that a verified statement lists exactly the files of a skill, but for the bundle.

    Raises SignatureInvalid.
    """
    expected = _digests_in(payload)
    present = {path: sha256(data).hex() for path, data in files.items() if path != FOLDER_BUNDLE}
    for paths, what in (
        (
            {path for path in present if expected.get(path, present[path]) != present[path]},
            "changed since it was signed",
        ),
        (present.keys() - expected.keys(), "not listed in the signature"),
        (expected.keys() - present.keys(), "missing, but listed in the signature"),
    ):
        if paths:
            some = ", ".join(map(ascii, sorted(paths)[:_SHOWN]))
            more = f" and {plural(len(paths) - _SHOWN, 'more')}" if len(paths) > _SHOWN else ""
            raise SignatureInvalid(f"{what}: {some}{more}")


def _digests_in(payload: bytes) -> dict[str, str]:
    """Return the digest of each path in a statement. Raises SignatureInvalid."""
    try:
        statement = strict_loads(payload.decode("utf-8"))
        subjects, predicate = statement["subject"], statement["predicate"]
        if (statement["_type"], statement["predicateType"]) != (_STATEMENT, _PREDICATE):
            raise SignatureInvalid(
                f"it signs a statement of the type {statement['predicateType']!r}, not {_PREDICATE}"
            )
        if predicate["serialization"]["method"] != "files" or len(subjects) != 1:
            raise SignatureInvalid("it does not list the files one by one")
        digests: dict[str, str] = {}
        for resource in predicate["resources"]:
            _add(digests, resource)
        total = sha256(b"".join(map(bytes.fromhex, digests.values()))).hex()
        if subjects[0]["digest"]["sha256"] != total:
            raise SignatureInvalid("its list of files has another digest than it says")
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        raise SignatureInvalid("it signs no list of files") from None
    return digests


def _add(digests: dict[str, str], resource: Any) -> None:
    path, digest = resource["name"], resource["digest"]
    if resource["algorithm"] != "sha256" or not _DIGEST.fullmatch(digest):
        raise SignatureInvalid("it lists a digest that is not SHA-256; sign with sha256")
    if not isinstance(path, str) or path in digests:
        raise SignatureInvalid("it lists one path twice")
    digests[path] = digest


def signer_of(entry: LockedSkill | None) -> CertificateSigner | None:
    """Return who signed what an entry pins; None where it does not say."""
    return None if entry is None else signer_in_entry(entry.to_json())


def with_signer(entry: LockedSkill, signer: CertificateSigner | None) -> LockedSkill:
    """Return the entry with this signer, or without one, instead of another.

    The record has the digest of the entry: the signer of other content does not count.
    """
    others = {key: value for key, value in entry.extra.items() if key != SIGNER_KEY}
    if signer is None or entry.digest is None:
        return replace(entry, extra=others)
    record: Json = {
        "digest": entry.digest,
        "identity": signer.identity,
        "issuer": signer.issuer,
    }
    return replace(entry, extra={**others, SIGNER_KEY: record})
