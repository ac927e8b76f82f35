"""The lines of the logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedQuery:
    """The request; its text is logged only where that is switched on."""

    digest: Annotated[str, "sha256: and 64 digits, of the text."]
    text: Annotated[str | None, "The request in words."] = None
    files: Annotated[tuple[str, ...] | None, "Paths in play."] = None
    recent_activity: Annotated[tuple[str, ...] | None, "What was done lately."] = None
    cut: Annotated[bool, "True where the text is longer than what is logged."] = False
    include_tags: Annotated[tuple[str, ...], "Only skills with one of these tags."]
    exclude_tags: Annotated[tuple[str, ...], "No skills with one of these tags."]
    include_references: Annotated[bool, "Whether reference files count."]
    tools: Annotated[tuple[str, ...], "Tools that the request named; absent without any."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPolicy:
    """The bounds that were applied."""

    min_score: Annotated[float, "The floor."]
    top_k: Annotated[int, "How many may be chosen."]
    include_tags: Annotated[tuple[str, ...], "Only skills with one of these tags."]
    exclude_tags: Annotated[tuple[str, ...], "No skills with one of these tags."]
    fallback_tag: Annotated[str | None, "The tag of the generalist."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMatch:
    """One skill of a selection. The reason is left out: it repeats the request."""

    id: Annotated[str, "Its document id."]
    slug: Annotated[str, "Its short identifier."]
    name: Annotated[str, "Its name."]
    hash: Annotated[str | None, "SHA-256 of its file."]
    score: Annotated[float, "The scorer's score."]
    level: Annotated[str | None, "The scorer's band for this score."]
    signals: Annotated[Mapping[str, float], "The parts of the raw score by label."]
    rejected_because: Annotated[str, "Why it was not selected."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One selection: a line of the decision log, and a span."""

    schema: Schema[Literal["skillyard.decision/1"]] = "skillyard.decision/1"
    time: Annotated[str, "RFC 3339, in UTC."]
    use: Annotated[str, "The operation: select, inject, hook."]
    caller: Annotated[str, "Whose view of a store the service answers from; absent without."] = ""
    query: Annotated[LoggedQuery, "The request."]
    scorer: Annotated[str, "The scorer that ranked."]
    policy: Annotated[LoggedPolicy, "The bounds that were applied."]
    selected: Annotated[tuple[LoggedMatch, ...], "The skills that were selected."]
    runners_up: Annotated[tuple[LoggedMatch, ...], "The best of the others."]
    considered: Annotated[int, "How many skills were looked at."]
    abstained: Annotated[bool, "True when nothing passed."]
    fallback: Annotated[bool, "True when the generalist was taken."]
    catalog: Annotated[str, "Names the state of the library."]
    note: Annotated[
        str | None, "Why `hybrid` ranked in place of the default scorer, in the prompt hook."
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One line of the prompt hook's log: why an answer was empty."""

    schema: Schema[Literal["skillyard.hook-event/1"]] = "skillyard.hook-event/1"
    time: Annotated[str, "RFC 3339, in UTC."]
    host: Annotated[str, "The agent host."]
    event: Annotated[str, "bad_input, breach, changed, error, no_index, scorer or untrusted."]
    message: Annotated[str, "What happened."]
