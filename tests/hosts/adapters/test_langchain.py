"""LangChain and deepagents: the middleware in real agents; the model is a script."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from skillyard.hosts.adapters import AgentSkills, agent_skills
from tests.hosts.adapters.contract import FITS, NOTHING, AdapterContract, Call, Run, library
from tests.hosts.adapters.frameworks import adapter
from tests.worked_examples.making import document

langchain = adapter("langchain")

from langchain.agents import create_agent  # noqa: E402 - only where it is installed
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import (  # noqa: E402
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

try:
    from deepagents import create_deep_agent
except ImportError:
    if os.environ.get("SKILLYARD_ADAPTERS") == "1":  # `make adapters` has it
        raise
    create_deep_agent = None

pytestmark = pytest.mark.filterwarnings("default")


class Scripted(GenericFakeChatModel):
    """Answers from a list; keeps what it was sent and the tools that were bound."""

    seen: Any = None

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.seen["tools"] = [getattr(tool, "name", "") for tool in tools]
        return self

    def _generate(self, messages: Any, *rest: Any, **options: Any) -> Any:
        self.seen["requests"].append(list(messages))
        return super()._generate(messages, *rest, **options)


def scripted(call: Call | None = None, turns: int = 1) -> Any:
    replies = [AIMessage("done") for _ in range(turns)]
    if call is not None:
        made = {"name": call[0], "args": call[1], "id": "1", "type": "tool_call"}
        replies.insert(0, AIMessage("", tool_calls=[made]))
    return Scripted(messages=iter(replies), seen={"requests": [], "tools": []})


def last_human(messages: Any) -> Any:
    return next(each for each in reversed(messages) if isinstance(each, HumanMessage))


def told(model: Any, result: Any) -> Run:
    requests = model.seen["requests"]
    sent = [last_human(request).content for request in requests]
    answers = [str(each.content) for each in requests[-1] if isinstance(each, ToolMessage)]
    messages = result["messages"]
    return Run(
        sent, model.seen["tools"], answers, last_human(messages).content, messages[-1].content
    )


def asked(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


@pytest.mark.skipif(
    create_deep_agent is None, reason="deepagents is not installed (make adapters has it)"
)
class TestDeepAgents(AdapterContract):
    async def run(self, skills: AgentSkills, message: str, call: Call | None = None) -> Run:
        model = scripted(call)
        agent = create_deep_agent(model, middleware=[langchain.SkillMiddleware(skills)])
        return told(model, await agent.ainvoke(asked(message)))

    async def talk(self, skills: Any, messages: Iterable[str]) -> list[list[str]]:
        model = scripted(turns=3)
        agent = create_deep_agent(model, middleware=[langchain.SkillMiddleware(skills)])
        history: list[Any] = []
        said: list[str] = []
        for message in messages:
            said.append(message)
            result = await agent.ainvoke({"messages": [*history, HumanMessage(message)]})
            history = result["messages"]
        assert [each.content for each in history if isinstance(each, HumanMessage)] == said
        return [
            [each.content for each in request if isinstance(each, HumanMessage)]
            for request in model.seen["requests"]
        ]


@pytest.mark.skipif(create_deep_agent is None, reason="deepagents is not installed")
def test_deepagents_pins_a_skill_once_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deepagents.backends.filesystem import FilesystemBackend

    def write(name: str, description: str, body: str) -> None:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "SKILL.md").write_text(document(name, description, body))

    monkeypatch.setattr(agent_skills, "PAUSES", 0.0)
    write("csv-cleaning", "Clean messy csv exports.", "The old way.")
    agent = create_deep_agent(
        scripted(turns=5), backend=FilesystemBackend(tmp_path, virtual_mode=True), skills=["/"],
        middleware=[langchain.PinnedSkills(tmp_path)],
    )  # fmt: skip
    history: list[Any] = []
    pins = []
    for message in (NOTHING, "clean this messy csv export", "semicolon", "yes", "bisect the build"):
        if message == "yes":
            write("csv-cleaning", "Clean messy csv exports.", "The new way, which is longer.")
            write("git-bisect", "Bisect the build to find the commit that broke it.", "Halve it.")
        said = {"messages": [*history, HumanMessage(message)]}
        history = asyncio.run(agent.ainvoke(said))["messages"]
        texts = [each.text for each in history if each.additional_kwargs.get("lc_source")]
        pins.append([text.splitlines()[1] for text in texts])
    old, new = "The old way.", "The new way, which is longer."
    assert pins == [[], [old], [old], [old, new], [old, new, "Halve it."]]


def test_what_langchain_says_in_the_users_place_gets_no_skill() -> None:
    model = scripted()
    theirs = HumanMessage(FITS, additional_kwargs={"lc_source": "summarization"})
    agent = create_agent(model, middleware=[langchain.SkillMiddleware(library())])
    agent.invoke({"messages": [theirs, HumanMessage(NOTHING)]})
    assert [each.content for each in model.seen["requests"][0]] == [FITS, NOTHING]


def test_parts_and_the_system_prompt_stay_in_place() -> None:
    model = scripted()
    middleware = langchain.SkillMiddleware(library(), tools=False)
    agent = create_agent(model, system_prompt="Be brief.", middleware=[middleware])
    picture = {"type": "image", "url": "https://example.com/a.png"}
    content = [picture, {"type": "text", "text": FITS}, {"type": "text", "text": "quickly"}]
    agent.invoke({"messages": [{"role": "user", "content": content}]})
    system, human = model.seen["requests"][0]
    assert isinstance(system, SystemMessage)
    assert system.content == "Be brief."
    assert human.content[0] == picture
    assert human.content[1]["text"].endswith(f"[/skill]\n\n{FITS}")
    assert human.content[2] == content[2]
    assert model.seen["tools"] == []


def test_the_choice_can_be_left_to_the_model() -> None:
    model = scripted()
    middleware = langchain.SkillMiddleware(library(), choose=False)
    create_agent(model, middleware=[middleware]).invoke(asked(FITS))
    assert last_human(model.seen["requests"][0]).content == FITS
    assert "load_skill" in model.seen["tools"]
