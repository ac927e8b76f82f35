"""The C kernel weighs texts, numbers terms and packs numbers as the Python beside it does."""

from __future__ import annotations

from array import array
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Skill
from skillyard.engine.index import kernel, segment_writer
from skillyard.engine.index.document_builder import build_documents, index_texts
from skillyard.engine.index.term_counts import kernel_terms
from skillyard.engine.index.token_table import TokenTable, bundled_table
from tests.kernel_needed import ABSENT, MAY_SKIP, without_kernel
from tests.tables import for_each
from training.table_file import TokenRow, write_table

pytestmark = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL


@given(st.lists(st.lists(st.text(max_size=3), unique=True).map(tuple), max_size=4))
def test_terms_are_numbered_as_they_come(documents: list[tuple[str, ...]]) -> None:
    ours: dict[str, int] = {}
    theirs = segment_writer._TermNumbers()
    for terms in documents:
        expected = array("I", [theirs[term] for term in terms]).tobytes()
        assert KERNEL.number_terms(ours, terms) == expected
    assert ours == theirs


@given(st.lists(st.floats() | st.integers(-(2**70), 2**70)).map(tuple))
def test_numbers_become_singles(numbers: tuple[float, ...]) -> None:
    assert KERNEL.to_float32(numbers) == array("f", numbers).tobytes()


@given(st.lists(st.text(max_size=4), unique=True))
def test_ranks_and_slots_are_those_of_python(terms: list[str]) -> None:
    names = [term.encode("utf-8", "surrogatepass") for term in terms]
    numbers = {term: number for number, term in enumerate(terms)}
    order = sorted(terms)
    ranks = array("I", KERNEL.sorted_ranks(numbers, order))
    assert [order[rank] for rank in ranks] == terms
    slots = segment_writer.hash_slots(names)
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert segment_writer.hash_slots(names) == slots


@for_each(
    ("numbers", "names"),
    [
        ({"a": 1}, ["a"]),
        ({"a": -1}, ["a"]),
        ({"a": 0}, ["b"]),
        ({"a": 0}, [b"a"]),
        ({"a": ""}, ["a"]),
    ],
)
def test_names_that_were_not_numbered_are_refused(numbers: Any, names: Any) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        KERNEL.sorted_ranks(numbers, names)


@for_each("names", [("a",), ["a"], (b"a",), None])
def test_only_a_list_of_bytes_has_slots(names: Any) -> None:
    with pytest.raises(TypeError):
        KERNEL.hash_slots(names)


_WORDS = [
    "deploy",
    "database",
    "report",
    "Kubernetes",
    "the",
    "qqqzzz",
    "C++",
    "déploie",
    "部署数据",
]
_TEXTS = st.lists(st.sampled_from([*_WORDS, "\ud800", "\n"]), max_size=40).map(" ".join)


def _small_table() -> TokenTable:
    rows = [TokenRow(65_535, 1, 64, 0), TokenRow(1, 1, 64, 0), TokenRow(900, 1, 64, 0)]
    return TokenTable(write_table(["databas", "deploy", "部署"], rows, bytes(range(100, 112)), 4))


@given(st.lists(st.tuples(*[_TEXTS] * 7), max_size=3))
def test_texts_are_weighed_alike(skills: list[tuple[str, ...]]) -> None:
    tables = [bundled_table(), _small_table()]
    ours = [index_texts(texts, table) for texts in skills for table in tables]
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        theirs = [index_texts(texts, table) for texts in skills for table in tables]
    for one, other in zip(ours, theirs, strict=True):
        assert one._replace(name=tuple(one.name), avoid=tuple(one.avoid)) == other._replace(
            name=tuple(other.name), avoid=tuple(other.avoid)
        )


def test_a_text_with_more_known_words_than_are_summed_is_weighed_alike() -> None:
    words = [bundled_table()[place].decode() for place in range(0, len(bundled_table()), 5)]
    texts = (*[""] * 4, " ".join([*words, *words[::-1]] * 2), "", "")
    ours = index_texts(texts, bundled_table())
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        theirs = index_texts(texts, bundled_table())
    assert len(ours.terms) > 4_096
    assert ours[:3] == theirs[:3]


