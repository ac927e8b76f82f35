"""pydantic-ai: the capability in real agents; the model is a function."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from skillyard.hosts.adapters import AgentSkills
from tests.hosts.adapters.contract import FITS, NOTHING, AdapterContract, Call, Run, library
from tests.hosts.adapters.frameworks import adapter
from tests.worked_examples.making import document

pydantic_ai = adapter("pydantic_ai")

from pydantic_ai import Agent, BinaryContent  # noqa: E402 - only where it is installed
from pydantic_ai.messages import (  # noqa: E402
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel  # noqa: E402
from pydantic_ai.models.test import TestModel  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")


class Scripted:
    """Makes one call, if it has one, then answers; keeps what it was sent."""

    def __init__(self, call: Call | None = None) -> None:
        self.call = call
        self.requests: list[Any] = []
        self.tools: list[str] = []

    def __call__(self, messages: Any, info: Any) -> Any:
        self.requests.append(list(messages))
        self.tools = [tool.name for tool in info.function_tools]
        if self.call is not None and len(self.requests) == 1:
            return ModelResponse(parts=[ToolCallPart(*self.call)])
        return ModelResponse(parts=[TextPart("done")])


def parts(messages: Any, kind: type) -> list[Any]:
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


class TestCapability(AdapterContract):
    async def run(self, skills: AgentSkills, message: str, call: Call | None = None) -> Run:
        model = Scripted(call)
        agent = Agent(FunctionModel(model), capabilities=[pydantic_ai.Skills(skills)])
        result = await agent.run(message)
        sent = [parts(request, UserPromptPart)[0].content for request in model.requests]
        answers = [str(part.content) for part in parts(model.requests[-1], ToolReturnPart)]
        kept = parts(result.all_messages(), UserPromptPart)[0].content
        return Run(sent, model.tools, answers, kept, result.output)

    async def talk(self, skills: Any, messages: Iterable[str]) -> list[list[str]]:
        model = Scripted()
        agent = Agent(FunctionModel(model), capabilities=[pydantic_ai.Skills(skills)])
        history: list[Any] = []
        said: list[str] = []
        for message in messages:
            said.append(message)
            history = (await agent.run(message, message_history=history)).all_messages()
        assert [part.content for part in parts(history, UserPromptPart)] == said
        return [[each.content for each in parts(r, UserPromptPart)] for r in model.requests]

    def test_a_stream_carries_the_block_too(self) -> None:
        seen: list[Any] = []

        async def streamed(messages: Any, info: Any) -> Any:
            seen.extend(parts(messages, UserPromptPart))
            yield "done"

        async def go() -> None:
            model = FunctionModel(stream_function=streamed)
            agent = Agent(model, capabilities=[pydantic_ai.Skills(library())])
            async with agent.run_stream(FITS) as result:
                assert await result.get_output() == "done"

        asyncio.run(go())
        assert "[skill:csv-cleaning]" in seen[0].content


def test_pictures_and_marked_text_stay_in_place() -> None:
    model = Scripted()
    agent = Agent(FunctionModel(model), capabilities=[pydantic_ai.Skills(library())])
    picture = BinaryContent(b"x", media_type="image/png")
    given = [picture, TextContent(FITS, metadata="m"), "and quickly"]
    result = agent.run_sync(given)
    sent = parts(model.requests[0], UserPromptPart)[0].content
    assert sent[0] == picture
    assert sent[1].metadata == "m"
    assert sent[1].content.endswith(f"[/skill]\n\n{FITS}")
    assert sent[2] == "and quickly"
    assert parts(result.all_messages(), UserPromptPart)[0].content == given


def test_either_half_can_be_left_out() -> None:
    for choose, tools in ((True, False), (False, True)):
        model = Scripted()
        capability = pydantic_ai.Skills(library(), choose=choose, tools=tools)
        Agent(FunctionModel(model), capabilities=[capability]).run_sync(FITS)
        sent = parts(model.requests[0], UserPromptPart)[0].content
        assert ("[skill:csv-cleaning]" in sent) is choose
        assert bool(model.tools) is tools


def test_a_deferred_skill_is_loaded_where_it_fits_or_by_the_model_and_stays(tmp_path: Path) -> None:
    for name, body in (("csv-cleaning", "Fix it."), ("git-bisect", "Halve it.")):
        (tmp_path / name).mkdir()
        text = f"Use when the user says {name}."
        (tmp_path / name / "SKILL.md").write_text(document(name, text, body))
    model = Scripted()
    agent = Agent(FunctionModel(model), capabilities=[pydantic_ai.deferred_skills(tmp_path)])
    history: list[Any] = []
    for message in (NOTHING, "please do csv-cleaning", "semicolon", "csv-cleaning once more"):
        history = agent.run_sync(message, message_history=history).all_messages()
    sent = [str(request) for request in model.requests]
    assert [text.count("[skill:csv-cleaning]") for text in sent] == [0, 1, 1, 1]
    assert all("- git-bisect: Use when the user says git-bisect." in text for text in sent)
    assert sorted(model.tools) == ["load_capability", "read_skill_file"]
    model.requests, model.call = [], ("load_capability", {"id": "git-bisect"})
    agent.run_sync(NOTHING, message_history=history)
    assert [str(request).count("Halve it.") for request in model.requests] == [0, 1]


def test_every_tool_works_with_arguments_that_its_schema_makes() -> None:
    toolset = pydantic_ai.skill_toolset(library())
    model = TestModel()
    result = Agent(model, toolsets=[toolset]).run_sync("use every tool")
    assert len(parts(result.all_messages(), ToolReturnPart)) == 4
    described = model.last_model_request_parameters.function_tools
    for tool in described:
        assert tool.description
        assert all(
            each["description"] for each in tool.parameters_json_schema["properties"].values()
        )
