"""What ``list`` and ``show`` write: skills as the files of a library declare them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import DiagnosticDocument, Remarks, SkillCountsDocument
from skillyard.base.shapes.skills import TriggersDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One skill without its instructions.

    Further fields of the table of :mod:`skillyard.engine.skill` follow where the skill has them.
    """

    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    slug: Annotated[str, "Its short identifier."]
    title: Annotated[str | None, "Its title."]
    description: Annotated[str, "What it is for."]
    path: Annotated[str, "Its file."]
    places: Annotated[tuple[str, ...], "Its path, then those of its copies and variants."]
    scope: Annotated[str, "project, or user or system for a folder of an agent host."]
    layout: Annotated[str | None, "The layout that it was found in."]
    tags: Annotated[tuple[str, ...], "Its tags."]
    keywords: Annotated[tuple[str, ...], "Its keywords."]
    triggers: Annotated[TriggersDocument, "What should make it fire."]
    version: Annotated[str | None, "As its author wrote it."]
    license: Annotated[str | None, "As its author wrote it."]
    compatibility: Annotated[str | None, "What it needs, in its author's words."]
    allowed_tools: Annotated[tuple[str, ...], "Tools that its author names."]
    hidden: Annotated[bool, "True where only its name calls it."]
    priority: Annotated[int, "Decides between equal scores of triggers."]
    tokens: Annotated[int, "Estimated tokens of its instructions."]
    hash: Annotated[str, "SHA-256 of its file."]
    last_modified: Annotated[int | None, "When its file was changed, in Unix seconds."]
    shadowed_by: Annotated[str | None, "Path of the skill of the same name that goes first."]
    remarks: Annotated[int, "How many diagnostics concern its file."]
    lack: Annotated[str, "Which of its requirements is not met; left out where all are."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Every skill and convention document, and everything that was remarked."""

    schema: Schema[Literal["skillyard.list/1"]] = "skillyard.list/1"
    skills: Annotated[tuple[Mapping[str, Any], ...], "A card for each skill, by name."]
    counts: Annotated[SkillCountsDocument, "Of the whole catalog, whatever part of it is listed."]
    diagnostics: Remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One heading of the instructions."""

    line: Annotated[int, "1-based line in the body."]
    level: Annotated[int, "1 for # to 6 for ######."]
    title: Annotated[str, "Its text."]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file inside a skill's folder."""

    path: Annotated[str, "Below the skill's folder."]
    size: Annotated[int, "Its bytes."]
    kind: Annotated[str, "reference, script, asset or other."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDocument:
    """One reference document."""

    path: Annotated[str, "Below the skill's folder."]
    text: Annotated[str | None, "Its text; null where it cannot be read."]
    error: Annotated[str, "Why it cannot be read."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One skill."""

    schema: Schema[Literal["skillyard.show/1"]] = "skillyard.show/1"
    section: Annotated[str | None, "The part that was named; null is all of it."]
    skill: Annotated[Mapping[str, Any], "Its card."]
    outline: Annotated[tuple[Heading, ...], "Its headings."]
    body: Annotated[str, "Its instructions, or the section of them."]
    files: Annotated[tuple[File, ...], "The files beside it."]
    references: Annotated[
        tuple[ReferenceDocument, ...], "Its reference documents, where requested."
    ]
    diagnostics: Annotated[
        tuple[DiagnosticDocument, ...], "What is to be said about the files."
    ] = ()
