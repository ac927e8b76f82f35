"""A sigstore bundle → who signed, verified offline with sigstore-python (extra ``sigstore``).

The bundle contains the certificate, the entry in the transparency log and the proof that it is
there. The trust root names the authorities: the one that the library ships, or a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import SkillIoError
from skillyard.base.extras import install_command
from skillyard.base.io.files import sha256
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.text import clean_line, plural, shorten
from skillyard.engine.resources import read_file
from skillyard.install.copies.installed import InstallRefused
from skillyard.install.copies.lockfile import Json, LockedSkill
from skillyard.install.policy.rules import SIGNER_KEY, CertificateSigner, signer_in_entry

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.verify import Verifier


MAX_BUNDLE_BYTES = 1 << 20
"""A bundle of 512 files has about 150 KB."""
_MAX_ROOT_BYTES = 4 << 20
_ISSUER = "1.3.6.1.4.1.57264.1.8"
"""The extension of a certificate of Fulcio with the OpenID Connect issuer."""
_OTHER_NAME = "1.3.6.1.4.1.57264.1.7"


def verify_folder(files: Mapping[str, bytes], trust_roots: Iterable[str]) -> CertificateSigner:
    """Return who signed the files of a skill, of which one is the bundle.

    Raises SignatureInvalid, also where the bundle does not list each of them; InstallRefused
    without the extra; SkillIoError for a trust root.
    """
    try:
        from sigstore.models import Bundle
    except ImportError:
        raise InstallRefused(
            "signatures cannot be verified: sigstore is not installed",
            code="signature_unchecked",
            hint=f"install it: {install_command('sigstore')}",
        ) from None
    data = files[FOLDER_BUNDLE]
    if len(data) > MAX_BUNDLE_BYTES:
        raise SignatureInvalid(f"it has more than {MAX_BUNDLE_BYTES:,} bytes")
    verifiers = [(root, _verifier(root)) for root in trust_roots]
    try:
        content = Bundle.from_json(data)
    except Exception as error:  # noqa: BLE001 - hostile bytes: whatever fails is no bundle
        why = str(error).partition("failed to load bundle:")[0]  # what follows is a library's trace
        raise SignatureInvalid(f"it is not a sigstore bundle{why and f': {why}'}") from None
    failure = SignatureInvalid("there is no trust root")
    for root, verifier in verifiers:
        try:
            kind, payload = verifier.verify_dsse(content, _AnySigner())
            if kind != PAYLOAD_TYPE:
                raise SignatureInvalid(
                    f"it signs a payload of the type {kind!r}, no {PAYLOAD_TYPE}"
                )
            check_files_signed(payload, files)
            identity, issuer = _signer_of(content.signing_certificate)
            return CertificateSigner(identity, issuer, root)
        except SignatureInvalid as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - hostile bytes: whatever fails verifies nothing
            failure = SignatureInvalid(str(error) or type(error).__name__)
    raise failure


class _AnySigner:
    """Accepts each certificate: the policy decides on the signer that it names."""

    def verify(self, cert: Certificate) -> None:
        """Accept a certificate."""


def _signer_of(certificate: Certificate) -> tuple[str, str]:
    """Return identity and issuer of a verified certificate; a fault raises some exception."""
    from cryptography import x509
    from cryptography.hazmat import asn1

    extensions = certificate.extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    identities = [
        name.value.decode() if isinstance(name, x509.OtherName) else str(name.value)
        for name in names
        if isinstance(name, x509.RFC822Name | x509.UniformResourceIdentifier)
        or (isinstance(name, x509.OtherName) and name.type_id.dotted_string == _OTHER_NAME)
    ]
    if len(identities) != 1:
        raise SignatureInvalid(f"its certificate has {len(identities)} identities, not one")
    raw = {each.oid.dotted_string: each.value for each in extensions}
    if _ISSUER not in raw:
        raise SignatureInvalid("its certificate names no issuer of the identity")
    return identities[0], asn1.decode_der(str, raw[_ISSUER].value)


def _verifier(trust_root: str) -> Verifier:
    """Return the verifier of a trust root. Raises SkillIoError for a file that is none."""
    if not trust_root:
        from sigstore._utils import read_embedded

        return _verifier_of(read_embedded("trusted_root.json", _PUBLIC))
    try:
        return _verifier_of(read_file(trust_root, _MAX_ROOT_BYTES).data)
    except SkillIoError as error:
        reason = error.message
    except Exception:  # noqa: BLE001 - a library's errors, which quote the file
        reason = "it is not a trust root of sigstore"
    raise SkillIoError(
        f"the trust root cannot be read: {reason}",
        path=os.path.abspath(trust_root),
        code="policy_invalid",
        hint="name a trusted_root.json, or a client trust configuration, of your sigstore"
        " instance as signatures.trust_root",
    )


_PUBLIC = "https://tuf-repo-cdn.sigstore.dev"


@lru_cache(8)
def _verifier_of(data: bytes) -> Verifier:
    """Return the verifier of a trusted root, or of the one in a client trust configuration."""
    from sigstore.models import ClientTrustConfig, TrustedRoot
    from sigstore.verify import Verifier
    from sigstore_models.trustroot.v1 import TrustedRoot as Document

    text = data.decode("utf-8")
    if '"trustedRoot"' in text:
        return Verifier(trusted_root=ClientTrustConfig.from_json(text).trusted_root)
    return Verifier(trusted_root=TrustedRoot(Document.from_json(text)))


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
    record: Json = {"digest": entry.digest, "identity": signer.identity, "issuer": signer.issuer}
    return replace(entry, extra={**others, SIGNER_KEY: record})
