"""A stored version becomes one record and a skill again; its key becomes a path and a key again."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Skill
from skillyard.base.errors import StoreRefused
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.skill import STORED
from skillyard.store.node.records import (
    ID,
    NAMED,
    SLUG,
    document_of_version,
    key_at,
    key_text,
    path_of,
    skill_in,
)
from skillyard.store.rows import COLUMNS, row_of, version_of
from skillyard.store.values import StoreKey, Submission, Version
from tests.store.skills import any_submissions, skill
from tests.tables import for_each

_word = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
_plain = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    | st.sampled_from("/?&=%+#;:. \\"),
    max_size=12,
)
keys = st.builds(
    StoreKey,
    tenant=_word,
    namespace=st.lists(_word, max_size=3).map("/".join),
    source=_plain,
    place=_plain.filter(bool),
)
"""Every key that a store takes: ``store.naming`` says which."""


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


@given(keys)
def test_a_path_tells_its_key(key: StoreKey) -> None:
    path = path_of(key)
    assert path.startswith(STORED)
    assert key_at(path) == key
    assert path.isascii()
    assert path.isprintable()


@given(st.lists(keys, min_size=2, max_size=30, unique=True))
def test_different_keys_have_different_paths_and_texts(given_: list[StoreKey]) -> None:
    assert len({path_of(key) for key in given_}) == len(given_)
    assert len({key_text(key) for key in given_}) == len(given_)


def test_marks_name_a_skill_by_name_id_and_a_slug_of_its_own() -> None:
    plain = document_of_version(version(skill("a b")), bundled_table())
    assert {NAMED + "a b", ID + skill("a b").id} <= set(plain.terms)
    assert not [term for term in plain.terms if term.startswith(SLUG)]
    slugged = document_of_version(version(skill("a b", slug="ab")), bundled_table())
    assert SLUG + "ab" in slugged.terms
    assert len(slugged.terms) == len(slugged.impacts) == len(set(slugged.terms))


@given(any_submissions)
def test_a_document_that_is_known_gives_what_a_new_analysis_gives(submission: Submission) -> None:
    try:
        before, after = version(submission), version(submission, version=4, publisher="other")
    except StoreRefused:
        return
    table = bundled_table()
    known = document_of_version(before, table)
    assert document_of_version(after, table, known) == document_of_version(after, table)


def test_other_content_and_other_install_counts_are_analysed_again() -> None:
    table = bundled_table()
    known = document_of_version(version(skill("a", install_count=1)), table)
    lying = known._replace(terms=("made up",), impacts=(0.5,))
    for other in (skill("a", "two", install_count=1), skill("a", install_count=2)):
        found = document_of_version(version(other), table, lying)
        assert found == document_of_version(version(other), table)
    same = document_of_version(version(skill("a", install_count=1)), table, lying)
    assert same.terms == ("made up",)


@for_each(
    "record",
    [
        b"",
        b"nothing",
        zlib.compress(b"{"),
        zlib.compress(b"7"),
        zlib.compress(b"[{},[]]"),
        zlib.compress(b"[]"),
    ],
)
def test_what_is_no_record_is_a_plain_error(record: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        skill_in(record)
