"""Bundles of a private sigstore instance: only what it signed verifies, and without a network."""

from __future__ import annotations

import copy
import json
import os
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard import SkillIoError
from skillyard.install.policy.rules import CertificateSigner
from skillyard.install.signatures import (
    FOLDER_BUNDLE,
    MAX_BUNDLE_BYTES,
    SignatureInvalid,
    verify_folder,
)
from tests.install.signatures.needed import need_sigstore
from tests.install.signatures.statements import statement_of
from tests.tables import for_each

need_sigstore()

from tests.install.signatures.instance import ISSUER, WORKFLOW, SigstoreInstance  # noqa: E402

FILES = {"SKILL.md": b"Steps.", "scripts/run.py": b"print()"}
INSTANCE, OTHER = SigstoreInstance(), SigstoreInstance()
STATEMENT = statement_of(FILES)
GOOD = INSTANCE.sign_statement(STATEMENT)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("verification opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("roots") / "trusted_root.json"
    path.write_text(json.dumps(INSTANCE.trust_root()))
    return str(path)


def verified(bundle: object, *roots: str) -> CertificateSigner:
    text = bundle if isinstance(bundle, bytes) else json.dumps(bundle).encode()
    return verify_folder({**FILES, FOLDER_BUNDLE: text}, roots)


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    bundle = copy.deepcopy(GOOD)
    change(bundle)
    return bundle


def entry(bundle: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = bundle["verificationMaterial"]["tlogEntries"][0]
    return found


@for_each(
    ("identity", "issuer"),
    [(WORKFLOW, ISSUER), ("ann@acme.example", "https://accounts.example.com/ü")],
)
def test_a_bundle_says_who_signed(root: str, identity: str, issuer: str) -> None:
    bundle = INSTANCE.sign_statement(STATEMENT, identity, issuer)
    assert verified(bundle, root) == CertificateSigner(identity, issuer, root)
    assert verified(bundle, "", root).trust_root == root


def test_a_bundle_says_who_signed_the_files_of_a_folder(root: str) -> None:
    files = {**FILES, FOLDER_BUNDLE: INSTANCE.sign_files(FILES)}
    assert verify_folder(files, [root]) == CertificateSigner(WORKFLOW, ISSUER, root)
    for other in ({**files, "SKILL.md": b"Other."}, {**files, "more.md": b""}):
        with pytest.raises(SignatureInvalid, match=r"SKILL\.md|more\.md"):
            verify_folder(other, [root])


@for_each(
    ("bundle", "says"),
    [
        (b"", "not a sigstore bundle"),
        (b"{}", "not a sigstore bundle"),
        (b"[]", "not a sigstore bundle"),
        (json.dumps(GOOD).encode()[:-20], "not a sigstore bundle"),
        (b"[" * 100_000, "not a sigstore bundle"),
        (b" " * (MAX_BUNDLE_BYTES + 1), "more than 1,048,576 bytes"),
        (changed(lambda b: b.update(mediaType="application/json")), "not a sigstore bundle"),
        (changed(lambda b: b["verificationMaterial"].pop("tlogEntries")), "not a sigstore"),
        (changed(lambda b: b["verificationMaterial"].update(tlogEntries=[])), "one log entry"),
        (changed(lambda b: b["verificationMaterial"].pop("certificate")), "not a sigstore"),
        (changed(lambda b: b["verificationMaterial"].update(
            OTHER.sign_statement(STATEMENT)["verificationMaterial"])), "chain"),
        (changed(lambda b: b["dsseEnvelope"].update(
            INSTANCE.sign_statement(STATEMENT)["dsseEnvelope"])), "signature"),
        (changed(lambda b: entry(b).update(integratedTime="1772366400")), "inclusion promise"),
        (changed(lambda b: entry(b).update(
            entry(INSTANCE.sign_statement(b"{}")))), "payload hash"),
        (changed(lambda b: entry(b)["inclusionProof"].update(rootHash="AAAA")), "root hash"),
        (changed(lambda b: entry(b)["inclusionProof"]["checkpoint"].update(envelope="x")), "note"),
        (INSTANCE.sign_statement(STATEMENT, late=timedelta(hours=1)), "chain"),
        (INSTANCE.sign_statement(statement_of({**FILES, "SKILL.md": b""})), "changed since"),
        (INSTANCE.sign_statement(STATEMENT, kind="text/plain"), "payload of the type"),
        (INSTANCE.sign_statement(b"{}"), "no list of files"),
        (OTHER.sign_statement(STATEMENT), "chain"),
    ],
)  # fmt: skip
def test_what_was_not_signed_like_this_is_refused(root: str, bundle: object, says: str) -> None:
    with pytest.raises(SignatureInvalid, match=says) as caught:
        verified(bundle, root)
    assert len(str(caught.value)) <= 300


def leaves(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, (*path, key))
    else:
        yield path


@settings(max_examples=150)
@given(
    st.sampled_from(list(leaves(GOOD))),
    st.sampled_from([None, "", "AAAA", "0", -1, 1 << 70, 0.5, [], {}, "\ud800", "é"]),
)
def test_no_changed_value_makes_another_signer_or_another_error(
    root: str, path: tuple[Any, ...], value: object
) -> None:
    """A value that is not needed may change; nothing else verifies, and nothing else is raised."""
    bundle = copy.deepcopy(GOOD)
    reduce(lambda inner, key: inner[key], path[:-1], bundle)[path[-1]] = value
    try:
        signer = verified(bundle, root)
    except SignatureInvalid:
        return
    assert signer == CertificateSigner(WORKFLOW, ISSUER, root)


def test_a_client_trust_configuration_is_a_trust_root_too(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    document = {
        "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
        "trustedRoot": INSTANCE.trust_root(),
        "signingConfig": {
            "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
            "caUrls": [], "oidcUrls": [], "rekorTlogUrls": [], "tsaUrls": [],
            "rekorTlogConfig": {"selector": "ANY"}, "tsaConfig": {"selector": "ANY"},
        },
    }  # fmt: skip
    path.write_text(json.dumps(document))
    assert verified(GOOD, str(path)).identity == WORKFLOW


@for_each(
    "data", [None, b"", b"{}", b"\xff", b"[" * 100_000, b'{"trustedRoot": 1}', b" " * 5_000_000]
)
def test_a_trust_root_that_cannot_be_read_is_named(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / f"{len(data or b'')}.json"
    if data is None:
        os.mkfifo(path)
    else:
        path.write_bytes(data)
    with pytest.raises(SkillIoError, match="trust root cannot be read") as caught:
        verified(GOOD, str(path))
    assert (caught.value.path, caught.value.code) == (str(path), "policy_invalid")
