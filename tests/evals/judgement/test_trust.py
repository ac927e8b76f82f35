"""The checks of a judge: planted pairs, place and length, and its agreement with itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.judgement.trust import NOT_TRUSTED, distrust, judge_trust, sign_p
from skillyard.evals.statistics.verdicts import judged_pairs
from tests.evals.statistics.planting import case
from tests.tables import for_each

ARMS = ("full", "baseline")


def trust_of(cases: list[dict[str, Any]]) -> dict[str, Any]:
    result = judge_trust(cases, judged_pairs(cases))
    return {**result, **{check["check"]: check for check in result["checks"]}}


def judged(*given: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return cases; ``A>`` is full in slot A and the winner, ``=`` a tie."""
    scores = {">": (4.0, 3.0), "<": (3.0, 4.0), "=": (3.0, 3.0)}
    return [
        case(
            "s", number, 0, ARMS,
            [("full" if call[0] == "A" else "baseline", *scores[call[1]]) for call in orders],
        )
        for number, orders in enumerate(given)
    ]  # fmt: skip


def planted(filler: str, instruction: str) -> list[dict[str, Any]]:
    """Return cases with planted pairs: ``p`` is one whose padded copy won, ``-`` one without."""
    words = {"p": "padded", "t": "tie", "o": "plain", "-": None}
    kinds = (("filler", filler), ("instruction", instruction))
    slots = {"p": ["A", "B"], "o": ["B", "A"], "t": ["tie", "tie"], "-": []}
    pairs = [
        {"kind": kind, "winner": words[each], "slots": slots[each]}
        for kind, won in kinds
        for each in won
    ]
    return [case("s", 0, 0, ARMS, [("full", 4.0, 3.0)]) | {"planted": pairs}]


@for_each(
    ("filler", "instruction", "failed"),
    [
        ("tto", "ttt", []),
        ("ppp", "ttt", ["filler"]),
        ("ttt", "ppp", ["instruction"]),
        ("ppp", "ppp", ["filler", "instruction"]),
        ("ppt", "ptt", []),
        ("pp-", "pp", []),
    ],
)
def test_a_judge_that_prefers_every_padded_copy_fails(
    filler: str, instruction: str, failed: list[str]
) -> None:
    trust = trust_of(planted(filler, instruction))
    assert trust["failed"] == failed
    few = len(filler.strip("-")) < 3 and len(instruction) < 3
    assert trust["trusted"] is (None if few else not failed)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_scipys(first: int, second: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    count = first + second
    assert sign_p(first, second) == pytest.approx(
        stats.binomtest(first, count).pvalue if count else 1.0
    )


def test_the_published_evaluation_points_to_order_bias() -> None:
    """A skill against none, judged in one order: 38 of 49 from slot A, 54 of 55 from slot B."""
    assert sign_p(38 + 1, 54 + 11) == pytest.approx(0.0139, abs=5e-4)


def test_a_judge_that_gives_pairs_to_one_place_fails() -> None:
    same, to_a, half = ("A>", "B>"), ("A>", "B<"), ("A>", "B=")
    trust = trust_of(judged(same, same, *[to_a] * 8, half))
    assert trust["failed"] == ["place"]
    assert (trust["place"]["count"], trust["place"]["of"]) == (8, 11)
    assert "goes by the place of an answer" in trust["sentence"]
    assert trust_of(judged(*[same] * 9, *[to_a] * 8))["failed"] == [], "most pairs are its own"


def test_planted_pairs_show_the_place_where_prompts_are_few() -> None:
    cases = judged(*[("A>", "B<")] * 5)
    assert trust_of(cases)["place"]["failed"] is None
    cases[0]["planted"] = [{"kind": "filler", "winner": "tie", "slots": ["A", "A"]}] * 3
    assert trust_of(cases)["failed"] == ["place"]


def test_a_consistent_judge_has_no_place_however_strong_the_skill() -> None:
    trust = trust_of(judged(*[("A>", "B>")] * 40))
    assert (trust["place"]["count"], trust["place"]["failed"]) == (0, False)


def test_of_single_orders_each_slot_should_win_as_often() -> None:
    assert trust_of(judged(*[("A>",)] * 8, *[("B<",)] * 8))["failed"] == ["place"]
    assert trust_of(judged(*[("A>",)] * 8, *[("B>",)] * 8))["failed"] == []


def test_a_judge_to_whom_the_longer_answer_always_wins_fails() -> None:
    def cases(each_way: int, exception: bool) -> list[dict[str, Any]]:
        result = []
        for number in range(2 * each_way):
            longer = number % 2 == 0
            scores = (4.0, 3.0) if longer != (exception and number == 0) else (3.0, 4.0)
            lengths = (2000, 1000) if longer else (1000, 2000)
            result.append(case("s", number, 0, ARMS, [("full", *scores)], lengths))
        return result

    assert trust_of(cases(10, exception=False))["length"]["failed"] is True
    assert trust_of(cases(10, exception=True))["length"]["failed"] is False
    assert trust_of(cases(9, exception=False))["length"]["failed"] is None, "too few"
    lost = [each | {"lost": ["full"]} for each in cases(10, exception=False)]
    assert trust_of(lost)["length"]["of"] == 0, "no judge saw them"


def test_nothing_judged_says_nothing() -> None:
    trust = trust_of([])
    assert (trust["trusted"], trust["sentence"]) == (None, "")


def test_no_verdict_and_no_advice_of_a_judge_that_is_not_trusted_is_left() -> None:
    comparison = {"word": "better", "second_is_enough": True, "study_units": 9}
    summary = {
        "s": {"word": "better", "recommended_level": "full",
              "comparisons": {"full/baseline": comparison}},
        "checks alone": {"word": "not enough data", "comparisons": {}},
    }  # fmt: skip
    distrust(summary)
    assert summary["s"]["word"] == comparison["word"] == NOT_TRUSTED
    assert summary["s"]["recommended_level"] is None
    assert (comparison["second_is_enough"], comparison["study_units"]) == (False, None)
    assert summary["checks alone"]["word"] == "not enough data"
