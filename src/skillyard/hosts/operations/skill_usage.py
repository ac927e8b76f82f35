"""The use of the skills of a library, as the decision log tells it.

A log is read once, line by line; what is read of it is bounded, and with it what is held.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, combinations
from math import isfinite
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.encoder import from_attributes
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
from skillyard.hosts.decisions.request_clusters import cluster_requests
from skillyard.hosts.hook.journal import journal_path

DAY_S = 86_400
FEW_DECISIONS = 100
"""With fewer decisions a skill that did not fire may still fire for 4 requests in a hundred (95 %
interval), which is often for one skill of many. Such a count is no verdict."""
MAX_REQUEST_CHARS = 2_000
"""Characters of a request that are held."""
MAX_REQUESTS_SHOWN = 5
NEAR_SHARE = 0.5
"""A skill nearly fired when the best score without a selection is at least this share of the floor:
1/3 of `hybrid`'s 2/3."""
CLOSE_SHARE = 0.05
"""Two skills are close when their scores differ by at most this share of the higher one."""
COMPARED = 3
"""The best matches of a decision that are compared in pairs."""
MIN_CLOSE = 2
"""One close decision is chance; a conflict comes back."""


def log_paths(log: str | None) -> tuple[str, ...]:
    """Return the logs to read: the one that is named, else those that exist.

    These are that of ``skillyard.toml`` and that of the prompt hook; none where nothing was logged
    yet. Raises InvalidInput, with how to enable logging, where ``skillyard.toml`` names none.
    """
    if log is not None:
        return (log,)
    decisions = log_section().file
    if not decisions:
        raise InvalidInput(
            "there is no decision log: `skillyard setup` makes one; or set file in [log] of your "
            "skillyard.toml, and text = true to log the text of requests too; or name one with "
            "--log FILE"
        )
    return tuple(path for path in (decisions, journal_path()) if os.path.exists(path))


