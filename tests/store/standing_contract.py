"""The contract of looking: what stands, where, and what made it, without reading any skill."""

from __future__ import annotations

import pytest

from skillyard.base.errors import StoreConflict
from skillyard.errors import InvalidInput
from skillyard.store.rows import row_of
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import FileDigest, Grant, Published, Standing, Submission
from skillyard.types import Reference
from tests.store.skills import current, key, skill, skills

__all__ = ["Looking"]


class Looking:
    """What publishers of many skills ask before they read and send them."""

    def test_what_stands_is_what_the_last_publish_left(self, store: CatalogStore) -> None:
        given = Submission(
            skill("a", origin="agentskills", references=[Reference("x.md", "x.md", "X")]),
            place="some/where",
            files=(FileDigest("x.md", "ab" * 32, 1),),
        )
        store.publish([given, skill("b")], tenant="acme", publisher="ci", namespace="eu")
        store.publish([skill("a")], tenant="other", publisher="ci", namespace="eu")
        counted = given._replace(skill=given.skill.replace(install_count=3))
        store.publish([counted], tenant="acme", publisher="ci", namespace="eu")
        asked = key("some/where", namespace="eu")
        nothing = [
            key("some/where"),
            key("c", namespace="eu"),
            key("b", namespace="eu", source="x"),
        ]
        version = current(store, asked)
        found = store.standing([asked, *nothing, key("b", namespace="eu"), asked])
        assert set(found) == {asked, key("b", namespace="eu")}
        assert found[asked] == Standing(version.digest, 3)
        store.withdraw([asked], tenant="acme", publisher="ci")
        assert store.standing([asked]) == {}
        assert store.standing([]) == {}

    def test_places_are_listed_in_order_and_page_by_page(self, store: CatalogStore) -> None:
        names = ["a", "B", "é", "a/b", "Z", "\U0001f600", "\uffee"]
        given = [Submission(skill("x", name), place=name) for name in names]
        store.publish(given, tenant="acme", publisher="ci")
        for other in (
            {"tenant": "other"},
            {"tenant": "acme", "namespace": "below"},
        ):
            store.publish([skill("no")], publisher="ci", **other)  # type: ignore[arg-type]
        store.publish([skill("no", source="else")], tenant="acme", publisher="ci")
        store.withdraw([key("Z")], tenant="acme", publisher="ci")
        expected = tuple(sorted(set(names) - {"Z"}))
        assert store.places("acme") == expected
        assert store.places("acme", after="a", limit=2) == ("a/b", "é")
        assert store.places("acme", after=expected[-1]) == ()
        assert store.places("acme", namespace="below") == ("no",)
        assert store.places("acme", source="else") == ("no",)
        assert store.places("acme", source="\0") == ()
        for wrong in (0, 100_001, True):
            with pytest.raises(InvalidInput):
                store.places("acme", limit=wrong)

    def test_the_log_tells_what_made_each_generation(self, store: CatalogStore) -> None:
        store.publish(skills(3), tenant="acme", publisher="ci")
        store.publish([skill("s00001", "two"), skill("n")], tenant="acme", publisher="you")
        store.withdraw([key("n")], tenant="acme", publisher="me")
        store.grant(Grant("bob", "acme"))
        store.rollback(1, tenant="acme", publisher="me")
        told = [
            (g.generation, g.publisher, g.action, g.added, g.changed, g.withdrawn)
            for g in store.generations()
        ]
        assert told == [
            (5, "me", "rollback", 0, 1, 0),
            (4, "bob", "grant", 0, 0, 0),
            (3, "me", "withdraw", 0, 0, 1),
            (2, "you", "publish", 1, 1, 0),
            (1, "ci", "publish", 3, 0, 0),
        ]
        first = store.generations()[-1]
        assert first.tenant == "acme"
        assert first.published_at == current(store, key("s00000")).published_at
        assert [g.generation for g in store.generations(2)] == [5, 4]
        for wrong in (-1, True, 2**63):
            with pytest.raises(InvalidInput):
                store.generations(wrong)

    def test_a_row_made_elsewhere_is_published_as_the_skill_that_it_was_made_of(
        self, store: CatalogStore
    ) -> None:
        rows = [row_of(one, tenant="acme", namespace="eu") for one in skills(2)]
        done = store.publish(rows, tenant="acme", publisher="ci", namespace="eu")
        assert done == Published(1, added=2)
        again = store.publish(skills(2), tenant="acme", publisher="ci", namespace="eu")
        assert again == Published(1, unchanged=2)
        assert current(store, key("s00000", namespace="eu")).skill == skills(1)[0]
        changed = [row_of(skill("s00000", "two"), tenant="acme", namespace="eu")]
        with pytest.raises(StoreConflict):
            store.publish(changed, tenant="acme", publisher="ci", namespace="eu", expected=7)
        with pytest.raises(InvalidInput):
            store.publish(rows, tenant="acme", publisher="ci")
