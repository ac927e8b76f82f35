"""LangChain and deepagents: one middleware, with the block in each model call and the tools.

::

    agent = create_agent(model, middleware=[SkillMiddleware("skills")])
    agent = create_deep_agent(model, middleware=[SkillMiddleware(...)])

The blocks are added to the model calls only. The state and its checkpoints hold the user's words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from skillyard.hosts.adapters.agent_skills import AgentSkills, AnySkills
from skillyard.hosts.adapters.blocks import prepend_block
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import AnyMessage, HumanMessage
    from langchain_core.tools import BaseTool, StructuredTool
except ImportError as error:
    raise framework_missing("langchain", "langchain", error) from error


class SkillMiddleware(AgentMiddleware):
    """Puts the matching skill before the user's message, and adds the four tools.

    With ``choose=False`` the model finds skills with the tools only. With ``tools=False`` no tools
    are added.
    """

    def __init__(self, skills: AnySkills, *, choose: bool = True, tools: bool = True) -> None:
        super().__init__()
        self._skills = AgentSkills.of(skills)
        self._choose = choose
        self.tools = skill_tools(self._skills) if tools else []

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Call the model with the block added."""
        if self._choose:
            messages = self._skills.put_before(request.messages, _words, _put)
            request = request.override(messages=list(messages))
        return handler(request)

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Do the same without blocking the event loop."""
        if self._choose:
            messages = await self._skills.put_before_async(request.messages, _words, _put)
            request = request.override(messages=list(messages))
        return await handler(request)


def skill_tools(skills: AnySkills) -> list[BaseTool]:
    """Return the four tools, for ``create_agent(tools=[...])``."""
    return [
        StructuredTool.from_function(
            func=each.sync, coroutine=each.asynchronous, name=each.name, parse_docstring=True
        )
        for each in tool_functions(AgentSkills.of(skills))
    ]


def _words(message: AnyMessage) -> str:
    return str(message.text) if isinstance(message, HumanMessage) else ""


def _put(message: AnyMessage, block: str) -> list[AnyMessage]:
    return [message.model_copy(update={"content": _content(message.content, block)})]


def _content(content: str | list[Any], block: str) -> str | list[Any]:
    if isinstance(content, str):
        return prepend_block(block, content)
    parts = list(content)
    for number, part in enumerate(parts):
        if isinstance(part, str):
            parts[number] = prepend_block(block, part)
            return parts
        if isinstance(part, dict) and part.get("type") == "text":
            parts[number] = {**part, "text": prepend_block(block, str(part.get("text", "")))}
            return parts
    return [{"type": "text", "text": block}, *parts]
