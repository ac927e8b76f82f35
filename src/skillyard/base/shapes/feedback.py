"""What a user says about skills: one judgement, and the list of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.encoder import ClientDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One judgement: a line of the file."""

    number: Annotated[int, "Names it for `--undo`; larger than those of all before it."]
    time: Annotated[str, "When it was given, RFC 3339 in UTC."]
    skill: Annotated[str, "The slug of the skill."]
    right: Annotated[bool, "False when the skill was wrong for the request."]
    request: Annotated[str, "The request; the judgement counts for similar ones."]
    note: Annotated[str, "What the user says about it; it is shown and not counted."] = ""
    by: Annotated[Literal["user", "mcp", "http"], "Who gave it: the user, or a client."] = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackChange:
    """What one command or request changed."""

    schema: Schema[Literal["skillyard.feedback/1"]] = "skillyard.feedback/1"
    file: Annotated[str, "Where feedback is stored."]
    added: Annotated[Feedback | None, "The new judgement."] = None
    removed: Annotated[tuple[Feedback, ...], "Undone or cleared, or replaced by the new one."]
    dropped: Annotated[tuple[Feedback, ...], "The oldest ones, for which there was no room."]
    total: Annotated[int, "Judgements that are stored now."]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackList:
    """The stored judgements."""

    schema: Schema[Literal["skillyard.feedback-list/1"]] = "skillyard.feedback-list/1"
    file: Annotated[str, "Where feedback is stored."]
    entries: Annotated[tuple[Feedback, ...], "Oldest first."]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackReceipt(ClientDocument):
    """What a client of a server learns: its own judgement, and nothing of others."""

    schema: Schema[Literal["skillyard.feedback-receipt/1"]] = "skillyard.feedback-receipt/1"
    skill: Annotated[str, "The slug of the skill."]
    right: Annotated[bool, "False when the skill was wrong for the request."]
    time: Annotated[str, "When it was stored, RFC 3339 in UTC."]
