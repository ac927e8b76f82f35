"""The C kernel weighs texts, numbers terms and packs numbers as the Python beside it does."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Skill
from skillyard.engine.index import kernel, segment_writer
from skillyard.engine.index.document_builder import build_documents, index_texts, kernel_terms
from skillyard.engine.index.token_table import TokenTable, bundled_table
from tests.kernel_needed import ABSENT, MAY_SKIP, without_kernel
from training.table_file import TokenRow, write_table

pytestmark = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL


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
        for document in build_documents(made, bundled_table(), lambda _, one: one.path)[0]:
            builder.add(document)
        return builder.build()

    ours = index()
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert index() == ours


_FEW = (("deploy", ""), ((1.0, 2.0),), 2.5, 0.95, ((0, 1.0),))


def test_offsets_of_a_damaged_table_lead_nowhere() -> None:
    for offsets in ([0, 900], [5, 1]):
        listed = memoryview(array("I", offsets).tobytes()).cast("I")
        weights = memoryview(array("H", [7]).tobytes()).cast("H")
        damaged = (bytes(4), weights, listed, b"deploy", 4, 6, 1.0, 1.0)
        assert kernel_terms().index_text(*_FEW, damaged)[2] == b""
