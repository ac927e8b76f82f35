"""A rebuild goes on where it was, and never from what was made for somebody else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skillyard import SkillIoError
from skillyard.store.node import generation_builder
from skillyard.store.node.generation_builder import rebuild
from skillyard.store.node.state import NodeState
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Changes, Grant, Position
from tests.store.node.nodes import Node, answers, in_memory, store_in
from tests.store.skills import skills


class Asked(CatalogStore):
    """A store that notes from where it is asked, and lets something happen between two pages."""

    def __init__(self, store: CatalogStore) -> None:
        super().__init__(store._backend, store.caller)
        self.positions: list[Position] = []
        self.between: dict[int, Callable[[], object]] = {}
        """What happens before the n-th page is given."""

    def changes(self, after: int | Position, limit: int = 1_000) -> Changes:
        assert isinstance(after, Position)
        self.between.pop(len(self.positions), lambda: None)()
        self.positions.append(after)
        return super().changes(after, limit)


class TestInterrupted:
    """A rebuild goes on where it was, as long as the store's round is still the same."""

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(generation_builder, "PAGE", 10)
        monkeypatch.setattr(generation_builder, "COMMITTED", 20)

    class Stopped(Exception):
        pass

    def stop_at(self, most: int) -> Callable[[int], None]:
        def progress(taken: int) -> None:
            if taken >= most:
                raise self.Stopped

        return progress

    def interrupted(self, store: CatalogStore, state: NodeState, most: int) -> None:
        with pytest.raises(self.Stopped):
            rebuild(store, state, progress=self.stop_at(most))

    def test_what_was_written_down_is_not_asked_for_again(
        self, store: CatalogStore, tmp_path: Path
    ) -> None:
        store.publish(skills(75), tenant="acme", publisher="ci")
        state = NodeState(str(tmp_path / "node"))
        self.interrupted(store, state, 50)
        assert state.current() is None
        asked = Asked(store)
        taken: list[int] = []
        applied = rebuild(asked, state, progress=taken.append)
        assert asked.positions[0].at_ordinal == 40
        assert taken[-1] == 35
        assert applied.position == store.snapshot().position
        assert answers(Node(store, state.folder).open()) == answers(in_memory(store))
        assert not os.path.exists(state.building)

    def test_it_begins_anew_when_the_store_does(self, tmp_path: Path) -> None:
        state = NodeState(str(tmp_path / "node"))
        for name, text in (("one", "one"), ("two", "other")):
            (tmp_path / name).mkdir()
            with store_in(tmp_path / name) as store:
                store.publish(skills(75, text), tenant=name, publisher="ci")
                if name == "one":
                    self.interrupted(store, state, 50)
                    continue
                asked = Asked(store)
                rebuild(asked, state)
                assert asked.positions[0].at_ordinal == 40
                assert answers(Node(store, state.folder).open()) == answers(in_memory(store))

    @pytest.mark.parametrize("page", [1, 7])
    def test_a_view_that_changes_between_two_pages_is_not_mixed(
        self, store: CatalogStore, tmp_path: Path, page: int
    ) -> None:
        for tenant in ("acme", "beta"):
            store.publish(skills(75, tenant), tenant=tenant, publisher="ci")
        store.grant(Grant("team", "acme"))
        asked = Asked(store.seen_by("team"))

        def change() -> None:
            store.revoke(Grant("team", "acme"))
            store.grant(Grant("team", "beta"))

        asked.between[page] = change
        state = NodeState(str(tmp_path / "node"), "team")
        rebuild(asked, state)
        found = Node(store, state.folder, "team").open()
        assert {each.description for each in found} == {"Says beta."}
        assert answers(found) == answers(in_memory(store.seen_by("team")))

    def test_a_note_that_cannot_be_read_is_a_new_beginning(
        self, store: CatalogStore, tmp_path: Path
    ) -> None:
        store.publish(skills(75), tenant="acme", publisher="ci")
        state = NodeState(str(tmp_path / "node"))
        self.interrupted(store, state, 50)
        with state.writer(state.building) as writer:
            writer.note("reached", "nonsense")
            writer.add(writer._segments[0].document(0)._replace(key="odd"))
            writer.commit()
        rebuild(store, state)
        assert answers(Node(store, state.folder).open()) == answers(in_memory(store))


class TestForeign:
    """What was made for somebody else, or by another version, is never answered from."""

    def test_another_caller_finds_nothing_and_makes_its_own(
        self, store: CatalogStore, tmp_path: Path
    ) -> None:
        for tenant in ("acme", "beta"):
            store.publish(skills(3, tenant), tenant=tenant, publisher="ci")
            store.grant(Grant(f"of-{tenant}", tenant))
        folder = tmp_path / "node"
        for caller, texts in (("of-acme", {"Says acme."}), ("of-beta", {"Says beta."}), (None, {})):
            node = Node(store, folder, caller)
            assert node.state.open() is None
            found = {each.description for each in node.take()}
            assert found == (texts or {"Says acme.", "Says beta."})

    def test_what_the_pointer_names_is_never_outside_the_folder(
        self, node: Node, tmp_path: Path
    ) -> None:
        for text in ("../node/segments-00000001", "/etc", "", "segments-1", "\xff", "building"):
            (tmp_path / "node" / "current").write_text(text, encoding="latin-1")
            assert node.state.current() is None
            assert node.state.open() is None
        (tmp_path / "node" / "current").write_text("segments-99999999\n", encoding="ascii")
        assert node.state.open() is None
        assert answers(Node(node.store, tmp_path / "node").take()) == answers(in_memory(node.store))
        assert node.state.current() == str(tmp_path / "node" / "segments-00000000")


def test_what_a_caller_may_no_longer_see_is_gone_even_if_files_cannot_be_removed(
    store: CatalogStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenant in ("acme", "beta"):
        store.publish(skills(3, tenant), tenant=tenant, publisher="ci")
        store.grant(Grant("team", tenant))
    node = Node(store, tmp_path / "node", "team")
    assert len(node.take()) == 6
    store.revoke(Grant("team", "beta"))
    monkeypatch.setattr("skillyard.store.node.state.shutil.rmtree", lambda *a, **k: None)
    try:
        rebuild(node.store, node.state)
    except SkillIoError:
        return  # said, and the index before stays until it can be done
    assert {each.description for each in node.open()} == {"Says acme."}
