"""The token table: whole numbers in, the same bytes out everywhere."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import IndexDamaged
from skillyard.engine.index.token_table import (
    UNIT,
    TokenTable,
    bundled_table,
)
from training.table_file import TokenRow, write_table

TERMS = ("alpha", "beta", "gamma", "词")
ROWS = [
    TokenRow(4000, 3000, 64, 32),
    TokenRow(5000, 5000, 128, 16),
    TokenRow(900, 900, 32, 80),
    TokenRow(70, 70, 64, 9),
]
VECTORS = array("b", [127, 0, 0, 0, 0, 127, 0, 0, 60, 60, 60, -60, -127, 1, 2, 3]).tobytes()


def table(data: bytes | None = None) -> TokenTable:
    data = write_table(TERMS, ROWS, VECTORS, 4) if data is None else data
    return TokenTable(data, "table.bin")


def test_a_vector_is_made_of_its_terms_in_whole_numbers() -> None:
    made = table()
    # A unit of 363 in so few dimensions does not fit a signed byte: it is cut.
    assert list(array("b", made.vector([(1.0, [("alpha", 1)])]))) == [127, 0, 0, 0]
    both = made.vector([(1.0, [("alpha", 1), ("gamma", 1), ("词", 2)])])
    assert list(array("b", both)) == [127, 35, 35, -36]
    spread = array("b", bundled_table().vector([(1.0, [("deploy", 1), ("databas", 1)])]))
    assert sum(v * v for v in spread) == pytest.approx(UNIT * UNIT, rel=0.01)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_any_changed_byte_is_noticed(place: int, value: int) -> None:
    data = bytearray(write_table(TERMS, ROWS, VECTORS, 4))
    place %= len(data)
    if data[place] == value:
        return
    data[place] = value
    with pytest.raises(IndexDamaged, match="token table"):
        table(bytes(data))


def test_the_bundled_table_is_whole_and_small() -> None:
    made = bundled_table()
    assert made.dimensions == 256
    with open(made.path, "rb") as file:
        data = file.read()
    assert len(data) <= 8_000_000
    assert TokenTable(data, made.path).id == made.id
