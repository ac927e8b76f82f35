"""Which results may be compared, which may be kept, and what a damaged file comes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard.errors import InvalidInput
from skillyard.evals.operations.eval_results import (
    BaselineComparison,
    EvalComparison,
    eval_compare,
    save_baselines,
)
from skillyard.evals.storage import write_results
from tests.evals.statistics.planting import case
from tests.tables import for_each


def envelope(run_id: str = "r1", mean: float = 1.0, **meta: Any) -> dict[str, Any]:
    told = {
        "run_id": run_id,
        "eval_type": "effectiveness",
        "timestamp": "2026-11-20T10:00:00Z",
        "provider": "anthropic",
        "host": "api.anthropic.com",
        "model": "m",
        "judge_model": "j",
        "router": None,
        "dataset_sha256": "d",
        "orders": "both",
        "backend": "live",
        "aborted": False,
        "limit": None,
        "skill": None,
    }
    entry = {"mean": mean, "stddev": 0.1, "n": 10}
    cases = [
        case("tea", prompt, 0, ("enhanced", "baseline"), [("enhanced", 3 + mean, 3.0)])
        for prompt in range(10)
    ]
    return {
        "meta": {**told, **meta},
        "summary": {"tea": entry},
        "cases": cases,
        "artifacts": {},
    }


def compared(
    folder: Path, before: dict[str, Any] | None, after: dict[str, Any]
) -> BaselineComparison:
    """Return the comparison of results with a baseline; without ``before``, with the one there."""
    if before is not None:
        (folder / "effectiveness_baseline.json").write_text(json.dumps(before))
    (folder / "after.json").write_text(json.dumps(after))
    path = str(folder / "after.json")
    return eval_compare(str(folder), baselines=str(folder), path=path).compared[0]


def compared_folders(results: str, baselines: str, eval_type: str | None = None) -> Any:
    return eval_compare("none", results=results, baselines=baselines, eval_type=eval_type).compared


def save(results: str, baselines: str, eval_type: str | None = None) -> Any:
    return save_baselines("none", results=results, baselines=baselines, eval_type=eval_type)


def test_new_gone_and_changed(tmp_path: Path) -> None:
    before, after = envelope(), envelope(mean=0.2)
    before["summary"]["old"] = before["summary"]["tea"]
    after["summary"]["fresh"] = after["summary"]["tea"]
    result = compared(tmp_path, before, after).changes
    assert [(change.entity, change.status) for change in result] == [
        ("_overall", "regression"), ("fresh", "new"), ("old", "gone"), ("tea", "regression"),
    ]  # fmt: skip
    assert result[1].message == "not in the baseline"
    assert "1 before, 0.2 now" in result[3].message


@for_each(
    ("change", "why"),
    [
        ({"aborted": True, "stop_reason": "budget"}, "stopped (budget)"),
        ({"limit": 5}, "--limit"),
        ({"skill": "tea"}, "--skill"),
        ({"model": "n"}, "`model` differs: 'm' before, 'n' now"),
        ({"judge_model": "k"}, "`judge_model` differs"),
        ({"provider": "openai"}, "`provider` differs"),
        ({"host": "http://127.0.0.1:9"}, "`host` differs"),
        ({"orders": "single"}, "`orders` differs"),
        ({"backend": "fake"}, "stand-in"),
        ({"model": None}, "`model` differs"),
    ],
)
def test_what_may_not_be_compared(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    result = compared(tmp_path, envelope(), envelope(**change))
    assert why in result.refused
    assert result.changes == ()


def test_scores_of_a_judge_that_failed_a_check_are_compared_with_nothing(tmp_path: Path) -> None:
    """So a gate exits with 2: it would pass or fail by what the judge prefers."""
    failed = {"trust": {"failed": ["filler"]}}
    for trusted, not_trusted in ((0, 1), (1, 0)):
        envelopes = [envelope(), envelope(mean=0.2)]
        envelopes[not_trusted]["artifacts"] = failed
        envelopes[trusted]["artifacts"] = {"trust": {"failed": []}}
        result = compared(tmp_path, *envelopes)
        assert (result.refused, result.changes) == (
            "the judge is not trusted: it failed filler", (),
        )  # fmt: skip
        with pytest.raises(InvalidInput, match="the gate would pass whatever happened: the judge"):
            EvalComparison((result,)).require_pairs()
    results = str(tmp_path / "results")
    write_results(results, envelope() | {"artifacts": failed})
    with pytest.raises(InvalidInput, match="cannot be a baseline: the judge is not trusted"):
        save(results, str(tmp_path / "baselines"))


@for_each("edit", ["comment", "prompt edited", "prompt more", "skill more"])
def test_an_edit_of_the_cases_leaves_the_others_comparable(tmp_path: Path, edit: str) -> None:
    """Before, each of them turned the gate off: "not compared: `dataset_sha256` differs"."""
    before, after = envelope(), envelope(mean=-0.4, dataset_sha256="other")
    for number, each in enumerate(before["cases"]):
        each["case_sha256"] = after["cases"][number]["case_sha256"] = f"digest {number}"
    more = {"id": "new", "case_sha256": "new"}
    if edit == "prompt edited":
        after["cases"][0] |= more
    elif edit == "prompt more":
        after["cases"].append(after["cases"][0] | more | {"prompt_index": 10})
    elif edit == "skill more":
        after["cases"].append(after["cases"][0] | more | {"skill_name": "rice"})
        after["summary"]["rice"] = after["summary"]["tea"]
    result = compared(tmp_path, before, after)
    assert (result.refused, result.blind) == ("", False)
    assert [change.entity for change in result.regressions] == ["_overall", "tea"]
    assert ("new" in result.note) == (edit != "comment"), "it is named"


def test_a_gate_is_blind_where_less_than_half_of_the_cases_are_in_both(tmp_path: Path) -> None:
    before, after = envelope(), envelope(mean=-0.4)
    for each in after["cases"][:6]:
        each["case_sha256"] = f"edited {each['id']}"
    result = compared(tmp_path, before, after)
    assert result.blind
    assert result.note.startswith("12 cases of one run only: tea/0/0/enhanced/baseline, tea/1/0/")


def test_a_baseline_of_an_earlier_release_must_be_saved_again(tmp_path: Path) -> None:
    before = {**envelope(), "measures": []}
    del before["cases"]
    with pytest.raises(InvalidInput, match="eval compare --save"):
        compared(tmp_path, before, envelope())


@for_each(
    "change",
    [{"backend": "replay"}, {"seed": 7}, {"runs": 3}, {"skill_sha256s": {"tea": "other"}},
     {"run_id": "r2"}, {"timestamp": "2027"}],
)  # fmt: skip
def test_what_may_differ(tmp_path: Path, change: dict[str, Any]) -> None:
    """A skill's own text above all: that is what is compared."""
    assert not compared(tmp_path, envelope(), envelope(**change)).refused