_HOSTILE = st.one_of(
    _TEXTS,
    st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=30),
    st.lists(st.sampled_from(["\n# ", "\n## Not for ", "\n```\n", "deploy", "x1", "部"])).map(
        "".join
    ),
)


@given(st.lists(st.tuples(_HOSTILE, _HOSTILE, _HOSTILE), max_size=3))
def test_an_index_has_the_same_bytes(skills: list[tuple[str, str, str]]) -> None:
    made = [
        Skill(name=name, description=description, body=body, path=f"{place}/SKILL.md")
        for place, (name, description, body) in enumerate(skills)
    ]

    def index() -> bytes:
        builder = segment_writer.SegmentWriter(bundled_table().dimensions)
        for document in build_documents(made, bundled_table(), lambda _, one: one.path).documents:
            builder.add(document)
        return builder.build()

    ours = index()
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert index() == ours


def test_many_threads_weigh_the_same_with_two_tables() -> None:
    tables = [bundled_table(), _small_table()]
    texts = [(f"ΔΟΚΙΜΗ{n} deploy", *[f"database é{n} 部署 w{n}"] * 6) for n in range(40)]
    expected = [index_texts(each, tables[n % 2]) for n, each in enumerate(texts)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(index_texts, texts, tables * 20)) == expected


_FEW = (("deploy", ""), ((1.0, 2.0),), 2.5, 0.95, ((0, 1.0),))


@for_each(
    "change",
    [
        {0: ()},
        {0: ("x",) * 17},
        {0: ("x", b"x")},
        {1: ((1.0, 2.0),) * 3},
        {1: ((1.0,),)},
        {4: ((2, 1.0),)},
        {4: ((-1, 1.0),)},
        {5: (b"", memoryview(b"").cast("H"), memoryview(bytes(8)).cast("I"), b"", 4, 6, 1.0, 1.0)},
        {5: (b"", memoryview(b"").cast("H"), memoryview(bytes(4)).cast("I"), b"", 0, 6, 1.0, 1.0)},
        {5: (b"", memoryview(b"").cast("B"), memoryview(bytes(4)).cast("I"), b"", 4, 6, 1.0, 1.0)},
    ],
)
def test_what_cannot_be_weighed_is_refused(change: dict[int, Any]) -> None:
    arguments = [*_FEW, bundled_table().sections]
    kernel_terms().index_text(*arguments)
    for place, value in change.items():
        arguments[place] = value
    with pytest.raises((ValueError, TypeError)):
        kernel_terms().index_text(*arguments)


def test_offsets_of_a_damaged_table_lead_nowhere() -> None:
    for offsets in ([0, 900], [5, 1]):
        listed = memoryview(array("I", offsets).tobytes()).cast("I")
        weights = memoryview(array("H", [7]).tobytes()).cast("H")
        damaged = (bytes(4), weights, listed, b"deploy", 4, 6, 1.0, 1.0)
        assert kernel_terms().index_text(*_FEW, damaged)[2] == b""


class Term(str):
    __slots__ = ()


@for_each(
    ("name", "arguments"),
    [
        ("number_terms", ({}, ["a"])),
        ("number_terms", ([], ("a",))),
        ("number_terms", ({}, ("a", 1))),
        ("number_terms", ({}, (Term("a"),))),
        ("number_terms", ({"a": "b"}, ("a",))),
        ("to_float32", ([1.0],)),
        ("to_float32", ((1.0, "2"),)),
    ],
)
def test_documents_of_another_kind_are_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        getattr(KERNEL, name)(*arguments)


@for_each("number", [-1, 2**32, 2**64])
def test_a_number_that_no_term_can_have_is_refused(number: int) -> None:
    with pytest.raises(OverflowError):
        KERNEL.number_terms({"a": number}, ("a",))
