"""Requests are read as strictly as the real APIs read them."""

from __future__ import annotations

from typing import Any

from skillyard_testkit.fake_llm import FakeLlm
from tests.tables import for_each
from tests.testkit.fake_llm.conftest import CHAT, MESSAGES, chat, message, post

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
STRICT = {**OBJECT, "required": ["a"]}


def formatted(schema: object) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


def response_format(schema: object, name: str = "reply") -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


@for_each(
    ("more", "expected"),
    [
        ({"model": None}, "model: Field required"),
        ({"model": ""}, "model: String should have at least 1 character"),
        ({"model": 3}, "model: String"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "max_tokens: Input should be"),
        ({"max_tokens": True}, "max_tokens: Input should be"),
        ({"messages": None}, "messages: Field required"),
        ({"messages": []}, "messages: at least one"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages.0.content"),
        ({"messages": ["x"]}, "messages.0.role"),
        ({"temperature": 0.0}, "temperature: Extra inputs are not permitted"),
        ({"temperature": 1.0}, "temperature: Extra inputs are not permitted"),
        ({"top_p": 0.9}, "top_p: Extra inputs are not permitted"),
        ({"top_k": 5}, "top_k: Extra inputs are not permitted"),
        ({"seed": 5}, "seed: Extra inputs are not permitted"),
        ({"stream": True}, "does not stream"),
        ({"system": 5}, "system: Input should be"),
        ({"output_config": {"schema": {}}}, "output_config: Extra inputs"),
        ({"output_config": {"format": {"type": "json"}}}, "output_config.format.type"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "schema: Field required"),
        ({"output_config": formatted({"type": "object"})}, "additionalProperties"),
        (
            {"output_config": formatted({"type": "integer", "minimum": 1, "maximum": 5})},
            "property 'maximum' is not supported",
        ),
    ],
)
def test_what_the_first_api_refuses(fake: FakeLlm, more: dict[str, Any], expected: str) -> None:
    got = post(fake, MESSAGES, message(**more))
    assert got.status == 400
    assert expected in got.error
    assert got.json["type"] == "error"
    assert got.json["error"]["type"] == "invalid_request_error"
    assert got.headers["x-skillyard-backend"] == "fake"
    assert fake.log.calls[-1].kind == ""


@for_each(
    ("more", "expected"),
    [
        ({"model": None}, "model: Field required"),
        ({"messages": None}, "messages: Field required"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
        ({"system": "x"}, "Unrecognized request argument supplied: system"),
        ({"top_k": 3}, "Unrecognized request argument supplied: top_k"),
        ({"max_tokens": 0}, "max_tokens: Input should be"),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "Setting both"),
        ({"temperature": 2.5}, "temperature: range"),
        ({"temperature": "0"}, "temperature: range"),
        ({"seed": 1.5}, "Invalid type for 'seed'"),
        ({"seed": True}, "Invalid type for 'seed'"),
        ({"n": 2}, "one choice"),
        ({"stream": True}, "does not stream"),
        ({"model": "gpt-5", "temperature": 0.0}, "'temperature' does not support"),
        ({"model": "o3", "max_tokens": 5}, "Use 'max_completion_tokens' instead"),
        ({"response_format": {"type": "yaml"}}, "Invalid value: 'response_format'"),
        ({"response_format": response_format(STRICT, "no name")}, "json_schema.name"),
        ({"response_format": response_format(None)}, "json_schema.schema"),
        ({"response_format": response_format(OBJECT)}, "'required' must hold every key"),
        ({"response_format": response_format({"type": "object"})}, "additionalProperties"),
    ],
)
def test_what_the_second_api_refuses(fake: FakeLlm, more: dict[str, Any], expected: str) -> None:
    got = post(fake, CHAT, chat(**more))
    assert got.status == 400
    assert expected in got.error
    assert set(got.json["error"]) == {"message", "type", "param", "code"}


@for_each("path", [MESSAGES, CHAT])
@for_each("content", [b"", b"{", b"[]", b"3", b"\xff", b'{"a":' * 200_000])
def test_a_body_that_is_no_json_object_is_refused(fake: FakeLlm, path: str, content: bytes) -> None:
    got = post(fake, path, content)
    assert (got.status, got.error) == (400, "The request body is not a JSON object")
    assert post(fake, path, b"{}", content_type="text/plain").status == 400
