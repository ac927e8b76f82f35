"""LangChain and deepagents: one middleware, with the block in each model call and the tools.

::

    agent = create_agent(model, middleware=[SkillMiddleware("skills")])
    agent = create_deep_agent(model, middleware=[SkillMiddleware("skills")])
    agent = create_deep_agent(model, backend=…, skills=["/"], middleware=[PinnedSkills("skills")])

The blocks are added to the model calls only. The state and its checkpoints hold the user's words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
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


class PinnedSkills(AgentMiddleware):
    """Pins the matching skill by deepagents' own loader, which reads the same folders.

    Its text stays in the conversation, and follows once more when its file has changed.
    """

    def __init__(self, skills: AnySkills) -> None:
        super().__init__()
        self._skills = AgentSkills.of(skills)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Name the skill whose text the conversation lacks, for a loader that reads anew."""
        name, body = self._skills.task_skill([_words(each) for each in state["messages"]])
        if not name or _is_pinned(name, body, state["messages"]):
            return None
        return {"pinned_skills": [name], "skills_metadata": None}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.before_agent, state, runtime)


def _is_pinned(name: str, body: str, messages: Iterable[AnyMessage]) -> bool:
    """True when the last text of the skill that deepagents pinned is that of its file."""
    pins = [each for each in messages if each.additional_kwargs.get("lc_source") == "pinned_skill"]
    texts = [str(each.text) for each in pins if each.additional_kwargs["skill"]["name"] == name]
    return bool(texts) and " ".join(body.split()) in " ".join(texts[-1].split())


def skill_tools(skills: AnySkills) -> list[BaseTool]:
    """Return the four tools, for ``create_agent(tools=[...])``."""
    return [
        StructuredTool.from_function(
            func=each.sync, coroutine=each.asynchronous, name=each.name, parse_docstring=True
        )
        for each in tool_functions(AgentSkills.of(skills))
    ]


def _words(message: AnyMessage) -> str:
    """Return what the user says; empty for what LangChain says in the user's place."""
    is_users = isinstance(message, HumanMessage) and not message.additional_kwargs.get("lc_source")
    return str(message.text) if is_users else ""


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
