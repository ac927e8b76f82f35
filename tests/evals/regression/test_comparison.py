"""Which results may be compared, which may be kept, and what a damaged file comes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard import InvalidInput, SkillIoError
from skillyard.evals.config_values import Regression
from skillyard.evals.layers.pairs import EFFECTIVENESS
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.regression.baselines import read_baseline, save_baseline
from skillyard.evals.regression.comparison import compare_folders, compare_results
from skillyard.evals.storage.results import write_results
from tests.evals.statistics.planting import case
from tests.tables import for_each

RULES = Regression()


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
        "group": None,
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


def baseline(**more: Any) -> dict[str, Any]:
    whole = envelope(**more)
    measures = [each.to_dict() for each in EFFECTIVENESS.measures(whole["cases"], RULES)]
    return {"meta": whole["meta"], "summary": whole["summary"], "measures": measures}


def test_new_gone_and_changed() -> None:
    before, after = baseline(), envelope(mean=0.2)
    before["summary"]["old"] = before["summary"]["tea"]
    after["summary"]["fresh"] = after["summary"]["tea"]
    result = compare_results(before, after, RULES)
    assert not isinstance(result, str)
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
        ({"group": "g"}, "--group"),
        ({"model": "n"}, "`model` differs: 'm' before, 'n' now"),
        ({"judge_model": "k"}, "`judge_model` differs"),
        ({"provider": "openai"}, "`provider` differs"),
        ({"host": "http://127.0.0.1:9"}, "`host` differs"),
        ({"dataset_sha256": "e"}, "`dataset_sha256` differs"),
        ({"orders": "single"}, "`orders` differs"),
        ({"index": "library"}, "`index` differs"),
        ({"backend": "fake"}, "stand-in"),
        ({"model": None}, "`model` differs"),
    ],
)
def test_what_may_not_be_compared(change: dict[str, Any], why: str) -> None:
    result = compare_results(baseline(), envelope(**change), RULES)
    assert isinstance(result, str)
    assert why in result


def test_a_baseline_without_cases_must_be_saved_again() -> None:
    before = baseline()
    del before["measures"]
    refused = compare_results(before, envelope(), RULES)
    assert isinstance(refused, str)
    assert "eval compare --save" in refused


@for_each("left", [0, 1])
def test_a_baseline_that_lacks_a_measure_is_refused(left: int) -> None:
    """An edited file must not pass the gate because there is nothing to hold against it."""
    before = baseline()
    before["summary"]["_overall"] = before["summary"]["tea"]
    before["measures"] = before["measures"][:left]
    refused = compare_results(before, envelope(mean=-1.0), RULES)
    assert isinstance(refused, str)
    assert "the baseline has no measure enhanced/baseline of" in refused
    assert "eval compare --save" in refused


@for_each(
    ("measures", "why"),
    [({}, "must be a list"), (None, "must be a list"), ([3], "must be an object"),
     ([{"entity": "tea"}], "a measure needs")],
)  # fmt: skip
def test_damaged_measures_name_the_file_and_the_next_step(
    measures: Any, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "effectiveness_baseline.json"
    path.write_text(json.dumps({**baseline(), "measures": measures}))
    with pytest.raises(InvalidInput, match=f"effectiveness_baseline.*{why}.*compare --save"):
        read_baseline(str(path))


@for_each(
    "change",
    [{"backend": "replay"}, {"seed": 7}, {"runs": 3}, {"skill_sha256s": {"tea": "other"}},
     {"run_id": "r2"}, {"timestamp": "2027"}],
)  # fmt: skip
def test_what_may_differ(change: dict[str, Any]) -> None:
    """A skill's own text above all: that is what is compared."""
    assert not isinstance(compare_results(baseline(), envelope(**change), RULES), str)


def test_a_baseline_that_names_no_server_is_compared_with_any() -> None:
    assert not isinstance(compare_results(baseline(host=None), envelope(), RULES), str)


def test_a_long_value_of_a_hostile_baseline_is_cut() -> None:
    before = baseline(model="\x1b[2J" + "x" * 10_000)
    result = compare_results(before, envelope(), RULES)
    assert isinstance(result, str)
    assert len(result) < 400
    assert "\x1b" not in result


