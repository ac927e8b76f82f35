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

from skillyard.engine.index import kernel, segment_reader, token_table
from skillyard.engine.index.searcher import EXCLUDED
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


def test_an_engine_scores_by_its_forward_lists() -> None:
    made = engine()
    assert made.lexical([ONE, BOTH], [1.0, 2.0], 10, 200) == ([(0, 1.0), (1, 0.25)], [])
    assert made.exact_scores([BOTH], [1.0], [1, 0, 1]) == ([0.125, 0.25, 0.125], [])
    assert made.matched_weights([ONE, BOTH], [1.0, 2.0], [1, 0, 1]) == ([2.0, 3.0, 2.0], [])
    assert made.nearest(bytes([1, 0, 0, 0]), 5) == [(1, 5), (0, 1)]
    assert made.dots(bytes([0, 1, 0, 255]), [1, 0]) == [-2, -2]


def test_an_engine_may_be_asked_for_nothing() -> None:
    made = engine()
    for limit in (0, -1, -(2**40)):
        assert made.lexical([ONE], [1.0], limit, 200) == ([], [])
        assert made.nearest(bytes([1, 0, 0, 0]), limit) == []
    assert KERNEL.Engine([], 4).lexical([], [], 10, 200) == ([], [])


def test_equal_scores_are_ordered_by_their_ties() -> None:
    made = engine(posting_impacts=bytes([9, 9, 9]), values=array("f", [0.5, 0.5, 0.5]))
    assert made.lexical([BOTH], [1.0], 10, 200) == ([(1, 0.5), (0, 0.5)], [])
    assert made.lexical([BOTH], [1.0], 1, 1) == ([(1, 0.5)], [])


def test_deleted_and_silent_documents_are_no_answers() -> None:
    made = engine(dead=[0], silent=[0])
    assert made.lexical([ONE, BOTH], [1.0, 2.0], 10, 200) == ([(1, 0.25)], [])
    assert made.nearest(bytes([1, 0, 0, 0]), 5) == [(1, 5)]


def test_unread_documents_are_named_and_not_read() -> None:
    read = bytearray([1, 0])
    made = engine(read=read, values=array("f", [0.5, 0.25, float("nan")]))
    assert made.lexical([BOTH], [1.0], 10, 200) == ([], [1])
    assert made.exact_scores([BOTH], [1.0], [0, 1]) == ([], [1])
    assert made.matched_weights([BOTH], [1.0], [0, 1]) == ([], [1])
    read[1] = 1
    assert len(made.exact_scores([BOTH], [1.0], [0, 1])[0]) == 2


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


@for_each(
    ("name", "arguments"),
    [
        ("sort_forward_lists", (STARTS, bytes(12), IMPACTS, array("I", [0, 1]))),
        ("invert_forward_lists", (STARTS, TERMS, IMPACTS, b"\0\0", "2")),
        ("text_vector", (bytes(8), 4, [(1.0, 0, [])], 6, 1.0, 1.0)),
        ("Engine", ((), 4)),
        ("Engine", ([()], 4)),
        ("Engine", (["text"], 4)),
        ("Engine", ([tuple({**SOUND, "read": "text"}.values())], 4)),
        ("Engine", ([tuple({**SOUND, "ties": bytes(16)}.values())], 4)),
        ("Engine", ([tuple({**SOUND, "dead": ()}.values())], 4)),
        ("Engine", ([tuple({**SOUND, "silent": ["x"]}.values())], 4)),
    ],
)
def test_what_is_of_another_kind_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, BufferError, SystemError)):
        getattr(KERNEL, name)(*arguments)


@for_each(
    ("method", "arguments"),
    [
        ("lexical", (["x"], [1.0], 10, 200)),
        ("lexical", ([ONE], ["x"], 10, 200)),
        ("lexical", ((), [], 10, 200)),
        ("exact_scores", ([ONE], [1.0], ["x"])),
        ("exact_scores", ([ONE], [1.0], (1,))),
        ("nearest", ("text", 3)),
        ("nearest", (array("H", [1, 2, 3, 4]), 3)),
        ("dots", (bytes(4), ["x"])),
    ],
)
def test_an_engine_refuses_what_is_of_another_kind(method: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, BufferError)):
        getattr(engine(), method)(*arguments)


def test_excluded_documents_are_in_no_posting() -> None:
    builder = SegmentWriter(0)
    rng = random.Random(1)
    for number in range(50):
        builder.add(document(rng, f"k{number}")._replace(vector=b"", flags=EXCLUDED))
    built = segment_reader.SegmentReader(memoryview(builder.build()), "here")
    assert len(built.section("posting_documents")) == 0


@many
@given(data=st.binary(max_size=600), start=st.integers(0, 70))
def test_checksums_are_those_of_zlib(data: bytes, start: int) -> None:
    from zlib import crc32

    whole = data * 9  # past the length from which many bytes are taken at once
    for part in (data, memoryview(whole)[start:], bytearray(data)):
        assert KERNEL.crc32(part) == crc32(part)


