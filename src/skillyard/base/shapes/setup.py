"""What ``setup`` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupStep:
    """One change of one file."""

    host: Annotated[str, "The agent host; empty for the usage log."]
    title: Annotated[str, "Its name for people."]
    what: Annotated[str, "hook, mcp or log."]
    file: Annotated[str, "The file."]
    state: Annotated[
        str, "planned, done or present; refused or unavailable; undone, kept or absent."
    ]
    note: Annotated[str, "Why, or what the user has to do."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupDone:
    """The agents of this machine, and what was changed for them."""

    schema: Schema[Literal["skillyard.setup/1"]] = "skillyard.setup/1"
    skills: Annotated[int, "The skills that a session of this folder has."]
    listings: Annotated[tuple[str, ...], "What each agent's own listing shows of them."]
    steps: Annotated[tuple[SetupStep, ...], "By agent."]
    request: Annotated[str, "The test request; empty without one."]
    chosen: Annotated[str, "The skill that it chose; empty for none."]
