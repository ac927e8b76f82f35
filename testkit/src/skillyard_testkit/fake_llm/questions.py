"""The task of a request: an answer, a verdict, a choice of skills, a yes or no, or findings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillyard_testkit.fake_llm.agent import Tools, parse_tools
from skillyard_testkit.fake_llm.apis import COUNT, OPENAI, Call

__all__ = ["Question", "parse_question"]

_BLOCK = re.compile(r"(?m)^(-{3,}) BEGIN (.+) \1\n(?:.*\n)*?\1 END \2 \1$")


@dataclass(frozen=True, slots=True)
class Question:
    """One parsed request."""

    kind: str
    """``generation``, ``agent``, ``judge``, ``router``, ``findings`` or ``count``."""
    system: str
    user: str
    schema: Mapping[str, Any] | None
    """The schema of the reply, where the request has one."""
    tools: Tools | None = None
    """Those of a request to an agent."""

    @property
    def text(self) -> str:
        """Both texts, for counting tokens."""
        return f"{self.system}\n{self.user}"


def parse_question(call: Call, body: Mapping[str, Any]) -> Question:
    """Return the task of a valid request.

    A schema tells it by its properties; without one, the prompt by the names of the fields that it
    asks for. A skill's own text is not looked at.
    """
    system, user = _texts(call.api, body)
    schema = _schema(call.api, body)
    if body.get("tools"):
        return Question("agent", system, user, schema, parse_tools(body))
    return Question(_kind(call, system, user, schema), system, user, schema)


def _kind(call: Call, system: str, user: str, schema: Mapping[str, Any] | None) -> str:
    if call.path == COUNT:
        return "count"
    properties = schema.get("properties") if schema is not None else None
    names = set(properties) if isinstance(properties, dict) else set()
    prompt = "" if schema is not None else f"{_BLOCK.sub('', system)}\n{user}"
    if "overall_winner" in names or '"overall_winner"' in prompt:
        return "judge"
    if "skills" in names or '"skills"' in prompt:
        return "router"
    if "findings" in names or '"findings"' in prompt:
        return "findings"
    return "generation"


def _texts(api: str, body: Mapping[str, Any]) -> tuple[str, str]:
    turns = body["messages"]
    if api == OPENAI:
        first = [turn for turn in turns if turn["role"] in ("system", "developer")]
        system = "\n".join(_text(turn["content"]) for turn in first)
    else:
        system = _text(body.get("system", ""))
    user = "\n".join(_text(turn["content"]) for turn in turns if turn["role"] == "user")
    return system, user


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _schema(api: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if api == OPENAI:
        outer = (body.get("response_format") or {}).get("json_schema") or {}
    else:
        outer = (body.get("output_config") or {}).get("format") or {}
    schema = outer.get("schema")
    return schema if isinstance(schema, dict) else None
