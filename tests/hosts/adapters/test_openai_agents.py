"""OpenAI Agents SDK: the filter and the tools in real runs; the model is a script."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from skillyard.hosts.adapters import AgentSkills
from tests.hosts.adapters.contract import FITS, AdapterContract, Call, Run, library
from tests.hosts.adapters.frameworks import adapter

openai_agents = adapter("openai_agents")

import json  # noqa: E402

from agents import (  # noqa: E402 - only where it is installed
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SQLiteSession,
    Usage,
    set_tracing_disabled,
)
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

pytestmark = pytest.mark.filterwarnings("default")
set_tracing_disabled(True)  # traces go to a server


class Scripted(Model):
    """Makes one call, if it has one, then answers; keeps what it was sent."""

    def __init__(self, call: Call | None = None) -> None:
        self.call = call
        self.requests: list[Any] = []
        self.tools: list[str] = []

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any,
        **options: Any,
    ) -> Any:  # fmt: skip
        self.requests.append(list(input))
        self.tools = [tool.name for tool in tools]
        output: Any
        if self.call is not None and len(self.requests) == 1:
            name, arguments = self.call
            output = ResponseFunctionToolCall(
                name=name, arguments=json.dumps(arguments), call_id="1", type="function_call"
            )
        else:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            output = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        number = str(len(self.requests))
        return ModelResponse(output=[output], usage=Usage(), response_id=number)

    def stream_response(self, *rest: Any, **options: Any) -> Any:
        raise AssertionError("no test streams: the runner must not ask for it")


def user_words(items: Any) -> list[str]:
    return [item["content"] for item in items if item.get("role") == "user"]


def _joined(items: list[str], said: list[str]) -> list[str]:
    """Return each message with the block that is an item of its own before it."""
    joined, block = [], ""
    for item in items:
        if item in said:
            joined.append(block + item)
            block = ""
        else:
            block = f"{item}\n\n"
    return joined


def agent_of(skills: AgentSkills, model: Scripted) -> Any:
    return Agent(name="agent", model=model, tools=openai_agents.skill_tools(skills))


def config_of(skills: AgentSkills, **options: Any) -> Any:
    filtered = openai_agents.skill_filter(skills, **options)
    return RunConfig(call_model_input_filter=filtered, tracing_disabled=True)


class TestFilter(AdapterContract):
    async def run(self, skills: AgentSkills, message: str, call: Call | None = None) -> Run:
        model = Scripted(call)
        session = SQLiteSession("tests")
        result = await Runner.run(
            agent_of(skills, model), message, run_config=config_of(skills), session=session
        )
        sent = ["\n\n".join(user_words(request)) for request in model.requests]
        answers = [
            str(item["output"])
            for item in model.requests[-1]
            if item.get("type") == "function_call_output"
        ]
        kept = "\n\n".join(user_words(await session.get_items()))
        return Run(sent, model.tools, answers, kept, result.final_output)

    async def talk(self, skills: Any, messages: Iterable[str]) -> list[list[str]]:
        model = Scripted()
        agent, config = Agent(name="agent", model=model), config_of(skills)
        session = SQLiteSession("talk")
        said: list[str] = []
        for message in messages:
            said.append(message)
            await Runner.run(agent, message, run_config=config, session=session)
        assert user_words(await session.get_items()) == said
        requests = [user_words(request) for request in model.requests]
        return [_joined(request, said) for request in requests]


def test_the_users_item_stays_the_same_object_and_parts_are_read() -> None:
    seen: list[Any] = []

    def mine(data: Any) -> Any:
        seen.append(data.model_data)
        return data.model_data

    item = {"role": "user", "content": [{"type": "input_text", "text": FITS}]}
    model = Scripted()
    skills = library()
    asyncio.run(
        Runner.run(agent_of(skills, model), [item], run_config=config_of(skills, then=mine))
    )
    block, users = seen[0].input
    assert "[skill:csv-cleaning]" in block["content"]
    assert users["content"] == item["content"]
    assert item == {"role": "user", "content": [{"type": "input_text", "text": FITS}]}


def test_a_conversation_that_the_server_keeps_gets_each_item_once() -> None:
    model = Scripted(("list_skills", {"query": "csv"}))
    skills = library()
    asyncio.run(
        Runner.run(
            agent_of(skills, model),
            FITS,
            run_config=config_of(skills),
            auto_previous_response_id=True,
        )
    )
    first, second = model.requests
    assert len(user_words(first)) == 2
    assert [item.get("type") for item in second] == ["function_call_output"]
