"""What ``list`` and ``show`` write: skills as the files of a library declare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from skillyard.shapes.skills import Triggers

__all__ = ["Card"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One skill without its instructions.

    Further fields of the table of :mod:`skillyard.skill` follow where the skill has them.
    """

    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    slug: Annotated[str, "Its short identifier."]
    title: Annotated[str | None, "Its title."]
    description: Annotated[str, "What it is for."]
    path: Annotated[str, "Its file."]
    places: Annotated[tuple[str, ...], "Its path, then those of its copies."]
    scope: Annotated[str, "project, or user for the user's own agent folders."]
    layout: Annotated[str | None, "The layout that it was found in."]
    tags: Annotated[tuple[str, ...], "Its tags."]
    keywords: Annotated[tuple[str, ...], "Its keywords."]
    triggers: Annotated[Triggers, "What should make it fire."]
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
