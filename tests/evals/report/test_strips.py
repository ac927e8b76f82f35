"""Plots of intervals: within their width, in the order of their values, and XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.report.render import environment
from skillyard.evals.report.values import Estimate, ReportTable

numbers = st.floats(-1e6, 1e6, allow_nan=False)


def strip(table: ReportTable, estimate: Estimate) -> str:
    return drawn_by("strip", table, estimate)


def drawn_by(macro: str, *arguments: object) -> str:
    """Return what a macro of the template draws."""
    return str(getattr(environment().get_template("strips.html").module, macro)(*arguments))


def table(low: float, high: float) -> ReportTable:
    return ReportTable("", (), (), scale=(low, high))


@given(numbers, numbers, numbers, st.floats(-100, 0), st.floats(1e-3, 100))
def test_every_mark_lies_within_the_strip_in_the_order_of_values(
    value: float, one: float, other: float, low: float, width: float
) -> None:
    ends = sorted([one, other])
    drawn = strip(table(low, low + width), Estimate(value, ends[0], ends[1], "text", kind="good"))
    root = ElementTree.fromstring(drawn)
    places = [float(place) for place in re.findall(r'(?:cx|x1|x2)="([^"]+)"', drawn)]
    assert all(0 <= place <= float(root.attrib["width"]) for place in places)
    (span,) = (each for each in root.iter("line") if each.attrib["class"] == "good")
    assert float(span.attrib["x1"]) <= float(span.attrib["x2"])


def test_an_arrow_stands_for_an_end_beyond_the_scale() -> None:
    def caps(low: float, high: float) -> list[list[str]]:
        root = ElementTree.fromstring(strip(table(-1, 1), Estimate(0, low, high, "")))
        lines = [each.attrib["points"].split() for each in root.iter("polyline")]
        return [[point.split(",")[0] for point in points] for points in lines]

    inside, beyond = caps(-0.5, 0.5), caps(-3, 3)
    assert [len(set(places)) for places in inside] == [1, 1]
    assert [len(set(places)) for places in beyond] == [2, 2]


def test_without_a_scale_or_a_value_nothing_is_drawn() -> None:
    assert strip(ReportTable("", (), ()), Estimate(1, 0, 2, "")) == ""
    assert strip(table(-1, 1), Estimate(None, 0, 2, "")) == ""
