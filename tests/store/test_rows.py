"""A skill becomes a row and a skill again: nothing is lost, and equal content has one digest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput, Skill
from skillyard.base.errors import StoreRefused, StoreSchema
from skillyard.engine.catalog import read_catalog
from skillyard.store.identifiers import plain
from skillyard.store.opening import open_store
from skillyard.store.rows import COLUMNS, StoredRow, row_of, version_of
from skillyard.store.values import FileDigest, Position, StoreKey, Submission
from tests.shared_data import REPOSITORY
from tests.store.skills import any_skills, any_submissions, skill
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
    assert "\\u0000" not in (row.frontmatter or "")


@given(any_skills, st.text(max_size=9), st.integers(0, 9), st.integers(0, 9))
def test_where_a_copy_lay_and_who_installed_it_is_not_content(
    one: Skill, path: str, when: int, installs: int
) -> None:
    other = one.replace(path=path, last_modified=when, install_count=installs, scope="user")
    try:
        assert row_of(one, tenant="a").digest == row_of(other, tenant="a").digest
    except StoreRefused:
        return


CHANGES: list[dict[str, object]] = [
    {"description": "x"}, {"body": "x"}, {"body": None}, {"body": ""}, {"tags": ["x"]},
    {"metadata": {"x": 1}}, {"metadata": {"x": True}}, {"hash": "ab"}, {"curated": True},
    {"frontmatter": "name: a"}, {"license": "MIT"}, {"references": ["a.md"]},
]  # fmt: skip


def test_every_change_of_content_has_a_digest_of_its_own() -> None:
    base = skill("a")
    digests = {row_of(base.replace(**change), tenant="a").digest for change in CHANGES}
    files = [(FileDigest("x", "1", 1),), (FileDigest("x", "2", 1),), (FileDigest("y", "1", 1),)]
    digests |= {row_of(Submission(base, files=f), tenant="a").digest for f in files}
    digests.add(row_of(base, tenant="a").digest)
    assert len(digests) == len(CHANGES) + len(files) + 1


def test_the_digest_of_a_known_skill_is_what_it_was_released_as() -> None:
    # Were it another, every skill of every store would be published anew after an update.
    known = Skill("a", "Says é.", "body\n", tags=["x"], metadata={"k": [1, None]}, source="o/r")
    row = row_of(Submission(known, files=(FileDigest("f", "00", 1),)), tenant="t")
    assert row.digest == RELEASED_DIGEST


RELEASED_DIGEST = "48faaa84d9a366971436ae4209a72537454003575adbd9b0333436986e85c458"


@pytest.mark.parametrize("kind", ["sqlite_url", "postgres_url"])
def test_the_example_library_comes_back_from_a_store(
    kind: str, request: pytest.FixtureRequest
) -> None:
    catalog = read_catalog(REPOSITORY / "examples" / "skills")
    with open_store(request.getfixturevalue(kind), migrate=True) as store:
        places = {one.path: one for one in catalog}  # two of them share a slug
        given_ = [Submission(one, place=path) for path, one in places.items()]
        assert store.publish(given_, tenant="acme", publisher="ci").added == len(catalog)
        assert {v.key.place: v.skill for v in store.snapshot()} == places


def test_frontmatter_is_kept_parsed_for_queries_and_raw_for_the_skill() -> None:
    block = 'name: a\nlist: [1, two]\nodd: "\\0x"\nmap:\n  t: true'
    row = row_of(skill("a", frontmatter=block), tenant="acme")
    assert json.loads(row.frontmatter or "") == {
        "name": "a", "list": [1, "two"], "odd": "\ufffdx", "map": {"t": True},
    }  # fmt: skip
    assert version_of(selected(row)).skill.frontmatter == block
    assert row_of(skill("a", frontmatter="a: b: c"), tenant="acme").frontmatter is None
    assert row_of(skill("a"), tenant="acme").frontmatter is None


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


@for_each("text", ["", "1", "x.y", "1.2.3", "-1.a", "1.a.2.b.3.4.x", "٣.a", "1" * 300])
def test_what_is_no_position_is_invalid(text: str) -> None:
    with pytest.raises(InvalidInput):
        Position.parse(text)


_numbers = st.integers(0, 2**62)
_stamps = st.text("0123456789abcdef", max_size=16)


@given(_numbers, _stamps, _numbers, _stamps, _numbers, _numbers, st.booleans())
def test_any_position_is_read_back_from_what_it_prints(
    generation: int, stamp: str, until: int, last: str, at: int, ordinal: int, whole: bool
) -> None:
    position = Position(generation, stamp)
    if until:
        position = Position(generation, stamp, until, last, at, ordinal, whole)
    assert Position.parse(str(position)) == position
