"""Google ADK: the injector as a plugin and the tools as a toolset, with a model that is a script.

Needs the extra: pip install '.[adk]'. A real agent names a real model instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

from skillyard.hosts.adapters import AgentSkills
from skillyard.hosts.adapters.adk import SkillyardToolset, build_plugin

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


class Echo(BaseLlm):
    """Stands in for a model: says which line it was sent first, and how many tools it has."""

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        first = llm_request.contents[-1].parts[0].text.splitlines()[0]
        tools = len(llm_request.config.tools[0].function_declarations)
        text = f"I was sent: {first[:88]} …\nI have {tools} tools."
        yield LlmResponse(content=Content(role="model", parts=[Part(text=text)]))


async def main() -> None:
    """Ask twice: once for what a skill does, once for what none does."""
    skills = AgentSkills.from_root(LIBRARY)
    agent = LlmAgent(name="agent", model=Echo(model="echo"), tools=[SkillyardToolset(skills)])
    app = App(name="example", root_agent=agent, plugins=[build_plugin(skills)])
    async with InMemoryRunner(app=app) as runner:
        for text in ("clean this messy csv export", "sing me a sea shanty"):
            session = await runner.session_service.create_session(app_name="example", user_id="u")
            message = Content(role="user", parts=[Part(text=text)])
            print(f"> {text}")
            async for event in runner.run_async(
                user_id="u", session_id=session.id, new_message=message
            ):
                print(event.content.parts[0].text)


if __name__ == "__main__":
    asyncio.run(main())
