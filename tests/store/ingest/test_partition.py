"""Every key belongs to exactly one part, on every machine the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.store.ingest.partition import Partition, key_digest
from skillyard.store.values import StoreKey
from tests.tables import for_each

_keys = st.builds(StoreKey, st.text(), st.text(), st.text(), st.text())


@given(_keys, st.integers(1, 50))
def test_a_key_belongs_to_exactly_one_part(key: StoreKey, parts: int) -> None:
    holding = [n for n in range(1, parts + 1) if Partition(n, parts).holds(key)]
    assert len(holding) == 1


def test_parts_are_about_equal() -> None:
    keys = [StoreKey("acme", "", "", f"s{number}") for number in range(4_000)]
    sizes = [sum(Partition(n, 4).holds(key) for key in keys) for n in range(1, 5)]
    assert sum(sizes) == 4_000
    assert min(sizes) > 900


def test_the_part_of_a_key_never_changes() -> None:
    """Machines of two releases would otherwise both leave a key to the other."""
    key = StoreKey("acme", "web", "owner/repo", "tools/csv")
    assert key_digest(key).hex().startswith("43469f8a")
    assert [n for n in range(1, 8) if Partition(n, 7).holds(key)] == [4]


@for_each("text", ["1/1", "3/8", "10000/10000"])
def test_a_partition_is_read_back_from_what_it_prints(text: str) -> None:
    assert str(Partition.parse(text)) == text


@for_each(
    "text",
    ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1/10001", "a/b", "1 /2", "1/2\n", "１/2"],
)
def test_what_is_no_partition_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="I/N"):
        Partition.parse(text)
