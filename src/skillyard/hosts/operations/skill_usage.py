"""The use of the skills of a library, as the decision log tells it."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.usage import (
    CallerUsage,
    Conflict,
    Day,
    RequestGroup,
    SkillLack,
    SkillUsage,
    UnusedSkill,
    Usage,
)
from skillyard.base.sums import wilson
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.skill import Origin, Skill
from skillyard.hosts.decisions import log_section
from skillyard.hosts.decisions.files import iter_entries, moment
from skillyard.hosts.decisions.request_clusters import RequestCluster, cluster_requests
from skillyard.hosts.decisions.usage import SkillCount, UsageCount, count_usage
from skillyard.hosts.hook.journal import journal_path

DAY_S = 86_400
FEW_DECISIONS = 100
"""With fewer decisions a skill that did not fire may still fire for 4 requests in a hundred (95 %
interval), which is often for one skill of many. Such a count is no verdict."""
MAX_REQUESTS_SHOWN = 5
MIN_CLOSE = 2
"""One close decision is chance; a conflict comes back."""
HOW_TO_LOG = (
    "set file in [log] of your skillyard.toml, and text = true to log the text of requests too"
)


def log_paths(log: str | None) -> tuple[str, ...]:
    """Return the logs to read: the one that is named, else those that exist.

    These are that of ``skillyard.toml`` and that of the prompt hook. Raises InvalidInput when no
    log is named and none exists, with how to enable logging.
    """
    if log is not None:
        return (log,)
    decisions = log_section().file
    if not decisions:
        raise InvalidInput(f"there is no decision log: {HOW_TO_LOG}; or name one with --log FILE")
    if not os.path.exists(decisions):
        raise InvalidInput(
            f"skillyard.toml names {decisions}, which does not exist: nothing has been logged yet;"
            " select a skill first, or name another log with --log FILE"
        )
    return tuple(path for path in (decisions, journal_path()) if os.path.exists(path))


def skill_usage(
    catalog: Catalog, logs: Sequence[str], *, days: int | None = None, now: float | None = None
) -> Usage:
    """Return what the logs say about the skills of the catalog.

    ``days`` counts only the entries of that many days before ``now`` (Unix seconds; default: the
    present). Raises InvalidInput for a log that cannot be read, and for a period below one day.
    """
    if days is not None and days < 1:
        raise InvalidInput("--days must be a whole number of at least 1", field="days")
    now = time.time() if now is None else now
    since = None if days is None else now - days * DAY_S
    count = count_usage(_entries(logs), since=since)
    clusters, small_talk = cluster_requests(count.requests)
    by_slug = {skill.slug: skill for skill in catalog.skills}
    skills = tuple(_skill(slug, each, by_slug.get(slug), count) for slug, each in _ordered(count))
    return Usage(
        logs=tuple(logs),
        days=days,
        first=None if count.first is None else moment(count.first),
        last=None if count.last is None else moment(count.last),
        decisions=count.decisions,
        fired=count.fired,
        abstained=count.decisions - count.fired,
        small_talk=small_talk,
        without_text=count.decisions - count.fired - count.with_text - sum(count.lacks.values()),
        repeated=sum(number for number in count.digests.values() if number > 1),
        skills=skills,
        unused=tuple(_unused(catalog, count)),
        groups=tuple(_group(cluster, count) for cluster in clusters),
        conflicts=_conflicts(count),
        cost=sum(each.cost or 0 for each in skills),
        per_day=tuple(
            Day(day=day, fired=fired, abstained=abstained)
            for day, (fired, abstained) in sorted(count.days.items())
        ),
        events=dict(sorted(count.events.items())),
        unreadable=count.unreadable,
        callers=tuple(
            CallerUsage(caller=caller, fired=fired, abstained=abstained)
            for caller, (fired, abstained) in sorted(
                count.callers.items(), key=lambda item: (-sum(item[1]), item[0])
            )
        ),
        lacks=tuple(
            SkillLack(slug=slug, because=because, count=number)
            for (slug, because), number in sorted(
                count.lacks.items(), key=lambda item: (-item[1], item[0])
            )
        ),
    )


def _entries(logs: Iterable[str]) -> Iterator[dict[str, Any] | None]:
    for path in logs:
        yield from iter_entries(path)


def _ordered(count: UsageCount) -> list[tuple[str, SkillCount]]:
    return sorted(count.skills.items(), key=lambda item: (-item[1].fired, -item[1].near, item[0]))


def _skill(slug: str, each: SkillCount, skill: Skill | None, count: UsageCount) -> SkillUsage:
    low, high = wilson(min(each.fired, count.decisions), count.decisions)
    tokens = None if skill is None else estimate_tokens(skill.body or "")
    return SkillUsage(
        name=each.name,
        slug=slug,
        fired=each.fired,
        fallback=each.fallback,
        share=each.fired / count.decisions,
        low=low,
        high=high,
        near=each.near,
        margin=each.margin,
        last=None if each.last is None else moment(each.last),
        tokens=tokens,
        cost=None if tokens is None else tokens * each.fired,
    )


def _unused(catalog: Catalog, count: UsageCount) -> Iterator[UnusedSkill]:
    """Yield the skills that did not fire, with the decisions that each was there for.

    A file that changed during the period may not have been there before, or said something else:
    only the decisions from that day on are counted for it.
    """
    days = sorted(count.days)
    totals = [0, *accumulate(sum(count.days[day]) for day in days)]
    for skill in catalog.candidates:
        logged = count.skills.get(skill.slug)
        if skill.origin == Origin.CONVENTION or (logged is not None and logged.fired):
            continue
        changed = moment(skill.last_modified or 0)[:10]
        decisions = totals[-1] - totals[bisect_left(days, changed)]
        yield UnusedSkill(
            name=skill.name,
            slug=skill.slug,
            decisions=decisions,
            high=wilson(0, decisions)[1],
            hidden=skill.hidden,
        )


def _group(cluster: RequestCluster, count: UsageCount) -> RequestGroup:
    nearest: Counter[str] = Counter()
    for text in cluster.requests:
        nearest.update(count.nearest.get(text, {}))
    best = sorted(nearest, key=lambda slug: (-nearest[slug], slug))
    return RequestGroup(
        count=cluster.total,
        requests=cluster.requests[:MAX_REQUESTS_SHOWN],
        different=len(cluster.requests),
        terms=cluster.terms,
        nearest=tuple(best[:MAX_REQUESTS_SHOWN]),
    )


def _conflicts(count: UsageCount) -> tuple[Conflict, ...]:
    order = sorted(count.pairs.items(), key=lambda item: (-item[1].close, item[0]))
    return tuple(
        Conflict(
            first=first,
            second=second,
            close=pair.close,
            together=pair.together,
            first_ahead=pair.first_ahead,
        )
        for (first, second), pair in order
        if pair.close >= MIN_CLOSE
    )
