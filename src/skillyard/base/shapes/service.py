"""What the service answers about itself: its state, its routes and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from skillyard.base.shapes.details import SkillCountsDocument
from skillyard.base.shapes.encoder import ClientDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What is kept of remote answers."""

    entries: Annotated[int, "Answers."]
    bytes: Annotated[int, "Of their files."]
    oldest: Annotated[float | None, "Seconds since 1970 of the one confirmed longest ago."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogState:
    """The skills of this service."""

    skills: Annotated[int, "How many: without copies and convention documents."]
    diagnostics: Annotated[int, "Remarks on their files."]
    generation: Annotated[int, "Grows by one with each change since the start."]
    digest: Annotated[str | None, "Names the content; equal on every node with the same files."]
    reloads: Annotated[int, "How often the files had changed."]
    failure: Annotated[str | None, "The kind of what kept the files from being read last."]
    counts: Annotated[
        SkillCountsDocument, "What the skills are, and what is not counted among them."
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """How the node stands to the store that it follows."""

    generation: Annotated[int, "The generation that answers."]
    head: Annotated[int, "The last one that the store is known to have."]
    behind: Annotated[int, "How many it is behind that."]
    age_s: Annotated[float | None, "Seconds since the store last said that nothing is newer."]
    failure: Annotated[str | None, "What went wrong when the store was last asked."]
    taken: Annotated[int, "Skills taken over so far by a large change; 0 when there is none."]
    ready: Annotated[bool, "What /readyz says."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """How far the index of a large library is that is made for the first time."""

    done: Annotated[int, "Files that the index knows."]
    total: Annotated[int | None, "Files in all."]
    seconds_left: Annotated[float | None, "About how long it will take."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """One source."""

    name: Annotated[str, "Its name."]
    state: Annotated[str, "ok, failed, or unasked so far."]
    age_s: Annotated[float | None, "Seconds since it last answered or failed."]
    code: Annotated[str | None, "The kind of failure."]
    message: Annotated[str, "What went wrong."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """What is going on."""

    working: Annotated[int, "Requests that are worked on."]
    waiting: Annotated[int, "Requests that wait."]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorState:
    """The vectors that the default scorer needs. Until all are there, `hybrid` ranks."""

    scorer: Annotated[str, "The default scorer."]
    done: Annotated[int, "Texts of skills that have a vector."]
    total: Annotated[int, "Different texts of skills; 0 before they are counted."]
    failure: Annotated[str | None, "Why they could not be computed: the kind of the error."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(ClientDocument):
    """The true state of the service."""

    status: Annotated[
        str,
        "healthy; degraded (it answers, and something failed); or, with 503, starting,"
        " unavailable, stopping.",
    ]
    version: Annotated[str, "Of the software."]
    cache_stats: Annotated[CacheStats, "What is kept of remote answers."]
    catalog: Annotated[CatalogState, "The skills of this service."]
    store: Annotated[
        StoreState | None, "How the node stands to the store that it follows; null for files."
    ]
    building: Annotated[
        Building | None,
        "How far the index of a large library is that is made for the first time.",
    ]
    sources: Annotated[tuple[SourceState, ...], "What the sources last did."]
    sources_failure: Annotated[str | None, "What keeps the sources from being there at all."]
    requests: Annotated[Requests, "What is going on."]
    vectors: Annotated[
        VectorState | None,
        "How far the vectors of the default scorer are; left out where it has no embedder.",
    ] = None

    @property
    def able(self) -> bool:
        """True when the service can serve requests for skills."""
        return self.status in ("healthy", "degraded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route."""

    method: Annotated[str, "GET or POST."]
    path: Annotated[str, "Its path."]
    description: Annotated[str, "What it answers."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RootDocument:
    """Names and links."""

    name: Annotated[str, "skillyard."]
    version: Annotated[str, "Of the software."]
    description: Annotated[str, "What it is for."]
    links: Annotated[Mapping[str, str], "Where to go on."] = field(hash=False)
    routes: Annotated[tuple[Route, ...], "Every route."]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSkill:
    """One skill of a well-known index (discovery draft 0.2.0)."""

    name: Annotated[str, "Its name."]
    type: Annotated[str, "skill-md, or archive where it has more files."]
    description: Annotated[str, "What it is for."]
    url: Annotated[str, "Its SKILL.md or zip archive, relative to this index."]
    digest: Annotated[str, "sha256: and 64 digits, of the bytes as they are served."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with one field."""

    loc: Annotated[tuple[str | int, ...], "query, body or path; then the field."]
    msg: Annotated[str, "What is wrong."]
    type: Annotated[str, "The kind of fault."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetails:
    """What went wrong, for programs."""

    code: Annotated[str, "Identifier of the error."]
    message: Annotated[str, "What is wrong."]
    field: Annotated[str | None, "The field that is wrong."]
    hint: Annotated[str, "What to do."]
    near: Annotated[tuple[str, ...] | None, "Names or ids that may have been meant."] = None
    sources: Annotated[
        tuple[Mapping[str, Any], ...] | None, "The sources that failed, each with its reason."
    ] = None
    progress: Annotated[Building | None, "How far the index is that is being made."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Every answer that is not what was asked for."""

    detail: Annotated[
        str | tuple[Fault, ...], "The message; with 422 a list, one entry for each fault."
    ]
    error: Annotated[ErrorDetails, "What went wrong, for programs."]
