"""A skill becomes a row and a skill again: nothing is lost, and equal content has one digest."""

from __future__ import annotations

import pytest
from hypothesis import given

from skillyard import Skill
from skillyard.base.errors import StoreRefused, StoreSchema
from skillyard.store.identifiers import plain
from skillyard.store.rows import COLUMNS, StoredRow, row_of, version_of
from skillyard.store.values import FileDigest, StoreKey, Submission
from tests.store.skills import any_submissions, skill
from tests.tables import for_each


def selected(row: StoredRow, **others: object) -> list[object]:
    """Return what a store would select of a row that it was given."""
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
    return [known[name] for name in COLUMNS]


@given(any_submissions)
def test_any_skill_comes_back_whole(submission: Submission) -> None:
    try:
        row = row_of(submission, tenant="acme", namespace="team")
    except StoreRefused:
        return  # said by name; what is refused is listed in the contract
    version = version_of(selected(row))
    assert version.skill == submission.skill
    assert version.skill.fields() == submission.skill.fields()
    assert set(version.files) == set(submission.files)
    assert (version.commit, version.url) == (submission.commit, submission.url)
    assert version.key == StoreKey(
        "acme", "team", submission.skill.source or "", submission.place or submission.skill.slug
    )
    assert version.digest == row_of(version.skill, tenant="acme").digest or submission.files
    for text in (row.slug, row.name, row.description, *row.tags, row.body or ""):
        assert plain(text)


def test_the_digest_of_a_known_skill_is_what_it_was_released_as() -> None:
    # Were it another, every skill of every store would be published anew after an update.
    known = Skill("a", "Says é.", "body\n", tags=["x"], metadata={"k": [1, None]}, source="o/r")
    row = row_of(Submission(known, files=(FileDigest("f", "00", 1),)), tenant="t")
    assert row.digest == RELEASED_DIGEST


RELEASED_DIGEST = "48faaa84d9a366971436ae4209a72537454003575adbd9b0333436986e85c458"


@for_each(
    ("column", "value"),
    [
        ("document", "{"),
        ("document", '{"name": "a"}'),
        ("document", '{"name": "a", "description": "d", "telepathy": 1}'),
        ("document", '{"name": "a", "description": 7}'),
        ("document", "[" * 5_000),
        ("files", "[[1]]"),
        ("around", "[]"),
        ("around", None),
    ],
)
def test_a_damaged_row_is_named_and_never_a_skill(column: str, value: object) -> None:
    row = row_of(skill("a"), tenant="acme", namespace="team")
    with pytest.raises(StoreSchema, match="version 3 of acme/team/a cannot be read"):
        version_of(selected(row, **{column: value}))
