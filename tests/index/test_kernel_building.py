"""The C kernel numbers terms and packs numbers as the Python beside it does."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.index import kernel, segment
from tests.kernel_needed import ABSENT, MAY_SKIP
from tests.tables import for_each

pytestmark = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL


@given(st.lists(st.lists(st.text(max_size=3), unique=True).map(tuple), max_size=4))
def test_terms_are_numbered_as_they_come(documents: list[tuple[str, ...]]) -> None:
    ours: dict[str, int] = {}
    theirs = segment._Numbers()
    for terms in documents:
        expected = array("I", [theirs[term] for term in terms]).tobytes()
        assert KERNEL.numbered(ours, terms) == expected
    assert ours == theirs


@given(st.lists(st.floats() | st.integers(-(2**70), 2**70)).map(tuple))
def test_numbers_become_singles(numbers: tuple[float, ...]) -> None:
    assert KERNEL.singles(numbers) == array("f", numbers).tobytes()


class Term(str):
    __slots__ = ()


@for_each(
    ("name", "arguments"),
    [
        ("numbered", ({}, ["a"])),
        ("numbered", ([], ("a",))),
        ("numbered", ({}, ("a", 1))),
        ("numbered", ({}, (Term("a"),))),
        ("numbered", ({"a": "b"}, ("a",))),
        ("singles", ([1.0],)),
        ("singles", ((1.0, "2"),)),
    ],
)
def test_documents_of_another_kind_are_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        getattr(KERNEL, name)(*arguments)


@for_each("number", [-1, 2**32, 2**64])
def test_a_number_that_no_term_can_have_is_refused(number: int) -> None:
    with pytest.raises(OverflowError):
        KERNEL.numbered({"a": number}, ("a",))
