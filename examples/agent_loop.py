"""An agent with Anthropic's client: choose a skill, load it, run tools, keep it in the next turn.

    pip install '.[eval]'    # in a checkout: brings anthropic
    ANTHROPIC_API_KEY=… python examples/agent_loop.py

Without a key and a network, from the top of a checkout after `make test`:
    .venv/bin/python -m skillyard_testkit.fake_llm -- .venv/bin/python examples/agent_loop.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic

from skillyard.hosts.adapters import AgentSkills

LIBRARY = Path(__file__).resolve().parent / "skills"
MODEL = "claude-haiku-5-5"
MAX_CALLS = 8
"""Calls of the model for one request."""
TOOLS = {
    "load_skill": {"name": "The name of a skill."},
    "read_skill_file": {"name": "The name of a skill.", "path": "One of its files."},
}
"""Methods of AgentSkills, and what the model is told about their parameters."""


def tool(function: Callable[..., str], parameters: dict[str, str]) -> dict[str, Any]:
    """Return the definition of a tool for the model."""
    properties = {name: {"type": "string", "description": parameters[name]} for name in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    description = (function.__doc__ or "").partition("\n")[0]
    return {"name": function.__name__, "description": description, "input_schema": schema}


class Agent:
    """A conversation. Its history holds the user's own words; the skill is put before them."""

    def __init__(self, client: anthropic.Anthropic, skills: AgentSkills) -> None:
        self._client = client
        self._skills = skills
        self._tools = [tool(getattr(skills, name), TOOLS[name]) for name in TOOLS]
        self.history: list[Any] = []

    def answer(self, request: str) -> str:
        """Return the model's answer to a request, after the tools that it calls."""
        self.history.append({"role": "user", "content": request})
        for _ in range(MAX_CALLS):
            # Chooses a skill for a new request, or keeps that of the task; repeats what was sent.
            messages = self._skills.put_before(self.history, own_words, put_before)
            reply = self._client.messages.create(
                model=MODEL, max_tokens=2_000, tools=self._tools, messages=list(messages)
            )
            self.history.append({"role": "assistant", "content": reply.content})
            results = [self._run(block) for block in reply.content if block.type == "tool_use"]
            if not results:
                return "".join(block.text for block in reply.content if block.type == "text")
            self.history.append({"role": "user", "content": results})
        return "No answer: the model only calls tools."

    def _run(self, call: Any) -> dict[str, Any]:
        result = f"there is no tool {call.name}"
        if call.name in TOOLS:
            try:
                result = getattr(self._skills, call.name)(**call.input)
            except TypeError as error:  # a parameter that is missing, or has another name
                result = str(error)
        return {"type": "tool_result", "tool_use_id": call.id, "content": result}


def own_words(message: Any) -> str:
    """Return what the user wrote; nothing for the model's messages and results of tools."""
    is_request = message["role"] == "user" and isinstance(message["content"], str)
    return message["content"] if is_request else ""


def put_before(message: Any, block: str) -> list[Any]:
    """Return the message with the skill's block before the user's words."""
    return [{**message, "content": f"{block}\n\n{message['content']}"}]


if __name__ == "__main__":
    with anthropic.Anthropic() as client:
        agent = Agent(client, AgentSkills.from_root(LIBRARY))
        for request in ("clean this messy csv export", "semicolon", "thanks, that is all"):
            print(f"> {request}\n{agent.answer(request)}\n")
