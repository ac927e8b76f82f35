"""Whatever is done to a store, a node holds its snapshot: in place, anew, for every caller."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillyard import Skill, Triggers
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant, StoreKey, Submission
from skillyard.types import Origin
from tests.store.node.nodes import Node, answers, in_memory, store_in
from tests.store.skills import skill

TENANTS = ("acme", "beta")
PLACES = ("git-bisect", "csv", "wipe-disk", "agents", "a/b", "x?source=y")
TEXTS = ("the commit that broke the build", "a messy csv", "a disk", "nothing at all")
CALLER = "team"
SLOW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_kinds: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"install_count": 7},
    {"trigger": True},
    {"origin": Origin.CONVENTION},
    {"triggers": Triggers(files=("*.csv",))},
    {"slug": "one-slug"},
    {"source": "owner/repo"},
)
_submissions = st.builds(
    lambda place, text, fields: Submission(skill(place, text, **fields), place=place),
    st.sampled_from(PLACES),
    st.sampled_from(TEXTS),
    st.sampled_from(_kinds),
)
_publish = st.tuples(
    st.just("publish"),
    st.sampled_from(TENANTS),
    st.sampled_from(("", "team/x")),
    st.lists(_submissions, min_size=1, max_size=5, unique_by=lambda s: (s.place, s.skill.source)),
)
_withdraw = st.tuples(
    st.just("withdraw"), st.sampled_from(TENANTS), st.lists(st.sampled_from(PLACES), max_size=3)
)
_rollback = st.tuples(st.just("rollback"), st.sampled_from(TENANTS), st.floats(0, 1))
_grants = st.tuples(
    st.sampled_from(("grant", "revoke")),
    st.builds(
        Grant,
        st.just(CALLER),
        st.sampled_from(TENANTS),
        st.sampled_from(("", "team")),
        st.sampled_from(((), ("csv", "git-bisect"))),
    ),
)
histories = st.lists(_publish | _publish | _withdraw | _rollback | _grants, min_size=1, max_size=7)


def happen(store: CatalogStore, step: tuple[Any, ...]) -> None:
    """Do one step of a history."""
    kind, *told = step
    if kind == "publish":
        tenant, namespace, given_ = told
        store.publish(given_, tenant=tenant, namespace=namespace, publisher="ci")
    elif kind == "withdraw":
        tenant, places = told
        keys = [StoreKey(tenant, space, "", p) for p in places for space in ("", "team/x")]
        store.withdraw(keys, tenant=tenant, publisher="ci")
    elif kind == "rollback":
        tenant, share = told
        store.rollback(int(share * store.generation()), tenant=tenant, publisher="ci")
    elif kind == "grant":
        store.grant(told[0])
    else:
        store.revoke(told[0])


@contextmanager
def empty_store(in_files: bool) -> Iterator[tuple[CatalogStore, Path]]:
    """Give a store and a folder; ``in_files``: no segment is small enough for the manifest."""
    with (
        tempfile.TemporaryDirectory() as name,
        store_in(name) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        if in_files:
            patch.setattr("skillyard.engine.index.index_writer.INLINE_BYTES", 0)
        yield store, Path(name)


def by_path(catalog: NodeCatalog | None) -> dict[str, Skill]:
    return {} if catalog is None else {each.path: each for each in catalog}


@pytest.mark.slow
@SLOW
@given(histories, st.booleans())
def test_after_every_step_a_node_holds_the_snapshot_by_any_way(
    history: list[tuple[Any, ...]], in_files: bool
) -> None:
    with empty_store(in_files) as (store, folder):
        few, whole = (Node(store, folder / name) for name in ("few", "whole"))
        for number, step in enumerate(history):
            happen(store, step)
            held = [few.take(), whole.take(few=False), Node(store, folder / f"n{number}").take()]
            expected = answers(in_memory(store))
            assert [answers(catalog) for catalog in held] == [expected] * 3
            assert {catalog.position.generation for catalog in held} == {store.generation()}
            assert len({catalog.digest for catalog in held}) == 1
            assert answers(few.open()) == expected  # as a process would that starts now


@SLOW
@given(histories, st.booleans())
def test_a_caller_holds_what_it_was_granted_after_every_step(
    history: list[tuple[Any, ...]], in_files: bool
) -> None:
    with empty_store(in_files) as (store, folder):
        few = Node(store, folder / "few", CALLER)
        whole = Node(store, folder / "whole", CALLER)
        for step in history:
            happen(store, step)
            expected = answers(in_memory(few.store))
            assert answers(few.take()) == answers(whole.take(few=False)) == expected


@SLOW
@given(histories, st.booleans())
def test_a_step_tells_exactly_what_it_changed(
    history: list[tuple[Any, ...]], in_files: bool
) -> None:
    with empty_store(in_files) as (store, folder):
        node = Node(store, folder / "node")
        before: NodeCatalog | None = None
        for step in history:
            happen(store, step)
            after = node.take()
            old, new = by_path(before), by_path(after)
            if before is not None:
                added, changed, removed = before.difference(after)
                assert {s.path: s for s in added} == {p: s for p, s in new.items() if p not in old}
                assert {s.path: s for s in changed} == {
                    p: s for p, s in new.items() if p in old and old[p] != s
                }
                assert {s.path: s for s in removed} == {
                    p: s for p, s in old.items() if p not in new
                }
                if after.touched is not None and after.follows == before.position:
                    assert {s.path for s in (*added, *changed, *removed)} <= after.touched
            before = after
