"""The shape of the cases in a results file, for what reads their fields without a default.

A report shows what a file has. A comparison calculates with it, so a field that is absent or of
another type is an error that names the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds
from skillyard.evals.fields import fits, hints_of
from skillyard.evals.layers.registry import LAYERS

_LARGEST = 1e6
"""No score is larger; sums of such numbers cannot overflow."""
_Count = Annotated[int, Bounds(0, _LARGEST)]
_Scores = Mapping[str, Annotated[float, Bounds(-_LARGEST, _LARGEST)]]


class _RoutedCase(TypedDict):
    id: str
    run_index: _Count
    passed: bool | None


class _ActivationCase(_RoutedCase):
    should_activate: bool
    expected_skills: list[str]
    acceptable_skills: list[str]
    picked: list[str]
    about: str | None


class _ConfusionCase(_RoutedCase):
    group: str
    expected_skill: str | None
    predicted: str | None
    outside: list[str]


class _PairCase(TypedDict):
    id: str
    run_index: _Count
    skill_name: str
    prompt_index: _Count
    comparison: str
    condition_a: str
    condition_b: str


class _Error(TypedDict):
    kind: str
    message: str


class _Check(TypedDict):
    passed: bool | None
    text: str
    evidence: str


class _Optional(TypedDict):
    """Fields that are also read in files of earlier releases, which lack some."""

    errors: list[_Error]
    prompt: str
    user_prompt: str
    picked: list[str]
    scores: _Scores | None
    checks: Mapping[str, list[_Check]]


_SHAPES: Mapping[str, type] = {"activation": _ActivationCase, "confusion": _ConfusionCase}


def check_cases(path: str, envelope: Mapping[str, Any]) -> None:
    """Raise InvalidInput, with the file and the case, where a field is not what a layer writes."""
    eval_type = envelope["meta"]["eval_type"]
    required, optional = hints_of(_SHAPES.get(eval_type, _PairCase)), hints_of(_Optional)
    for number, case in enumerate(envelope["cases"]):
        for name, hint in required.items():
            if not fits(case.get(name), hint) or (name not in case and name != "about"):
                raise _damaged(path, f"cases[{number}].{name}")
        for name, hint in optional.items():
            if name in case and not fits(case[name], hint):
                raise _damaged(path, f"cases[{number}].{name}")
        if not LAYERS[eval_type].routes and not _has_both_sides(case):
            raise _damaged(path, f"cases[{number}].scores or .generations")


def _has_both_sides(case: Mapping[str, Any]) -> bool:
    """True if the scores are of the two conditions, and the answers are named by texts."""
    scores = case.get("scores")
    both = not scores or {case["condition_a"], case["condition_b"]} <= scores.keys()
    return both and fits(case.get("generations", {}), Mapping[str, str])


def _damaged(path: str, where: str) -> InvalidInput:
    """Return the error for a file whose field is absent or of another type than is written."""
    return InvalidInput(
        f"{path}: the results are damaged: {where} is missing or not of its type; take an undamaged"
        " copy, or make them again with `skillyard eval` (answers that are stored cost nothing)"
    )
