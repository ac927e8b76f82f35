"""An index is of one generation and of one caller, however it was made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard import SkillIoError
from skillyard.store.node import generation_builder
from skillyard.store.node.generation_builder import catch_up
from skillyard.store.node.state import NodeState
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant
from tests.store.node.nodes import Node, answers, in_memory
from tests.store.skills import key, skills


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation_builder, "PAGE", 10)
    monkeypatch.setattr(generation_builder, "COMMITTED", 20)


@pytest.mark.usefixtures("small")
class TestInterrupted:
    """An index is of one generation, whatever happens between two pages."""

    def test_one_that_was_left_unfinished_is_made_again(
        self, store: CatalogStore, tmp_path: Path
    ) -> None:
        store.publish(skills(75), tenant="acme", publisher="ci")
        state = NodeState(str(tmp_path / "node"))

        def stop(taken: int) -> None:
            if taken >= 50:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            catch_up(store, state, progress=stop)
        assert state.current() is None
        taken: list[int] = []
        catch_up(store, state, progress=taken.append)
        assert taken[-1] == 75
        assert answers(Node(store, state.folder).open()) == answers(in_memory(store))
        assert not os.path.exists(state.building)

    @pytest.mark.parametrize("number", [5, 45])
    def test_changes_of_many_skills_are_taken_over(
        self, store: CatalogStore, tmp_path: Path, number: int
    ) -> None:
        store.publish(skills(75), tenant="acme", publisher="ci")
        node = Node(store, tmp_path / "node")
        node.take()
        current = node.state.current()
        store.publish(skills(number, "two"), tenant="acme", publisher="ci")
        store.withdraw([key("s00070")], tenant="acme", publisher="ci")
        assert answers(node.take(few=False)) == answers(in_memory(store))
        assert (node.state.current() == current) == (number == 5)


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
        catch_up(node.store, node.state)
    except SkillIoError:
        return  # said, and the index before stays until it can be done
    assert {each.description for each in node.open()} == {"Says acme."}
