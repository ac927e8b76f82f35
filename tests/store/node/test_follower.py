"""A follower shows each generation once, whole, and answers on whatever happens to the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillyard.errors import InvalidInput, UnknownName
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.follower import Follower
from skillyard.store.sql_store import CatalogStore
from tests.store.node.nodes import LIBRARY, Node, answers, in_memory, store_in
from tests.store.skills import skill, skills


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread, giving way to it."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CatalogStore]:
    with store_in(tmp_path) as opened:
        opened.publish(LIBRARY, tenant="acme", publisher="ci")
        yield opened


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


def holds(follower: Follower, generation: int) -> bool:
    return follower.catalog is not None and follower.catalog.position.generation == generation


def test_it_shows_every_generation_in_order_and_whole(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    seen: list[tuple[int, bytes]] = []

    def listen(catalog: NodeCatalog) -> None:
        assert threading.current_thread().name == "skillyard-follower"
        seen.append((catalog.position.generation, answers(catalog)))

    with Follower(url, str(tmp_path / "node"), listener=listen) as follower:
        assert follower.wait(30) is not None
        expected = [answers(in_memory(store))]
        for number in range(2, 6):
            store.publish([skill("more", f"{number}")], tenant="acme", publisher="ci")
            until(lambda wanted=number: holds(follower, wanted))  # type: ignore[misc]
            expected.append(answers(in_memory(store)))
    assert seen == list(enumerate(expected, 1))


def test_it_starts_from_what_it_has_and_is_not_confirmed_before_the_store_answers(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    folder = str(tmp_path / "node")
    Node(store, folder).take()
    store.close()
    away = (tmp_path / "store.db").rename(tmp_path / "away.db")
    seen: list[NodeCatalog] = []
    with Follower(url, folder, listener=seen.append) as follower:
        assert len(seen) == 1  # before anything is asked
        until(lambda: bool(follower.following.failure))
        assert (follower.following.age_s, follower.following.skills) == (
            None,
            len(LIBRARY) - 1,
        )  # less the convention
        assert answers(seen[0]) == answers(Node(store, folder).open())
        away.rename(tmp_path / "store.db")
        until(lambda: follower.following.age_s is not None)
        assert follower.following.failure == ""
        assert follower.following.generation == follower.following.head == 1


def test_a_store_that_was_never_filled_is_an_empty_catalog(tmp_path: Path, url: str) -> None:
    with store_in(tmp_path) as empty, Follower(url, str(tmp_path / "node")) as follower:
        found = follower.wait(30)
        assert found is not None
        assert (len(found), found.position.generation) == (0, 0)
        empty.publish(skills(2), tenant="acme", publisher="ci")
        until(lambda: holds(follower, 1))
        assert len(follower.catalog or ()) == 2


def test_an_address_that_is_none_is_refused_and_passwords_are_not_told(tmp_path: Path) -> None:
    for wrong in ("nothing", ""):
        with pytest.raises(InvalidInput):
            Follower(wrong, str(tmp_path / "node"))
    with pytest.raises(UnknownName) as caught:
        Follower("other://user:secret@host/x?password=secret", str(tmp_path / "node"))
    assert "secret" not in str(caught.value)


def test_a_generation_that_could_not_be_shown_is_shown_again(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    """Else a service goes on with the one before, and says that it is up to date."""
    shown: list[int] = []
    broken = [2]

    def listen(catalog: NodeCatalog) -> None:
        if catalog.position.generation in broken:
            broken.clear()
            raise OSError("out of memory, say")
        shown.append(catalog.position.generation)

    follower = Follower(url, str(tmp_path / "node"), listener=listen)
    follower._step()
    store.publish([skill("more")], tenant="acme", publisher="ci")
    with pytest.raises(OSError, match="out of memory"):
        follower._step()
    follower._failure = "what the thread would note"
    follower._step()
    follower.close()
    assert follower.following.failure == ""
    assert shown == [1, 2]
