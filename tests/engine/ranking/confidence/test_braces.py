"""Brace alternatives: what a group is, and that their number is bounded while they are built."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.glob import expand_braces
from tests.tables import for_each


@for_each(
    ("pattern", "alternatives"),
    [
        ("*.ts", ("*.ts",)),
        ("*.{ts,tsx}", ("*.ts", "*.tsx")),
        ("{a,b}{c,d}", ("ac", "ad", "bc", "bd")),
        ("{a,{b,c}d}e", ("ae", "bde", "cde")),
        ("x{,y}", ("x", "xy")),
        ("{a,a}", ("a",)),
        ("{{a,b}}", ("{a}", "{b}")),
        ("{a{b,c}", ("{ab", "{ac")),
        ("a}{b,c}", ("a}b", "a}c")),
        ("a,{b,c},d", ("a,b,d", "a,c,d")),
    ],
)
def test_groups_nest_and_multiply_in_order(pattern: str, alternatives: tuple[str, ...]) -> None:
    assert expand_braces(pattern, 64) == alternatives


@for_each(
    "pattern", ["{a,b}" * 100, "{" + "a," * 100 + "b}", "{a," * 80 + "b" + "}" * 80 + "{c,d}" * 9]
)
def test_more_alternatives_than_the_cap_are_refused_and_not_built(pattern: str) -> None:
    # 2^100 alternatives would not fit into any memory, so an answer is the proof.
    assert expand_braces(pattern, 64) is None


@given(st.text(alphabet="{},ab", max_size=60))
def test_any_text_has_at_most_the_cap_of_alternatives(pattern: str) -> None:
    found = expand_braces(pattern, 16)
    assert found is None or 1 <= len(found) <= 16
