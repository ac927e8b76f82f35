"""A node's catalog answers like one in memory of the same skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard import AmbiguousName, Catalog, rank
from skillyard.errors import InvalidInput
from skillyard.scorers import scorer_names
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.records import path_of
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Submission
from skillyard.types import Origin
from tests.store.node.nodes import LIBRARY, REQUESTS, Node, answers, found, in_memory
from tests.store.skills import key, skill, skills
from tests.tables import for_each


@pytest.fixture
def library(store: CatalogStore, tmp_path: Path) -> tuple[NodeCatalog, Catalog]:
    """The library on a node, and in memory."""
    store.publish(LIBRARY, tenant="acme", publisher="ci")
    return Node(store, tmp_path / "node").take(), in_memory(store)


@for_each("scorer", sorted(scorer_names()))
@for_each("files", [(), ("data/a.csv",)])
def test_every_scorer_ranks_like_in_memory(
    library: tuple[NodeCatalog, Catalog], scorer: str, files: tuple[str, ...]
) -> None:
    node, memory = library
    for request in REQUESTS:
        one, other = (
            [(m.skill, m.score, m.to_dict(explain=True)) for m in matches]
            for matches in (
                rank(node, request, files=files, scorer=scorer, limit=None),
                rank(memory, request, files=files, scorer=scorer, limit=None),
            )
        )
        assert one == other


def test_names_ids_and_slugs_find_what_they_find_in_memory(
    library: tuple[NodeCatalog, Catalog],
) -> None:
    node, memory = library
    for each in memory:
        if each.origin != Origin.CONVENTION:
            for name in (each.name, each.id, each.slug):
                assert found(node, name) == found(memory, name) == each
    for name in ("nothing", "", "\x0egit-bisect", "\0", "\ud800", "git"):
        assert found(node, name) == found(memory, name)
    for wrong in (None, 7):
        with pytest.raises(InvalidInput):
            node.get(wrong)  # type: ignore[arg-type]


def test_skills_of_one_name_stand_side_by_side(store: CatalogStore, tmp_path: Path) -> None:
    for tenant in ("acme", "beta"):
        given = [
            skill("deploy", tenant),
            skill("same", id="same-1"),
            skill("n", slug=f"n-{tenant}"),
        ]
        store.publish(given, tenant=tenant, publisher="ci")
    convention = skill("deploy", "rules", origin=Origin.CONVENTION)
    store.publish([Submission(convention, place="rules")], tenant="acme", publisher="ci")
    node, memory = Node(store, tmp_path / "node").take(), in_memory(store)
    for name in ("deploy", "same", "same-1", "n", "n-acme"):
        assert found(node, name) == found(memory, name)
    assert node.get("same").path == path_of(key("same", "acme"))  # one content, several places
    with pytest.raises(AmbiguousName) as raised:
        node.get("deploy")
    assert [path_of(key("deploy", tenant)) for tenant in ("acme", "beta")] == list(
        raised.value.paths
    )
    assert answers(node) == answers(memory)


def test_two_nodes_of_one_view_have_one_digest_and_each_view_its_own(
    store: CatalogStore, tmp_path: Path
) -> None:
    store.publish(LIBRARY, tenant="acme", publisher="ci")
    one, two = (Node(store, tmp_path / name).take() for name in ("one", "two"))
    seen = Node(store, tmp_path / "three", caller="nobody").take()
    assert one.digest == two.digest
    assert seen.digest != one.digest
    assert len(seen) == 0
    store.publish([skill("more")], tenant="acme", publisher="ci")
    assert Node(store, tmp_path / "four").take().digest != one.digest


def test_what_was_read_is_known_in_the_next_generation_but_for_what_changed(
    store: CatalogStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillyard.engine.index.index_writer.INLINE_BYTES", 0)
    store.publish(skills(40), tenant="acme", publisher="ci")
    node = Node(store, tmp_path / "node")
    before = {each.path: each for each in node.take()}
    store.withdraw([key("s00003")], tenant="acme", publisher="ci")
    store.publish([skill("s00004", "two")], tenant="acme", publisher="ci")
    after = node.take()
    gone, changed = path_of(key("s00003")), path_of(key("s00004"))
    for path, each in before.items():
        if path not in (gone, changed):
            assert after.library.at(path) is each
    assert after.library.at(gone) is None
    assert after.library.ordinal(before[gone]) is None
    assert before[gone] not in after
    found_there = after.library.at(changed)
    assert found_there is not None
    assert found_there.description == "Says two."
    assert before[changed] not in after
