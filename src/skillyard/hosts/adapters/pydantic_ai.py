"""pydantic-ai: a capability that adds the block to each request, and the tools.

::

    agent = Agent(model, capabilities=[Skills(AgentSkills.from_root("."))])

The block is added to the user's message, not to the instructions, because its author is not the
developer of the agent. Only the request is changed; the message history is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillyard.hosts.adapters.agent_skills import AgentSkills, Offer
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

    skills: AgentSkills
    choose: bool = True
    """False: no block is added, and the model finds skills with the tools."""
    tools: bool = True
    """False: no tools are added."""

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
        """Return the request with the block before the user's last message."""
        if not self.choose:
            return request_context
        messages = await self.skills.put_before_async(
            request_context.messages, _user_text, _inject_block
        )
        return replace(request_context, messages=messages)


def skill_toolset(skills: AgentSkills) -> FunctionToolset[Any]:
    """Return the four tools as a toolset, for ``Agent(toolsets=[...])``."""
    return FunctionToolset([each.asynchronous for each in tool_functions(skills)], id="skillyard")


def _last_prompt(messages: Sequence[Any]) -> tuple[int, int] | None:
    """Return the indexes (message, part) of the user's last text, or None when there is none."""
    for number in range(len(messages) - 1, -1, -1):
        if not isinstance(messages[number], ModelRequest):
            continue
        parts = messages[number].parts
        for index in range(len(parts) - 1, -1, -1):
            if isinstance(parts[index], UserPromptPart) and _words(parts[index].content).strip():
                return number, index
    return None


def _user_text(messages: list[Any]) -> str:
    place = _last_prompt(messages)
    return "" if place is None else _words(messages[place[0]].parts[place[1]].content)


def _inject_block(messages: list[Any], offer: Offer) -> list[Any]:
    """Return new messages with the block in the last prompt. The history is not modified."""
    place = _last_prompt(messages)
    if place is None:
        return messages
    number, index = place
    new_messages = list(messages)
    parts = list(messages[number].parts)
    parts[index] = replace(parts[index], content=_before(parts[index].content, offer))
    new_messages[number] = replace(messages[number], parts=parts)
    return new_messages


def _text(item: object) -> str | None:
    if isinstance(item, str):
        return item
    return str(item.content) if isinstance(item, TextContent) else None


def _words(content: str | Sequence[Any]) -> str:
    items = [content] if isinstance(content, str) else content
    return "\n".join(text for text in map(_text, items) if text is not None)


def _before(content: str | Sequence[Any], offer: Offer) -> str | list[Any]:
    """Return the content with the block before its first text. Files stay in place."""
    if isinstance(content, str):
        return offer.before(content)
    items = list(content)
    first = next(number for number, item in enumerate(items) if _text(item) is not None)
    text = offer.before(_text(items[first]) or "")
    items[first] = text if isinstance(items[first], str) else replace(items[first], content=text)
    return items
