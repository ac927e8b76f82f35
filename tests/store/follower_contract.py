"""The contract of followers: changes, snapshots, listening; and a follower to test with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from skillyard.errors import InvalidInput
from skillyard.store import pages as pages_module
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import (
    START,
    Position,
    StoreKey,
    Version,
)
from tests.store.skills import key, skill, skills, standing

__all__ = ["Follower", "Following", "texts"]


class Follower:
    """A node: it holds what the changes say, and nothing else."""

    def __init__(self, store: CatalogStore) -> None:
        self.store = store
        self.position: int | Position = START
        self.held: dict[StoreKey, Version] = {}
        self.generation = 0

    def page(self, limit: int = 1_000) -> bool:
        """Take one page; True when it completed a round."""
        changes = self.store.changes(self.position, limit)
        if changes.whole and (isinstance(self.position, int) or not self.position.whole):
            self.held = {}
        self.held.update({version.key: version for version in changes.upserts})
        for gone in changes.withdrawals:
            self.held.pop(gone, None)
        self.position = changes.position
        if changes.complete:
            self.generation = changes.generation
        return changes.complete

    def follow(self, limit: int = 1_000) -> dict[StoreKey, str]:
        """Take pages until a round is complete; return texts by key."""
        while not self.page(limit):
            pass
        return texts(self.held.values())


def texts(versions: object) -> dict[StoreKey, str]:
    """Return what each skill says, by key."""
    return {version.key: version.skill.description for version in versions}  # type: ignore[attr-defined]


class Following:
    """What readers get, in which order."""

    def test_a_page_ends_where_it_weighs_enough_and_nothing_is_missed(
        self, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages_module, "PAGE_BYTES", 25_000)
        large = [skill(f"l{number}", "wide " * 2_000) for number in range(9)]
        store.publish([*skills(5), *large], tenant="acme", publisher="ci")
        store.withdraw([key("l3")], tenant="acme", publisher="ci")
        follower = Follower(store)
        pages: list[set[StoreKey]] = []
        while not follower.page():
            before = {key for page in pages for key in page}
            pages.append(follower.held.keys() - before)
        # Each of the large ones says its text twice: 20 kB, and two fill a page.
        assert len(pages) == 4
        assert all(sum(each.place < "m" for each in page) == 2 for page in pages)
        assert texts(follower.held.values()) == texts(standing(store))
        assert len(follower.held) == 13

    def test_a_follower_of_another_past_starts_afresh(self, store: CatalogStore) -> None:
        store.publish(skills(2), tenant="acme", publisher="ci")
        for lost in (Position(1, "of-another-life"), Position(9, "x"), 9):
            changes = store.changes(lost)
            assert changes.whole
            assert len(changes.upserts) == 2
        paging = store.changes(0, 1).position._replace(until_stamp="of-another-life")
        assert store.changes(paging).whole

    def test_a_listener_wakes_for_a_new_generation_and_for_the_time(
        self, store: CatalogStore
    ) -> None:
        assert store.listen(0, 0.0) == 0
        assert store.listen(0, 0.05) == 0
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(store.listen, 0, 30.0)
            store.publish(skills(1), tenant="acme", publisher="ci")
            assert waiting.result(timeout=20) == 1
        assert store.listen(0, 30.0) == 1
        with pytest.raises(InvalidInput):
            store.listen(0, -1)
