"""Many small changes keep an index small, and what stays is read once: the answers are the same."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard.engine.index import kernel
from skillyard.engine.index.index_writer import (
    INLINE_BYTES,
    MAX_SMALL_SEGMENTS,
    IndexWriter,
    verify,
)
from skillyard.engine.index.segment_reader import IndexedDocument
from skillyard.engine.index.segment_searcher import SegmentSearcher, open_index
from tests.engine.index.random_documents import DIMENSIONS, Asker, document, in_memory
from tests.kernel_needed import without_kernel
from tests.store.node.nodes import Node, answers, store_in
from tests.store.node.nodes import in_memory as in_memory_of
from tests.store.skills import key, skill, skills
from tests.tables import for_each

KERNELS = [pytest.param(False, id="python")]
if kernel.KERNEL is not None:
    KERNELS.append(pytest.param(True, id="kernel"))


def use_kernel(patch: pytest.MonkeyPatch, wanted: bool) -> None:
    if not wanted:
        without_kernel(patch)


def writer(folder: Path | str, max_rewritten: int | None = None) -> IndexWriter:
    return IndexWriter(str(folder), dimensions=DIMENSIONS, settings={}, max_rewritten=max_rewritten)


def opened(folder: Path | str, before: SegmentSearcher | None = None) -> SegmentSearcher:
    found = open_index(str(folder), before)
    assert found is not None
    return found


@pytest.mark.slow
@for_each("with_kernel", KERNELS)
def test_hundreds_of_generations_of_one_skill_leave_few_segments(
    tmp_path: Path, with_kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_kernel(monkeypatch, with_kernel)
    with store_in(tmp_path) as store:
        store.publish(skills(30), tenant="acme", publisher="ci")
        node = Node(store, tmp_path / "node")
        node.take()
        rng = random.Random(11)
        for number in range(200):
            if number % 5 == 4:
                store.withdraw([key(f"s{rng.randrange(30):05}")], tenant="acme", publisher="ci")
            else:
                given_ = skill(f"s{rng.randrange(30):05}", f"the commit {number}")
                store.publish([given_], tenant="acme", publisher="ci")
            held = node.take()
            assert len(held.library.searcher.segments) <= MAX_SMALL_SEGMENTS + 1
            if number % 50 == 49:
                expected = answers(in_memory_of(store))
                assert answers(held) == answers(node.open()) == expected
        assert verify(node.state.current() or "") == []


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), commits=st.integers(1, 14))
@pytest.mark.parametrize("with_kernel", KERNELS)
def test_what_is_opened_over_the_one_before_answers_like_one_opened_afresh(
    with_kernel: bool, seed: int, commits: int
) -> None:
    rng = random.Random(seed)
    live: dict[str, IndexedDocument] = {}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        use_kernel(patch, with_kernel)
        patch.setattr(
            "skillyard.engine.index.index_writer.INLINE_BYTES", rng.choice((0, 4_000, INLINE_BYTES))
        )
        asker = Asker(seed)
        chain: SegmentSearcher | None = None
        for _ in range(commits):
            with writer(folder, rng.choice((None, 0, 20, 1_000))) as changing:
                for _ in range(rng.randint(1, 25)):
                    name = f"k{rng.randint(0, 60)}"
                    if rng.random() < 0.3:
                        assert changing.delete(name) == (live.pop(name, None) is not None)
                    else:
                        live[name] = document(rng, name)
                        changing.add(live[name])
                changing.commit()
            earlier = None if chain is None else (chain, asker.answers(chain))
            chain = opened(folder, chain)
            expected = asker.answers(in_memory(live.values()))
            assert asker.answers(chain) == asker.answers(opened(folder)) == expected
            if earlier is not None:  # a generation that somebody holds stays what it was
                assert asker.answers(earlier[0]) == earlier[1]


def test_a_commit_that_may_copy_little_leaves_large_segments_and_says_so(tmp_path: Path) -> None:
    rng = random.Random(4)
    live = {f"k{number}": document(rng, f"k{number}") for number in range(3_000)}
    with writer(tmp_path) as changing:
        for each in live.values():
            changing.add(each)
        changing.commit()
    gone = [f"k{number}" for number in range(1_000)]  # more than a quarter: it wants rewriting
    with writer(tmp_path, max_rewritten=1_999) as changing:
        for name in gone:
            assert changing.delete(name)
            del live[name]
        changing.commit()
        assert changing.overdue
    left = opened(tmp_path)
    assert [(s.documents, len(s.dead)) for s in left.segments] == [(3_000, 1_000)]
    asker = Asker(4)
    assert asker.answers(left) == asker.answers(in_memory(live.values()))
    for most in (2_000, None):
        with writer(tmp_path, max_rewritten=most) as changing:
            changing.commit()
            assert not changing.overdue
        found = opened(tmp_path, left)
        assert [(s.documents, len(s.dead)) for s in found.segments] == [(2_000, 0)]
        assert asker.answers(found) == asker.answers(left)
