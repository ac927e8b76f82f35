"""OpenAI Agents SDK: a filter brings the block, a list the tools; the model is a script.

Needs the extra: pip install '.[openai-agents]'. A real agent names a real model instead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputMessage,
    ResponseOutputText,
)

from skillyard.hosts.adapters import AgentSkills
from skillyard.hosts.adapters.openai_agents import skill_filter, skill_tools

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


class Echo(Model):
    """Stands in for a model: says which line it was sent first, and how many tools it has."""

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any,
        **options: Any,
    ) -> ModelResponse:  # fmt: skip
        first = input[0]["content"].splitlines()[0]
        text = f"I was sent: {first[:88]} …\nI have {len(tools)} tools."
        part = ResponseOutputText(text=text, type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="1", content=[part], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    async def stream_response(self, *rest: Any, **options: Any) -> AsyncIterator[Any]:
        """Give the whole answer as one event, as a model that thinks in one step would."""
        answer = await self.get_response(*rest, **options)
        whole = Response(
            id="1", created_at=0, model="echo", object="response", output=answer.output,
            parallel_tool_calls=False, tool_choice="none", tools=[],
        )  # fmt: skip
        yield ResponseCompletedEvent(response=whole, sequence_number=0, type="response.completed")


def main() -> None:
    """Ask twice: once for what a skill does, once for what none does."""
    skills = AgentSkills.from_root(LIBRARY)
    agent = Agent(name="agent", model=Echo(), tools=skill_tools(skills))
    config = RunConfig(call_model_input_filter=skill_filter(skills), tracing_disabled=True)
    for text in ("clean this messy csv export", "sing me a sea shanty"):
        print(f"> {text}\n{Runner.run_sync(agent, text, run_config=config).final_output}")


if __name__ == "__main__":
    main()
