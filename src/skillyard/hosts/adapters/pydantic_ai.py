"""pydantic-ai: a capability that adds the block to each request, and the tools.

::

    agent = Agent(model, capabilities=[Skills("skills")])

The blocks are added to the user's messages, not to the instructions, because their authors are not
the developer of the agent. Only the requests are changed; the message history is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillyard.hosts.adapters.agent_skills import AgentSkills, AnySkills
from skillyard.hosts.adapters.blocks import prepend_block
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelRequest, TextContent, UserPromptPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import RunContext
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    raise framework_missing("pydantic-ai", "pydantic-ai-slim", error) from error


@dataclass
class Skills(AbstractCapability[Any]):
    """Puts the matching skill before the user's message, and gives the agent the four tools."""

    skills: AnySkills
    choose: bool = True
    """False: no block is added, and the model finds skills with the tools."""
    tools: bool = True
    """False: no tools are added."""

    def __post_init__(self) -> None:
        self.skills = AgentSkills.of(self.skills)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: a library of skills is not written into an agent's specification."""
        return None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the four tools, or None with ``tools=False``."""
        return skill_toolset(self.skills) if self.tools else None

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with the blocks before the user's messages."""
        if not self.choose:
            return request_context
        messages = await AgentSkills.of(self.skills).put_before_async(
            request_context.messages, _words, _put
        )
        return replace(request_context, messages=list(messages))


def skill_toolset(skills: AnySkills) -> FunctionToolset[Any]:
    """Return the four tools as a toolset, for ``Agent(toolsets=[...])``."""
    tools = tool_functions(AgentSkills.of(skills))
    return FunctionToolset([each.asynchronous for each in tools], id="skillyard")


def _words(message: Any) -> str:
    """Return what the user says in a message of the history."""
    parts = message.parts if isinstance(message, ModelRequest) else ()
    spoken = (_text_of(part.content) for part in parts if isinstance(part, UserPromptPart))
    return "\n".join(filter(str.strip, spoken))


def _put(message: Any, block: str) -> list[Any]:
    """Return a new message with the block before the user's first words."""
    parts = list(message.parts)
    for place, part in enumerate(parts):
        if isinstance(part, UserPromptPart) and _text_of(part.content).strip():
            parts[place] = replace(part, content=_before(part.content, block))
            break
    return [replace(message, parts=parts)]


def _text(item: object) -> str | None:
    if isinstance(item, str):
        return item
    return str(item.content) if isinstance(item, TextContent) else None


def _text_of(content: str | Sequence[Any]) -> str:
    items = [content] if isinstance(content, str) else content
    return "\n".join(text for text in map(_text, items) if text is not None)


def _before(content: str | Sequence[Any], block: str) -> str | list[Any]:
    """Return the content with the block before its first text. Files stay in place."""
    if isinstance(content, str):
        return prepend_block(block, content)
    items = list(content)
    first = next(number for number, item in enumerate(items) if _text(item) is not None)
    text = prepend_block(block, _text(items[first]) or "")
    items[first] = text if isinstance(items[first], str) else replace(items[first], content=text)
    return items
