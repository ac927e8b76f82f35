"""The contract of views: a caller sees what was granted, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillyard.base.errors import StoreRefused
from skillyard.errors import InvalidInput
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import (
    Grant,
)
from tests.store.follower_contract import Follower, texts
from tests.store.skills import key, seen_by, skill, skills, standing

__all__ = ["Callers"]


class Callers:
    """Who sees what."""

    def test_a_caller_sees_what_was_granted_and_nothing_of_another(
        self, store: CatalogStore
    ) -> None:
        for tenant in ("acme", "other"):
            store.publish([skill("a", f"top {tenant}")], tenant=tenant, publisher="ci")
            store.publish(
                [skill("a", f"eu {tenant}"), skill("b", f"eu {tenant}")],
                tenant=tenant,
                publisher="ci",
                namespace="team/eu",
            )
            store.publish([skill("a", "x")], tenant=tenant, publisher="ci", namespace="team/eux")
        store.grant(Grant("all", "acme"))
        store.grant(Grant("eu", "acme", "team/eu"))
        store.grant(Grant("team", "acme", "team"))
        store.grant(Grant("list", "acme", "team/eu", ("b", "never")))
        store.grant(Grant("list", "other", "", ("a",)))
        eu, eux = "team/eu", "team/eux"
        seen = {
            "all": {key("a"), *(key(p, namespace=eu) for p in "ab"), key("a", namespace=eux)},
            "eu": {key(p, namespace=eu) for p in "ab"},
            "team": {*(key(p, namespace=eu) for p in "ab"), key("a", namespace=eux)},
            "list": {
                key("b", namespace=eu),
                *(key("a", "other", space) for space in ("", eu, eux)),
            },
            "nobody": set(),
            "al_": set(),
            "' OR '1'='1": set(),
        }
        for caller, expected in seen.items():
            view = seen_by(store, caller)
            assert set(texts(standing(view))) == expected, caller
            assert set(Follower(view).follow(1)) == expected
            assert view.status().skills == len(expected)
            for version in standing(store):
                if version.key in expected:
                    assert view.history(version.key) == (version,)
                else:
                    assert view.history(version.key) == ()

    def test_a_view_is_read_only_and_no_way_to_another(self, store: CatalogStore) -> None:
        store.publish([skill("a")], tenant="acme", publisher="ci")
        store.grant(Grant("bob", "acme"))
        view = seen_by(store, "bob")
        tries: list[Callable[[], object]] = [
            lambda: view.publish([skill("b")], tenant="acme", publisher="bob"),
            lambda: view.withdraw([key("a")], tenant="acme", publisher="bob"),
            lambda: view.rollback(0, tenant="acme", publisher="bob"),
            lambda: view.grant(Grant("bob", "other")),
            lambda: view.revoke(Grant("bob", "acme")),
            lambda: view.grants(),
        ]
        for attempt in tries:
            with pytest.raises(StoreRefused):
                attempt()
        assert store.generation() == 2

    def test_a_follower_of_a_view_learns_of_new_grants_and_lost_ones(
        self, store: CatalogStore
    ) -> None:
        store.publish(skills(3), tenant="acme", publisher="ci")
        store.publish([skill("x")], tenant="other", publisher="ci")
        follower = Follower(seen_by(store, "bob"))
        assert follower.follow() == {}
        store.grant(Grant("bob", "acme"))
        assert len(follower.follow()) == 3
        store.publish([skill("y")], tenant="other", publisher="ci")
        changes = seen_by(store, "bob").changes(follower.position)
        assert (changes.upserts, changes.whole, changes.generation) == ((), False, 4)
        store.revoke(Grant("bob", "acme"))
        assert follower.follow() == {}

    def test_a_view_that_changes_between_two_pages_starts_again(self, store: CatalogStore) -> None:
        store.publish(skills(4), tenant="acme", publisher="ci")
        store.grant(Grant("bob", "acme"))
        follower = Follower(seen_by(store, "bob"))
        assert not follower.page(2)
        store.revoke(Grant("bob", "acme"))
        page = seen_by(store, "bob").changes(follower.position, 2)
        assert (page.upserts, page.complete, page.whole) == ((), True, True)

    def test_grants_are_listed_and_given_once(self, store: CatalogStore) -> None:
        first = store.grant(Grant("bob", "acme", "team", ("b", "a", "b")))
        assert store.grant(Grant("bob", "acme", "team", ("a",))) == first
        store.grant(Grant("bob", "acme", "team"))
        store.grant(Grant("alice", "acme"))
        assert store.grants("bob") == (
            Grant("bob", "acme", "team"),
            Grant("bob", "acme", "team", ("a", "b")),
        )
        assert [grant.caller for grant in store.grants()] == ["alice", "bob", "bob"]
        store.revoke(Grant("bob", "acme", "team", ("a",)))
        assert store.grants("bob")[1].places == ("b",)
        store.revoke(Grant("bob", "acme", "team"))
        assert store.grants("bob") == ()
        last = store.generation()
        assert store.revoke(Grant("bob", "acme", "team")) == last
        for wrong in (Grant("", "acme"), Grant("b", ""), Grant("b", "acme", "", ("",))):
            with pytest.raises(InvalidInput):
                store.grant(wrong)
