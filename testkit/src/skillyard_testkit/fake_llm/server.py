"""The fake server of both APIs, on the loopback address."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

from skillyard.errors import InvalidInput
from skillyard_testkit.fake_llm.apis import BACKEND, Call, Reply, error_response, tokens
from skillyard_testkit.fake_llm.call_log import CallLog, LoggedCall
from skillyard_testkit.fake_llm.faults import FaultQueue, Turn
from skillyard_testkit.fake_llm.generation import write_answer
from skillyard_testkit.fake_llm.judge import BEHAVIOURS, write_verdict
from skillyard_testkit.fake_llm.questions import Question, parse_question
from skillyard_testkit.fake_llm.request_validation import BODY_LIMIT, InvalidRequest, check
from skillyard_testkit.fake_llm.router import names_skill, pick_skills
from skillyard_testkit.messages import Request, Response, json_response
from skillyard_testkit.server import LoopbackServer

__all__ = ["FakeLlm"]

_NESTING = 200
_DRIP_S = 0.02


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
        self._server = _Server(self.respond, self._closing)

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
        call = (
            request
            if isinstance(request, Call)
            else Call(request.method, request.target, request.headers)
        )
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
        if question.kind == "chosen":
            return Reply(json.dumps(names_skill(question)))
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


class _Server(LoopbackServer):
    """The loopback server, with a handler that passes on the body of a request."""

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection."""
        _Handler(request, client_address, self)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake-llm"
    sys_version = ""
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        content = self._read_body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.server.respond(Call(self.command, self.path, headers, content))
        if response.then == "reset":
            self._reset()
        elif response.status == 0:
            self.server.closing.wait()
            self.close_connection = True
        else:
            self._send(response)

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def _read_body(self) -> bytes:
        """Return the body; one that is too long is read to its end and truncated."""
        try:
            size = int(self.headers.get("content-length", "0"))
        except ValueError:
            size = 0
        if self.headers.get("transfer-encoding") or size < 0:
            self.close_connection = True
            return b""
        content = self.rfile.read(min(size, BODY_LIMIT + 1))
        if size > BODY_LIMIT:
            self.close_connection = True
            left = min(size - len(content), BODY_LIMIT)
            while left > 0 and (piece := self.rfile.read(min(left, 1 << 20))):
                left -= len(piece)
        return content

    def _send(self, response: Response) -> None:
        claimed = len(response.body) if response.length is None else response.length
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(claimed))
        self.end_headers()
        if claimed != len(response.body):
            self.close_connection = True
        if response.then != "drip":
            self.wfile.write(response.body)
            return
        for place in range(len(response.body)):
            self.wfile.write(response.body[place : place + 1])
            if self.server.closing.wait(_DRIP_S):
                self.close_connection = True
                return

    def _reset(self) -> None:
        """Reset the connection instead of closing it."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: ``FakeLlm.log`` is the log."""
