"""What happened, in plain words: how a source did, whether anything fits, what a number is."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skillyard.search import SourceStatus
from skillyard.service import Selected
from skillyard.text import clean_line, plural

__all__ = [
    "chosen_words",
    "failure_words",
    "number",
    "percent",
    "sentence",
    "status_words",
    "title_words",
]

_FAILURES: Mapping[str, str] = {
    "bad_answer": "gave an answer that cannot be read",
    "denied": "refused access",
    "not_found": "is not there",
    "offline": "not asked, for this service is offline",
    "rate_limited": "rate-limited",
    "refused": "leads to an address that is not followed",
    "status": "answered with an error",
    "timeout": "did not answer in time",
    "too_large": "gave an answer that is too large",
    "unreachable": "cannot be reached",
}
_MINUTE = 60


def number(value: float) -> str:
    """Return a number as a person reads it: few digits, and never 0 for what is more."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.01:
        return f"{value:.2f}"
    if size >= 0.001:
        return f"{value:.3f}"
    return "< 0.001" if value > 0 else "> −0.001"


def percent(value: float) -> str:
    """Return a share of one as whole percents."""
    return f"{value:.0%}" if math.isfinite(value) else "–"


def failure_words(code: str, retry_after_s: float | None = None) -> str:
    """Return what a failure was, and when it makes sense to ask again."""
    said = _FAILURES.get(code, "failed")
    if retry_after_s is None or not math.isfinite(retry_after_s):
        return said
    return f"{said}, try again in {_wait(retry_after_s)}"


def _wait(seconds: float) -> str:
    whole = max(1, math.ceil(seconds))
    if whole < 2 * _MINUTE:
        return f"{whole} s"
    minutes = math.ceil(whole / _MINUTE)
    return f"{minutes} min" if minutes < 2 * _MINUTE else f"{math.ceil(minutes / _MINUTE)} h"


def status_words(status: SourceStatus) -> str:
    """Return what one source did for one search."""
    found = f"{plural(status.found, 'skill')} found"
    if status.state == "ok":
        return found
    said = failure_words(status.code, status.retry_after_s)
    return said if status.state == "failed" else f"{found}, but one place {said}"


def chosen_words(selected: Selected) -> str:
    """Return whether any skill of the catalog fits, and if not, why not."""
    chosen = selected.selection
    if not chosen.abstained:
        names = [clean_line(match.skill.name) for match in chosen.selected]
        return f"Fits, in this catalog: {', '.join(names)}."
    if selected.query.empty:
        return "There is nothing to choose for yet."
    if not chosen.rejected:
        return "Nothing in this catalog fits: none of its skills has anything of the request in it."
    among = plural(selected.counts.skills, "skill")
    if chosen.maybe:
        near = ", ".join(
            f"{clean_line(match.skill.name)} {number(match.score)}" for match in chosen.maybe
        )
        return f"None of the {among} in this catalog surely fits. Perhaps: {near}."
    best = chosen.rejected[0]
    if best.score >= selected.min_score:
        return (
            f"None of the {among} in this catalog was chosen: the number that may be chosen is 0."
        )
    return (
        f"None of the {among} in this catalog fits well enough: {clean_line(best.skill.name)} comes"
        f" closest with {number(best.score)}, and {number(selected.min_score)} is what it takes."
    )


def title_words(label: str) -> str:
    """Return a scorer's word for a signal as a person writes it."""
    return label.replace("_", " ").strip() or "–"


def sentence(text: str) -> str:
    """Return a message as a sentence of its own: a capital, and a full stop or what it has."""
    capital = text[:1].upper() + text[1:]
    return capital if capital.endswith((".", "?", "!", "…")) else f"{capital}."
