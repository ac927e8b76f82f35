"""What ``summary`` and ``inject`` write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import Remarks
from skillyard.base.shapes.matches import MatchDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSkill:
    """One skill in the listing of a host."""

    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    path: Annotated[str, "Its file."]
    state: Annotated[str, "whole, cut, name only, left out or not read."]
    chars: Annotated[int, "Characters of its description."]
    shown: Annotated[int, "How many of them the host shows."]
    why: Annotated[str, "Why the host does not read it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostListingDocument:
    """What a host lists of a catalog."""

    host: Annotated[str, "Its name."]
    window: Annotated[int, "Tokens of the context window."]
    unit: Annotated[str, "Unit of the budget."]
    budget: Annotated[int | None, "The host's limit; null where none is known."]
    own: Annotated[int, "What the host's own skills take of it."]
    needed: Annotated[int, "What all skills would take."]
    used: Annotated[int, "What the listed ones take."]
    whole: Annotated[int, "Skills with their whole description."]
    cut: Annotated[int, "Skills with a part of it."]
    name_only: Annotated[int, "Skills with their name alone."]
    left_out: Annotated[int, "Skills that are not listed."]
    not_read: Annotated[int, "Files that the host does not take for skills."]
    skills: Annotated[tuple[ListedSkill, ...], "As they are listed, then what is not."]
    remedy: Annotated[str, "What changes the listing."]
    source: Annotated[str, "Where the host's rule is documented."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """The summary of all skills as text."""

    schema: Schema[Literal["skillyard.summary/1"]] = "skillyard.summary/1"
    format: Annotated[str, "lines, xml, markdown, or the form of a host."]
    text: Annotated[str, "The summary."]
    budget_tokens: Annotated[int | None, "The budget that it fits in."]
    tokens: Annotated[int, "Estimated tokens of the text."]
    listing: Annotated[HostListingDocument | None, "What a host makes of it."] = None
    diagnostics: Remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A prompt with the block of the best skill before it, or the prompt unchanged."""

    schema: Schema[Literal["skillyard.inject/1"]] = "skillyard.inject/1"
    scorer: Annotated[str, "The scorer that ranked."]
    injected: Annotated[bool, "False when no skill fits."]
    match: Annotated[MatchDocument | None, "The skill whose block it is."]
    prompt: Annotated[str, "The prompt."]
    diagnostics: Remarks
