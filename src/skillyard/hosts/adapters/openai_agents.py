"""OpenAI Agents SDK: a filter of what each call sends to the model, and the tools.

::

    agent = Agent(name="agent", tools=skill_tools(skills))
    config = RunConfig(call_model_input_filter=skill_filter(skills))
    result = await Runner.run(agent, "…", run_config=config)

The block is an item of its own before the user's last message. That message stays the same object,
so that sessions and server-side conversations recognise it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from skillyard.engine.context.injection import USER_ROLE
from skillyard.hosts.adapters.agent_skills import AgentSkills, Offer
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from agents import FunctionTool, function_tool
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
except ImportError as error:
    raise framework_missing("openai-agents", "openai-agents", error) from error

Filter = Callable[[CallModelData[Any]], Awaitable[ModelInputData]]


def skill_filter(skills: AgentSkills, then: CallModelInputFilter | None = None) -> Filter:
    """Return the filter for ``RunConfig``. ``then`` is your own filter, applied after it."""

    async def apply(data: CallModelData[Any]) -> ModelInputData:
        items = await skills.put_before_async(data.model_data.input, _user_text, _inject_block)
        model_data = ModelInputData(input=items, instructions=data.model_data.instructions)
        if then is None:
            return model_data
        result = then(CallModelData(model_data, data.agent, data.context))
        return await result if inspect.isawaitable(result) else result

    return apply


def skill_tools(skills: AgentSkills) -> list[FunctionTool]:
    """Return the four tools, for ``Agent(tools=[...])``."""
    return [function_tool(each.asynchronous) for each in tool_functions(skills)]


def _last_user(items: Sequence[Any]) -> int | None:
    """Return the index of the user's last message that has text."""
    for number in range(len(items) - 1, -1, -1):
        item = items[number]
        if isinstance(item, dict) and item.get("role") == USER_ROLE and _words(item).strip():
            return number
    return None


def _user_text(items: list[Any]) -> str:
    place = _last_user(items)
    return "" if place is None else _words(items[place])


def _inject_block(items: list[Any], offer: Offer) -> list[Any]:
    place = _last_user(items) or 0
    return [*items[:place], {"role": USER_ROLE, "content": offer.block}, *items[place:]]


def _words(item: Any) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
