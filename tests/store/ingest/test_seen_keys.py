"""The keys that a run has met."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from skillyard.store.ingest import seen_keys as module
from skillyard.store.ingest.seen_keys import SeenKeys
from tests.store.skills import key


@pytest.fixture
def seen() -> Iterator[SeenKeys]:
    with closing(SeenKeys()) as made:
        yield made


def test_a_key_is_new_once_and_then_tells_whether_its_content_was_the_same(seen: SeenKeys) -> None:
    assert key("a") not in seen
    assert [seen.add(key("a"), text) for text in ("x", "x", "y", "x")] == [
        "new",
        "same",
        "other",
        "same",
    ]
    assert key("a") in seen
    assert key("a", namespace="eu") not in seen


def test_more_than_fits_into_memory_is_kept_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CACHE_KIB", 64)
    with closing(SeenKeys()) as small:
        for number in range(20_000):
            assert small.add(key(f"s{number}"), "x") == "new"
        assert small.add(key("s0"), "x") == "same"
        assert key("s20000") not in small
