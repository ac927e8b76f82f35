"""The sentences of a usage report: what its numbers do and do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.text import plural
from skillyard.usecases.skill_usage import FEW_DECISIONS

if TYPE_CHECKING:
    from skillyard.shapes.usage import Usage

__all__ = ["abstention_remark", "percent", "period", "unused_sentence"]


def percent(share: float) -> str:
    """Return a share with two digits: ``23%``, ``0.41%``, ``0.013%``; a small one never as 0."""
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def period(usage: Usage) -> str:
    """Return the number of decisions and their period."""
    asked = "" if usage.days is None else f" in the last {plural(usage.days, 'day')}"
    if not usage.decisions or usage.first is None or usage.last is None:
        return f"No decisions{asked}"
    first, last = usage.first[:10], usage.last[:10]
    days = f"on {first}" if first == last else f"from {first} to {last}"
    return f"{plural(usage.decisions, 'decision')}{asked}, {days}"


def unused_sentence(usage: Usage) -> str:
    """Return how many skills of the library did not fire, and what that says."""
    shown = [each for each in usage.unused if not each.hidden]
    hidden = len(usage.unused) - len(shown)
    if not shown:
        text = "Every skill of the library that may be selected has fired."
    elif max(each.decisions for each in shown) < FEW_DECISIONS:
        text = (
            f"{plural(len(shown), 'skill')} did not fire in {plural(usage.decisions, 'decision')}."
            f" With fewer than {FEW_DECISIONS} decisions that is no verdict."
        )
    else:
        text = (
            f"{plural(len(shown), 'skill')} did not fire. The share of requests for which each may"
            " still fire is below the value in the last column; a skill that changed recently was"
            " there for fewer decisions."
        )
    if hidden:
        text += f" {plural(hidden, 'hidden skill')} can only be called by name."
    return text


def abstention_remark(usage: Usage) -> str:
    """Return what is known of the abstentions that are in no group; empty if all are."""
    parts = []
    if usage.small_talk:
        parts.append(
            f"Small talk, which asks for nothing: {usage.small_talk:,} of the abstentions."
        )
    if usage.without_text:
        again = f", {usage.repeated:,} of them repeated word for word" if usage.repeated else ""
        parts.append(
            f"Of {usage.without_text:,} the log has only a digest{again}, so they cannot be"
            " grouped: SKILLYARD_LOG_TEXT=1 logs the text."
        )
    return " ".join(parts)
