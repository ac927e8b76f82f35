"""Damage is named where it is found, and what is damaged is fetched again."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard.engine.index.manifest import NAME
from skillyard.errors import IndexDamaged, SkillyardError
from skillyard.store.node.follower import Follower
from tests.store.node.nodes import Node, answers, in_memory
from tests.store.skills import skill


class TestDamaged:
    """Damage is named where it is found, and what is damaged is fetched again."""

    @pytest.fixture(autouse=True)
    def in_files(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("skillyard.engine.index.index_writer.INLINE_BYTES", 0)

    def segment_of(self, node: Node) -> Path:
        (found,) = Path(node.state.current() or "").glob("*.seg")
        return found

    def spoil(self, path: Path, first: int, last: int | None = None) -> None:
        data = bytearray(path.read_bytes())
        for place in range(first, len(data) if last is None else last):
            data[place] ^= 0xFF
        path.unlink()  # others may share the file
        path.write_bytes(data)

    def spoil_records(self, node: Node) -> None:
        """Damage what opening does not look at: the records, which come last before the checks."""
        path = self.segment_of(node)
        self.spoil(path, path.stat().st_size - 1_500, path.stat().st_size - 100)
        node.state.open()

    def stepped(self, node: Node, tmp_path: Path, steps: int = 3) -> Follower:
        """Return a follower after some steps, whatever went wrong in them."""
        follower = Follower(f"sqlite:///{tmp_path}/store.db", node.state.folder)
        for _ in range(steps):
            try:
                follower._step()
                break
            except SkillyardError as error:
                follower._failure = str(error)
        return follower

    def healed(self, node: Node, tmp_path: Path) -> None:
        follower = self.stepped(node, tmp_path)
        try:
            assert follower.following.failure == ""
            assert follower.catalog is not None
            assert answers(follower.catalog) == answers(in_memory(node.store))
        finally:
            follower.close()

    def test_a_manifest(self, node: Node, tmp_path: Path) -> None:
        self.spoil(Path(node.state.current() or "") / NAME, 40, 60)
        with pytest.raises(IndexDamaged, match="checksum"):
            node.state.open()
        self.healed(node, tmp_path)

    def test_a_segment_that_is_gone_or_short(self, node: Node, tmp_path: Path) -> None:
        path = self.segment_of(node)
        data = path.read_bytes()
        for change in (path.unlink, lambda: path.write_bytes(data[:-9])):
            change()
            with pytest.raises(IndexDamaged):
                node.state.open()
        self.healed(node, tmp_path)

    def test_every_place_of_a_segment_is_named_when_it_is_read(self, node: Node) -> None:
        path = self.segment_of(node)
        data = path.read_bytes()
        wrong = 0
        expected = answers(node.open())
        for first in range(0, len(data), max(1, len(data) // 60)):
            self.spoil(path, first, min(first + 4, len(data)))
            try:
                assert answers(node.open()) == expected  # in a gap that nothing lies in
            except IndexDamaged:
                wrong += 1
            path.write_bytes(data)
        assert wrong > 50

    def test_pages_that_a_change_has_to_copy(self, node: Node, tmp_path: Path) -> None:
        self.spoil_records(node)
        changed = [skill(f"s{number:05}", "two") for number in range(20)]
        node.store.publish(changed, tenant="acme", publisher="ci")
        self.healed(node, tmp_path)

    def test_pages_that_only_answers_read(self, node: Node, tmp_path: Path) -> None:
        self.spoil_records(node)
        follower = self.stepped(node, tmp_path)
        assert follower.catalog is not None
        with pytest.raises(IndexDamaged, match="page"):
            answers(follower.catalog)
        for _ in range(3):
            follower._step()
        follower.close()
        assert answers(node.open()) == answers(in_memory(node.store))
