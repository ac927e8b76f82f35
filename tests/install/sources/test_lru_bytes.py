"""What is kept in memory: bounded by bytes, the same for equal content, found by no other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from skillyard.install.sources.responses import LruBytes

MOST = 100
ASKED = st.lists(
    st.tuples(st.sampled_from(["put", "get"]), st.integers(0, 9), st.integers(0, 130)),
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
        else:
            assert kept.get(key) == before
            if before is not None:
                model[key] = before
        assert kept.bytes == sum(taken for _, taken in model.values()) <= MOST
        assert len(kept) == len(model)
    assert {key: kept.get(key) for key in range(10) if key in model} == model


def test_many_threads_leave_the_count_right() -> None:
    kept: LruBytes[int, int] = LruBytes(1_000)

    def use(thread: int) -> None:
        for turn in range(2_000):
            key = (turn * 7 + thread) % 50
            found = kept.get(key)
            assert found in (None, key)
            kept.put(key, key, key + 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))
    sizes = [key + 1 for key in range(50) if kept.get(key) is not None]
    assert kept.bytes == sum(sizes) <= 1_000
