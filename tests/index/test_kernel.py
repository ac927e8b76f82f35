"""The C kernel gives the answers of the Python beside it, bit for bit, and refuses what lies."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from array import array
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard.index import kernel, reader, reading, segment, table
from skillyard.index.document import EXCLUDED
from skillyard.index.reader import open_index
from skillyard.index.segment import SegmentBuilder
from skillyard.index.table import bundled
from tests.index.making import DIMENSIONS, Asker, document, write
from tests.shared_data import REPOSITORY

pytestmark = pytest.mark.skipif(kernel.KERNEL is None, reason="the kernel was not built here")
KERNEL: Any = kernel.KERNEL


def without_kernel(patch: pytest.MonkeyPatch) -> None:
    for module in (reader, reading, segment, table):
        patch.setattr(module, "KERNEL", None)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 300))
def test_segments_and_answers_are_the_same(seed: int, count: int) -> None:
    import tempfile

    rng = random.Random(seed)
    documents = [document(rng, f"k{number}") for number in range(count)]
    asker = Asker(seed)
    found = []
    for with_it in (True, False):
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            if not with_it:
                without_kernel(patch)
            builder = SegmentBuilder(DIMENSIONS)
            for each in documents:
                builder.add(each)
            write(folder, documents)
            write(folder, documents[: count // 3])
            searcher = open_index(folder)
            assert searcher is not None
            found.append((builder.build() if documents else b"", asker.answers(searcher)))
    assert found[0] == found[1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="abcdeprotsu", min_size=1, max_size=9), max_size=60))
def test_vectors_are_the_same(words: list[str]) -> None:
    from skillyard.analysis import STANDARD

    counts = STANDARD.counts(" ".join([*words, "deploy the database and write a report"]))
    fields = [(1.0, counts.items()), (0.35, list(counts.items())[::2]), (0.2, ())]
    made = bundled()
    ours = [made.vector(fields, query=query) for query in (False, True)]
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert [made.vector(fields, query=query) for query in (False, True)] == ours


def test_a_whole_answer_is_the_same_in_another_process() -> None:
    root = str(REPOSITORY / "examples" / "skills")
    command = [sys.executable, "-m", "skillyard", "rank", "which change broke the tests?"]
    command += ["--explain", "--json", "--root", root]
    answers = set()
    for setting, seed in (("on", "1"), ("off", "2"), ("off", "77")):
        environment = {**os.environ, "SKILLYARD_KERNEL": setting, "PYTHONHASHSEED": seed}
        environment["PYTHONPATH"] = str(REPOSITORY / "src")
        answers.add(
            subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        )
    assert len(answers) == 1


U16 = array("H", [0, 1, 2, 1, 2])
U8 = bytes([1, 2, 3, 4, 5])
STARTS = array("I", [0, 2, 3])
TERMS = array("I", [0, 1, 1])
IMPACTS = array("f", [0.5, 0.25, 0.125])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("best", (U16, U8, [(0, 6, 1)], 3, [], 10, 0)),
        ("best", (U16, U8, [(-1, 2, 1)], 3, [], 10, 0)),
        ("best", (U16, U8, [(3, 2, 1)], 3, [], 10, 0)),
        ("best", (U16, U8, [(0, 5, 1024)], 3, [], 10, 0)),
        ("best", (U16, U8, [(0, 5, -1)], 3, [], 10, 0)),
        ("best", (U16, U8, [(0, 5, 1)], 2, [], 10, 0)),
        ("best", (U16, U8, [(0, 5, 1)], 70_000, [], 10, 0)),
        ("best", (U16, U8, [(0, 5, 1)], 3, [3], 10, 0)),
        ("best", (U16, U8, [(0, 5, 1)], 3, [-1], 10, 0)),
        ("best", (U16, U8[:3], [(0, 3, 1)], 3, [], 10, 0)),
        ("best", (U16, U8, [(0, 1, 1)] * 257, 3, [], 10, 0)),
        ("best", (U16, U8, [(0, 5, 1)], 3, [], 10, -1)),
        ("exact", (STARTS, TERMS, IMPACTS, [0], [1.0], [2])),
        ("exact", (STARTS, TERMS, IMPACTS, [0], [1.0], [-1])),
        ("exact", (STARTS, TERMS, IMPACTS, [0], [], [0])),
        ("exact", (array("I", [0, 9]), TERMS, IMPACTS, [0], [1.0], [0])),
        ("exact", (array("I", [2, 1]), TERMS, IMPACTS, [0], [1.0], [0])),
        ("exact", (STARTS, TERMS, IMPACTS[:1], [0], [1.0], [0])),
        ("nearest", (bytes(7), 4, bytes(4), [], 3)),
        ("nearest", (bytes(8), 4, bytes(3), [], 3)),
        ("nearest", (bytes(8), 0, b"", [], 3)),
        ("nearest", (bytes(8), 4, bytes(4), [2], 3)),
        ("dots", (bytes(8), 4, bytes(4), [2])),
        ("dots", (bytes(8), 4, bytes(5), [0])),
        ("direction", (bytes(8), 4, [(1.0, [2], [1])], 6, 1.0, 1.0)),
        ("direction", (bytes(8), 4, [(1.0, [0], [])], 6, 1.0, 1.0)),
        ("direction", (bytes(8), 4, [(1.0, [0], [-1])], 6, 1.0, 1.0)),
        ("direction", (bytes(8), 0, [], 6, 1.0, 1.0)),
        ("arrange", (STARTS, TERMS, IMPACTS, array("I", [0]))),
        ("arrange", (array("I", [0, 9]), TERMS, IMPACTS, array("I", [0, 1]))),
        ("arrange", (STARTS, TERMS, IMPACTS[:2], array("I", [0, 1]))),
        ("invert", (STARTS, TERMS, IMPACTS, b"\0\0", 1)),
        ("invert", (STARTS, TERMS, IMPACTS, b"\0", 2)),
        ("invert", (array("I", [0, 3, 9]), TERMS, IMPACTS, b"\0\0", 2)),
        ("invert", (STARTS, TERMS, IMPACTS, b"\0\0", -1)),
        ("invert", (array("I"), TERMS, IMPACTS, b"", 2)),
    ],
)
def test_what_lies_outside_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        getattr(KERNEL, name)(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("best", (U8, U8, [], 3, [], 10, 0)),
        ("best", (U16, U8, [(0, 1)], 3, [], 10, 0)),
        ("best", (U16, U8, ["x"], 3, [], 10, 0)),
        ("best", (U16, U8, (), 3, [], 10, 0)),
        ("best", (U16, U8, [], 3, ["x"], 10, 0)),
        ("exact", (U16, TERMS, IMPACTS, [], [], [])),
        ("exact", (STARTS, TERMS, IMPACTS, ["x"], [1.0], [0])),
        ("exact", (STARTS, TERMS, IMPACTS, [0], ["x"], [0])),
        ("nearest", (U16, 4, bytes(4), [], 3)),
        ("nearest", ("text", 4, bytes(4), [], 3)),
        ("arrange", (STARTS, bytes(12), IMPACTS, array("I", [0, 1]))),
        ("invert", (STARTS, TERMS, IMPACTS, b"\0\0", "2")),
        ("direction", (bytes(8), 4, [(1.0, 0, [])], 6, 1.0, 1.0)),
    ],
)
def test_what_is_of_another_kind_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, BufferError, SystemError)):
        getattr(KERNEL, name)(*arguments)


def test_excluded_documents_are_in_no_posting() -> None:
    builder = SegmentBuilder(0)
    rng = random.Random(1)
    for number in range(50):
        builder.add(document(rng, f"k{number}")._replace(vector=b"", flags=EXCLUDED))
    built = reading.Segment(memoryview(builder.build()), "here")
    assert len(built.whole("posting_documents")) == 0
