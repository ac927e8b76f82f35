"""The four tools of a library as plain functions, for frameworks that build tools from functions.

A framework shows its model the name, the docstring and the types of each function.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from skillyard.base.extras import install_command
from skillyard.hosts.adapters.agent_skills import AgentSkills


def framework_missing(extra: str, distribution: str, error: ImportError) -> ImportError:
    """Return the ImportError to raise. It names the extra and the missing module.

    A framework that is installed but lacks a name is too old, too new, or another package of the
    same name.
    """
    if isinstance(error, ModuleNotFoundError):
        what = f"this adapter needs {distribution}, which is not installed"
    else:
        what = f"this adapter does not fit the {distribution} that is installed ({error})"
    return ImportError(
        f"{what}; install it with: {install_command(extra)}", name=error.name, path=error.path
    )


TOOL_NAMES = ("list_skills", "load_skill", "read_skill_file", "why_skill")


class ToolFunction(NamedTuple):
    """One tool as a synchronous and as an asynchronous function."""

    name: str
    sync: Callable[..., str]
    asynchronous: Callable[..., Awaitable[str]]
    """Runs ``sync`` in a thread, so that the event loop is not blocked."""


def tool_functions(skills: AgentSkills) -> tuple[ToolFunction, ...]:
    """Return the tools of a library. Their arguments and results are text."""
    return tuple(
        ToolFunction(name, getattr(skills, name), _in_thread(getattr(skills, name)))
        for name in TOOL_NAMES
    )


def _in_thread(function: Callable[..., str]) -> Callable[..., Awaitable[str]]:
    @functools.wraps(function)
    async def run(*args: str, **kwargs: str) -> str:
        return await asyncio.to_thread(function, *args, **kwargs)

    return run
