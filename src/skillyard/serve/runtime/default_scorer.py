"""The default scorer of a running service."""

from __future__ import annotations

from contextlib import suppress

from skillyard.base.errors import SkillIoError
from skillyard.engine.ranking.registry import DEFAULT_SCORER, default_scorer

_LAST = {"name": DEFAULT_SCORER}


def scorer_at_start() -> str:
    """Return the same for a service that starts. Raises SkillIoError for a faulty file."""
    _LAST["name"] = default_scorer()
    return _LAST["name"]


def service_scorer() -> str:
    """Return the scorer that the operator's file names.

    While an edit leaves the file unreadable the last scorer answers: the skills are fine.
    ``skillyard doctor`` says what is wrong.
    """
    with suppress(SkillIoError):
        _LAST["name"] = default_scorer()
    return _LAST["name"]
