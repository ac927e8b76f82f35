"""Google ADK: a plugin and a toolset in a real runner; the model is a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import pytest

import skillyard as sy
from skillyard.hosts.adapters import AgentSkills
from tests.hosts.adapters.contract import FITS, AdapterContract, Call, Run, library
from tests.hosts.adapters.frameworks import adapter
from tests.worked_examples.making import skill

adk = adapter("adk")

from google.adk.agents import LlmAgent  # noqa: E402 - only where it is installed
from google.adk.apps import App  # noqa: E402
from google.adk.models.base_llm import BaseLlm  # noqa: E402
from google.adk.models.llm_response import LlmResponse  # noqa: E402
from google.adk.runners import Runner  # noqa: E402
from google.adk.sessions import InMemorySessionService  # noqa: E402
from google.adk.tools.skill_toolset import SkillToolset  # noqa: E402
from google.genai.types import Content, FunctionCall, Part  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")


class Scripted(BaseLlm):
    """Makes one call, if it has one, then answers; keeps what it was sent."""

    model: str = "scripted"
    call: Any = None
    requests: Any = None

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        self.requests.append(llm_request.model_copy(update={"contents": [*llm_request.contents]}))
        part = Part(text="done")
        if self.call is not None and len(self.requests) == 1:
            part = Part(function_call=FunctionCall(name=self.call[0], args=self.call[1]))
        yield LlmResponse(content=Content(role="model", parts=[part]))


def words(content: Any) -> str:
    return "".join(part.text for part in content.parts or [] if part.text)


async def run_with(
    plugins: list[Any], tools: list[Any], messages: Iterable[Any], call: Call | None = None
) -> tuple[list[Any], Any, list[Any]]:
    """Return the model's requests, the session after the run and the run's events."""
    requests: list[Any] = []
    agent = LlmAgent(name="agent", model=Scripted(call=call, requests=requests), tools=tools)
    sessions = InMemorySessionService()
    runner = Runner(
        app=App(name="tests", root_agent=agent, plugins=plugins), session_service=sessions
    )
    session = await sessions.create_session(app_name="tests", user_id="u")
    events = [
        event
        for message in messages
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)
    ]
    await runner.close()
    after = await sessions.get_session(app_name="tests", user_id="u", session_id=session.id)
    return requests, after, events


def said(*texts: str) -> Any:
    return Content(role="user", parts=[Part(text=text) for text in texts])


class TestRemembering(AdapterContract):
    """The documented injector: the session keeps the block."""

    keeps_block = True
    prefix = "skillyard_"
    remember = True

    async def run(self, skills: AgentSkills, message: str, call: Call | None = None) -> Run:
        plugin = adk.build_plugin(skills, remember=self.remember)
        toolset = adk.SkillyardToolset(skills)
        call = call and (self.prefix + call[0], call[1])
        requests, session, events = await run_with([plugin], [toolset], [said(message)], call)
        sent = [
            "".join(words(content) for content in request.contents if content.role == "user")
            for request in requests
        ]
        declared = requests[0].config.tools[0].function_declarations
        answers = [
            str(part.function_response.response["result"])
            for content in requests[-1].contents
            for part in content.parts
            if part.function_response
        ]
        kept = words(session.events[0].content)
        reply = words(events[-1].content)
        return Run(sent, [each.name for each in declared], answers, kept, reply)

    async def talk(self, skills: Any, messages: Iterable[str]) -> list[list[str]]:
        plugin = adk.build_plugin(skills, remember=self.remember)
        requests, _, _ = await run_with([plugin], [], map(said, messages))
        return [
            [words(content) for content in request.contents if content.role == "user"]
            for request in requests
        ]


class TestForgetting(TestRemembering):
    """Only what each request shows is changed."""

    keeps_block = False
    remember = False


def test_the_plugin_of_an_injector_injects_what_the_injector_would() -> None:
    injector = sy.SkillInjector(
        [skill("csv", "Clean csv exports.", "Steps. " * 50)],
        sy.InjectorConfig(max_injected_chars=60),
    )
    block, _ = sy.select_prompt_block(injector.catalog, FITS, max_chars=60) or ("", None)
    requests, _, _ = asyncio.run(run_with([adk.build_plugin(injector)], [], [said(FITS)]))
    assert block
    assert words(requests[0].contents[0]).endswith(f"{block}\n\n{FITS}")


def test_only_the_user_is_injected_into_and_a_part_is_never_doubled() -> None:
    plugin = adk.build_plugin(library())

    def changed(message: Any) -> Any:
        return asyncio.run(
            plugin.on_user_message_callback(invocation_context=None, user_message=message)
        )

    assert changed(Content(role="model", parts=[Part(text=FITS)])) is None
    assert changed(Content(role="user", parts=[])) is None
    assert changed(Content(role="user", parts=None)) is None
    picture = Part.from_bytes(data=b"x", mime_type="image/png")
    message = Content(role="user", parts=[picture, Part(text=FITS), Part(text="and quickly")])
    parts = changed(message).parts
    assert parts[0] is picture
    assert parts[1].text.endswith(f"[/skill]\n\n{FITS}")
    assert parts[2].text == "and quickly"


def test_adks_own_toolset_finds_and_loads_through_the_registry() -> None:
    long = skill("csv-cleaning", "Clean messy csv exports. " * 90, "Clean it.", path="")
    odd = skill("Csv Cleaning Äöü " * 9, "Clean messy csv exports.", path="")

    async def go() -> None:
        registry = adk.SkillyardRegistry([long, odd])
        found = await registry.search_skills(query="clean messy csv exports")
        assert [front.name for front in found][:1] == ["csv-cleaning"]
        assert len(found[0].description) <= 1_024
        loaded = await registry.get_skill(name="csv-cleaning")
        assert "[skill:csv-cleaning]\nClean it.\n[/skill]" in loaded.instructions
        with pytest.raises(sy.SkillNotFound):
            await registry.get_skill(name="nothing-of-that-name")
        example = await adk.SkillyardRegistry(library()).get_skill(name="csv-cleaning")
        assert "number-and-date-notations.md" in example.resources.references
        assert not example.resources.scripts

    asyncio.run(go())
    tools = [
        SkillToolset(registry=adk.SkillyardRegistry(library())),
        adk.SkillyardToolset(library()),
    ]
    call = ("search_skills", {"query": FITS})
    requests, _, _ = asyncio.run(run_with([], tools, [said("go")], call))
    answer = str(requests[1].contents[-1].parts[0].function_response.response)
    assert "csv-cleaning" in answer


def test_the_toolset_keeps_to_a_filter_and_a_prefix() -> None:
    toolset = adk.SkillyardToolset(library(), tool_filter=["load_skill"], tool_name_prefix="lib")
    tools = asyncio.run(toolset.get_tools_with_prefix())
    assert [tool.name for tool in tools] == ["lib_load_skill"]
