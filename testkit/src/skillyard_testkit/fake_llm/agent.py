"""The turns of an agent: it takes the skill that it is offered, and runs the script that it names.

No model decides. An agent without a skill, or behind its script, ends with a written answer, which
quotes what the script printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ToolCall", "Tools", "next_call", "parse_tools"]

_OFFERED = re.compile(r"<name>([^<]+)</name>")
_BASE = re.compile(r"(?m)^Base Path: (.+)/SKILL\.md$")
_COMMAND = re.compile(r"`((?:sh|bash|python3?) )(scripts/[^`\n]+)`")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asks for."""

    name: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a request: their descriptions by name, and what the calls so far returned."""

    offered: Mapping[str, str]
    results: tuple[str, ...]


def parse_tools(body: Mapping[str, Any]) -> Tools:
    """Return the tools of a request of either API; none for one without tools."""
    functions = [tool.get("function", tool) for tool in body.get("tools") or ()]
    offered = {str(each.get("name")): str(each.get("description", "")) for each in functions}
    results = [_text(turn["content"]) for turn in body["messages"] if turn["role"] == "tool"]
    for turn in body["messages"]:
        blocks = turn["content"] if isinstance(turn["content"], list) else ()
        results += [_text(each["content"]) for each in blocks if each["type"] == "tool_result"]
    return Tools(offered, tuple(results))


def next_call(tools: Tools) -> ToolCall | None:
    """Return the next call; None where the answer is due."""
    skill = _OFFERED.search(tools.offered.get("skill", ""))
    if skill is not None and not tools.results:
        return ToolCall("skill", {"command": skill[1]})
    last = tools.results[-1] if tools.results else ""
    base, command = _BASE.search(last), _COMMAND.search(last)
    if base is None or command is None or "bash" not in tools.offered:
        return None
    return ToolCall("bash", {"command": f"{command[1]}{base[1]}/{command[2]}"})


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
