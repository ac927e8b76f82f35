"""A sigstore bundle → who signed, verified offline with sigstore-python (extra ``sigstore``).

The bundle contains the certificate, the entry in the transparency log and the proof that it is
there. The trust root names the authorities: the one that the library ships, or a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import SkillIoError
from skillyard.base.extras import install_command
from skillyard.engine.resources import read_file
from skillyard.install.copies.installed import InstallRefused
from skillyard.install.policy.signers import CertificateSigner
from skillyard.install.signatures.manifest import (
    FOLDER_BUNDLE,
    PAYLOAD_TYPE,
    SignatureInvalid,
    check_files_signed,
)
from skillyard.install.sources.archive_bundle import MAX_BUNDLE_BYTES
from skillyard.install.sources.protocol import ArchiveBundle

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.models import Bundle
    from sigstore.verify import Verifier

_MAX_ROOT_BYTES = 4 << 20
_ISSUER = "1.3.6.1.4.1.57264.1.8"
_ISSUER_V1 = "1.3.6.1.4.1.57264.1.1"
"""Extensions of a certificate of Fulcio: the OpenID Connect issuer, new and old form."""
_OTHER_NAME = "1.3.6.1.4.1.57264.1.7"


def verify_archive(bundle: ArchiveBundle, trust_roots: Iterable[str]) -> CertificateSigner:
    """Return who signed an archive. Raises SignatureInvalid, InstallRefused, SkillIoError."""
    _check_installed()
    from sigstore.hashes import Hashed
    from sigstore_models.common.v1 import HashAlgorithm

    digest = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=bundle.digest)

    def verify(verifier: Verifier, content: Bundle, any_signer: Any) -> None:
        verifier.verify_artifact(digest, content, any_signer)

    return _verify(bundle.data, trust_roots, verify)


def verify_folder(files: Mapping[str, bytes], trust_roots: Iterable[str]) -> CertificateSigner:
    """Return who signed the files of a skill, of which one is the bundle.

    Raises SignatureInvalid, also where the bundle does not list each of them; InstallRefused
    without the extra; SkillIoError for a trust root.
    """
    _check_installed()

    def verify(verifier: Verifier, content: Bundle, any_signer: Any) -> None:
        kind, payload = verifier.verify_dsse(content, any_signer)
        if kind != PAYLOAD_TYPE:
            raise SignatureInvalid(f"it signs a payload of the type {kind!r}, not {PAYLOAD_TYPE}")
        check_files_signed(payload, files)

    return _verify(files[FOLDER_BUNDLE], trust_roots, verify)


def _check_installed() -> None:
    """Raise InstallRefused where the extra is missing: nothing is verified then."""
    try:
        import sigstore.verify  # noqa: F401
    except ImportError:
        raise InstallRefused(
            "signatures cannot be verified: sigstore is not installed",
            path="",
            code="signature_unchecked",
            hint=f"install it: {install_command('sigstore')}",
        ) from None


class _AnySigner:
    """Accepts each certificate: the policy decides on the signer that it names."""

    def verify(self, cert: Certificate) -> None:
        """Accept a certificate."""


def _verify(data: bytes, trust_roots: Iterable[str], verify: Any) -> CertificateSigner:
    """Return the signer of a bundle that verifies by one of the trust roots."""
    from sigstore.models import Bundle

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
            verify(verifier, content, _AnySigner())
            identity, issuer = _signer_of(content.signing_certificate)
            return CertificateSigner(identity, issuer, root)
        except SignatureInvalid as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - hostile bytes: whatever fails verifies nothing
            failure = SignatureInvalid(str(error) or type(error).__name__)
    raise failure


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
    if _ISSUER in raw:
        return identities[0], asn1.decode_der(str, raw[_ISSUER].value)
    if _ISSUER_V1 not in raw:
        raise SignatureInvalid("its certificate names no issuer of the identity")
    return identities[0], raw[_ISSUER_V1].value.decode()


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
