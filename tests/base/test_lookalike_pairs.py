"""Names one letter apart or the same to the eye, found without comparing all with all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.lookalikes import look_alike_pairs, skeleton
from tests.property.strategies import many

_NAMES = st.text(alphabet="abcl1-", min_size=1, max_size=7)


def _distance(one: str, two: str) -> int:
    """Optimal string alignment distance, by the book."""
    rows = [[i + j if 0 in (i, j) else 0 for j in range(len(two) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            cost = one[i - 1] != two[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == two[j - 2] and one[i - 2] == two[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@many
@given(st.lists(_NAMES.filter(lambda name: len(name) >= 4 and "1" not in name), max_size=12))
def test_every_name_with_a_neighbour_is_found_and_no_other(names: list[str]) -> None:
    expected = {
        one
        for one in names
        for two in names
        if one != two and (_distance(one, two) == 1 or skeleton(one) == skeleton(two))
    }
    found = look_alike_pairs(names)
    assert set(found) == expected
    assert all(other in names and other != name for name, other in found.items())


def test_many_names_of_one_pattern_cost_a_bounded_number_of_comparisons() -> None:
    names = [
        f"{letter}{other}skill" for letter in map(chr, range(0x4E00, 0x4E80)) for other in "abc"
    ]
    assert len(look_alike_pairs(names)) == len(names)
