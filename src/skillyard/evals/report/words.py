"""Texts of reports: figures in words, one way for each kind, and visible hidden characters.

Answers of models, skills, judges and servers are hostile text. :func:`visible` writes out hidden
characters (:func:`skillyard.base.text.clean`). Each renderer escapes the result for its format.
"""

from __future__ import annotations

from collections.abc import Callable

from skillyard.base.invisible import clean

UNKNOWN = "–"
_MINUS = "−"
_CENT = 0.01
_NAME = 40
# The two code points that clean() keeps and XML 1.0 forbids (section 2.2, "Characters").
_NOT_XML = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}
_CONDITIONS = {
    "enhanced": "with the skill",
    "full": "full skill",
    "summary": "summary",
    "baseline": "no skill",
    "old": "old version",
    "full_siblings": "full skill and siblings",
}


def visible(text: str) -> str:
    """Return the text with every hidden or forbidden character written out; LF and TAB stay."""
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return clean(lines).translate(_NOT_XML)


def visible_line(text: str, limit: int | None = None) -> str:
    """Return the text as :func:`visible`, on one line, at most ``limit`` characters of it.

    A text that was cut ends with an ellipsis.
    """
    line = " ".join(visible(text).split())
    if limit is None or len(line) <= limit:
        return line
    return line[: max(0, limit - 1)].rstrip() + "…"


def condition(name: str) -> str:
    """Return what an arm is called; an arm that is not known keeps its name."""
    return _CONDITIONS.get(name) or visible_line(name, _NAME)


def against(comparison: str) -> str:
    """Return ``full/baseline`` as ``full skill against no skill``."""
    one, _, other = comparison.partition("/")
    return f"{condition(one)} against {condition(other)}" if other else condition(one)


def first_upper(text: str) -> str:
    """Return a text that begins with a capital."""
    return text[:1].upper() + text[1:]


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


def between(
    low: float | None, high: float | None, format_number: Callable[[float | None], str] = signed
) -> str:
    """Return ``+0.20 to +1.04``; empty where either end is unknown, or both are one figure.

    An interval without a width would look like certainty, and only says that no spread was seen.
    Ends that only round to the same figure are ``about +0.20``.
    """
    if low is None or high is None or low == high:
        return ""
    first, last = format_number(low), format_number(high)
    return f"about {first}" if first == last else f"{first} to {last}"


def within(interval: str) -> str:
    """Return an interval in brackets for use after its figure; empty where there is none."""
    return f" (95\u00a0% interval {interval})" if interval else ""


def many(number: float | None, noun: str) -> str:
    """Return ``1 case``, ``2 cases``, ``– cases``."""
    return f"{whole(number)}\u00a0{noun}{'' if number == 1 else 's'}"
