"""The contract of writers: publish, withdraw, roll back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard import Skill
from skillyard.base.errors import StoreConflict, StoreRefused
from skillyard.errors import InvalidInput
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import (
    FileDigest,
    Published,
    Submission,
)
from tests.store.follower_contract import texts
from tests.store.skills import current, key, skill, skills, standing

__all__ = ["Publishing"]


ODD: list[tuple[Skill | Submission, str]] = [
    (Skill("", "d", "b"), "empty"),
    (Skill("a\0b", "d", "b"), "NUL"),
    (Skill("\ud800", "d", "b"), "surrogate"),
    (Skill("a" * 600, "d", "b"), "512 bytes"),
    (Skill("a", "d", "b", source="é" * 300), "512 bytes"),
    (Skill("a", "d", "b", metadata={"x": (1, 2)}), "metadata"),
    (Skill("a", "d", "b", metadata={"x": {1: 2}}), "metadata"),
    (Skill("a", "d", "b", metadata={"x": float("nan")}), "metadata"),
    (Skill("a", "d", "b", install_count=2**63), "64 bits"),
    (Skill("a", "d", "b", last_modified=10**5000), "number"),
    (Skill("a", "d", "b" * 17_000_000), "bytes"),
    (Submission(Skill("a", "d", "b"), url="\0"), "url"),
    (Submission(Skill("a", "d", "b"), files=(FileDigest("x", "", 1),) * 2), "twice"),
]
WRONG: list[dict[str, object]] = [
    {field: value}
    for field, values in {
        "tenant": ("Acme", "", "a\n", "a" * 64, "a/b", None),
        "namespace": ("/", "a//b", "a/", "../x", "a" * 300, None),
        "publisher": ("", " ", "\0", "a" * 201, None),
        "expected": (-1, True, "1"),
        "durability": ("eventual",),
    }.items()
    for value in values
]


class Publishing:
    """What a publish does, and what it refuses."""

    def test_what_was_published_comes_back_as_it_was(self, store: CatalogStore) -> None:
        given = Submission(
            skill("csv", tags=["a", "b"], source="owner/repo", metadata={"n": [1, None]}),
            files=(FileDigest("scripts/x.py", "ab" * 32, 7),),
            commit="c0ffee",
            url="https://example.com/csv",
        )
        assert store.publish([given], tenant="acme", publisher="ci") == Published(1, added=1)
        version = current(store, key("csv", source="owner/repo"))
        assert version.skill == given.skill
        assert version.skill.fields() == given.skill.fields()
        assert (version.files, version.commit, version.url) == given[2:5]
        assert (version.version, version.generation, version.publisher) == (1, 1, "ci")

    def test_a_skill_of_another_source_or_namespace_is_another_skill(
        self, store: CatalogStore
    ) -> None:
        store.publish([skill("a", "mine")], tenant="acme", publisher="ci")
        other = skill("a", "theirs", source="evil/repo")
        assert store.publish([other], tenant="acme", publisher="ci").added == 1
        nested = store.publish(
            [skill("a", "deep")], tenant="acme", publisher="ci", namespace="team/eu"
        )
        assert nested.added == 1
        assert current(store, key("a")).skill.description == "Says mine."

    def test_two_different_skills_in_one_place_are_refused(self, store: CatalogStore) -> None:
        with pytest.raises(StoreConflict) as caught:
            store.publish([skill("a"), skill("a", "two")], tenant="acme", publisher="ci")
        assert caught.value.key == key("a")
        assert store.generation() == 0

    def test_an_expected_version_that_is_not_there_is_a_conflict(self, store: CatalogStore) -> None:
        store.publish([skill("a", "one")], tenant="acme", publisher="ci", expected=0)
        store.publish([skill("a", "two")], tenant="acme", publisher="ci", expected=1)
        with pytest.raises(StoreConflict) as caught:
            store.publish(
                [skill("a", "two"), skill("new")], tenant="acme", publisher="ci", expected=1
            )
        assert (caught.value.key, caught.value.expected, caught.value.found) == (key("new"), 1, 0)
        given: list[Skill | Submission] = [
            skill("new"),
            Submission(skill("a", "three"), expected=1),
        ]
        with pytest.raises(StoreConflict) as caught:
            store.publish(given, tenant="acme", publisher="ci")
        assert (caught.value.key, caught.value.found) == (key("a"), 2)
        assert store.generation() == 2
        assert key("new") not in texts(standing(store))

    def test_an_upload_that_breaks_off_leaves_nothing(self, store: CatalogStore) -> None:
        def broken() -> Iterator[Skill]:
            yield from skills(1_500)
            raise ConnectionError("the upload broke off")

        with pytest.raises(ConnectionError):
            store.publish(broken(), tenant="acme", publisher="ci")
        assert (store.generation(), standing(store)) == (0, [])
        assert store.publish(skills(2), tenant="acme", publisher="ci") == Published(1, added=2)

    def test_what_could_not_come_back_is_refused_and_nothing_beside_it_stands(
        self, store: CatalogStore
    ) -> None:
        for odd, what in ODD:
            with pytest.raises(StoreRefused, match=what):
                store.publish([skill("fine"), odd], tenant="acme", publisher="ci")
        assert store.generation() == 0

    def test_wrong_words_are_invalid_input(self, store: CatalogStore) -> None:
        for words in WRONG:
            with pytest.raises(InvalidInput):
                store.publish([], **{"tenant": "acme", "publisher": "ci", **words})  # type: ignore[arg-type]

    def test_a_key_of_another_tenant_is_not_withdrawn(self, store: CatalogStore) -> None:
        store.publish([skill("a")], tenant="other", publisher="ci")
        with pytest.raises(InvalidInput):
            store.withdraw([key("a", "other")], tenant="acme", publisher="ci")
        assert store.generation() == 1

    def test_a_rollback_to_what_never_was_is_invalid(self, store: CatalogStore) -> None:
        for generation in (-1, 1, True, "0"):
            with pytest.raises(InvalidInput):
                store.rollback(generation, tenant="acme", publisher="ci")  # type: ignore[arg-type]