def skill_usage(catalog: Catalog, logs: Sequence[str], *, days: int | None = None) -> Usage:
    """Return what the logs say about the skills of the catalog.

    ``days`` counts only the entries of the last so many days. Raises InvalidInput for a log that
    cannot be read, and for a period below one day.
    """
    if days is not None and days < 1:
        raise InvalidInput("--days must be a whole number of at least 1", field="days")
    since = 0.0 if days is None else time.time() - days * DAY_S
    count = _Count()
    for log in logs:
        for entry in iter_entries(log):
            count.add(entry, since)
    groups, small_talk = _groups(count)
    by_slug = {skill.slug: skill for skill in catalog.skills}
    order = sorted(count.skills.items(), key=lambda item: (-item[1].fired, -item[1].near, item[0]))
    skills = tuple(_skill(slug, each, by_slug.get(slug), count) for slug, each in order)
    fired = sum(day[0] for day in count.days.values())
    return Usage(
        logs=tuple(logs),
        days=days,
        first=None if count.first is None else moment(count.first),
        last=None if count.last is None else moment(count.last),
        decisions=count.decisions,
        fired=fired,
        abstained=count.decisions - fired,
        small_talk=small_talk,
        without_text=sum(count.digests.values()),
        repeated=sum(number for number in count.digests.values() if number > 1),
        skills=skills,
        unused=tuple(_unused(catalog, count)),
        groups=groups,
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


class _Score(NamedTuple):
    """One skill of a logged decision."""

    slug: str
    name: str
    score: float
    because: str
    """Why it was not selected."""


def _scores(matches: list[dict[str, Any]]) -> list[_Score]:
    """Return the skills of a decision, each once. Raises what :meth:`_Count.add` catches."""
    scores: dict[str, _Score] = {}
    for each in matches:
        slug, score = each["slug"], float(each["score"])
        if not (isinstance(slug, str) and slug and isfinite(score)):
            raise ValueError
        because = str(each.get("rejected_because") or "")
        scores.setdefault(slug, _Score(slug, str(each["name"]), score, because))
    return list(scores.values())


@dataclass(slots=True)
class _SkillCount:
    name: str
    fired: int = 0
    fallback: int = 0
    near: int = 0
    margin: float | None = None
    """The smallest distance to the floor where it nearly fired, as a share of the floor."""
    last: float | None = None
    """When it last fired, in Unix seconds."""


class _Count:
    """The counts of one or several logs. Skills are counted by slug: an id changes with the text.

    An entry may hold anything: one that is not as we write it counts as unreadable.
    """

    def __init__(self) -> None:
        self.decisions = self.unreadable = 0
        self.first: float | None = None
        """Time of the first decision, in Unix seconds."""
        self.last: float | None = None
        self.days: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """Decisions with and without a skill by day, UTC."""
        self.callers: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        """The same by the caller of a service, where one is named."""
        self.skills: dict[str, _SkillCount] = {}
        self.pairs: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        """Decisions in which both are among the best, by what is counted."""
        self.requests: Counter[str] = Counter()
        """How often a text got no skill."""
        self.nearest: dict[str, Counter[str]] = defaultdict(Counter)
        """The best skill of each of these texts."""
        self.digests: Counter[str] = Counter()
        """How often a request without text got no skill."""
        self.lacks: Counter[tuple[str, str]] = Counter()
        """Decisions without a selection whose best skill lacks what it requires, by slug and why.
        They are in none of the counts of requests."""
        self.events: Counter[str] = Counter()
        """Events of the prompt hook by kind."""

    def add(self, entry: Mapping[str, Any] | None, since: float) -> None:
        """Count one entry from ``since`` on."""
        try:
            if entry is None:
                raise ValueError
            at = datetime.fromisoformat(entry["time"]).astimezone(UTC)
            if at.timestamp() < since:
                return
            if str(entry["schema"]).startswith("skillyard.hook-event/"):
                self.events[str(entry.get("event"))] += 1
            else:
                self._add_decision(entry, at)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            self.unreadable += 1

    def _add_decision(self, entry: Mapping[str, Any], at: datetime) -> None:
        selected, others = _scores(entry["selected"]), _scores(entry["runners_up"])
        floor, query = float(entry["policy"]["min_score"]), entry["query"]
        text, digest = query.get("text"), str(query.get("digest"))
        caller, when = entry.get("caller"), at.timestamp()
        is_fallback = entry.get("fallback") is True
        self.decisions += 1
        self.first = min(when, self.first or when)
        self.last = max(when, self.last or when)
        self.days[at.date().isoformat()][not selected] += 1
        if caller and isinstance(caller, str):
            self.callers[caller][not selected] += 1
        for score in selected:
            count = self.skills.setdefault(score.slug, _SkillCount(score.name))
            count.name = score.name
            count.fired += 1
            count.fallback += is_fallback
            count.last = max(when, count.last or when)
        ranked = sorted((*selected, *others), key=lambda each: (-each.score, each.slug))
        if not selected:
            best = ranked[0] if ranked else None
            # The log rounds scores: a skill below the floor may stand at it.
            if best and best.because and best.score >= floor and best.because[:6] != "below ":
                self.lacks[best.slug, best.because] += 1
            else:
                self._add_request(ranked, floor, text, digest)
        if not is_fallback:  # a generalist is selected whatever its score
            self._add_pairs(ranked[:COMPARED], floor)

    def _add_request(self, ranked: list[_Score], floor: float, text: object, digest: str) -> None:
        """Count a request that got no skill, and the skill that nearly fired."""
        best = next((each for each in ranked if 0.0 < each.score < floor), None)
        if best is not None and best.score >= NEAR_SHARE * floor:
            count = self.skills.setdefault(best.slug, _SkillCount(best.name))
            margin = (floor - best.score) / floor
            count.near += 1
            count.margin = margin if count.margin is None else min(count.margin, margin)
        if not isinstance(text, str):
            self.digests[digest] += 1
            return
        self.requests[text[:MAX_REQUEST_CHARS]] += 1
        if ranked and ranked[0].score > 0.0:
            self.nearest[text[:MAX_REQUEST_CHARS]][ranked[0].slug] += 1

    def _add_pairs(self, ranked: list[_Score], floor: float) -> None:
        """Count the pairs of the best skills that came near the floor at least."""
        strong = [each for each in ranked if each.score > 0.0 and each.score >= NEAR_SHARE * floor]
        for high, low in combinations(strong, 2):
            pair = self.pairs[min(high.slug, low.slug), max(high.slug, low.slug)]
            is_close = high.score - low.score <= CLOSE_SHARE * high.score
            pair["together"] += 1
            pair["close"] += is_close
            pair["first_ahead"] += is_close and high.slug < low.slug and high.score > low.score


def _skill(slug: str, each: _SkillCount, skill: Skill | None, count: _Count) -> SkillUsage:
    low, high = wilson(each.fired, count.decisions)
    tokens = None if skill is None else estimate_tokens(skill.body or "")
    return from_attributes(
        SkillUsage,
        each,
        slug=slug,
        share=each.fired / count.decisions,
        low=low,
        high=high,
        last=None if each.last is None else moment(each.last),
        tokens=tokens,
        cost=None if tokens is None else tokens * each.fired,
    )


def _unused(catalog: Catalog, count: _Count) -> Iterator[UnusedSkill]:
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
        high = wilson(0, decisions)[1]
        yield from_attributes(UnusedSkill, skill, decisions=decisions, high=high)


def _groups(count: _Count) -> tuple[tuple[RequestGroup, ...], int]:
    """Return the groups of requests that got no skill, and how many asked for nothing."""
    clusters, small_talk = cluster_requests(count.requests)
    groups = []
    for cluster in clusters:
        nearest: Counter[str] = Counter()
        for text in cluster.requests:
            nearest.update(count.nearest.get(text, {}))
        best = sorted(nearest, key=lambda slug: (-nearest[slug], slug))
        groups.append(
            RequestGroup(
                count=cluster.count,
                requests=tuple(cluster.requests[:MAX_REQUESTS_SHOWN]),
                different=len(cluster.requests),
                terms=cluster.label(),
                nearest=tuple(best[:MAX_REQUESTS_SHOWN]),
            )
        )
    return tuple(groups), small_talk


def _conflicts(count: _Count) -> tuple[Conflict, ...]:
    order = sorted(count.pairs.items(), key=lambda item: (-item[1]["close"], item[0]))
    return tuple(
        Conflict(first=first, second=second, **pair)
        for (first, second), pair in order
        if pair["close"] >= MIN_CLOSE
    )
