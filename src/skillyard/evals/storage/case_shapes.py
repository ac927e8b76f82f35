"""The shape of the cases in a results file, for what reads their fields without a default.

A report shows what a file has. A comparison and an export calculate with it, so a field that is
absent or of another type is an error that names the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.evals.layers.registry import LAYERS

__all__ = ["check_cases", "damaged_results"]

_LARGEST = 1e6
"""No score is larger; sums of such numbers cannot overflow."""
Fits = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_number(value: Any) -> bool:
    # The comparison is false for a value that is no number.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _or_none(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _list_of(fits: Fits) -> Fits:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _mapping_to(fits: Fits) -> Fits:
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _record(**fields: Fits) -> Fits:
    return lambda value: (
        isinstance(value, dict) and all(fits(value.get(name)) for name, fits in fields.items())
    )


_TEXTS = _list_of(_is_text)
_CHECK = _record(passed=_or_none(_is_flag), text=_is_text, evidence=_is_text)
_ANY_CASE: Mapping[str, Fits] = {"id": _is_text, "run_index": _is_count}
_REQUIRED: Mapping[str, Mapping[str, Fits]] = {
    "activation": {
        "passed": _or_none(_is_flag),
        "should_activate": _is_flag,
        "expected_skills": _TEXTS,
        "acceptable_skills": _TEXTS,
        "picked": _TEXTS,
        "about": _or_none(_is_text),
    },
    "confusion": {
        "passed": _or_none(_is_flag),
        "group": _is_text,
        "expected_skill": _or_none(_is_text),
        "predicted": _or_none(_is_text),
        "outside": _TEXTS,
    },
}
_PAIRS: Mapping[str, Fits] = {
    "skill_name": _is_text,
    "prompt_index": _is_count,
    "comparison": _is_text,
    "condition_a": _is_text,
    "condition_b": _is_text,
}
_OPTIONAL: Mapping[str, Fits] = {
    "errors": _list_of(_record(kind=_is_text, message=_is_text)),
    "prompt": _is_text,
    "user_prompt": _is_text,
    "picked": _TEXTS,
    "scores": _or_none(_mapping_to(_is_number)),
    "checks": _mapping_to(_list_of(_CHECK)),
}
"""Fields that are also read in files of earlier releases, which lack some."""


def check_cases(path: str, envelope: Mapping[str, Any]) -> None:
    """Raise InvalidInput, with the file and the case, where a field is not what a layer writes."""
    required = {**_ANY_CASE, **_REQUIRED.get(envelope["meta"]["eval_type"], _PAIRS)}
    routes = LAYERS[envelope["meta"]["eval_type"]].routes
    for number, case in enumerate(envelope["cases"]):
        for name, fits in required.items():
            if not fits(case.get(name)) or (name not in case and name != "about"):
                raise damaged_results(path, f"cases[{number}].{name}")
        for name, fits in _OPTIONAL.items():
            if name in case and not fits(case[name]):
                raise damaged_results(path, f"cases[{number}].{name}")
        if not routes and not _has_both_sides(case):
            raise damaged_results(path, f"cases[{number}].scores or .generations")


def _has_both_sides(case: Mapping[str, Any]) -> bool:
    """True if the scores are of the two conditions, and the answers are named by texts."""
    scores = case.get("scores")
    both = not scores or {case["condition_a"], case["condition_b"]} <= scores.keys()
    return both and _mapping_to(_is_text)(case.get("generations", {}))


def damaged_results(path: str, where: str) -> InvalidInput:
    """Return the error for a file whose field is absent or of another type than is written."""
    return InvalidInput(
        f"{path}: the results are damaged: {where} is missing or not of its type; take an undamaged"
        " copy, or make them again with `skillyard eval` (answers that are stored cost nothing)"
    )
