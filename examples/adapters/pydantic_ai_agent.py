"""pydantic-ai: one capability brings the block and the tools; the model is a function.

Needs the extra: pip install '.[pydantic-ai]'. A real agent names a real model instead.
"""

from __future__ import annotations

from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from skillyard.hosts.adapters import AgentSkills
from skillyard.hosts.adapters.pydantic_ai import Skills

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stand in for a model: say which line it was sent first, and how many tools it has."""
    first = str(messages[-1].parts[-1].content).splitlines()[0]
    text = f"I was sent: {first[:88]} …\nI have {len(info.function_tools)} tools."
    return ModelResponse(parts=[TextPart(text)])


def main() -> None:
    """Ask twice: once for what a skill does, once for what none does."""
    agent = Agent(FunctionModel(echo), capabilities=[Skills(AgentSkills.from_root(LIBRARY))])
    for text in ("clean this messy csv export", "sing me a sea shanty"):
        print(f"> {text}\n{agent.run_sync(text).output}")


if __name__ == "__main__":
    main()