def test_only_the_summary_of_a_whole_run_is_kept(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    (saved,) = save_baseline(results, baselines)
    path = saved.path
    assert path.endswith("effectiveness_baseline.json")
    result = read_baseline(path)
    assert {*result} == {"meta", "summary", "measures"}
    assert "cases" not in result
    assert not isinstance(compare_results(result, envelope(), RULES), str)
    changes: list[dict[str, Any]] = [
        *({"aborted": True}, {"limit": 3}, {"skill": "tea"}, {"group": "g"}, {"backend": "fake"})
    ]
    for change in changes:
        other = str(tmp_path / next(iter(change)))
        write_results(other, envelope(**change))
        with pytest.raises(InvalidInput, match="cannot be a baseline"):
            save_baseline(other, baselines)
    assert read_baseline(path) == result, "what stood there still stands"


def test_a_newer_part_of_a_run_is_passed_over_with_a_note(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    write_results(results, envelope("r2", 0.1, timestamp="2027-01-01T00:00:00Z", limit=3))
    (saved,) = save_baseline(results, baselines)
    assert "effectiveness_r2.json" in saved.note
    (result,) = compare_folders(results, baselines, RULES)
    assert result.path.endswith("effectiveness_r1.json")
    assert (result.refused, result.note) == ("", saved.note)


def test_a_saved_baseline_names_its_server(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    save_baseline(results, baselines)
    other = envelope("r2", timestamp="2027-01-01T00:00:00Z", host="http://127.0.0.1:9")
    write_results(results, other)
    (result,) = compare_folders(results, baselines, RULES)
    assert "`host` differs" in result.refused


def test_no_baseline_is_written_unless_all_can_be(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), tmp_path / "baselines"
    write_results(results, envelope())
    write_results(results, envelope(eval_type="size_impact", limit=3))
    with pytest.raises(InvalidInput, match=r"size_impact.*cannot be a baseline"):
        save_baseline(results, str(baselines))
    assert not baselines.exists()


def test_the_newest_result_is_compared(tmp_path: Path) -> None:
    results, baselines = str(tmp_path / "results"), str(tmp_path / "baselines")
    write_results(results, envelope())
    save_baseline(results, baselines)
    write_results(results, envelope("r2", 0.1, timestamp="2026-11-20T10:00:00Z"))
    (result,) = compare_folders(results, baselines, RULES)
    assert [change.entity for change in result.regressions] == ["_overall", "tea"]
    assert result.path.endswith("effectiveness_r2.json")


def test_a_type_without_a_baseline_is_told_and_one_without_results_left_out(
    tmp_path: Path,
) -> None:
    results = str(tmp_path / "results")
    write_results(results, envelope())
    (result,) = compare_folders(results, str(tmp_path / "none"), RULES)
    assert "no baseline yet" in result.refused
    assert not result.regressions
    with pytest.raises(InvalidInput, match="no results of confusion"):
        compare_folders(results, str(tmp_path), RULES, "confusion")
    with pytest.raises(InvalidInput, match="--eval-type"):
        compare_folders(results, str(tmp_path), RULES, "other")
    with pytest.raises(SkillIoError):
        compare_folders(str(tmp_path / "nowhere"), str(tmp_path), RULES)
    with pytest.raises(InvalidInput, match="no results of activation"):
        save_baseline(results, str(tmp_path), "activation")
    assert {*LAYERS} > {"confusion"}


DAMAGED = {
    "empty": b"",
    "torn": b'{"meta": {}, "summ',
    "no object": b"[]",
    "no meta": b'{"summary": {}}',
    "no summary": b'{"meta": {}}',
    "summary of texts": b'{"meta": {}, "summary": {"tea": "good"}}',
    "lists": b'{"meta": [], "summary": []}',
    "no UTF-8": b"\xff",
    "deep": b"[" * 100_000,
    "long number": b'{"meta": {"seed": ' + b"1" * 9_999 + b'}, "summary": {}}',
}


@for_each("name", DAMAGED)
def test_a_damaged_baseline_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "effectiveness_baseline.json"
    path.write_bytes(DAMAGED[name])
    with pytest.raises(InvalidInput, match=r"effectiveness_baseline\.json"):
        read_baseline(str(path))


def test_a_baseline_of_another_type_is_not_compared(tmp_path: Path) -> None:
    results, baselines = tmp_path / "results", tmp_path / "baselines"
    write_results(str(results), envelope())
    baselines.mkdir()
    other = baseline(eval_type="confusion")
    (baselines / "effectiveness_baseline.json").write_text(json.dumps(other))
    (result,) = compare_folders(str(results), str(baselines), RULES)
    assert "`eval_type` differs" in result.refused
