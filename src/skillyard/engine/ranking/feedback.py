"""One judgement of a user: a skill was right or wrong for a request."""

from __future__ import annotations

from typing import NamedTuple


class SkillFeedback(NamedTuple):
    """A judgement on one skill for one request. Raises InvalidInput for wrong types."""

    slug: str
    """The slug of the skill: feedback stays when its content changes."""
    request: str
    """The request; the judgement counts for similar ones."""
    right: bool
    """False when the skill was wrong for the request."""
    from_client: bool = False
    """True when a client of a server said so, whose judgements count less."""
