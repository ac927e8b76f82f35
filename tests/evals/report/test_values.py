"""Values and words: whatever JSON holds is taken, and a figure is written one way."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.report.values import (
    Json,
    against,
    between,
    decimal,
    many,
    money,
    percent,
    signed,
    whole,
)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(json_values)
def test_every_reader_takes_every_value(value: object) -> None:
    each = Json(value)
    number = each.number()
    assert number is None or math.isfinite(number)
    assert each.count() is None or each.count() == number
    assert all(isinstance(row.value, dict) for row in each.rows())
    assert all(isinstance(name, str) for name in each.names())
    assert isinstance(each.text(), str)
    assert each.at("a", "b").value is None or isinstance(value, dict)


def test_what_is_no_number_is_none() -> None:
    wrong: list[object] = [
        True,
        False,
        None,
        "3",
        [3],
        {},
        float("nan"),
        float("inf"),
        1e13,
        10**400,
    ]
    assert [Json(value).number() for value in wrong] == [None] * len(wrong)
    assert [Json(value).number() for value in (3, 2.5, -0.0)] == [3.0, 2.5, 0.0]
    counts = [Json(value).count() for value in (3, 3.0, 2.5, -1, True)]
    assert counts == [3, 3, None, None, None]


@given(st.floats(-1e12, 1e12))
def test_no_figure_is_a_negative_nothing(value: float) -> None:
    for written in (signed(value), decimal(value), whole(value), percent(value), money(value)):
        digits = written.strip("$ \u00a0%")
        assert not (digits.startswith(("−", "+")) and not digits.strip("−+0.,"))
        assert "-" not in written
        assert "e" not in written


def test_figures_are_written_one_way() -> None:
    assert [signed(v) for v in (0.6249, -0.4, 0.0, -0.001, None)] == [
        "+0.62", "−0.40", "0.00", "0.00", "–",
    ]  # fmt: skip
    assert [percent(v) for v in (0, 1, 0.5, 0.004, 0.998, None)] == [
        "0\u00a0%", "100\u00a0%", "50\u00a0%", "0.4\u00a0%", "99.8\u00a0%", "–",
    ]  # fmt: skip
    assert [money(v) for v in (0, 0.0031, 0.43, 1_234.5, None)] == [
        "$0.00", "$0.0031", "$0.43", "$1,234.50", "–",
    ]  # fmt: skip
    assert between(-0.5, 0.25) == "−0.50 to +0.25"
    assert between(0.201, 0.204) == "about +0.20"
    assert [between(None, 0.25), between(0.2, 0.2)] == ["", ""]
    assert many(1, "case") == "1\u00a0case"
    assert many(1_200, "case") == "1,200\u00a0cases"
    assert against("full_siblings/full") == "full skill and siblings against full skill"
    assert against("mine") == "mine"
