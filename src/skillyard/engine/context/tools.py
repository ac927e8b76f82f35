"""Tool validation: a prompt names only tools that the host has ("no phantom tools", adk-skill)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from skillyard.engine.skill import Skill


@runtime_checkable
class ToolRegistry(Protocol):
    """The host's tools by name."""

    def resolve(self, name: str) -> object | None:
        """Return the tool with that name, or None.

        Patterns such as ``Bash(git:*)`` are passed verbatim.
        """
        ...

    def available_tools(self) -> Sequence[str]:
        """Return the names of all tools."""
        ...


class Binding(NamedTuple):
    """The declared tools that the host has, and those that it lacks; in declared order."""

    names: tuple[str, ...]
    tools: tuple[object, ...]
    missing: tuple[str, ...]


def bind_tools(skill: Skill, registry: ToolRegistry) -> Binding:
    """Look up every tool that the skill declares."""
    names: list[str] = []
    tools: list[object] = []
    missing: list[str] = []
    for name in dict.fromkeys(skill.allowed_tools):
        tool = registry.resolve(name)
        if tool is None:
            missing.append(name)
        else:
            names.append(name)
            tools.append(tool)
    return Binding(tuple(names), tuple(tools), tuple(missing))