def test_a_long_value_of_a_hostile_baseline_is_cut(tmp_path: Path) -> None:
    refused = compared(tmp_path, envelope(model="\x1b[2J" + "x" * 10_000), envelope()).refused
    assert "`model` differs" in refused
    assert len(refused) < 400
    assert "\x1b" not in refused


def test_only_a_whole_run_is_kept(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    (path,) = save(results, baselines).baselines
    assert path.endswith("effectiveness_baseline.json")
    result = Path(path).read_bytes()
    (compared_with_itself,) = compared_folders(results, baselines)
    assert not compared_with_itself.refused
    changes: list[dict[str, Any]] = [
        *({"aborted": True}, {"limit": 3}, {"skill": "tea"}, {"backend": "fake"})
    ]
    for change in changes:
        other = str(tmp_path / next(iter(change)))
        write_results(other, envelope(**change))
        with pytest.raises(InvalidInput, match="cannot be a baseline"):
            save(other, baselines)
    assert Path(path).read_bytes() == result, "what stood there still stands"


def test_a_newer_part_of_a_run_is_passed_over_with_a_note(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    write_results(results, envelope("r2", 0.1, timestamp="2027-01-01T00:00:00Z", limit=3))
    (note,) = save(results, baselines).notes
    assert "1 newer result of effectiveness" in note
    (result,) = compared_folders(results, baselines)
    assert result.path.endswith("effectiveness_r1.json")
    assert (result.refused, result.note) == ("", note)


def test_no_baseline_is_written_unless_all_can_be(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), tmp_path / "baselines"
    write_results(results, envelope())
    write_results(results, envelope(eval_type="size_impact", limit=3))
    with pytest.raises(InvalidInput, match=r"size_impact.*cannot be a baseline"):
        save(results, str(baselines))
    assert not baselines.exists()


def test_the_newest_result_is_compared(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    save(results, baselines)
    write_results(results, envelope("r2", 0.1, timestamp="2026-11-20T10:00:00Z"))
    (result,) = compared_folders(results, baselines)
    assert [change.entity for change in result.regressions] == ["_overall", "tea"]
    assert result.path.endswith("effectiveness_r2.json")


def test_a_type_without_a_baseline_is_told_and_one_without_results_left_out(
    tmp_path: Path,
) -> None:
    results = str(tmp_path / "results")
    write_results(results, envelope())
    (result,) = compared_folders(results, str(tmp_path / "none"))
    assert "no baseline yet" in result.refused
    assert not result.regressions
    with pytest.raises(InvalidInput, match="no results of activation"):
        compared_folders(results, str(tmp_path), "activation")
    with pytest.raises(InvalidInput, match="type `skillyard eval run activation`"):
        compared_folders(str(tmp_path / "nowhere"), str(tmp_path))
    with pytest.raises(InvalidInput, match="no results of activation"):
        save(results, str(tmp_path), "activation")


DAMAGED = {
    "torn": b'{"meta": {}, "summ',
    "no summary": b'{"meta": {}}',
    "summary of texts": b'{"meta": {}, "summary": {"tea": "good"}}',
    "no UTF-8": b"\xff",
    "deep": b"[" * 100_000,
    "long number": b'{"meta": {"seed": ' + b"1" * 9_999 + b'}, "summary": {}}',
}


@for_each("name", DAMAGED)
def test_a_damaged_baseline_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "effectiveness_baseline.json"
    path.write_bytes(DAMAGED[name])
    with pytest.raises(InvalidInput, match=r"effectiveness_baseline\.json"):
        compared(tmp_path, None, envelope())


def test_a_baseline_of_another_type_is_not_compared(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="of the same type"):
        compared(tmp_path, envelope(eval_type="size_impact"), envelope())


@for_each(
    "change",
    [
        {"scores": {"enhanced": 1.0}},
        {"improvement": float("nan")},
        {"improvement": "two"},
        {"improvement": None},
        {"skill_name": None},
    ],
)
def test_results_with_a_damaged_case_are_named(tmp_path: Path, change: dict[str, Any]) -> None:
    damaged = envelope()
    damaged["cases"][3] |= change
    with pytest.raises(InvalidInput, match="the results are damaged"):
        compared(tmp_path, envelope(), damaged)
