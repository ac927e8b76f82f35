"""LangChain: one middleware brings the block and the tools; the model is a script.

Needs the extra: pip install '.[langchain]'. deepagents takes the same middleware:
create_deep_agent(model, middleware=[SkillMiddleware(skills)]).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from skillyard.hosts.adapters import AgentSkills
from skillyard.hosts.adapters.langchain import SkillMiddleware

LIBRARY = Path(__file__).resolve().parent.parent / "skills"


class Echo(BaseChatModel):
    """Stands in for a model: says which line it was sent first, and how many tools it has."""

    tools: int = 0

    @property
    def _llm_type(self) -> str:
        return "echo"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self.model_copy(update={"tools": len(tools)})

    def _generate(self, messages: Any, *rest: Any, **options: Any) -> ChatResult:
        first = messages[-1].text.splitlines()[0]
        text = f"I was sent: {first[:88]} …\nI have {self.tools} tools."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def main() -> None:
    """Ask twice: once for what a skill does, once for what none does."""
    middleware = SkillMiddleware(AgentSkills.from_root(LIBRARY))
    agent = create_agent(Echo(), middleware=[middleware])
    for text in ("clean this messy csv export", "sing me a sea shanty"):
        result = agent.invoke({"messages": [{"role": "user", "content": text}]})
        print(f"> {text}\n{result['messages'][-1].text}")


if __name__ == "__main__":
    main()
