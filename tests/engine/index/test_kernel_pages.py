"""The C kernel meets damage where the Python beside it does: pages, lists, the hash table."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.index import kernel, segment_reader
from skillyard.engine.index.segment_writer import SegmentWriter
from tests.engine.index.random_documents import DIMENSIONS, document
from tests.kernel_needed import ABSENT, MAY_SKIP, without_kernel
from tests.tables import for_each

pytestmark = pytest.mark.skipif(MAY_SKIP, reason=ABSENT)
KERNEL: Any = kernel.KERNEL


def built(count: int) -> bytearray:
    builder = SegmentWriter(DIMENSIONS)
    rng = random.Random(3)
    for number in range(count):
        builder.add(document(rng, f"k{number}"))
    return bytearray(builder.build())


def looked_at(data: bytearray) -> list[object]:
    """Read every list of a segment; what is damaged is told instead."""
    from skillyard import IndexDamaged

    try:
        made = segment_reader.SegmentReader(memoryview(bytes(data)), "here")
    except IndexDamaged as error:
        return [error.message]
    found: list[object] = []
    for number in range(made.terms):
        try:
            found.append(made.check_postings(number))
        except IndexDamaged as error:
            found.append(error.message)
    for name in (*(f"w{number}" for number in range(40)), "", "nowhere", "\udcff"):
        for table in (segment_reader.TERMS, segment_reader.KEYS):
            try:
                found.append(made.find(table, name))
            except IndexDamaged as error:
                found.append(error.message)
    for last in range(0, made.documents + 1, 7):
        try:
            made.check_forwards(list(range(last)))
        except IndexDamaged as error:
            found.append(error.message)
        found.append(bytes(made._checked_forward))
    found.append(bytes(made._checked_pages))
    return found


@given(places=st.lists(st.integers(0, 2**32), min_size=1, max_size=3), bit=st.integers(0, 7))
def test_damage_is_met_by_both_at_the_same_page(places: list[int], bit: int) -> None:
    data = built(60)
    for place in places:
        data[place % len(data)] ^= 1 << bit
    ours = looked_at(data)
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert looked_at(data) == ours


def test_a_list_that_leads_out_of_its_section_is_met_though_its_page_is_sound() -> None:
    from zlib import crc32

    from skillyard.engine.index.segment_reader import HEADER_SIZE, PAGE, SegmentReader

    data = built(60)
    reader = SegmentReader(memoryview(bytes(data)), "")
    place = reader._places["forward_starts"][0] + 4 * 5
    end = int.from_bytes(data[24:32], "little")  # of the pages
    data[place : place + 4] = (2**32 - 1).to_bytes(4, "little")
    checks = array("I", data[end:-4])
    for page in range(len(checks)):
        first = HEADER_SIZE + page * PAGE
        checks[page] = crc32(data[first : min(first + PAGE, end)])
    data[end:] = checks.tobytes() + crc32(checks.tobytes()).to_bytes(4, "little")
    ours = looked_at(data)
    assert any("is outside section" in found for found in ours if isinstance(found, str))
    with pytest.MonkeyPatch.context() as patch:
        without_kernel(patch)
        assert looked_at(data) == ours


PAGES: tuple[Any, ...] = (bytes(20), array("I", [0, 0]), bytearray(2), 0, 4)


@for_each(
    "arguments",
    [
        (*PAGES, -1, 0),
        (*PAGES, 0, 2),
        (PAGES[0], PAGES[1], bytearray(3), 0, 4, 0, 0),
        (PAGES[0], PAGES[1], PAGES[2], 0, 0, 0, 0),
        (PAGES[0], PAGES[1], PAGES[2], -4, 4, 0, 0),
        (PAGES[0], PAGES[1], PAGES[2], 16, 4, 0, 0),
        (b"", array("I"), bytearray(), 0, 4, 0, 0),
    ],
)
def test_pages_that_do_not_fit_their_file_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="page"):
        KERNEL.find_damaged_page(*arguments)


@for_each(
    ("sections", "numbers"),
    [
        (((0, 3), (0, 1), (0, 1)), [0]),
        (((-4, 1), (0, 1), (0, 1)), [0]),
        (((0, 2), (1, 1), (0, 1)), [0]),
        (((0, 2), (0, 1), (4, 2)), [0]),
        (((0, 2), (0, 2**60), (0, 1)), [0]),
        (((0, 2), (0, 1), (0, 1)), [1]),
        (((0, 2), (0, 1), (0, 1)), [-1]),
    ],
)
def test_forward_lists_outside_the_file_are_refused(sections: Any, numbers: list[int]) -> None:
    with pytest.raises(ValueError, match=r"outside the file|no such document"):
        KERNEL.check_forward_lists(*PAGES, *sections, bytearray(1), numbers)


TABLE: tuple[Any, ...] = (
    array("I", [1, 1, 1, 1, 0, 1, 2]).tobytes() + b"ab\0\0" + bytes(8),
    array("I", [0]),
    bytearray([1]),
    0,
    32,
)
"""A file of one page: four slots that all hold the name a, where a and b start, their bytes."""


@for_each(
    ("slots", "offsets", "names", "found"),
    [
        ((0, 3), (16, 3), (28, 2), -2),
        ((0, 0), (16, 3), (28, 2), -2),
        ((0, 4), (16, 1), (28, 2), -2),
        ((0, 4), (16, 3), (28, 0), -2),
    ],
)
def test_a_hash_table_that_lies_is_said_to_be_damaged(
    slots: Any, offsets: Any, names: Any, found: int
) -> None:
    assert KERNEL.look_up_name(*TABLE, slots, offsets, names, b"b") == found
    for outside in ((-4, 1), (0, 2**60), (32, 1), (2, 1)):
        with pytest.raises(ValueError, match="outside the file"):
            KERNEL.look_up_name(*TABLE, outside, (16, 3), (28, 2), b"b")
