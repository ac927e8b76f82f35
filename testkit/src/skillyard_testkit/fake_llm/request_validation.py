"""Request validation as strict as that of the real APIs.

Field lists: the request types of anthropic 2.12 and openai 3.54. That API version 2026-10-21
refuses sampling parameters, and in which words: platform.claude.com, its migration guide. Limits of
schemas: the structured outputs guides of both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skillyard_testkit.fake_llm.apis import ANTHROPIC, COUNT, Call
from skillyard_testkit.server import MAX_BODY_BYTES

__all__ = ["BODY_LIMIT", "InvalidRequest", "check"]

BODY_LIMIT = MAX_BODY_BYTES
"""Bytes of a request (Anthropic: 32 MB; the other API names no figure)."""
VERSIONS = ("2023-06-01", "2026-10-21")
_SAMPLING = ("temperature", "top_p", "top_k")
_MESSAGE_FIELDS = frozenset(
    ["cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages",
     "metadata", "model", "output_config", "service_tier", "speed", "stop_sequences", "stream",
     "system", "thinking", "tool_choice", "tools"]
)  # fmt: skip
_COUNT_FIELDS = _MESSAGE_FIELDS - {
    "max_tokens", "stream", "container", "metadata", "service_tier", "stop_sequences",
}  # fmt: skip
_CHAT_FIELDS = frozenset(
    ["audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
     "max_completion_tokens", "max_tokens", "messages", "metadata", "modalities", "model",
     "moderation", "n", "parallel_tool_calls", "prediction", "presence_penalty",
     "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning_effort",
     "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream",
     "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user",
     "verbosity", "web_search_options"]
)  # fmt: skip
_ROLES = {
    "anthropic": ("user", "assistant"),
    "openai": ("developer", "system", "user", "assistant", "tool"),
}
_THINKS = re.compile(r"^(?:gpt-[5-9]|o[134])")
_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
_NO_KEYWORDS = frozenset(
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
     "maxLength", "maxItems"]
)  # fmt: skip


class InvalidRequest(Exception):
    """A request that the API rejects, with the parts of the error."""

    def __init__(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param


def check(call: Call, body: object) -> Mapping[str, Any]:
    """Return the object of a valid request. Raises InvalidRequest."""
    _check_key(call)
    if len(call.content) > BODY_LIMIT:
        raise InvalidRequest(413, "Request exceeds the maximum size")
    if "json" not in call.headers.get("content-type", ""):
        raise InvalidRequest(400, "content-type: must be application/json")
    if not isinstance(body, dict):
        raise InvalidRequest(400, "The request body is not a JSON object")
    if call.api == ANTHROPIC:
        _check_messages(call, body)
    else:
        _check_chat(body)
    return body


def _check_key(call: Call) -> None:
    if call.token or (call.api == ANTHROPIC and call.headers.get("x-api-key", "").strip()):
        return
    if call.api == ANTHROPIC:
        raise InvalidRequest(401, "Authorization: a Bearer key is required")
    raise InvalidRequest(401, "You didn't provide an API key.", code="invalid_api_key")


def _check_messages(call: Call, body: Mapping[str, Any]) -> None:
    version = call.headers.get("anthropic-version", "")
    if version not in VERSIONS:
        raise InvalidRequest(
            400, f"anthropic-version: {version or 'missing'} is not a valid version"
        )
    counting = call.path == COUNT
    fields = _COUNT_FIELDS if counting else _MESSAGE_FIELDS
    for name in body:
        old = version == VERSIONS[0] and name in _SAMPLING and not counting
        if name not in fields and not old:
            raise InvalidRequest(400, f"{name}: Extra inputs are not permitted")
    _required(body, ("model", "messages") if counting else ("model", "messages", "max_tokens"))
    if not counting:
        _positive(body, "max_tokens")
    _range(body, "temperature", 0, 1)
    _check_turns(body["messages"], _ROLES["anthropic"])
    if not isinstance(body.get("system", ""), str | list):
        raise InvalidRequest(400, "system: Input should be a valid string or list")
    if body.get("stream"):
        raise InvalidRequest(400, "stream: the fake server does not stream")
    _check_output_config(body.get("output_config"))


def _check_output_config(config: object) -> None:
    if config is None:
        return
    if not isinstance(config, dict) or set(config) - {"effort", "format"}:
        raise InvalidRequest(400, "output_config: Extra inputs are not permitted")
    output_format = config.get("format")
    if output_format is None:
        return
    if not isinstance(output_format, dict) or output_format.get("type") != "json_schema":
        raise InvalidRequest(400, "output_config.format.type: Input should be 'json_schema'")
    if set(output_format) - {"type", "schema"} or not isinstance(output_format.get("schema"), dict):
        raise InvalidRequest(400, "output_config.format.schema: Field required")
    _check_schema(output_format["schema"], "output_config.format.schema", all_required=False)


def _check_chat(body: Mapping[str, Any]) -> None:
    for name in body:
        if name not in _CHAT_FIELDS:
            raise InvalidRequest(400, f"Unrecognized request argument supplied: {name}", param=name)
    _required(body, ("model", "messages"))
    model = str(body["model"])
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise InvalidRequest(
            400, "Setting both max_tokens and max_completion_tokens is not supported."
        )
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body:
            _positive(body, name)
    if _THINKS.match(model):
        _check_thinking(body)
    _range(body, "temperature", 0, 2)
    seed = body.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise InvalidRequest(400, "Invalid type for 'seed': expected an integer.", param="seed")
    if body.get("n", 1) != 1 or body.get("stream"):
        raise InvalidRequest(400, "The fake server gives one choice, and does not stream.")
    _check_turns(body["messages"], _ROLES["openai"])
    _check_response_format(body.get("response_format"))


def _check_thinking(body: Mapping[str, Any]) -> None:
    if "max_tokens" in body:
        raise InvalidRequest(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model."
            " Use 'max_completion_tokens' instead.",
            code="unsupported_parameter",
            param="max_tokens",
        )
    if body.get("temperature", 1) != 1:
        raise InvalidRequest(
            400,
            "Unsupported value: 'temperature' does not support this value with this model."
            " Only the default (1) value is supported.",
            code="unsupported_value",
            param="temperature",
        )


def _check_response_format(response_format: object) -> None:
    if response_format is None:
        return
    kind = response_format.get("type") if isinstance(response_format, dict) else None
    if not isinstance(response_format, dict) or kind not in ("text", "json_object", "json_schema"):
        raise InvalidRequest(400, "Invalid value: 'response_format'.", param="response_format")
    if kind != "json_schema":
        return
    inner = response_format.get("json_schema")
    if not isinstance(inner, dict) or not _NAME.match(str(inner.get("name", ""))):
        raise InvalidRequest(400, "Missing or invalid 'response_format.json_schema.name'.")
    schema = inner.get("schema")
    if not isinstance(schema, dict):
        raise InvalidRequest(400, "Missing 'response_format.json_schema.schema'.")
    if inner.get("strict"):
        _check_schema(schema, "response_format", all_required=True)


def _check_schema(schema: object, where: str, *, all_required: bool) -> None:
    """Reject a schema that structured output does not support."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            raise InvalidRequest(400, f"{where}: 'additionalProperties' must be false for objects")
        if all_required and set(schema.get("required", ())) != set(properties):
            raise InvalidRequest(400, f"{where}: 'required' must hold every key of 'properties'")
        for name, inner in properties.items():
            _check_schema(inner, f"{where}.{name}", all_required=all_required)
    elif not all_required and (extra := _NO_KEYWORDS & set(schema)):
        raise InvalidRequest(400, f"{where}: property '{min(extra)}' is not supported")
    _check_schema(schema.get("items"), f"{where}[]", all_required=all_required)
    for inner in schema.get("anyOf", ()):
        _check_schema(inner, where, all_required=all_required)


def _required(body: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in body:
            raise InvalidRequest(400, f"{name}: Field required", param=name)
    if not isinstance(body["model"], str) or not body["model"]:
        raise InvalidRequest(400, "model: String should have at least 1 character", param="model")


def _positive(body: Mapping[str, Any], name: str) -> None:
    value = body[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidRequest(400, f"{name}: Input should be an integer of 1 or more", param=name)


def _range(body: Mapping[str, Any], name: str, low: float, high: float) -> None:
    value = body.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidRequest(400, f"{name}: range: {low}..{high}", param=name)


def _check_turns(turns: object, roles: tuple[str, ...]) -> None:
    if not isinstance(turns, list) or not turns:
        raise InvalidRequest(400, "messages: at least one message is required", param="messages")
    for place, turn in enumerate(turns):
        where = f"messages.{place}"
        if not isinstance(turn, dict) or turn.get("role") not in roles:
            raise InvalidRequest(400, f"{where}.role: Input should be one of {', '.join(roles)}")
        content = turn.get("content")
        if turn["role"] == "assistant" and turn.get("tool_calls"):
            continue
        if not isinstance(content, str | list) or not content:
            raise InvalidRequest(400, f"{where}.content: text content blocks must be non-empty")
