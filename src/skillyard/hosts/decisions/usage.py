"""Counts what a decision log says: per skill, per day, per pair of skills, per request.

The log is read once, line by line. What is read of a log is bounded, and with it what is held.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from math import isfinite
from typing import Any, NamedTuple

MAX_REQUEST_CHARS = 2_000
"""Characters of a request that are held."""
MAX_NAME_CHARS = 300
"""Characters of a name, a slug or a digest that are held."""
MAX_MATCHES = 50
"""Matches of one entry that are read. An entry of ours lists a handful."""

NEAR_SHARE = 0.5
"""A skill nearly fired when the best score without a selection is at least this share of the floor:
1/3 of `hybrid`'s 2/3."""
CLOSE_SHARE = 0.05
"""Two skills are close when their scores differ by at most this share of the higher one."""
COMPARED = 3
"""The best matches of a decision that are compared in pairs."""

MAX_TIME = 253_000_000_000
"""Unix seconds in the year 9987: no day after that has a date in every time zone."""


class LoggedScore(NamedTuple):
    """One skill of a logged decision."""

    slug: str
    name: str
    score: float
    selected: bool
    because: str = ""
    """Why it was not selected."""


@dataclass(slots=True)
class SkillCount:
    """What the log says about one skill."""

    name: str
    fired: int = 0
    """Decisions that selected it."""
    fallback: int = 0
    """Those of them in which it was the generalist."""
    near: int = 0
    """Decisions without a selection in which it was the best skill and near the floor."""
    margin: float | None = None
    """The smallest distance to the floor in these, as a share of the floor."""
    last: float | None = None
    """When it last fired, in Unix seconds."""


@dataclass(slots=True)
class PairCount:
    """Two skills that were among the best of the same decisions."""

    close: int = 0
    """Decisions in which their scores were close."""
    together: int = 0
    """Decisions in which both were among the best."""
    first_ahead: int = 0
    """Close decisions in which the first one, by name, had the higher score."""


def _both() -> dict[str, list[int]]:
    return defaultdict(lambda: [0, 0])


