"""A stored version becomes one record and a skill again; its key becomes a path and a key again."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given

from skillyard import Skill
from skillyard.base.errors import StoreRefused
from skillyard.engine.index.token_table import bundled_table
from skillyard.store.node.records import (
    document_of_version,
    path_of,
    skill_in,
)
from skillyard.store.rows import COLUMNS, row_of, version_of
from skillyard.store.values import Submission, Version
from tests.store.skills import any_submissions
from tests.tables import for_each


def version(given_: Skill | Submission, **others: object) -> Version:
    """Return what a store gives back of a skill. Raises StoreRefused for what it does not take."""
    row = row_of(given_, tenant="acme", namespace="team")
    known = {
        **row._asdict(),
        "tenant": "acme",
        "version": 3,
        "generation": 7,
        "ordinal": 1,
        "publisher": "ci",
        "published_at": 11,
        **others,
    }
    return version_of([known[name] for name in COLUMNS])


@given(any_submissions)
def test_any_skill_comes_back_as_the_store_gave_it_but_for_its_path(submission: Submission) -> None:
    try:
        given_ = version(submission)
    except StoreRefused:
        return
    record = document_of_version(given_, bundled_table()).record
    assert skill_in(record).fields() == {**given_.skill.fields(), "path": path_of(given_.key)}


@for_each(
    "record",
    [
        b"",
        b"nothing",
        zlib.compress(b"{"),
        zlib.compress(b"7"),
        zlib.compress(b"{}"),
        zlib.compress(b"[]"),
    ],
)
def test_what_is_no_record_is_a_plain_error(record: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        skill_in(record)
