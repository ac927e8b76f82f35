"""Why a skill stands where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Note, Schema
from skillyard.base.shapes.encoder import ClientDocument
from skillyard.base.shapes.matches import MatchDocument, Policy, QueryDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One signal in which the two differ."""

    signal: Annotated[str, "Its label."]
    theirs: Annotated[float, "The other skill's."]
    ours: Annotated[float, "This skill's."]
    lead: Annotated[float, "The difference."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A skill that ranks higher."""

    rank: Annotated[int, "Its place."]
    match: Annotated[MatchDocument, "The skill."]
    by: Annotated[tuple[Signal, ...], "Largest lead first."]
    because: Annotated[str, "What decided, where it was not the score."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(ClientDocument):
    """Everything about one skill and one query."""

    schema: Schema[Literal["skillyard.why/1"]] = "skillyard.why/1"
    query: Annotated[QueryDocument, "The request that was understood."]
    scorer: Annotated[str, "The scorer that ranked."]
    match: Annotated[MatchDocument, "The skill."]
    rank: Annotated[int | None, "Its place; null where it has none."]
    total: Annotated[int, "How many skills have a score."]
    before: Annotated[int, "How many of them go before it."]
    policy: Annotated[Policy, "The bounds of the scorer's own policy."]
    chosen: Annotated[bool, "Whether the scorer's own policy would choose it."]
    ahead: Annotated[tuple[Ahead, ...], "The best of the skills before it."]
    hints: Annotated[tuple[str, ...], "What the numbers do not show."]
    sentences: Annotated[
        tuple[str, ...], "What matched, what came close and what the floor did, for people."
    ]
    note: Note = None
