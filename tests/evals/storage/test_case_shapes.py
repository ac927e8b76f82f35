"""Damaged cases of a results file: an error that names the file, where figures are made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard import InvalidInput
from skillyard.evals.operations.eval_results import eval_compare
from tests.tables import for_each

_ROUTED = {"id": "a", "run_index": 0, "user_prompt": "?", "passed": True, "picked": ["x"]}
CASES: dict[str, dict[str, Any]] = {
    "activation": {
        **_ROUTED,
        "should_activate": True,
        "expected_skills": ["x"],
        "acceptable_skills": [],
        "about": None,
    },
    "confusion": {
        **_ROUTED,
        "group": "g",
        "expected_skill": "x",
        "predicted": "x",
        "outside": [],
    },
    "effectiveness": {
        "id": "x/0/0/enhanced/baseline",
        "run_index": 0,
        "skill_name": "x",
        "prompt_index": 0,
        "prompt": "?",
        "comparison": "enhanced/baseline",
        "condition_a": "enhanced",
        "condition_b": "baseline",
        "scores": {"enhanced": 4.0, "baseline": 3.0},
        "improvement": 1.0,
        "winner": "enhanced",
        "checks": {"enhanced": [{"passed": True, "text": "t", "evidence": "e"}]},
        "errors": [],
    },
}


def write_results(folder: Path, eval_type: str, **changed: Any) -> str:
    """Write three cases, the last of them changed; a change to ... removes the field."""
    last = {name: value for name, value in (CASES[eval_type] | changed).items() if value is not ...}
    meta = {"eval_type": eval_type, "run_id": "r", "timestamp": "2026-11-20T10:00:00Z"}
    cases = [CASES[eval_type], CASES[eval_type], last]
    path = folder / f"{eval_type}_r.json"
    text = json.dumps({"meta": meta, "summary": {}, "cases": cases, "artifacts": {}})
    path.write_text(text, encoding="utf-8")
    return str(path)


@for_each("eval_type", list(CASES))
def test_whole_cases_are_compared(eval_type: str, tmp_path: Path) -> None:
    path = write_results(tmp_path, eval_type)
    assert eval_compare(str(tmp_path), runs=[path, path]).compared


@for_each(
    "eval_type, field, value",
    [("activation", "passed", {}),
     ("activation", "passed", "yes"),
     ("activation", "expected_skills", 7),
     ("activation", "picked", [[1]]),
     ("activation", "user_prompt", 1),
     ("confusion", "group", 0),
     ("confusion", "group", float("nan")),
     ("confusion", "expected_skill", [1]),
     ("effectiveness", "scores", -1),
     ("effectiveness", "scores", {"enhanced": 1.0}),
     ("effectiveness", "run_index", "x"),
     ("effectiveness", "checks", "text"),
     ("effectiveness", "checks", {"enhanced": ["text"]}),
     ("effectiveness", "errors", "text"),
     ("effectiveness", "generations", {"enhanced": 1}),
     ("effectiveness", "skill_name", ...)],
)  # fmt: skip
def test_a_damaged_case_is_an_error_that_names_the_file(
    eval_type: str, field: str, value: Any, tmp_path: Path
) -> None:
    path = write_results(tmp_path, eval_type, **{field: value})
    match = rf"_r\.json: the results are damaged: cases\[2\]\.(scores or \.)?{field}"
    with pytest.raises(InvalidInput, match=match):
        eval_compare(str(tmp_path), runs=[path, path])
