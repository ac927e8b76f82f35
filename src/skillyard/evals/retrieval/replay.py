"""Score drift: repeats logged queries with the current skills and compares the answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from skillyard.catalog import Catalog
from skillyard.errors import InvalidInput, SkillyardError
from skillyard.ranking.query import Query
from skillyard.selection import SelectionPolicy, select
from skillyard.shapes.benchmarks import Drift

__all__ = ["LoggedAnswer", "parse_log", "replay"]


class LoggedAnswer(NamedTuple):
    """One answer as it was logged: a line of ``skillyard select --json`` or of a decision log."""

    line: int
    query: Query | None
    """None if only a digest of the request was logged; such a query cannot be repeated."""
    scorer: str
    policy: Mapping[str, Any]
    chosen: tuple[tuple[str, float, str], ...]
    """(slug, score, id) of what was chosen, best first; the id ends in digits of the hash."""


def parse_log(text: str, path: str) -> list[LoggedAnswer]:
    """Return the logged answers. Raises InvalidInput with the line."""
    answers = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                answers.append(_logged_answer(number, json.loads(line)))
            except (ValueError, KeyError, TypeError, AttributeError, SkillyardError) as error:
                raise InvalidInput(
                    f"{path}:{number}: not an answer of select --json ({type(error).__name__})"
                ) from None
    return answers


def _logged_answer(number: int, shape: dict[str, Any]) -> LoggedAnswer:
    return LoggedAnswer(
        number,
        _query(shape["query"]),
        str(shape["scorer"]),
        dict(shape["policy"]),
        tuple(
            (str(match["slug"]), float(match["score"]), str(match["id"]))
            for match in shape["selected"]
        ),
    )


def _query(fields: dict[str, Any]) -> Query | None:
    """Return the request, or None if it was not logged or was shortened."""
    if ("text" not in fields and "digest" in fields) or fields.get("cut"):
        return None
    return Query(
        fields["text"],
        files=fields.get("files", ()),
        recent_activity=fields.get("recent_activity", ()),
        include_tags=fields.get("include_tags", ()),
        exclude_tags=fields.get("exclude_tags", ()),
        include_references=fields.get("include_references", False),
        package_scope=fields.get("package_scope", False),
        tools=fields.get("tools", ()),
    )


def _policy(logged: Mapping[str, Any]) -> SelectionPolicy:
    return SelectionPolicy(
        logged.get("top_k"),
        logged.get("min_score"),
        logged.get("include_tags", ()),
        logged.get("exclude_tags", ()),
        logged.get("fallback_tag"),
    )


def replay(catalog: Catalog, log: Iterable[LoggedAnswer], *, least: float = 0.005) -> list[Drift]:
    """Ask every logged query again and return what is different, in the order of the log.

    Scores that differ by less than ``least`` are taken to be the same. What holds no request is
    passed over.
    """
    ids = {skill.slug: skill.id for skill in catalog.candidates}
    drifts: list[Drift] = []
    for each in log:
        if each.query is None:
            continue
        now = select(catalog, each.query, _policy(each.policy), scorer=each.scorer).selected
        after = {m.skill.slug: (place, m.score) for place, m in enumerate(now, 1)}
        before = {key: (place, score) for place, (key, score, _) in enumerate(each.chosen, 1)}
        changed = {key for key, _, was in each.chosen if ids.get(key, was) != was}
        for key in [*before, *(key for key in after if key not in before)]:
            what = _what(key, before, after, changed, ids, least)
            if what:
                place_before, score_before = before.get(key, (None, None))
                place_after, score_after = after.get(key, (None, None))
                drifts.append(
                    Drift(
                        line=each.line,
                        text=each.query.text,
                        skill=key,
                        what=what,
                        before=score_before,
                        after=score_after,
                        place_before=place_before,
                        place_after=place_after,
                    )
                )
    return drifts


def _what(
    key: str,
    before: Mapping[str, tuple[int, float]],
    after: Mapping[str, tuple[int, float]],
    changed: set[str],
    ids: Mapping[str, str],
    least: float,
) -> str:
    if key not in ids:
        return "gone"
    if key in changed:
        return "changed"
    if key not in after:
        return "dropped"
    if key not in before:
        return "added"
    same_score = abs(before[key][1] - after[key][1]) < least
    return "" if same_score and before[key][0] == after[key][0] else "moved"
