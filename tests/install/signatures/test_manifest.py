"""The signed list of files: nothing may be installed that is not in it as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.install.signatures import (
    FOLDER_BUNDLE,
    SignatureInvalid,
    check_files_signed,
)
from tests.install.signatures.statements import statement_of
from tests.tables import for_each

FILES = {"SKILL.md": b"Steps.", "scripts/run.py": b"print()"}
TREES = st.dictionaries(st.sampled_from("abcd"), st.binary(max_size=2), min_size=1)


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    statement = json.loads(statement_of(FILES))
    change(statement)
    return json.dumps(statement).encode()


@given(TREES, TREES)
def test_a_list_signs_exactly_the_files_that_it_was_made_of(
    signed: dict[str, bytes], installed: dict[str, bytes]
) -> None:
    statement = statement_of(signed)
    check_files_signed(statement, {**signed, FOLDER_BUNDLE: b"any"})
    if signed != installed:
        with pytest.raises(SignatureInvalid):
            check_files_signed(statement, installed)


@for_each(
    ("files", "says"),
    [
        ({**FILES, "SKILL.md": b"Other."}, "changed since it was signed: 'SKILL.md'"),
        ({**FILES, "\x1b[2J": b""}, r"not listed in the signature: '\x1b[2J'"),
        ({"SKILL.md": b"Steps."}, "missing, but listed in the signature: 'scripts/run.py'"),
        ({f"{n}": b"" for n in range(9)} | FILES, "'0', '1', '2' and 6 more"),
    ],
)
def test_the_error_names_the_files(files: dict[str, bytes], says: str) -> None:
    with pytest.raises(SignatureInvalid) as caught:
        check_files_signed(statement_of(FILES), files)
    assert says in str(caught.value)


def _repeat(statement: dict[str, Any]) -> None:
    resources = statement["predicate"]["resources"]
    resources.append({**resources[0], "digest": "0" * 64})


@for_each(
    ("payload", "says"),
    [
        (b"", "no list of files"),
        (b"\xff", "no list of files"),
        (b"[" * 100_000, "no list of files"),
        (b'{"_type": 1, "_type": 2}', "no list of files"),
        (changed(lambda s: s.update(predicateType="https://slsa.dev/provenance/v1")), "slsa.dev"),
        (changed(lambda s: s.update(subject=[])), "one by one"),
        (changed(lambda s: s["predicate"]["serialization"].update(method="shards")), "one by one"),
        (changed(lambda s: s["predicate"].update(resources=None)), "no list of files"),
        (changed(lambda s: s["predicate"]["resources"][0].update(algorithm="md5")), "SHA-256"),
        (changed(lambda s: s["predicate"]["resources"][0].update(digest="0")), "SHA-256"),
        (changed(_repeat), "twice"),
        (changed(lambda s: s["predicate"]["resources"].pop()), "another digest"),
    ],
)
def test_a_statement_that_is_no_list_of_files_signs_nothing(payload: bytes, says: str) -> None:
    with pytest.raises(SignatureInvalid, match=says):
        check_files_signed(payload, FILES)
