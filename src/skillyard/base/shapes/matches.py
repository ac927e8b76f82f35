"""What several documents hold: a query, a match, a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from skillyard.base import shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDocument:
    """The request that was understood."""

    text: Annotated[str, "The request in words."]
    files: Annotated[tuple[str, ...], "Paths in play."]
    recent_activity: Annotated[tuple[str, ...], "What was done lately."]
    include_tags: Annotated[tuple[str, ...], "Only skills with one of these tags."]
    exclude_tags: Annotated[tuple[str, ...], "No skills with one of these tags."]
    include_references: Annotated[bool, "Whether reference files count."]
    tools: Annotated[tuple[str, ...], "Tools that the caller has; empty where it did not say."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A further place of a skill: a copy, a build for another host or a translation."""

    path: Annotated[str, "Its file."]
    id: Annotated[str, "Its document id; that of the match where the bytes are the same."]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchDocument:
    """One skill of a ranking."""

    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    slug: Annotated[str, "Its short identifier."]
    path: Annotated[str, "Its file."]
    score: Annotated[float, "The scorer's score."]
    level: Annotated[str | None, "The scorer's band for this score."]
    reason: Annotated[str, "The grounds of the score in one line."]
    signals: Annotated[Mapping[str, float], "The parts of the raw score by label."] = field(
        hash=False
    )
    rejected_because: Annotated[
        str, "Why a selection left it out; in a ranking, why none can choose it."
    ] = ""
    requires: Annotated[
        tuple[str, ...], "Names of the skills that a chosen one requires, each after its own."
    ] = ()
    unchecked_tools: Annotated[
        tuple[str, ...], "Tools that it requires, not checked as the caller named none."
    ] = ()
    variants: Annotated[
        tuple[Variant, ...], "Its further places, with the same or nearly the same text."
    ] = ()
    explanation: Annotated[
        shapes.details.ExplanationDocument | None, "The tree behind the score."
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The bounds that were applied."""

    min_score: Annotated[float, "The floor."]
    top_k: Annotated[int, "How many may be chosen."]
