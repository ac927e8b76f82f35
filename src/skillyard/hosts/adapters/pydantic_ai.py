"""pydantic-ai: a capability that adds the block to each request, and the tools.

::

    agent = Agent(model, capabilities=[Skills("skills")])
    agent = Agent(model, capabilities=[deferred_skills("skills")])  # pydantic-ai's own way

The blocks are added to the user's messages, not to the instructions, because their authors are not
the developer of the agent. Only the requests are changed; the message history is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from skillyard.engine.skill import Origin, Skill
from skillyard.hosts.adapters.agent_skills import AgentSkills, AnySkills
from skillyard.hosts.adapters.blocks import prepend_block, safe_line
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from pydantic_ai.capabilities import AbstractCapability, Capability, CombinedCapability
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


def deferred_skills(
    skills: AnySkills,
) -> Callable[[RunContext[Any]], Awaitable[AbstractCapability[Any]]]:
    """Return the skills as deferred capabilities, for ``Agent(capabilities=[...])``.

    The model reads their names and descriptions and loads one with ``load_capability``. The skill
    that fits the prompt is loaded before the first request, where this pydantic-ai can do that.
    What is loaded stays in the history, as instructions of the agent: use it for trusted skills.
    """
    library = AgentSkills.of(skills)

    async def capabilities(ctx: RunContext[Any]) -> AbstractCapability[Any]:
        catalog = await asyncio.to_thread(library.current_catalog)
        deferred = {
            _id(skill): Capability[Any](
                id=_id(skill),
                description=safe_line(skill.description),
                instructions=partial(library.load_skill, skill.slug),
                defer_loading=True,
            )
            for skill in catalog.candidates
            if not skill.hidden and skill.origin != Origin.CONVENTION
        }
        return CombinedCapability([*deferred.values(), _SkillLoader(library)])

    return capabilities


def _id(skill: Skill) -> str:
    return safe_line(skill.slug).replace(":", "-")  # pydantic-ai allows no colon


@dataclass
class _SkillLoader(AbstractCapability[Any]):
    """Loads the skill that fits the prompt, and reads the files of skills."""

    library: AgentSkills

    def get_toolset(self) -> FunctionToolset[Any]:
        (tool,) = (each for each in tool_functions(self.library) if each.name == "read_skill_file")
        return FunctionToolset([tool.asynchronous], id="skillyard")

    async def before_run(self, ctx: RunContext[Any]) -> None:
        offer = await asyncio.to_thread(self.library.choose, _text_of(ctx.prompt or ""))
        skill_id = _id(offer.match.skill) if offer else ""
        if skill_id in ctx.capabilities and hasattr(ctx, "load_capability"):
            ctx.load_capability(skill_id)


def _words(message: Any) -> str:
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
