"""Evaluation of skills. It uses the engine; the engine never imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["extract_json", "extract_summary", "invoke_judge", "remap"]

_MODULES = {
    "extract_json": "judgement.verdicts",
    "extract_summary": "arms",
    "invoke_judge": "judgement.judge",
    "remap": "judgement.verdicts",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'skillyard.evals' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"skillyard.evals.{module}"), name)
    globals()[name] = value
    return value


if TYPE_CHECKING:  # the same names, for type checkers and editors
    from skillyard.evals.arms import extract_summary as extract_summary
    from skillyard.evals.judgement.judge import invoke_judge as invoke_judge
    from skillyard.evals.judgement.verdicts import extract_json as extract_json
    from skillyard.evals.judgement.verdicts import remap as remap
