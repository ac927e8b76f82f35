"""L4 by hand: matrices, who takes whose requests, and each finding at its threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard import Catalog
from skillyard.evals.cases.confusion import ConfusionCase
from skillyard.evals.layers.case_run import CaseRun
from skillyard.evals.layers.confusion import (
    ConfusionLayer,
    confusion_artifacts,
    confusion_summary,
)
from skillyard.evals.layers.router import RouterChoice
from skillyard.evals.layers.work import Work
from skillyard.evals.settings import RunSettings
from tests.tables import for_each

GROUPS = {"g": ("a", "b", "c")}


class Says:
    """A router that says what it was told to."""

    def __init__(self, text: Sequence[RouterChoice]) -> None:
        self._said = list(text)

    def route(self, prompt: str, candidates: Sequence[str], run: int) -> RouterChoice:
        return self._said.pop(0)


def run_of(
    cases: Sequence[ConfusionCase],
    groups: Mapping[str, tuple[str, ...]],
    routers: Mapping[str, Says],
    runs: int = 1,
) -> CaseRun:
    settings, catalog = RunSettings("confusion"), Catalog.from_skills([])
    work = Work(settings, catalog, cases, "", {}, groups=groups)
    tasks = ConfusionLayer().tasks(work, routers)
    return CaseRun(tasks, runs=runs)


def routed(
    *requests: tuple[str | None, str | RouterChoice], acceptable: Sequence[str] = (), runs: int = 1
) -> list[dict[str, Any]]:
    """Return the cases: (expected skill, picks as letters) each; ``x`` is outside the group."""
    cases = [
        ConfusionCase(
            id=str(number),
            group="g",
            user_prompt="p",
            expected_skill=expected,
            acceptable_skills=tuple(acceptable),
        )
        for number, (expected, _) in enumerate(requests)
    ]
    text = [
        each if isinstance(each, RouterChoice) else RouterChoice(tuple(each))
        for _, each in requests
    ]
    run = run_of(cases, GROUPS, {"g": Says(text * runs)}, runs=runs)
    for job in run.jobs():
        job.work()
    return run.cases("")


def findings(*requests: tuple[str | None, str | RouterChoice]) -> list[str]:
    return [each["kind"] for each in confusion_artifacts(routed(*requests), GROUPS)["findings"]]


def test_the_first_pick_is_the_prediction() -> None:
    told = routed(("a", "a"), ("a", "ba"), ("b", ""), ("b", "x"), ("c", RouterChoice((), ("zzz",))))
    assert [case["passed"] for case in told] == [True, False, False, False, False]
    assert [case["predicted"] for case in told] == ["a", "b", None, "x", None]
    matrix = confusion_artifacts(told, GROUPS)["confusion_matrices"]["g"]
    assert matrix == {
        "skills": ["a", "b", "c"],
        "matrix": [[1, 1, 0], [0, 0, 0], [0, 0, 0]],
        "no_activation": 2,
        "multi_activation": 1,
        "out_of_group": 2,
    }


def test_an_acceptable_skill_passes_and_stands_in_its_own_cell() -> None:
    told = routed(("a", "b"), acceptable="b")
    assert told[0]["passed"]
    artifacts = confusion_artifacts(told, GROUPS)
    assert artifacts["confusion_matrices"]["g"]["matrix"][0] == [0, 1, 0]


def test_a_summary_by_hand() -> None:
    told = routed(("a", "a"), ("a", "b"), ("a", "b"), ("a", ""), ("b", "b"), ("c", "ca"))
    summary = confusion_summary(told, GROUPS)["g"]
    assert (summary["n"], summary["accuracy"]) == (6, 0.5)
    assert summary["cross_activation"] == {"a": 0.5, "b": 0.0, "c": 0.0}
    assert summary["requests"] == {"a": 4, "b": 1, "c": 1}
    assert (summary["no_activation"], summary["multi_activation"]) == (1, 1)
    # Wilson's score interval of 3 of 6, at 95 %.
    assert (summary["low"], summary["high"]) == (0.187616, 0.812384)


def test_errors_are_apart() -> None:
    told = routed(
        ("a", "a"), ("a", RouterChoice(error="timeout")), (None, RouterChoice(error="timeout"))
    )
    summary = confusion_summary(told, GROUPS)["g"]
    assert (summary["n"], summary["accuracy"], summary["errors"]) == (1, 1.0, 2)
    assert confusion_artifacts(told, GROUPS)["negatives"]["n"] == 0


def test_negatives_are_no_part_of_the_matrix() -> None:
    told = routed(
        (None, ""), (None, "a"), (None, "x"), (None, RouterChoice(unread=True)), ("a", "a")
    )
    assert [case["passed"] for case in told] == [True, False, True, False, True]
    negatives = confusion_artifacts(told, GROUPS)["negatives"]
    assert (negatives["n"], negatives["fired"]) == (4, 0.5)
    assert confusion_summary(told, GROUPS)["g"]["n"] == 1


def test_a_negative_of_no_group_is_asked_of_each() -> None:
    groups = {"g": ("a", "b"), "h": ("c", "d")}
    case = ConfusionCase("n", "", "p", None, ())
    routers = {"g": Says([RouterChoice(("a",))]), "h": Says([RouterChoice()])}
    run = run_of([case], groups, routers)
    for job in run.jobs():
        job.work()
    told = run.cases("")
    assert [(each["id"], each["passed"]) for each in told] == [("n/g", False), ("n/h", True)]


def test_runs_of_a_request_count_once_in_the_summary() -> None:
    told = routed(("a", "a"), ("a", "b"), runs=3)
    summary = confusion_summary(told, GROUPS)["g"]
    assert (summary["n"], summary["accuracy"], summary["requests"]["a"]) == (2, 0.5, 2)
    matrix = confusion_artifacts(told, GROUPS)["confusion_matrices"]["g"]["matrix"]
    assert matrix[0] == [3, 3, 0], "the matrix counts every one"


@for_each(("wrong", "right", "result"), [(1, 4, False), (2, 7, True), (1, 3, True)])
def test_a_pair_is_found_above_a_fifth(wrong: int, right: int, result: bool) -> None:
    requests = [("a", "b")] * wrong + [("a", "a")] * right + [("b", "b"), ("c", "c")]
    assert ("pair" in findings(*requests)) == result


@for_each(
    ("own", "b", "c", "result"),
    [(2, 2, 2, True), (2, 2, 1, False), (3, 2, 2, False), (0, 1, 1, True), (0, 2, 0, False),
     (0, 0, 0, False), (1, 1, 1, True)],
)  # fmt: skip
def test_low_discrimination_needs_two_rivals_with_as_many(
    own: int, b: int, c: int, result: bool
) -> None:
    requests = [("a", "a")] * own + [("a", "b")] * b + [("a", "c")] * c + [("a", "")]
    assert ("low_discrimination" in findings(*requests, ("b", "b"), ("c", "c"))) == result


def test_a_skill_that_is_never_picked_is_found() -> None:
    assert findings(("a", "a"), ("b", "a"), ("c", "c")).count("never_predicted") == 1
    assert "never_predicted" not in findings(("a", "b"), ("b", "a"), ("c", "c"))
    assert "never_predicted" not in findings(("a", "a"), ("b", "b")), "nobody asked for c"


@for_each(("kind", "picks"), [("multi", "ab"), ("none", "")])
@for_each(("odd", "even", "result"), [(1, 4, False), (2, 8, False), (2, 7, True)])
def test_odd_numbers_of_picks_are_found_above_a_fifth(
    kind: str, picks: str, odd: int, even: int, result: bool
) -> None:
    assert (kind in findings(*[("a", picks)] * odd, *[("a", "a")] * even)) == result


def test_one_pick_outside_the_group_is_a_finding() -> None:
    told = routed(("a", "a"), ("b", "bx"), ("c", RouterChoice(("c",), ("zzz",))))
    (result,) = [
        each
        for each in confusion_artifacts(told, GROUPS)["findings"]
        if each["kind"] == "out_of_group"
    ]
    assert result["skills"] == ["x", "zzz"]
    assert "2 of 3" in result["message"]
    assert "out_of_group" not in findings(("a", "a"), ("b", "b"))


def test_a_group_without_answers_is_a_summary_too() -> None:
    told = routed(("a", RouterChoice(error="x")))
    summary = confusion_summary(told, GROUPS)["g"]
    assert (summary["n"], summary["accuracy"], summary["low"]) == (0, None, None)
    assert summary["cross_activation"] == {"a": None, "b": None, "c": None}
    assert confusion_artifacts(told, GROUPS)["findings"] == []
