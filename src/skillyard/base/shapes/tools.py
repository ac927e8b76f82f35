"""The structured results of the MCP tools, as far as clients can rely on them.

A result may hold more than its shape names; what it names is always there, but for members with a
default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from skillyard.base.shapes import feedback, reasons, selections
from skillyard.base.shapes.details import SkillCountsDocument
from skillyard.base.shapes.library import File
from skillyard.base.shapes.recommendations import Recommendation
from skillyard.base.shapes.service import SourceState
from skillyard.base.shapes.skills import SourceStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionAnswer(selections.Selected):
    """A choice, or an abstention, with the instructions of the best skill."""

    block: Annotated[str | None, "Its instructions in their frame."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendations:
    """The documented answer of skill_evaluate."""

    results: Annotated[tuple[Recommendation, ...], "Best first."]
    message: Annotated[str, "The same as Markdown."]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSkillDocument:
    """One skill of a search, beside the other members of a search document's skill."""

    id: Annotated[str, "Its short identifier at its source."]
    title: Annotated[str, "Its title, else its name."]
    source: Annotated[str, "owner/repo, a domain, or local."]
    origin: Annotated[str, "Where it comes from, in words."]
    relevance_score: Annotated[float, "The ranker's score."]
    content: Annotated[str | None, "Its instructions in their frame."]
    tokens: Annotated[int | None, "Estimated tokens of its texts."] = None
    omitted: Annotated[bool, "True where the token budget left out its texts."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What a search found, best first."""

    query: Annotated[str, "The query."]
    count: Annotated[int, "How many skills follow."]
    abstained: Annotated[bool, "True when no skill surely fits."]
    skills: Annotated[tuple[FoundSkillDocument, ...], "The skills."]
    sources: Annotated[
        tuple[SourceStatus, ...], "Every source that was asked; local is the library."
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSkill:
    """One skill with its content."""

    skill: Annotated[FoundSkillDocument, "The skill."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryStateDocument:
    """The skills of this library."""

    skills: Annotated[int, "How many: without copies and convention documents."]
    generation: Annotated[int, "Grows by one with each change since the start."]
    digest: Annotated[str, "Names the content."]
    reloads: Annotated[int, "How often the files had changed."]
    counts: Annotated[SkillCountsDocument, "What the skills are."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheState:
    """What is kept of remote answers, and how the sources are."""

    entries: Annotated[int, "Answers."]
    bytes: Annotated[int, "Of their files."]
    oldest_age_s: Annotated[float | None, "Seconds since the oldest was confirmed."]
    remote_requests: Annotated[int, "Requests to remotes since the start."]
    sources: Annotated[tuple[SourceState, ...], "What the sources last did."]
    catalog: Annotated[LibraryStateDocument, "The skills of this library."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCard:
    """One skill of the library."""

    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    slug: Annotated[str, "Its short identifier."]
    description: Annotated[str, "What it is for."]
    tags: Annotated[tuple[str, ...], "Its tags."]
    origin: Annotated[str, "Where it comes from, in words."]
    tokens: Annotated[int, "Estimated tokens of its instructions."]
    hidden: Annotated[bool, "True where only the user calls it, by name."]
    places: Annotated[tuple[str, ...], "Its path, and those of its copies."]
    digest: Annotated[str, "sha256: and 64 digits, of its file."]
    uri: Annotated[str | None, "The resource with its file."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One file that did not load."""

    path: Annotated[str, "The file."]
    message: Annotated[str, "What is wrong."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryPage:
    """The library's skills, a page at a time."""

    skills: Annotated[tuple[LibraryCard, ...], "In order of their names."]
    total: Annotated[int, "How many there are on all pages."]
    counts: Annotated[SkillCountsDocument, "What the skills of the library are."]
    next_cursor: Annotated[str | None, "The place of the next page."]
    problems: Annotated[tuple[Problem, ...], "Files that did not load."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One skill's instructions in their frame."""

    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    origin: Annotated[str, "Where it comes from, in words."]
    digest: Annotated[str | None, "sha256: and 64 digits, of its file."]
    uri: Annotated[str | None, "The resource with its file."]
    content: Annotated[str, "The instructions in their frame."]
    files: Annotated[tuple[File, ...], "What lies beside it."]
    tokens: Annotated[int, "Estimated tokens of the content."]
    truncated: Annotated[bool, "True where a budget cut it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedFile:
    """One text file of a skill in its frame."""

    name: Annotated[str, "The skill's name."]
    path: Annotated[str, "The file, below the skill's folder."]
    origin: Annotated[str, "Where it comes from, in words."]
    digest: Annotated[str, "sha256: and 64 digits, of the file."]
    size: Annotated[int, "Its bytes."]
    content: Annotated[str, "Its text in its frame."]
    tokens: Annotated[int, "Estimated tokens of the content."]
    truncated: Annotated[bool, "True where a budget cut it."]


RESULTS: Mapping[str, type] = {
    "select_skill": SelectionAnswer,
    "skill_evaluate": Recommendations,
    "search_skills": SearchAnswer,
    "get_skill": OneSkill,
    "add_skill": OneSkill,
    "get_cache_stats": CacheState,
    "list_skills": LibraryPage,
    "load_skill": Loaded,
    "read_skill_file": LoadedFile,
    "why_skill": reasons.Why,
    "skill_feedback": feedback.FeedbackReceipt,
}
"""What each tool gives."""
