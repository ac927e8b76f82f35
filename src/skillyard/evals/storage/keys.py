"""Cache keys: a digest of everything that can change an answer."""

from __future__ import annotations

import json
from typing import Any

from skillyard.base.io.sha256 import sha256
from skillyard.evals.judgement.prompt import JudgeQuestion
from skillyard.evals.models.protocol import ChatModel, ModelRequest

SCHEMA = 1
"""Part of every key: raised when the meaning of an entry changes."""


def canonical(value: Any) -> bytes:
    """Return the one JSON text of a value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hex()


def generation_key(model: ChatModel, request: ModelRequest, run: int) -> str:
    """Return the key of one generation (evals.md §1.11).

    It contains the provider, the server (with its port and path, unless it is the provider's own),
    the model, both texts, every parameter that is sent, and the run: run 0 and
    run 1 of one prompt are two answers. It does not contain the skill, so all skills with the same
    prompt share the answer without a skill.
    """
    return _key(
        "generation",
        {
            "provider": model.provider,
            "host": model.host,
            "model": request.model,
            "system": request.system,
            "user": request.user,
            "sent": model.sent(request),
            "run": run,
        },
    )


def judgement_key(model: ChatModel, question: JudgeQuestion) -> str:
    """Return the key of one judgement."""
    return _key(
        "judgement",
        {
            "provider": model.provider,
            "host": model.host,
            "judge_model": question.judge_model,
            "prompt_version": question.prompt_version,
            "user_prompt": text_digest(question.user_prompt),
            "criteria": [[each.name, each.weight, each.description] for each in question.criteria],
            "slots": [text_digest(each) for each in question.slots],
            "run": question.run,
        },
    )


def _key(kind: str, value: dict[str, Any]) -> str:
    return sha256(canonical({"schema": SCHEMA, "kind": kind, **value})).hex()
