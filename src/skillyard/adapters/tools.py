"""The four tools of a library as plain functions, for frameworks that make tools of functions.

Name, documentation and types of each function are what a framework shows its model.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from skillyard.adapters.agent_skills import AgentSkills

__all__ = ["TOOL_NAMES", "ToolFunction", "tool_functions"]

TOOL_NAMES = ("list_skills", "load_skill", "read_skill_file", "why_skill")


class ToolFunction(NamedTuple):
    """One tool, twice."""

    name: str
    sync: Callable[..., str]
    asynchronous: Callable[..., Awaitable[str]]
    """The same in a thread: files are read and rankings made off the event loop."""


def tool_functions(skills: AgentSkills) -> tuple[ToolFunction, ...]:
    """Return the tools of a library; they take and give text."""
    return tuple(
        ToolFunction(name, getattr(skills, name), _in_thread(getattr(skills, name)))
        for name in TOOL_NAMES
    )


def _in_thread(function: Callable[..., str]) -> Callable[..., Awaitable[str]]:
    @functools.wraps(function)
    async def run(*values: str, **named: str) -> str:
        return await asyncio.to_thread(function, *values, **named)

    return run
