"""What a decision log says about the use of skills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The decisions of one day."""

    day: Annotated[str, "YYYY-MM-DD, in UTC."]
    fired: Annotated[int, "Decisions that selected a skill."]
    abstained: Annotated[int, "Decisions that selected none."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillUsage:
    """One skill that fired or nearly fired."""

    name: Annotated[str, "Its name in the newest entry."]
    slug: Annotated[str, "Its short identifier, by which entries are counted."]
    fired: Annotated[int, "Decisions that selected it."]
    fallback: Annotated[int, "Those of them in which it was the generalist."]
    share: Annotated[float, "`fired` over all decisions, 0 to 1."]
    low: Annotated[float, "Lower end of the 95 % interval of the share."]
    high: Annotated[float, "Upper end of the 95 % interval of the share."]
    near: Annotated[
        int, "Decisions without a skill in which it was the best, with half of the floor or more."
    ]
    margin: Annotated[
        float | None, "Smallest distance to the floor in these, as a share of the floor."
    ]
    last: Annotated[str | None, "When it last fired, RFC 3339 in UTC."]
    tokens: Annotated[
        int | None, "Estimated tokens of its instructions; null if the library does not have it."
    ]
    cost: Annotated[int | None, "`tokens` times `fired`."]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedSkill:
    """One skill of the library that did not fire."""

    name: Annotated[str, "Its name."]
    slug: Annotated[str, "Its short identifier."]
    decisions: Annotated[int, "Decisions of the days after its file last changed, and of that day."]
    high: Annotated[
        float, "Upper end of the 95 % interval of the share of requests for which it fires."
    ]
    hidden: Annotated[bool, "True where only the user calls it, by name."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGroup:
    """Similar requests for which no skill was selected."""

    count: Annotated[int, "How often they were made."]
    requests: Annotated[tuple[str, ...], "The different texts, most frequent first; the first few."]
    different: Annotated[int, "How many different texts there are."]
    terms: Annotated[tuple[str, ...], "Words of the first text that describe the group."]
    nearest: Annotated[tuple[str, ...], "Slugs of the best skills below the floor, best first."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two skills whose scores lie close together in the same decisions."""

    first: Annotated[str, "The slug of one."]
    second: Annotated[str, "The slug of the other."]
    close: Annotated[int, "Decisions in which the scores differ by 5 % or less."]
    together: Annotated[int, "Decisions in which both are among the three best."]
    first_ahead: Annotated[int, "Close decisions in which `first` has the higher score."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerUsage:
    """The decisions for one caller of a store."""

    caller: Annotated[str, "The caller whose view the service answered from."]
    fired: Annotated[int, "Decisions that selected a skill."]
    abstained: Annotated[int, "Decisions that selected none."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLack:
    """A skill that fits requests and cannot be used, because it lacks what it requires."""

    slug: Annotated[str, "Its short identifier."]
    because: Annotated[str, "What it lacks, such as a tool of the caller."]
    count: Annotated[int, "Decisions without a skill in which it was the best."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The counts of the decision log."""

    schema: Schema[Literal["skillyard.usage/1"]] = "skillyard.usage/1"
    logs: Annotated[tuple[str, ...], "The files that were read; each with its `FILE.1`."]
    days: Annotated[int | None, "The period that was asked for, in days; null for the whole log."]
    first: Annotated[str | None, "Time of the first decision, RFC 3339 in UTC."]
    last: Annotated[str | None, "Time of the last decision."]
    decisions: Annotated[int, "Selections that were logged."]
    fired: Annotated[int, "Those of them that selected a skill."]
    abstained: Annotated[int, "Those that selected none."]
    small_talk: Annotated[int, "Those of the abstentions whose text asks for nothing."]
    without_text: Annotated[int, "Abstentions of which the log has only a digest."]
    repeated: Annotated[int, "Those of them whose digest occurs more than once."]
    skills: Annotated[tuple[SkillUsage, ...], "Most often fired first."]
    unused: Annotated[tuple[UnusedSkill, ...], "Skills of the library that did not fire."]
    groups: Annotated[tuple[RequestGroup, ...], "Abstentions by group, most frequent first."]
    conflicts: Annotated[tuple[Conflict, ...], "Most often close first."]
    cost: Annotated[int, "Sum of the known costs, in estimated tokens."]
    per_day: Annotated[tuple[Day, ...], "Days with decisions, oldest first."]
    events: Annotated[Mapping[str, int], "Events of the prompt hook by kind."]
    unreadable: Annotated[int, "Lines that are not entries."]
    callers: Annotated[
        tuple[CallerUsage, ...], "By caller, most decisions first; absent where none is named."
    ] = ()
    lacks: Annotated[
        tuple[SkillLack, ...],
        "Abstentions for which a skill fits but lacks a tool, program or skill that it requires,"
        " most frequent first; they are in no group and not in `without_text`.",
    ] = ()
