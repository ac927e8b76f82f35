"""Judges for tests: replies as they come, and a model that gives them one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from skillyard.evals.judgement.verdicts import Criterion
from skillyard.evals.models.calls import ModelReply, ModelRequest, TokenUsage

RUBRIC = (
    Criterion("accuracy", 0.6, "What it says is true."),
    Criterion("brevity", 0.4, "It says no more\nthan needed."),
)


def scored(name: object, a: object, b: object, reasoning: object = "Because.") -> dict[str, Any]:
    """Return one entry of a reply's criteria, of any types."""
    return {"name": name, "score_a": a, "score_b": b, "reasoning": reasoning}


def answer(a: int = 4, b: int = 2, winner: object = "A") -> dict[str, Any]:
    """Return a valid reply on the rubric above, unless the arguments make it none."""
    return {
        "criteria": [scored("accuracy", a, b), scored("brevity", a, b)],
        "overall_winner": winner,
    }


def reply(
    value: object, stop_reason: str = "end", usage: TokenUsage | None = None, **more: Any
) -> ModelReply:
    """Return a model's reply: a text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return ModelReply(text, stop_reason, usage or TokenUsage(100, 10), latency_s=0.5, **more)


class ScriptedJudge:
    """A chat model that plays replies and failures in order and keeps what it was asked."""

    provider = "anthropic"
    host = "judge.test"

    def __init__(self, *script: ModelReply | Exception) -> None:
        self.script = list(script)
        self.requests: list[ModelRequest] = []
        self.timeouts: list[float] = []

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        return {"max_tokens": request.max_tokens}

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        self.requests.append(request)
        self.timeouts.append(timeout_s)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def mappings(criteria: Iterable[Criterion]) -> list[Mapping[str, Any]]:
    """Return criteria as a rubric file holds them."""
    return [
        {"name": one.name, "weight": one.weight, "description": one.description} for one in criteria
    ]
