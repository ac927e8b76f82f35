"""The C kernel gives the answers of the Python beside it, bit for bit, and refuses what lies."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.index import kernel
from skillyard.engine.index.segment_searcher import open_index
from skillyard.engine.index.segment_writer import SegmentWriter
from skillyard.engine.index.token_table import bundled_table
from tests.engine.index.random_documents import DIMENSIONS, Asker, document, write
from tests.kernel_needed import ABSENT, MAY_SKIP, without_kernel
from tests.property.strategies import many
from tests.shared_data import PACKAGES, REPOSITORY
from tests.tables import for_each

pytestmark = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL


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
            builder = SegmentWriter(DIMENSIONS)
            for each in documents:
                builder.add(each)
            write(folder, documents)
            write(folder, documents[: count // 3])
            searcher = open_index(folder)
            assert searcher is not None
            found.append((builder.build() if documents else b"", asker.answers(searcher)))
    assert found[0] == found[1]


@given(st.lists(st.text(alphabet="abcdeprotsu", min_size=1, max_size=9), max_size=60))
def test_vectors_are_the_same(words: list[str]) -> None:
    from skillyard.engine.analysis import STANDARD

    counts = STANDARD.counts(" ".join([*words, "deploy the database and write a report"]))
    fields = [(1.0, counts.items()), (0.35, list(counts.items())[::2]), (0.2, ())]
    made = bundled_table()
    ours = [made.vector(fields, query=query) for query in (False, True)]
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert [made.vector(fields, query=query) for query in (False, True)] == ours


def test_a_whole_answer_is_the_same_in_another_process() -> None:
    root = str(REPOSITORY / "examples" / "skills")
    words = ["rank", "which change broke the tests?", "--explain", "--json", "--root", root]
    off = "sys.modules['skillyard.engine.index._kernel'] = None\n"
    program = "from skillyard.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    answers = set()
    for setting, seed in (("", "1"), (off, "2"), (off, "77")):
        command = [sys.executable, "-c", f"import sys\n{setting}{program}", *words]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        environment["PYTHONPATH"] = str(PACKAGES)
        answers.add(
            subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        )
    assert len(answers) == 1


STARTS = array("I", [0, 2, 3])
TERMS = array("I", [0, 1, 1])
IMPACTS = array("f", [0.5, 0.25, 0.125])
SOUND: dict[str, Any] = {
    "posting_documents": array("H", [0, 0, 1]),
    "posting_impacts": bytes([128, 64, 32]),
    "starts": STARTS,
    "terms": TERMS,
    "values": IMPACTS,
    "ties": array("Q", [7, 3]),
    "vectors": bytes([1, 2, 3, 4, 5, 6, 7, 8]),
    "read": bytearray([1, 1]),
    "dead": [],
    "silent": [],
}


def engine(**changed: Any) -> Any:
    """An engine over two documents of two terms; what is named replaces a section."""
    return KERNEL.Engine([tuple({**SOUND, **changed}.values())], 4)


def span(number: int, first: int, last: int) -> bytes:
    return array("q", [number, first, last]).tobytes()


ONE = span(0, 0, 1)
BOTH = span(1, 1, 3)


@for_each(
    "changed",
    [
        {"posting_impacts": bytes(2)},
        {"starts": array("I", [0, 2])},
        {"values": IMPACTS[:2]},
        {"ties": array("Q", [1])},
        {"vectors": bytes(7)},
        {"read": bytearray(3)},
        {"dead": [2]},
        {"dead": [-1]},
        {"dead": [1, 0]},
        {"silent": [0, 0]},
    ],
)
def test_sections_that_do_not_fit_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        engine(**changed)


@for_each(
    ("changed", "method", "arguments"),
    [
        ({}, "lexical", ([span(0, 0, 4)], [1.0], 10, 200)),
        ({}, "lexical", ([span(0, -1, 2)], [1.0], 10, 200)),
        ({}, "lexical", ([span(0, 3, 2)], [1.0], 10, 200)),
        ({}, "lexical", ([ONE[:8]], [1.0], 10, 200)),
        ({}, "lexical", ([ONE * 2], [1.0], 10, 200)),
        ({}, "lexical", ([ONE], [], 10, 200)),
        ({}, "lexical", ([ONE], [0.0], 10, 200)),
        ({}, "lexical", ([ONE], [float("nan")], 10, 200)),
        ({}, "lexical", ([ONE], [float("inf")], 10, 200)),
        ({}, "lexical", ([ONE] * 257, [1.0] * 257, 10, 200)),
        ({"starts": array("I", [0, 2, 9])}, "lexical", ([BOTH], [1.0], 10, 200)),
        ({"starts": array("I", [2, 1, 3])}, "exact_scores", ([BOTH], [1.0], [0])),
        ({}, "exact_scores", ([BOTH], [1.0], [2])),
        ({}, "exact_scores", ([BOTH], [1.0], [-1])),
        ({}, "exact_scores", ([BOTH], [1.0], [1 << 16])),
        ({}, "exact_scores", ([BOTH], [1.0], [1 << 40])),
        ({}, "nearest", (bytes(3), 3)),
        ({}, "dots", (bytes(5), [0])),
        ({}, "dots", (bytes(4), [2])),
        ({}, "dots", (bytes(4), [-1])),
    ],
)
def test_an_engine_refuses_what_lies_outside(
    changed: dict[str, Any], method: str, arguments: tuple[Any, ...]
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        getattr(engine(**changed), method)(*arguments)


@many
@given(documents=st.lists(st.integers(0, 65_535), max_size=40), limit=st.integers(-1, 9))
def test_no_list_of_postings_leads_out_of_the_sums(documents: list[int], limit: int) -> None:
    """Unordered, twice the same, beyond the last document: wrong sums at most."""
    made = engine(posting_documents=array("H", documents), posting_impacts=b"\xff" * len(documents))
    found, unread = made.lexical([span(0, 0, len(documents))], [1.0], limit, 0)
    assert unread == []
    assert {ordinal for ordinal, _ in found} <= {0, 1}


@for_each(
    ("name", "arguments"),
    [
        ("text_vector", (bytes(8), 4, [(1.0, [2], [1])], 6, 1.0, 1.0)),
        ("text_vector", (bytes(8), 4, [(1.0, [0], [])], 6, 1.0, 1.0)),
        ("text_vector", (bytes(8), 4, [(1.0, [0], [-1])], 6, 1.0, 1.0)),
        ("text_vector", (bytes(8), 0, [], 6, 1.0, 1.0)),
        ("sort_forward_lists", (STARTS, TERMS, IMPACTS, array("I", [0]))),
        ("sort_forward_lists", (array("I", [0, 9]), TERMS, IMPACTS, array("I", [0, 1]))),
        ("sort_forward_lists", (STARTS, TERMS, IMPACTS[:2], array("I", [0, 1]))),
        ("invert_forward_lists", (STARTS, TERMS, IMPACTS, b"\0\0", 1)),
        ("invert_forward_lists", (STARTS, TERMS, IMPACTS, b"\0", 2)),
        ("invert_forward_lists", (array("I", [0, 3, 9]), TERMS, IMPACTS, b"\0\0", 2)),
        ("invert_forward_lists", (STARTS, TERMS, IMPACTS, b"\0\0", -1)),
        ("invert_forward_lists", (array("I"), TERMS, IMPACTS, b"", 2)),
        ("Engine", ([], -1)),
        ("Engine", ([], 5_000)),
    ],
)
def test_what_lies_outside_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        getattr(KERNEL, name)(*arguments)


@many
@given(data=st.binary(max_size=600), start=st.integers(0, 70))
def test_checksums_are_those_of_zlib(data: bytes, start: int) -> None:
    from zlib import crc32

    whole = data * 9  # past the length from which many bytes are taken at once
    for part in (data, memoryview(whole)[start:], bytearray(data)):
        assert KERNEL.crc32(part) == crc32(part)


def test_no_format_of_the_kernel_needs_the_headers_of_the_version_that_runs_it() -> None:
    """The wheel is built on 3.13, whose headers no longer make `#` mean a size on 3.11 and 3.12."""
    native = sorted((REPOSITORY / "src" / "skillyard" / "engine" / "index" / "native").glob("*.c"))
    assert native
    calls = re.compile(r'(?:Parse\w*|BuildValue|CallFunction|CallMethod)\([^;]*?"([^"]*#[^"]*)"')
    assert [path.name for path in native if calls.search(path.read_text())] == []
