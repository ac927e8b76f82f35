"""OpenAI Agents SDK: a filter of what each call sends to the model, and the tools.

::

    agent = Agent(name="agent", tools=skill_tools(skills))
    config = RunConfig(call_model_input_filter=skill_filter(skills))
    result = await Runner.run(agent, "…", run_config=config)

Each block is an item of its own before the user's message. The messages stay the same objects, so
that sessions and server-side conversations recognise them. A conversation that the server keeps
shows only its new items here: such a message is looked at alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from skillyard.engine.context.injection import USER_ROLE
from skillyard.hosts.adapters.agent_skills import AgentSkills, AnySkills
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from agents import FunctionTool, function_tool
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
except ImportError as error:
    raise framework_missing("openai-agents", "openai-agents", error) from error

Filter = Callable[[CallModelData[Any]], Awaitable[ModelInputData]]


def skill_filter(skills: AnySkills, then: CallModelInputFilter | None = None) -> Filter:
    """Return the filter for ``RunConfig``. ``then`` is your own filter, applied after it."""
    library = AgentSkills.of(skills)

    async def apply(data: CallModelData[Any]) -> ModelInputData:
        items = await library.put_before_async(data.model_data.input, _words, _put)
        model_data = ModelInputData(input=list(items), instructions=data.model_data.instructions)
        if then is None:
            return model_data
        result = then(CallModelData(model_data, data.agent, data.context))
        return await result if inspect.isawaitable(result) else result

    return apply


def skill_tools(skills: AnySkills) -> list[FunctionTool]:
    """Return the four tools, for ``Agent(tools=[...])``."""
    return [function_tool(each.asynchronous) for each in tool_functions(AgentSkills.of(skills))]


def _put(item: Any, block: str) -> list[Any]:
    return [{"role": USER_ROLE, "content": block}, item]


def _words(item: Any) -> str:
    """Return the text of a user's message; empty for any other item."""
    if not isinstance(item, dict) or item.get("role") != USER_ROLE:
        return ""
    content = item.get("content")
    parts = [{"text": content}] if isinstance(content, str) else content
    texts = [part.get("text") for part in parts or () if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
