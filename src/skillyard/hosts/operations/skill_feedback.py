"""Records what a user says about a skill."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds, Operation
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.feedback import FeedbackReceipt
from skillyard.hosts.decisions import log_section
from skillyard.hosts.decisions.feedback_file import MAX_NOTE_CHARS, MAX_REQUEST_CHARS, add_feedback
from skillyard.hosts.decisions.files import iter_entries

if TYPE_CHECKING:
    from skillyard.base.shapes.feedback import FeedbackChange
    from skillyard.engine.catalog import Catalog
    from skillyard.hosts.decisions.feedback_file import By


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FeedbackRequest:
    """Say that a skill was right or wrong for a request."""

    name: Annotated[str, "The skill's name, id or slug.", Bounds(shortest=1, longest=500)]
    right: Annotated[bool, "False when the skill was wrong for the request."]
    request: Annotated[
        str,
        "The request that it was selected for; the judgement counts for similar ones.",
        Bounds(shortest=1, longest=MAX_REQUEST_CHARS),
    ]
    note: Annotated[
        str | None, "Why, for the owner of the library.", Bounds(longest=MAX_NOTE_CHARS)
    ] = None


FEEDBACK = Operation(
    "feedback",
    "Say that a skill was wrong or right for a request; refused unless the service was started"
    " with --feedback.",
    FeedbackRequest,
    ("POST", "/feedback"),
)


def judge_skill(
    catalog: Catalog,
    name: str,
    *,
    right: bool,
    request: str | None = None,
    note: str = "",
    by: By = "user",
) -> FeedbackChange:
    """Store a judgement about a skill of the catalog.

    Without a request it is about the newest logged one for which the skill was selected, or, if it
    is right, for which it was a runner-up. Raises SkillNotFound, AmbiguousName, SkillIoError, and
    InvalidInput where no such request is logged with its text.
    """
    slug = catalog.get(name).slug
    if request is None:
        request = _logged_request(slug, runners_up=right)
    return add_feedback(slug, request, right=right, note=note, by=by)


def judge_for_client(
    catalog: Catalog, name: str, *, right: bool, request: str, note: str, by: By
) -> FeedbackReceipt:
    """Store a client's judgement, and return no more than that. Raises as :func:`judge_skill`."""
    change = judge_skill(catalog, name, right=right, request=request, note=note, by=by)
    return from_attributes(FeedbackReceipt, change.added)


def _logged_request(slug: str, *, runners_up: bool) -> str:
    path = log_section().file
    query = ""
    if path and os.path.exists(path):
        for entry in iter_entries(path):
            text = _text_if_about(entry, slug, runners_up=runners_up)
            query = text or query
    if not query:
        where = f"the log {path} has no request for it with text" if path else "there is no log"
        raise InvalidInput(
            f"which request was that? {where}: add --for REQUEST, or log requests with"
            " file and text = true in [log] of your skillyard.toml",
            field="request",
        )
    return query[:MAX_REQUEST_CHARS]


def _text_if_about(entry: dict[str, Any] | None, slug: str, *, runners_up: bool) -> str:
    """Return the text of a decision about the skill; empty for other entries."""
    query = None if entry is None else entry.get("query")
    if entry is None or not isinstance(query, dict) or not isinstance(query.get("text"), str):
        return ""
    lists = [entry.get("selected"), entry.get("runners_up") if runners_up else None]
    matches = [match for each in lists if isinstance(each, list) for match in each]
    about = any(isinstance(match, dict) and match.get("slug") == slug for match in matches)
    return str(query["text"]).strip() if about else ""
