"""A private instance of sigstore in one process: certificate authority, CT log, transparency log.

What it signs is what the public instance signs, with its own keys, so that everything is verified
for real and offline. Needs the package ``cryptography``, which comes with ``sigstore``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat import asn1
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from tests.install.signatures.statements import statement_of

__all__ = ["BUNDLE_TYPE", "ISSUER", "WORKFLOW", "SigstoreInstance"]

ISSUER = "https://token.actions.githubusercontent.com"
WORKFLOW = "https://github.com/acme/skills/.github/workflows/release.yml@refs/tags/v1"
BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_YEARS = timedelta(days=3_650)
_SCT_LIST = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_ISSUER_EXTENSION = ObjectIdentifier("1.3.6.1.4.1.57264.1.8")


class SigstoreInstance:
    """Keys of one instance; two of them trust each other in nothing."""

    def __init__(self) -> None:
        self._ca_key = ec.generate_private_key(ec.SECP256R1())
        self._ct_key = ec.generate_private_key(ec.SECP256R1())
        self._log_key = ec.generate_private_key(ec.SECP256R1())
        name = _name("test authority")
        public = self._ca_key.public_key()
        self._ca = (
            x509.CertificateBuilder(name, name, public, 1, _NOW - _YEARS, _NOW + _YEARS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._ca_key, hashes.SHA256())
        )

    def trust_root(self) -> dict[str, Any]:
        """Return what a client must know of the instance: a ``trusted_root.json``."""
        period = {"start": _time(_NOW - _YEARS)}
        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [_log("https://log.test", self._log_key, period)],
            "certificateAuthorities": [
                {
                    "subject": {"organization": "test", "commonName": "test authority"},
                    "uri": "https://ca.test",
                    "certChain": {
                        "certificates": [{"rawBytes": _text(self._ca.public_bytes(Encoding.DER))}]
                    },
                    "validFor": period,
                }
            ],
            "ctlogs": [_log("https://ct.test", self._ct_key, period)],
        }

    def sign_statement(
        self,
        statement: bytes,
        identity: str = WORKFLOW,
        issuer: str = ISSUER,
        *,
        kind: str = "application/vnd.in-toto+json",
        late: timedelta = timedelta(0),
    ) -> dict[str, Any]:
        """Return a bundle with a statement; it is logged ``late`` after the certificate."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._certificate(key, identity, issuer)
        framed = f"DSSEv1 {len(kind)} {kind} {len(statement)} ".encode() + statement
        signature = _text(key.sign(framed, ec.ECDSA(hashes.SHA256())))
        envelope = {
            "payload": _text(statement),
            "payloadType": kind,
            "signatures": [{"sig": signature, "keyid": ""}],
        }
        body = {
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": _hash(json.dumps(envelope).encode()),
                "payloadHash": _hash(statement),
                "signatures": [
                    {
                        "signature": signature,
                        "verifier": _text(certificate.public_bytes(Encoding.PEM)),
                    }
                ],
            },
        }
        return {**self._bundle(certificate, body, late), "dsseEnvelope": envelope}

    def sign_files(
        self, files: Mapping[str, bytes], identity: str = WORKFLOW, issuer: str = ISSUER
    ) -> bytes:
        """Return the bundle that lies in the folder of a skill with these files."""
        return json.dumps(self.sign_statement(statement_of(files), identity, issuer)).encode()

    def _certificate(
        self, key: ec.EllipticCurvePrivateKey, identity: str, issuer: str
    ) -> x509.Certificate:
        name: x509.GeneralName = (
            x509.UniformResourceIdentifier(identity)
            if "://" in identity
            else x509.RFC822Name(identity)
        )
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._ca_key.public_key())
        code_signing = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING])
        of_issuer = x509.UnrecognizedExtension(_ISSUER_EXTENSION, asn1.encode_der(issuer))
        public = key.public_key()
        builder = (
            x509.CertificateBuilder(
                self._ca.subject,
                x509.Name([]),
                public,
                x509.random_serial_number(),
                _NOW,
                _NOW + timedelta(minutes=10),
            )
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(code_signing, critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(authority, critical=False)
            .add_extension(x509.SubjectAlternativeName([name]), critical=True)
            .add_extension(of_issuer, critical=False)
        )
        unlogged = builder.sign(self._ca_key, hashes.SHA256()).tbs_certificate_bytes
        timestamps = x509.UnrecognizedExtension(_SCT_LIST, self._ct_timestamps(unlogged))
        return builder.add_extension(timestamps, critical=False).sign(self._ca_key, hashes.SHA256())

    def _ct_timestamps(self, certificate: bytes) -> bytes:
        """Return the list of one signed certificate timestamp (RFC 6962 §3.2), as an extension."""
        millis = int(_NOW.timestamp() * 1_000)
        entry = _key_id(self._ca_key) + len(certificate).to_bytes(3) + certificate
        signed = struct.pack("!BBQH", 0, 0, millis, 1) + entry + b"\0\0"
        signature = self._ct_key.sign(signed, ec.ECDSA(hashes.SHA256()))
        head = b"\0" + _key_id(self._ct_key) + struct.pack("!QH", millis, 0)
        timestamp = head + b"\4\3" + struct.pack("!H", len(signature)) + signature
        one = struct.pack("!H", len(timestamp)) + timestamp
        return asn1.encode_der(struct.pack("!H", len(one)) + one)

    def _bundle(
        self, certificate: x509.Certificate, body: Mapping[str, Any], late: timedelta
    ) -> dict[str, Any]:
        """Return a bundle without its content: the entry is the only one of the log."""
        canonical = json.dumps(body, separators=(",", ":"), sort_keys=True).encode()
        root = hashlib.sha256(b"\0" + canonical).digest()
        log_id = _key_id(self._log_key)
        at = int((_NOW + timedelta(minutes=1) + late).timestamp())
        promise = {
            "body": _text(canonical),
            "integratedTime": at,
            "logID": log_id.hex(),
            "logIndex": 0,
        }
        promised = json.dumps(promise, separators=(",", ":"), sort_keys=True).encode()
        note = f"log.test\n1\n{_text(root)}\n"
        signed_note = _text(log_id[:4] + self._log_signature(note.encode()))
        return {
            "mediaType": BUNDLE_TYPE,
            "verificationMaterial": {
                "certificate": {"rawBytes": _text(certificate.public_bytes(Encoding.DER))},
                "tlogEntries": [
                    {
                        "logIndex": "0",
                        "logId": {"keyId": _text(log_id)},
                        "kindVersion": {"kind": body["kind"], "version": body["apiVersion"]},
                        "integratedTime": str(at),
                        "inclusionPromise": {
                            "signedEntryTimestamp": _text(self._log_signature(promised))
                        },
                        "inclusionProof": {
                            "logIndex": "0",
                            "rootHash": _text(root),
                            "treeSize": "1",
                            "hashes": [],
                            "checkpoint": {"envelope": f"{note}\n— log.test {signed_note}\n"},
                        },
                        "canonicalizedBody": _text(canonical),
                    }
                ],
            },
        }

    def _log_signature(self, data: bytes) -> bytes:
        return self._log_key.sign(data, ec.ECDSA(hashes.SHA256()))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _public(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _key_id(key: ec.EllipticCurvePrivateKey) -> bytes:
    return hashlib.sha256(_public(key)).digest()


def _log(url: str, key: ec.EllipticCurvePrivateKey, period: Mapping[str, str]) -> dict[str, Any]:
    return {
        "baseUrl": url,
        "hashAlgorithm": "SHA2_256",
        "publicKey": {
            "rawBytes": _text(_public(key)),
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "validFor": period,
        },
        "logId": {"keyId": _text(_key_id(key))},
    }


def _hash(data: bytes) -> dict[str, str]:
    return {"algorithm": "sha256", "value": hashlib.sha256(data).hexdigest()}


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
