"""The fake server of both APIs, on the loopback address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard_testkit.fake_llm.agent import next_call
from skillyard_testkit.fake_llm.apis import BACKEND, Call, Reply, error_response, tokens
from skillyard_testkit.fake_llm.call_log import CallLog, LoggedCall
from skillyard_testkit.fake_llm.faults import FaultQueue, Turn
from skillyard_testkit.fake_llm.generation import write_answer
from skillyard_testkit.fake_llm.judge import BEHAVIOURS, write_verdict
from skillyard_testkit.fake_llm.questions import Question, parse_question
from skillyard_testkit.fake_llm.request_validation import InvalidRequest, check
from skillyard_testkit.fake_llm.router import pick_skills
from skillyard_testkit.messages import Request, Response, json_response
from skillyard_testkit.server import LoopbackServer

__all__ = ["FakeLlm"]


class FakeLlm:
    """Both APIs on one port of 127.0.0.1, from ``start`` to ``close``; a context manager too.

    ``faults`` is the queue of faults, ``log`` the log of calls. ``behaviour`` names the rule for
    verdicts, one of :data:`BEHAVIOURS`; ``latency_s`` delays every response.
    """

    def __init__(self, *, behaviour: str = "honest", latency_s: float = 0.0) -> None:
        """Raises InvalidInput for an unknown behaviour and a latency below 0 or above an hour."""
        if behaviour not in BEHAVIOURS:
            raise InvalidInput(f"no behaviour {behaviour!r}; known: {', '.join(BEHAVIOURS)}")
        if not 0 <= latency_s <= 3600:
            raise InvalidInput(f"latency must be 0 to 3600 seconds, not {latency_s}")
        self.behaviour = behaviour
        self.latency_s = latency_s
        self.faults = FaultQueue()
        self.log = CallLog()
        self._closing = Event()
        self._server = LoopbackServer(self.respond, self._closing)

    @property
    def url(self) -> str:
        """The base URL for Anthropic's library, without a slash at its end."""
        return self._server.url

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's library."""
        return f"{self._server.url}/v1"

    def start(self) -> None:
        """Start to respond."""
        self._server.start()

    def close(self) -> None:
        """End every connection, those that hang too. Returns when all are gone."""
        self._server.close()

    def __enter__(self) -> FakeLlm:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def respond(self, request: Request) -> Response:
        """Return the response to one request, after the latency."""
        call = Call(request.method, request.target, request.headers, request.content)
        if call.method == "GET" and call.path == "/health":
            return _mark_as_fake(json_response({"backend": "fake", **self.log.figures}))
        began = self.log.begin()
        kind, response = "", Response(500)
        body: Mapping[str, Any] = {}
        try:
            kind, body, response = self._handle(call)
            if self.latency_s:
                self._closing.wait(self.latency_s)
        finally:
            logged = LoggedCall(
                call.api, kind, call.method, call.path, call.headers, body, response.status
            )
            self.log.end(began, logged)
        return _mark_as_fake(response)

    def _handle(self, call: Call) -> tuple[str, Mapping[str, Any], Response]:
        """Return the kind of the request, its object, and the response."""
        if call.api == "other":
            return "", {}, error_response("anthropic", 404, f"no such path: {call.path[:100]}")
        if call.method != "POST":
            return "", {}, error_response(call.api, 405, "Use POST.")
        try:
            body = check(call, _parse_json(call.content))
        except InvalidRequest as why:
            response = error_response(
                call.api, why.status, str(why), code=why.code, param=why.param
            )
            return "", {}, response
        question = parse_question(call, body)
        turn = Turn(call.api, body, question, self._reply(question))
        fault = self.faults.take(question.kind)
        if fault is not None:
            return question.kind, body, fault(turn)
        if question.kind == "count":
            return "count", body, json_response({"input_tokens": tokens(question.text)})
        return question.kind, body, turn.respond()

    def _reply(self, question: Question) -> Reply:
        if question.kind == "judge":
            return Reply(json.dumps(write_verdict(question, self.behaviour)))
        if question.kind == "router":
            return Reply(json.dumps(pick_skills(question)))
        if question.kind == "findings":
            return Reply('{"findings": []}')
        if question.tools is not None:
            call = next_call(question.tools)
            if call is not None:
                return Reply("", "tool", call=call)
            printed = "\n".join(question.tools.results[1:])
            return Reply(f"{write_answer(question)}\n\n{printed}".strip())
        return Reply(write_answer(question))


def _mark_as_fake(response: Response) -> Response:
    return replace(response, headers={**response.headers, **BACKEND})


def _parse_json(content: bytes) -> object:
    """Return a request's JSON; None where it is not JSON or too deeply nested."""
    if content.count(b"[") + content.count(b"{") > 100_000:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
