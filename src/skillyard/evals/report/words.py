"""Formats of numbers in reports: one for each kind, with a dash for unknown values."""

from __future__ import annotations

from collections.abc import Callable

from skillyard.evals.report.markup import visible_line

__all__ = [
    "CONDITIONS",
    "LEVEL",
    "UNKNOWN",
    "against",
    "between",
    "chance",
    "condition",
    "decimal",
    "duration",
    "many",
    "money",
    "percent",
    "signed",
    "whole",
    "within",
]

UNKNOWN = "–"
LEVEL = "95\u00a0%"
"""The level of every interval, as it is written."""
_MINUS = "−"
_SMALLEST_P = 0.001
_CENT = 0.01
_NAME = 40

CONDITIONS = {
    "enhanced": "with the skill",
    "full": "full skill",
    "summary": "summary",
    "baseline": "no skill",
    "full_siblings": "full skill and siblings",
}
"""The name of each arm in a report."""


def condition(name: str) -> str:
    """Return what an arm is called; an arm that is not known keeps its name."""
    return CONDITIONS.get(name) or visible_line(name, _NAME)


def against(comparison: str) -> str:
    """Return ``full/baseline`` as ``full skill against no skill``."""
    one, _, other = comparison.partition("/")
    return f"{condition(one)} against {condition(other)}" if other else condition(one)


def decimal(value: float | None, digits: int = 2) -> str:
    """Return ``3.42``; never ``-0.00``."""
    if value is None:
        return UNKNOWN
    text = f"{value:,.{digits}f}"
    if text.startswith("-"):
        text = _MINUS + text[1:] if text.strip("-0.,") else text[1:]
    return text


def signed(value: float | None, digits: int = 2) -> str:
    """Return ``+0.62`` or ``−0.40``; ``0.00`` has no sign."""
    text = decimal(value, digits)
    positive = value is not None and value > 0 and text.strip("0.,") != ""
    return f"+{text}" if positive else text


def percent(value: float | None) -> str:
    """Return a share of 1 as ``87 %``; what rounds to none or all of it keeps a decimal."""
    if value is None:
        return UNKNOWN
    rounded = round(value * 100)
    digits = 1 if rounded in (0, 100) and value not in (0, 1) else 0
    return f"{decimal(value * 100, digits)}\u00a0%"


def money(value: float | None) -> str:
    """Return US dollars: ``$0.43``, and four decimals below a cent."""
    if value is None:
        return UNKNOWN
    return f"${decimal(value, 4 if 0 < abs(value) < _CENT else 2)}"


def whole(value: float | None) -> str:
    """Return ``1,850``."""
    return decimal(value, 0)


def chance(p: float | None) -> str:
    """Return ``p = 0.012``, or ``p < 0.001``; empty for None."""
    if p is None:
        return ""
    return "p < 0.001" if p < _SMALLEST_P else f"p = {p:.3f}"


def between(
    low: float | None, high: float | None, format_number: Callable[[float | None], str] = signed
) -> str:
    """Return ``+0.20 to +1.04``; empty where either end is unknown."""
    return "" if low is None or high is None else f"{format_number(low)} to {format_number(high)}"


def within(reach: str) -> str:
    """Return an interval in brackets for use after its figure; empty where there is none."""
    return f" ({LEVEL} interval {reach})" if reach else ""


def many(number: float | None, noun: str) -> str:
    """Return ``1 case``, ``2 cases``, ``– cases``."""
    return f"{whole(number)}\u00a0{noun}" if number == 1 else f"{whole(number)}\u00a0{noun}s"


def duration(seconds: float | None) -> str:
    """Return ``0.4 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    if seconds is None or seconds < 0:
        return UNKNOWN
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
