"""The lines of a comparison with a baseline, for every kind of report.

A line is a mapping from :mod:`skillyard.evals.regression`: ``eval_type``, ``entity`` (a skill, a
group or ``_overall``), ``measure``, ``status`` (``regression``, ``improvement``, ``new``, ``gone``,
``not compared``, ``unchanged``) and ``message``, one sentence with the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.evals.report.layers import layer_of
from skillyard.evals.report.markup import visible_line
from skillyard.evals.report.pairs import Badge
from skillyard.evals.report.values import mapping, word

__all__ = ["Change", "changes_of"]

_BADGES = {
    "regression": Badge("▼", "regression", "bad"),
    "improvement": Badge("▲", "improvement", "good"),
    "new": Badge("+", "new", "open"),
    "gone": Badge("−", "gone", "open"),
    "not compared": Badge("○", "not compared", "open"),
    "unchanged": Badge("=", "unchanged", "even"),
}


class Change(NamedTuple):
    """One measure of one entity against its baseline."""

    eval_type: str
    code: str
    entity: str
    measure: str
    badge: Badge
    message: str
    regressed: bool
    same: bool
    """Nothing to tell: unchanged, or not compared."""


def changes_of(lines: Sequence[Mapping[str, object]]) -> tuple[Change, ...]:
    """Return the lines by layer; in each, regressions first and the unchanged last."""
    weight = {status: place for place, status in enumerate(_BADGES)}
    keyed = []
    for line in map(mapping, lines):
        status = word(line.get("status"))
        entity, measure = word(line.get("entity")), word(line.get("measure"))
        change = Change(
            word(line.get("eval_type")),
            layer_of({"meta": line}).code,
            "all together" if entity == "_overall" else entity,
            measure,
            _BADGES.get(status) or Badge("?", visible_line(status, 30) or "no status", "open"),
            word(line.get("message")),
            status == "regression",
            status in ("unchanged", "not compared"),
        )
        keyed.append((change.code, weight.get(status, len(weight)), entity, measure, change))
    return tuple(change for *_, change in sorted(keyed, key=lambda each: each[:4]))
