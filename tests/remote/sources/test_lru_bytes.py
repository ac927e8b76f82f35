"""What is kept in memory: bounded by bytes, the same for equal content, found by no other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from skillyard.remote.sources.lru_bytes import LruBytes, ParseCache

MOST = 100
ASKED = st.lists(
    st.tuples(st.sampled_from(["put", "get", "drop"]), st.integers(0, 9), st.integers(0, 130)),
    max_size=60,
)


@given(ASKED)
def test_it_never_takes_more_than_it_may_and_keeps_what_was_asked_for_last(
    asked: list[tuple[str, int, int]],
) -> None:
    kept: LruBytes[int, tuple[int, int]] = LruBytes(MOST)
    model: dict[int, tuple[int, int]] = {}  # in the order of their last use
    for turn, (what, key, size) in enumerate(asked):
        before = model.pop(key, None)
        if what == "put":
            kept.put(key, (turn, size), size)
            if size <= MOST:
                model[key] = (turn, size)
            while sum(taken for _, taken in model.values()) > MOST:
                del model[next(iter(model))]
        elif what == "get":
            assert kept.get(key) == before
            if before is not None:
                model[key] = before
        else:
            kept.drop(key)
        assert kept.bytes == sum(taken for _, taken in model.values()) <= MOST
        assert len(kept) == len(model)
    assert {key: kept.get(key) for key in range(10) if key in model} == model


def test_clearing_forgets_everything() -> None:
    kept: LruBytes[int, str] = LruBytes(MOST)
    kept.put(1, "one", 10)
    kept.clear()
    assert (kept.get(1), kept.bytes, len(kept)) == (None, 0, 0)


def test_many_threads_leave_the_count_right() -> None:
    kept: LruBytes[int, int] = LruBytes(1_000)

    def use(thread: int) -> None:
        for turn in range(2_000):
            key = (turn * 7 + thread) % 50
            found = kept.get(key)
            assert found in (None, key)
            kept.put(key, key, key + 1)
            if turn % 13 == 0:
                kept.drop((key + 1) % 50)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))
    sizes = [key + 1 for key in range(50) if kept.get(key) is not None]
    assert kept.bytes == sum(sizes) <= 1_000


def test_other_bytes_find_nothing_and_equal_ones_do() -> None:
    known = ParseCache(10_000)
    body = b'{"tree": []}' * 10
    known.put_parsed("tree", body, "the tree", 50)
    assert known.get_parsed("tree", body) == "the tree"
    assert known.get_parsed("tree", bytes(bytearray(body))) == "the tree"
    assert known.get_parsed("tree", body + b" ") is None
    assert known.get_parsed("hits", body) is None


def test_the_body_counts_and_counts_once() -> None:
    known = ParseCache(1_000)
    body = b"x" * 400
    known.put_parsed("tree", body, "a", 100)
    assert known.bytes == 500
    known.get_parsed(
        "tree", bytes(bytearray(body))
    )  # other bytes of the same content take its place
    assert (known.bytes, len(known)) == (500, 1)
    known.put_parsed("tree", b"y" * 2_000, "too large", 1)
    assert known.get_parsed("tree", b"y" * 2_000) is None
    assert known.get_parsed("tree", body) == "a"
