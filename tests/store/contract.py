"""What every catalog store must do. A kind of store passes by giving :class:`Contract` an address.

Another package's store is tested the same way: subclass, and give it a fixture ``url``.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from skillyard import Skill
from skillyard.base.errors import (
    StoreConflict,
    StoreUnavailable,
)
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.store.callers import Callers
from tests.store.follower_contract import Follower, Following, texts
from tests.store.skills import current, key, skill, skills, standing
from tests.store.standing_contract import Looking
from tests.store.writer_contract import Publishing

__all__ = ["Contract"]


class Contract(Publishing, Looking, Following, Callers):
    """The tests. Each gets an empty store."""

    @pytest.fixture
    def store(self, url: str) -> Iterator[CatalogStore]:
        with open_store(url, migrate=True) as opened:
            yield opened

    def test_many_publishers_lose_nothing_and_followers_miss_nothing(
        self, store: CatalogStore, url: str
    ) -> None:
        publishers, rounds = 4, 6
        stop = threading.Event()
        follower = Follower(store)
        seen: list[int] = []

        def publish(number: int) -> list[int]:
            with open_store(url) as own:
                return [
                    own.publish(
                        [skill(f"p{number}", f"{turn}"), skill(f"p{number}-{turn}")],
                        tenant="acme",
                        publisher=f"p{number}",
                    ).generation
                    for turn in range(rounds)
                ]

        def follow() -> None:
            while not stop.is_set():
                follower.follow(3)
                seen.append(follower.generation)

        with ThreadPoolExecutor(publishers + 1) as pool:
            following = pool.submit(follow)
            try:
                made = [pool.submit(publish, number) for number in range(publishers)]
                generations = sorted(g for future in made for g in future.result(timeout=120))
            finally:
                stop.set()
            following.result(timeout=60)
        assert generations == list(range(1, publishers * rounds + 1))
        assert seen == sorted(seen)
        assert follower.follow(3) == texts(standing(store))
        assert len(follower.held) == publishers * (rounds + 1)

    def test_of_publishers_who_expect_the_same_version_one_wins(
        self, store: CatalogStore, url: str
    ) -> None:
        store.publish([skill("a", "zero")], tenant="acme", publisher="ci")

        def publish(number: int) -> bool:
            with open_store(url) as own:
                try:
                    own.publish([skill("a", str(number))], tenant="acme", publisher="p", expected=1)
                except StoreConflict as conflict:
                    return (conflict.expected, conflict.found) != (1, 2)
                return True

        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(publish, range(4))) == [False, False, False, True]
        assert current(store, key("a")).version == 2

    def test_a_second_opening_finds_what_the_first_wrote(
        self, store: CatalogStore, url: str
    ) -> None:
        store.publish(skills(3), tenant="acme", publisher="ci")
        with open_store(url) as second:
            assert standing(second) == standing(store)
            assert second.status() == store.status()
            assert second.address in repr(second)

    def test_connections_are_bounded_and_waiting_for_one_too(
        self, store: CatalogStore, url: str
    ) -> None:
        with open_store(url, connections=1, statement_timeout_s=0.5) as small:

            def slow() -> Iterator[Skill]:
                yield skill("a")
                with pytest.raises(StoreUnavailable, match="in use"):
                    small.generation()

            assert small.publish(slow(), tenant="acme", publisher="ci").added == 1
            assert small.generation() == 1

    def test_what_it_answers_travels_between_processes(self, store: CatalogStore) -> None:
        store.publish(skills(2), tenant="acme", publisher="ci")
        changes = store.changes(0, 1)
        assert pickle.loads(pickle.dumps(changes)) == changes
