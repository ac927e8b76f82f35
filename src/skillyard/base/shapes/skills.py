"""Skills as a search finds them, with their content: Skyll's members first, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Note, Schema
from skillyard.base.shapes.details import DiagnosticDocument, ExplanationDocument
from skillyard.base.shapes.encoder import ClientDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where a person can look at it."""

    skills_sh: Annotated[str, "On skills.sh; empty where it is not there."]
    github: Annotated[str, "Where its folder was read; empty where there is no such address."]
    raw: Annotated[str | None, "Its SKILL.md."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceFile:
    """One Markdown file beside the skill."""

    name: Annotated[str, "Its file name."]
    path: Annotated[str, "Below the skill's folder."]
    content: Annotated[str | None, "Its text."]
    raw_url: Annotated[str | None, "Where it lies."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggersDocument:
    """What should make a skill fire, as its author declared it."""

    files: Annotated[tuple[str, ...], "Glob patterns over file paths."]
    keywords: Annotated[tuple[str, ...], "Words."]
    phrases: Annotated[tuple[str, ...], "Phrases of a request."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDocument(ClientDocument):
    """One skill with its content."""

    id: Annotated[str, "Its short identifier at its source."]
    title: Annotated[str, "Its title, else its name."]
    description: Annotated[str | None, "What it is for."]
    version: Annotated[str | None, "As its author wrote it."]
    allowed_tools: Annotated[
        tuple[str, ...], "Tools that its author names; a wish, not a permission."
    ]
    source: Annotated[str, "owner/repo, a domain, or local."]
    refs: Annotated[Addresses, "Where a person can look at it."]
    install_count: Annotated[int, "Installs that the marketplace counts."]
    relevance_score: Annotated[float, "The ranker's score; 0 where nothing was ranked."]
    content: Annotated[
        str | None, "The instructions; null where they were not asked for or not had."
    ]
    raw_content: Annotated[str | None, "The text of SKILL.md as it came."]
    metadata: Annotated[Mapping[str, Any], "Further frontmatter, as its author wrote it."] = field(
        hash=False
    )
    references: Annotated[tuple[ReferenceFile, ...], "Files beside it, where they were asked for."]
    fetch_error: Annotated[str | None, "Why there is no content."]
    name: Annotated[str, "Its frontmatter name."]
    curated: Annotated[bool, "Whether a registry lists it as curated."]
    found_by: Annotated[tuple[str, ...], "The sources that it came from; local is the library."]
    level: Annotated[str | None, "The scorer's band for its score."]
    reason: Annotated[str, "The grounds of its score in one line."]
    signals: Annotated[Mapping[str, float], "The parts of its score by label."] = field(hash=False)
    digest: Annotated[str, "SHA-256 of its SKILL.md."]
    commit: Annotated[str | None, "The commit that it was read at."]
    age_s: Annotated[float | None, "How old the content is where its remote could not be asked."]
    diagnostics: Annotated[tuple[DiagnosticDocument, ...], "What was noticed while it was read."]
    # From here on only what there is: the rest of the frontmatter, by the names of SKILL_FIELDS.
    license: Annotated[str | None, "As its author wrote it."] = None
    compatibility: Annotated[str | None, "What it needs, in its author's words."] = None
    hint: Annotated[str | None, "What its author suggests to write after its name."] = None
    tags: Annotated[tuple[str, ...], "Its tags."] = ()
    keywords: Annotated[tuple[str, ...], "Its keywords."] = ()
    triggers: Annotated[TriggersDocument | None, "What should make it fire."] = None
    trigger: Annotated[bool, "True where only its name calls it."] = False
    priority: Annotated[int, "Decides between equal scores of triggers."] = 0
    inputs: Annotated[tuple[str, ...], "What it takes, in its author's words."] = ()
    outputs: Annotated[tuple[str, ...], "What it gives, in its author's words."] = ()
    safety_notes: Annotated[tuple[str, ...], "What its author warns of."] = ()
    requires: Annotated[tuple[str, ...], "What must be there: skills, tools and programs."] = ()
    declared_references: Annotated[tuple[str, ...], "Files that its author says it needs."] = ()
    origin: Annotated[str | None, "The layout that it was found in."] = None
    plugin: Annotated[str | None, "The plugin of Claude Code that it comes with."] = None
    last_modified: Annotated[int | None, "When its file was changed, in Unix seconds."] = None
    user_invocable: Annotated[bool, "False where users do not call it by name."] = True
    disable_model_invocation: Annotated[bool, "True where only users call it."] = False
    skipped: Annotated[tuple[str, ...], "Files that were left out, each with the reason."] = ()
    tokens: Annotated[int | None, "Estimated tokens of its instructions and references."] = None
    omitted: Annotated[bool | None, "True where the token budget left out its texts."] = None
    explanation: Annotated[ExplanationDocument | None, "The tree behind its score."] = None


@dataclass(frozen=True, slots=True)
class SourceStatus(ClientDocument):
    """What one source did in a search."""

    name: Annotated[str, "Its name."]
    state: Annotated[str, "ok, partial (some of it failed) or failed."]
    found: Annotated[int, "Skills that it named."]
    code: Annotated[str, "The kind of failure."] = ""
    message: Annotated[str, "What went wrong."] = ""
    retry_after_s: Annotated[float | None, "When it makes sense to ask again."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocument(ClientDocument):
    """What a search found, best first."""

    schema: Schema[Literal["skillyard.search/1"]] = "skillyard.search/1"
    query: Annotated[str, "The query that was understood."]
    count: Annotated[int, "How many skills follow."]
    skills: Annotated[tuple[SkillDocument, ...], "The skills."]
    ranker: Annotated[str, "The scorer that ranked."]
    floor: Annotated[float | None, "The score from which a skill fits, where the scorer has one."]
    abstained: Annotated[bool, "True when no skill reaches the floor."]
    considered: Annotated[int, "Different skills that the sources named."]
    partial: Annotated[bool, "True when a source failed: there may be more."]
    sources: Annotated[
        tuple[SourceStatus, ...], "Every source that was asked; local is the library."
    ]
    note: Note = None
