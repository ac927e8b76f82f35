"""Every rule at, above and below its threshold (evals.md §1.16), in decimals that binary lacks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.config import (
    ActivationLimits,
    ConfusionLimits,
    EffectivenessLimits,
    Regression,
)
from skillyard.evals.regression.changes import RULES, Change
from skillyard.evals.statistics.difference import rate_difference
from tests.tables import for_each

DEFAULTS = Regression()


def one(eval_type: str, before: object, after: object, rules: Regression = DEFAULTS) -> Change:
    (found,) = compared(eval_type, before, after, rules)
    return found


def compared(eval_type: str, before: Any, after: Any, rules: Regression = DEFAULTS) -> list[Change]:
    return list(RULES[eval_type]("entity", before, after, rules))


def mean(value: object, stddev: object = 0.1, n: object = 10) -> dict[str, object]:
    return {"mean": value, "stddev": stddev, "n": n}


@for_each(
    ("before", "after", "stddev", "status"),
    [
        (1.0, 0.5, 0.1, "unchanged"),
        (1.0, 0.499, 0.1, "regression"),
        (1.0, 0.501, 0.1, "unchanged"),
        (0.5, 1.0, 0.1, "unchanged"),
        (0.5, 1.001, 0.1, "improvement"),
        (1.2, 0.7, 0.1, "unchanged"),  # 1.2 - 0.7 is 0.5 and a hair more
        (1.0, 0.4, 0.3, "unchanged"),  # 2 x 0.3 = 0.6
        (1.0, 0.399, 0.3, "regression"),
        (1.0, 0.45, 0.3, "unchanged"),
        (3.0, 1.6, 0.7, "unchanged"),  # 2 x 0.7 = 1.4
        (3.0, 1.599, 0.7, "regression"),
    ],
)
def test_effectiveness(before: float, after: float, stddev: float, status: str) -> None:
    """A drop above 0.5 and above twice the spread of the baseline."""
    assert one("effectiveness", mean(before, stddev), mean(after, 0.9)).status == status


def test_a_threshold_that_binary_misses_by_a_hair_is_not_passed() -> None:
    """3 x 0.7 is 2.0999999999999996 there."""
    rules = Regression(effectiveness=EffectivenessLimits(stddev_multiplier=3.0))
    assert one("effectiveness", mean(4.2, 0.7), mean(2.1, 0.7), rules).status == "unchanged"
    assert one("effectiveness", mean(4.2, 0.7), mean(2.0999, 0.7), rules).status == "regression"


@for_each(
    ("after", "status"),
    [(0.5, "unchanged"), (0.499, "regression"), (1.5, "unchanged"), (1.501, "improvement")],
)
def test_size_impact_tells_the_direction(after: float, status: str) -> None:
    """The original printed a rise as a regression."""
    before = {"comparisons": {"full/baseline": mean(1.0)}}
    found = one("size_impact", before, {"comparisons": {"full/baseline": mean(after)}})
    assert (found.status, found.measure) == (status, "full/baseline")


def rates(tpr: float, fpr: float, n: int = 20) -> dict[str, object]:
    return {"tpr": tpr, "fpr": fpr, "positives": n, "negatives": n}


@for_each(
    ("before", "after", "statuses"),
    [
        (rates(0.9, 0.1), rates(0.8, 0.15), ["unchanged", "unchanged"]),
        (rates(0.9, 0.1), rates(0.799999, 0.150001), ["regression", "regression"]),
        (rates(0.3, 0.3), rates(0.2, 0.35), ["unchanged", "unchanged"]),
        (rates(0.8, 0.15), rates(0.9001, 0.0999), ["improvement", "improvement"]),
    ],
)
def test_activation(
    before: dict[str, object], after: dict[str, object], statuses: list[str]
) -> None:
    """A drop of the true positive rate above 0.10, a rise of the false one above 0.05."""
    assert [change.status for change in compared("activation", before, after)] == statuses


def cross(share: float, n: int = 10, asked: int = 4) -> dict[str, object]:
    return {"cross_activation": {"a": share}, "n": n, "requests": {"a": asked}}


@for_each(
    ("before", "after", "status"),
    [(0.2, 0.3, "unchanged"), (0.2, 0.3001, "regression"), (0.7, 0.8, "unchanged"),
     (0.3, 0.2, "unchanged"), (0.3001, 0.2, "improvement")],
)  # fmt: skip
def test_confusion(before: float, after: float, status: str) -> None:
    assert one("confusion", cross(before), cross(after)).status == status


def test_the_interval_of_a_share_is_of_the_requests_that_it_is_a_share_of() -> None:
    """Not of all requests of the group, which are more."""
    found = one("confusion", cross(0.25, 40, 4), cross(0.75, 40, 4))
    expected = rate_difference((0.25, 4), (0.75, 4))
    assert found.low == pytest.approx(expected.low, abs=1e-6)
    assert found.p == pytest.approx(expected.p, abs=1e-6)


@for_each(
    ("eval_type", "make", "least"),
    [
        ("effectiveness", lambda n: mean(1.0, 0.1, n), 3),
        ("size_impact", lambda n: {"comparisons": {"x/y": mean(1.0, 0.1, n)}}, 3),
        ("activation", lambda n: rates(0.5, 0.5, n), 5),
        ("confusion", lambda n: cross(0.5, n), 5),
    ],
)
def test_too_few_cases_are_not_compared_and_it_says_so(
    eval_type: str, make: Any, least: int
) -> None:
    """The original left them out without a word."""
    assert {c.status for c in compared(eval_type, make(least), make(least))} == {"unchanged"}
    for few in ((least - 1, least), (least, least - 1)):
        found = compared(eval_type, make(few[0]), make(few[1]))
        assert {c.status for c in found} == {"not compared"}
        assert all(f"{least} are needed" in c.message for c in found)


NO_FIGURES: list[Any] = [None, "1", True, [], {}, float("nan"), float("inf"), 10**400, 1e300]


@for_each("figure", NO_FIGURES, ids=[f"{each}"[:12] for each in NO_FIGURES])
@for_each("eval_type", RULES)
def test_what_is_no_figure_is_not_compared(eval_type: str, figure: Any) -> None:
    makes = {
        "effectiveness": mean(figure),
        "size_impact": {"comparisons": {"x/y": mean(figure)}},
        "activation": rates(figure, figure),
        "confusion": {**cross(0.1), "cross_activation": {"a": figure}},
    }
    good = {
        "effectiveness": mean(1.0),
        "size_impact": {"comparisons": {"x/y": mean(1.0)}},
        "activation": rates(0.5, 0.5),
        "confusion": cross(0.1),
    }
    for pair in ((makes, good), (good, makes)):
        found = compared(eval_type, pair[0][eval_type], pair[1][eval_type])
        assert {change.status for change in found} == {"not compared"}
        assert all(change.message for change in found)


def test_a_share_beyond_its_range_is_not_compared() -> None:
    found = compared("activation", rates(1.5, -0.1), rates(0.5, 0.5))
    assert {change.status for change in found} == {"not compared"}
    assert "no share" in found[0].message


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["mean", "stddev", "n", "tpr", "fpr", "positives", "negatives", "a",
                         "comparisons", "cross_activation", "requests"]), inner, max_size=6),
    max_leaves=12,
)  # fmt: skip
SUMMARY = ANYTHING.filter(lambda value: isinstance(value, dict))


@given(eval_type=st.sampled_from(sorted(RULES)), before=SUMMARY, after=SUMMARY)
def test_any_two_summaries_are_compared_or_not(eval_type: str, before: Any, after: Any) -> None:
    for change in compared(eval_type, before, after):
        assert change.message
        assert change.to_dict()["status"] in (
            "regression",
            "improvement",
            "unchanged",
            "not compared",
        )


@given(
    before=st.floats(-4, 4), after=st.floats(-4, 4), n=st.integers(3, 50), spread=st.floats(0, 2)
)
def test_swapping_before_and_after_turns_the_change(
    before: float, after: float, n: int, spread: float
) -> None:
    pytest.importorskip("scipy")
    there = one("effectiveness", mean(before, spread, n), mean(after, spread, n))
    back = one("effectiveness", mean(after, spread, n), mean(before, spread, n))
    turned = {"regression": "improvement", "improvement": "regression", "unchanged": "unchanged"}
    assert back.status == turned[there.status]
    assert there.p == back.p
    if there.low is not None and back.high is not None:
        assert there.low == pytest.approx(-back.high, abs=2e-6)
        assert there.change is not None
        assert there.low <= there.change + 1e-6


def test_limits_come_from_the_configuration() -> None:
    rules = Regression(
        activation=ActivationLimits(tpr_drop=0.3, min_cases=50),
        confusion=ConfusionLimits(cross_activation_change=0.5),
    )
    assert one("confusion", cross(0.2), cross(0.7), rules).status == "unchanged"
    assert compared("activation", rates(0.9, 0), rates(0.1, 0), rules)[0].status == "not compared"