@dataclass(slots=True)
class UsageCount:
    """The counts of one or several logs."""

    decisions: int = 0
    fired: int = 0
    """Decisions that selected a skill."""
    with_text: int = 0
    """Decisions without a selection that hold the text of the request."""
    unreadable: int = 0
    """Lines that are no entries."""
    first: float | None = None
    """Time of the first decision, in Unix seconds."""
    last: float | None = None
    days: dict[str, list[int]] = field(default_factory=_both)
    """Decisions with and without a skill by day, UTC."""
    skills: dict[str, SkillCount] = field(default_factory=dict)
    """By slug: an id changes with the content of a skill."""
    pairs: dict[tuple[str, str], PairCount] = field(default_factory=lambda: defaultdict(PairCount))
    """By the slugs of both, sorted."""
    requests: Counter[str] = field(default_factory=Counter)
    """How often a text got no skill."""
    digests: Counter[str] = field(default_factory=Counter)
    """The same by digest, of requests without text."""
    nearest: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """The best skill of each of these texts, by slug."""
    lacks: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Decisions without a selection whose best skill lacks what it requires, by its slug and why.
    They are in none of the counts of requests."""
    callers: dict[str, list[int]] = field(default_factory=_both)
    """Decisions with and without a skill by the caller of a service, where one is named."""
    events: Counter[str] = field(default_factory=Counter)
    """Events of the prompt hook by kind."""


def count_usage(
    entries: Iterable[Mapping[str, Any] | None], *, since: float | None = None
) -> UsageCount:
    """Return the counts of the entries from ``since`` (Unix seconds) on; None means all.

    An entry may hold anything: one that is not as we write it counts as unreadable.
    """
    usage = UsageCount()
    for entry in entries:
        moment = None if entry is None else _moment(entry.get("time"))
        if entry is None or moment is None:
            usage.unreadable += 1
        elif since is None or moment >= since:
            if str(entry.get("schema")).startswith("skillyard.hook-event/"):
                usage.events[str(entry.get("event"))[:MAX_NAME_CHARS]] += 1
            elif not _count_decision(usage, entry, moment):
                usage.unreadable += 1
    return usage


def _count_decision(usage: UsageCount, entry: Mapping[str, Any], moment: float) -> bool:
    """Count one decision; return False for an entry that is not as we write it."""
    policy, query = entry.get("policy"), entry.get("query")
    selected = _scores(entry.get("selected"), selected=True)
    others = _scores(entry.get("runners_up"), selected=False)
    if selected is None or others is None:
        return False
    if not isinstance(policy, dict) or not isinstance(query, dict):
        return False
    floor = _number(policy.get("min_score"))
    if floor is None:
        return False
    is_fallback = entry.get("fallback") is True
    usage.decisions += 1
    usage.fired += bool(selected)
    usage.first = moment if usage.first is None else min(usage.first, moment)
    usage.last = moment if usage.last is None else max(usage.last, moment)
    day = datetime.fromtimestamp(moment, UTC).date().isoformat()
    usage.days[day][not selected] += 1
    caller = entry.get("caller")
    if isinstance(caller, str) and caller:
        usage.callers[caller[:MAX_NAME_CHARS]][not selected] += 1
    for score in selected:
        _count_fired(usage, score, moment, is_fallback=is_fallback)
    best_other = min(others, key=lambda s: (-s.score, s.slug), default=None)
    if not selected and best_other is not None and _is_lacking(best_other, floor):
        usage.lacks[best_other.slug, best_other.because] += 1
    elif not selected:
        _count_near(usage, others, floor)
        _count_request(usage, query, best_other)
    best = sorted((*selected, *others), key=lambda s: (-s.score, s.slug))[:COMPARED]
    if not is_fallback:  # a generalist is selected whatever its score
        _count_pairs(usage, best, floor)
    return True


def _count_fired(
    usage: UsageCount, score: LoggedScore, moment: float, *, is_fallback: bool
) -> None:
    count = usage.skills.setdefault(score.slug, SkillCount(score.name))
    count.name = score.name
    count.fired += 1
    count.fallback += is_fallback
    count.last = moment if count.last is None else max(count.last, moment)


def _count_near(usage: UsageCount, others: Iterable[LoggedScore], floor: float) -> None:
    below = [score for score in others if 0.0 < score.score < floor]
    best = min(below, key=lambda s: (-s.score, s.slug), default=None)
    if best is None or best.score < NEAR_SHARE * floor:
        return
    count = usage.skills.setdefault(best.slug, SkillCount(best.name))
    margin = (floor - best.score) / floor
    count.near += 1
    count.margin = margin if count.margin is None else min(count.margin, margin)


def _count_request(usage: UsageCount, query: Mapping[str, Any], best: LoggedScore | None) -> None:
    text = query.get("text")
    if not isinstance(text, str):
        usage.digests[str(query.get("digest"))[:MAX_NAME_CHARS]] += 1
        return
    usage.with_text += 1
    text = text[:MAX_REQUEST_CHARS]
    usage.requests[text] += 1
    if best is not None and best.score > 0.0:
        usage.nearest[text][best.slug] += 1


def _is_lacking(score: LoggedScore, floor: float) -> bool:
    """True for a skill that was not selected though it reached the floor. Logs round the score."""
    return bool(score.because) and score.score >= floor and not score.because.startswith("below ")


def _count_pairs(usage: UsageCount, best: list[LoggedScore], floor: float) -> None:
    """Count the pairs of the best skills that came near the floor at least."""
    strong = [score for score in best if score.score > 0.0 and score.score >= NEAR_SHARE * floor]
    for high, low in combinations(strong, 2):
        if high.slug == low.slug:
            continue
        key = (min(high.slug, low.slug), max(high.slug, low.slug))
        pair = usage.pairs[key]
        pair.together += 1
        if high.score - low.score <= CLOSE_SHARE * high.score:
            pair.close += 1
            pair.first_ahead += high.slug == key[0] and high.score > low.score


def _scores(value: object, *, selected: bool) -> list[LoggedScore] | None:
    if not isinstance(value, list):
        return None
    scores: dict[str, LoggedScore] = {}
    for each in value[:MAX_MATCHES]:
        score = _score(each, selected)
        if score is None:
            return None
        scores.setdefault(score.slug, score)  # a skill counts once for each decision
    return list(scores.values())


def _score(value: object, selected: bool) -> LoggedScore | None:
    if not isinstance(value, dict):
        return None
    slug, name, score = value.get("slug"), value.get("name"), _number(value.get("score"))
    if not isinstance(slug, str) or not slug or not isinstance(name, str) or score is None:
        return None
    because = value.get("rejected_because")
    because = because[:MAX_NAME_CHARS] if isinstance(because, str) else ""
    return LoggedScore(slug[:MAX_NAME_CHARS], name[:MAX_NAME_CHARS], score, selected, because)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _moment(value: object) -> float | None:
    """Return the Unix seconds of an RFC 3339 time; None for anything else."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        seconds = moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if moment.tzinfo is not None and 0.0 <= seconds < MAX_TIME else None
