"""LangChain and deepagents: one middleware, with the block in each model call and the tools.

::

    agent = create_agent(model, middleware=[SkillMiddleware(AgentSkills.from_root("."))])
    agent = create_deep_agent(model, middleware=[SkillMiddleware(...)])

The block is added to the model call only. The state and its checkpoints hold the user's message.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from skillyard.hosts.adapters.agent_skills import AgentSkills, Offer
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import AnyMessage, HumanMessage
    from langchain_core.tools import BaseTool, StructuredTool
except ImportError as error:
    raise framework_missing("langchain", "langchain", error) from error


class SkillMiddleware(AgentMiddleware):
    """Puts the matching skill before the user's last message, and adds the four tools.

    With ``choose=False`` the model finds skills with the tools only. With ``tools=False`` no tools
    are added.
    """

    def __init__(self, skills: AgentSkills, *, choose: bool = True, tools: bool = True) -> None:
        super().__init__()
        self._skills = skills
        self._choose = choose
        self.tools = skill_tools(skills) if tools else []

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Call the model with the block added."""
        if self._choose:
            request = self._skills.put_before(request, _user_text, _inject_block)
        return handler(request)

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Do the same without blocking the event loop."""
        if self._choose:
            request = await self._skills.put_before_async(request, _user_text, _inject_block)
        return await handler(request)


def skill_tools(skills: AgentSkills) -> list[BaseTool]:
    """Return the four tools, for ``create_agent(tools=[...])``."""
    return [
        StructuredTool.from_function(
            func=each.sync, coroutine=each.asynchronous, name=each.name, parse_docstring=True
        )
        for each in tool_functions(skills)
    ]


def _last_human(messages: Sequence[AnyMessage]) -> int | None:
    """Return the index of the user's last message that has text."""
    for number in range(len(messages) - 1, -1, -1):
        if isinstance(messages[number], HumanMessage) and str(messages[number].text).strip():
            return number
    return None


def _user_text(request: ModelRequest) -> str:
    place = _last_human(request.messages)
    return "" if place is None else str(request.messages[place].text)


def _inject_block(request: ModelRequest, offer: Offer) -> ModelRequest:
    """Return the request with the block before the text of the user's last message."""
    place = _last_human(request.messages)
    if place is None:
        return request
    messages = list(request.messages)
    content = _content(messages[place].content, offer)
    messages[place] = messages[place].model_copy(update={"content": content})
    return request.override(messages=messages)


def _content(content: str | list[Any], offer: Offer) -> str | list[Any]:
    if isinstance(content, str):
        return offer.before(content)
    parts = list(content)
    for number, part in enumerate(parts):
        if isinstance(part, str):
            parts[number] = offer.before(part)
            return parts
        if isinstance(part, dict) and part.get("type") == "text":
            parts[number] = {**part, "text": offer.before(str(part.get("text", "")))}
            return parts
    return [{"type": "text", "text": offer.block}, *parts]