def test_impacts_are_those_of_the_forward_list() -> None:
    made = engine()
    nowhere = span(-1, 0, 0)
    assert made.impacts([BOTH, nowhere, ONE, ONE], 0) == [0.25, 0.0, 0.5, 0.5]
    assert made.impacts([BOTH, ONE], 1) == [0.125, 0.0]
    assert made.impacts([], 1) == []
    assert engine(read=bytearray([1, 0])).impacts([BOTH], 1) is None
    for ordinal in (2, -1, 1 << 16, 2**40):
        with pytest.raises(ValueError, match="no such document"):
            made.impacts([BOTH], ordinal)
    with pytest.raises(ValueError, match="another engine"):
        made.impacts([BOTH + BOTH], 0)
    with pytest.raises(ValueError, match="too many terms"):
        made.impacts([BOTH] * 257, 0)
    with pytest.raises(ValueError, match="outside its section"):
        engine(starts=array("I", [0, 2, 9])).impacts([BOTH], 1)


@given(
    asked=st.binary(min_size=1, max_size=40),
    seed=st.integers(0, 2**32),
    weights=st.lists(st.floats(0.0, 3.0), max_size=5),
    own=st.floats(0.0, 0.01),
    theirs=st.floats(0.0, 1.0),
)
def test_a_direction_is_moved_to_the_same_bytes(
    asked: bytes, seed: int, weights: list[float], own: float, theirs: float
) -> None:
    rng = random.Random(seed)
    others = [(rng.randbytes(len(asked)), weight) for weight in weights]
    ours = token_table.shift_vector(asked, own, others, theirs)
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert token_table.shift_vector(asked, own, others, theirs) == ours


def test_a_direction_is_not_moved_by_what_does_not_fit() -> None:
    for vectors, weights in (([bytes(3)], [1.0]), ([bytes(4)], []), ([], [1.0])):
        with pytest.raises(ValueError, match=r"size|number"):
            KERNEL.shift_vector(bytes(4), 0.1, vectors, weights, 0.5, 1.0, 363.0)
    with pytest.raises(ValueError, match="dimensions"):
        KERNEL.shift_vector(b"", 0.1, [], [], 0.5, 1.0, 363.0)
    assert KERNEL.shift_vector(bytes(4), 0.1, [bytes(4)], [1.0], 0.5, 1.0, 363.0) is None


def test_the_highest_document_is_found() -> None:
    assert KERNEL.largest_u16(array("H")) == -1
    assert KERNEL.largest_u16(array("H", [0, 65535, 3])) == 65535
    with pytest.raises(TypeError):
        KERNEL.largest_u16(array("I", [1]))


def repeated(seed: int, times: int) -> tuple[Any, Any]:
    """Return an engine over one segment many times, and the Python reader over the same."""
    rng = random.Random(seed)
    builder = SegmentWriter(DIMENSIONS)
    for number in range(5_000):
        builder.add(document(rng, f"k{number}"))
    data = memoryview(builder.build())
    segments = [segment_reader.SegmentReader(data, "made") for _ in range(times)]
    for each in segments:
        for number in range(each.documents):
            each.check_forward(number)
    engine = KERNEL.Engine([each.for_kernel() for each in segments], DIMENSIONS)
    return engine, segments


def test_a_large_pass_lets_others_run_and_answers_the_same_alone_and_beside_others() -> None:
    from concurrent.futures import ThreadPoolExecutor
    from struct import pack

    times = 30  # 150,000 documents: above what a pass keeps other threads waiting for
    engine, segments = repeated(7, times)
    small, one = repeated(7, 1)
    rng = random.Random(11)

    def asked(
        over: list[segment_reader.SegmentReader], words: list[str]
    ) -> tuple[list[bytes], list[float]]:
        numbers = [segments[0].term(word) for word in words]
        spans = [
            b"".join(pack("qqq", n, *each.check_postings(n)) for each in over) for n in numbers
        ]
        return spans, [1.0 + place for place in range(len(words))]

    for _ in range(3):
        words = rng.sample([f"w{number}" for number in range(40)], 5)
        vector = array("b", [rng.randint(-127, 127) for _ in range(DIMENSIONS)]).tobytes()

        def lexical(words: list[str] = words) -> Any:
            return engine.lexical(*asked(segments, words), 90, 200)

        def nearest(vector: bytes = vector) -> Any:
            return engine.nearest(vector, 90)

        alone = lexical(), nearest()
        # Each document stands there thirty times: the best ninety are the best three, thirtyfold.
        few, _ = small.lexical(*asked(one, words), 3, 200)
        expected = sorted((score for _, score in few for _ in range(times)), reverse=True)
        assert [score for _, score in alone[0][0]] == expected
        with ThreadPoolExecutor(4) as pool:
            beside = [pool.submit(work) for _ in range(10) for work in (lexical, nearest)]
            assert [each.result() for each in beside] == list(alone) * 10


def test_no_format_of_the_kernel_needs_the_headers_of_the_version_that_runs_it() -> None:
    """The wheel is built on 3.13, whose headers no longer make `#` mean a size on 3.11 and 3.12."""
    native = sorted((REPOSITORY / "src" / "skillyard" / "engine" / "index" / "native").glob("*.c"))
    assert native
    calls = re.compile(r'(?:Parse\w*|BuildValue|CallFunction|CallMethod)\([^;]*?"([^"]*#[^"]*)"')
    assert [path.name for path in native if calls.search(path.read_text())] == []
