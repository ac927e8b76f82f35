"""Ways in which a provider fails, and the queue that assigns them to requests.

A fault is a function of the turn (the request with its regular reply) that returns the response.
Status codes and error codes are those of the two APIs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard_testkit.fake_llm.apis import (
    ANTHROPIC,
    OPENAI,
    Reply,
    error_response,
    reply_response,
)
from skillyard_testkit.fake_llm.judge import write_verdict
from skillyard_testkit.fake_llm.questions import Question
from skillyard_testkit.fault_queue import PendingFaults
from skillyard_testkit.messages import Response, text_response

__all__ = [
    "NAMED",
    "VERDICTS",
    "Fault",
    "FaultQueue",
    "Turn",
    "broken_json",
    "broken_verdict",
    "dripping",
    "hang",
    "html",
    "overloaded",
    "rate_limited",
    "redirect",
    "refuses_temperature",
    "reply_with",
    "reset",
    "respond_with",
    "spend_limit",
    "status",
    "truncated",
    "without_usage",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """One valid request, and the regular reply to it."""

    api: str
    body: Mapping[str, Any]
    question: Question
    reply: Reply
    """Without a fault."""

    def respond(self, reply: Reply | None = None) -> Response:
        """Return a reply, the regular one by default, in the format of the API."""
        return reply_response(self.api, self.body, self.question.text, reply or self.reply)


Fault = Callable[[Turn], Response]


def status(
    code: int,
    message: str = "Made to fail.",
    *,
    word: str | None = None,
    retry_after: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Fault:
    """An error status in the format of the API, with ``word`` as its code."""

    def fault(turn: Turn) -> Response:
        response = error_response(turn.api, code, message, code=word)
        more = dict(headers or {})
        if retry_after is not None:
            more["retry-after"] = retry_after
        return replace(response, headers={**response.headers, **more})

    return fault


def refuses_temperature() -> Fault:
    """The error of a model that does not accept a temperature."""
    return status(400, "temperature: Extra inputs are not permitted")


def rate_limited(retry_after: str | None = None) -> Fault:
    """The rate limit: status 429."""
    return status(429, "Rate limit reached.", retry_after=retry_after)


def spend_limit() -> Fault:
    """The spending limit: status 429 with an error code of its own."""

    def fault(turn: Turn) -> Response:
        if turn.api == OPENAI:
            text = "You exceeded your current quota, please check your plan and billing details."
            return error_response(turn.api, 429, text, code="insufficient_quota")
        text = "You have reached your API usage limits."
        return error_response(turn.api, 429, text, code="enforced_spend_limit_reached")

    return fault


def overloaded(retry_after: str | None = None) -> Fault:
    """The provider is overloaded: 529 from Anthropic, 503 from others."""

    def fault(turn: Turn) -> Response:
        code = 529 if turn.api == ANTHROPIC else 503
        return status(code, "Overloaded", retry_after=retry_after)(turn)

    return fault


def respond_with(response: Response) -> Fault:
    """Exactly the given response."""
    return lambda turn: response


def html() -> Fault:
    """A web page with status 200, as from a portal or a wrong address."""
    page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>\n"
    return respond_with(text_response(page, kind="text/html; charset=utf-8"))


def redirect(url: str, code: int = 307) -> Fault:
    """A redirect to ``url``."""
    return respond_with(text_response("", code, location=url))


def hang() -> Fault:
    """No response until the server closes."""
    return respond_with(Response(0))


def reset() -> Fault:
    """The connection is reset before anything is sent."""
    return respond_with(Response(0, then="reset"))


def dripping() -> Fault:
    """The regular body, one byte at a time."""
    return lambda turn: replace(turn.respond(), then="drip")


def truncated() -> Fault:
    """Half of the body with the length of all of it; then the connection closes."""

    def fault(turn: Turn) -> Response:
        response = turn.respond()
        return replace(
            response, body=response.body[: len(response.body) // 2], length=len(response.body)
        )

    return fault


def broken_json() -> Fault:
    """Half of the body, with a length that agrees: good HTTP, broken JSON."""

    def fault(turn: Turn) -> Response:
        response = turn.respond()
        return replace(response, body=response.body[: len(response.body) // 2])

    return fault


def reply_with(text: str = "", *, stop: str = "end", thinking: str = "") -> Fault:
    """A reply with this text and stop reason."""
    return lambda turn: turn.respond(Reply(text, stop, thinking))


def _stops(stop: str) -> Fault:
    return lambda turn: turn.respond(replace(turn.reply, stop=stop))


def _cut_off() -> Fault:
    def fault(turn: Turn) -> Response:
        text = turn.reply.text
        return turn.respond(replace(turn.reply, text=text[: len(text) // 2], stop="max_tokens"))

    return fault


def _thinking_first() -> Fault:
    return lambda turn: turn.respond(replace(turn.reply, thinking="First, what is asked?"))


def without_usage() -> Fault:
    """The regular reply, without token counts."""
    return lambda turn: turn.respond(replace(turn.reply, usage=False))


def _missing(verdict: dict[str, Any]) -> None:
    del verdict["criteria"][-1:]


def _duplicate(verdict: dict[str, Any]) -> None:
    verdict["criteria"] += verdict["criteria"][:1]


def _unknown(verdict: dict[str, Any]) -> None:
    verdict["criteria"].append(
        {"name": "no such criterion", "reasoning": "r", "score_a": 3, "score_b": 3}
    )


def _score(value: object) -> Callable[[dict[str, Any]], None]:
    def change(verdict: dict[str, Any]) -> None:
        for scored in verdict["criteria"][:1]:
            scored["score_a"] = value

    return change


def _no_list(verdict: dict[str, Any]) -> None:
    verdict["criteria"] = {
        scored["name"]: [scored["score_a"], scored["score_b"]] for scored in verdict["criteria"]
    }


def _no_reasoning(verdict: dict[str, Any]) -> None:
    for scored in verdict["criteria"][:1]:
        scored["reasoning"] = None


def _other_winner(verdict: dict[str, Any]) -> None:
    verdict["overall_winner"] = "both"


VERDICTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "missing-criterion": _missing,
    "duplicate-criterion": _duplicate,
    "unknown-criterion": _unknown,
    "score-zero": _score(0),
    "score-nine": _score(9),
    "score-bool": _score(True),
    "score-string": _score("4"),
    "score-fraction": _score(3.5),
    "score-null": _score(None),
    "criteria-not-list": _no_list,
    "reasoning-not-text": _no_reasoning,
    "unknown-winner": _other_winner,
}
"""Changes that make a valid verdict invalid, each in one way."""


def broken_verdict(name: str) -> Fault:
    """A verdict with the named defect, one of :data:`VERDICTS`.

    Raises InvalidInput for another name.
    """
    if name not in VERDICTS:
        raise InvalidInput(f"no verdict {name!r}; known: {', '.join(VERDICTS)}")

    def fault(turn: Turn) -> Response:
        verdict = write_verdict(turn.question, "honest")
        VERDICTS[name](verdict)
        return turn.respond(Reply(json.dumps(verdict)))

    return fault


NAMED: dict[str, Callable[[], Fault]] = {
    "400": refuses_temperature,
    "401": lambda: status(401, "invalid key"),
    "403": lambda: status(403, "This key may not use the model."),
    "404": lambda: status(404, "model: no such model"),
    "413": lambda: status(413, "Request exceeds the maximum size"),
    "429": rate_limited,
    "429-retry-after": lambda: rate_limited("1"),
    "spend-limit": spend_limit,
    "500": lambda: status(500, "Internal server error"),
    "503": lambda: status(503, "Service unavailable"),
    "529": lambda: status(529, "Overloaded"),
    "hang": hang,
    "reset": reset,
    "drip": dripping,
    "truncated-body": truncated,
    "broken-json": broken_json,
    "html": html,
    "empty": reply_with,
    "refusal": lambda: reply_with(stop="refusal"),
    "max-tokens": _cut_off,
    "context-window": lambda: _stops("model_context_window_exceeded"),
    "thinking-first": _thinking_first,
    "no-usage": without_usage,
    "no-json": lambda: reply_with("I would rather tell you in prose: the first one."),
    **{name: (lambda name=name: broken_verdict(name)) for name in VERDICTS},  # type: ignore[misc]
}
"""Every fault by name, for the command line and for tests that run all of them."""


class FaultQueue:
    """Pending faults by kind of request, in the order in which they were added. Thread-safe."""

    def __init__(self) -> None:
        self._pending: PendingFaults[Fault, str] = PendingFaults()

    def add(self, *faults: Fault, times: int | None = 1, kind: str = "") -> None:
        """Apply each fault to the next ``times`` requests, or to all with None.

        ``kind`` restricts it to requests of that kind: ``generation``, ``judge``, ``router``,
        ``findings`` or ``count``. Raises InvalidInput for ``times`` below 1.
        """
        for fault in faults:
            self._pending.append(lambda key: kind in ("", key), fault, times)

    def take(self, kind: str) -> Fault | None:
        """Return the first pending fault for a request of that kind, and count it."""
        return self._pending.take(kind)

    @property
    def left(self) -> int:
        """The number of pending faults; one without an end counts as one."""
        return len(self._pending)

    def clear(self) -> None:
        """Remove every pending fault."""
        self._pending.clear()
