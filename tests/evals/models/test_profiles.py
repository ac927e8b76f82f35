"""Which parameters go to which model: what is not known to be taken is not sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from skillyard import InvalidInput
from skillyard.evals.models.protocol import ModelFailed
from skillyard.evals.models.providers import ModelProfile, profile_of
from skillyard.evals.models.sdk import offline_model
from tests.evals.models.conftest import TIMEOUT_S, Provider
from tests.tables import for_each

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@for_each(
    ("provider", "model", "expected"),
    [
        ("anthropic", "claude-haiku-4-5", (False, True, "max_tokens")),
        ("anthropic", "claude-opus-5-5", (False, True, "max_tokens")),
        ("anthropic", "claude-3-haiku", (False, False, "max_tokens")),
        ("anthropic", "claude-opus-4-20250514", (False, False, "max_tokens")),
        ("openai", "gpt-5", (False, True, "max_completion_tokens")),
        ("openai", "GPT-6.2-sol", (False, True, "max_completion_tokens")),
        ("openai", "o3-mini", (False, True, "max_completion_tokens")),
        ("openai", "gpt-4.1-mini", (True, True, "max_completion_tokens")),
        ("openai", "gpt-4o", (True, True, "max_completion_tokens")),
        ("openai", "gpt-4-turbo", (True, False, "max_tokens")),
        ("openai", "gpt-oss-20b", (True, True, "max_tokens")),
        ("openai", "qwen3:8b", (True, True, "max_tokens")),
    ],
)
def test_the_table(provider: str, model: str, expected: tuple[bool, bool, str]) -> None:
    result = profile_of(provider, model)
    assert (result.temperature, result.structured, result.max_tokens_field) == expected


def test_the_longest_beginning_of_an_own_table_decides_field_by_field() -> None:
    own: dict[str, dict[str, Any]] = {
        "gpt": {"temperature": True, "structured": False},
        "gpt-5": {"structured": True},
        "GPT-5-mini": {"max_tokens_field": "max_tokens"},
        "other": {"temperature": False},
    }
    result = profile_of("openai", "gpt-5-mini-2025", own=own)
    assert result == ModelProfile(True, True, "max_tokens")
    assert profile_of("openai", "gpt-4", own=own).structured is False


@for_each(
    ("own", "message"),
    [
        ({"m": {"temprature": True}}, "temprature is no field of a profile; known: max_tokens_f"),
        ({"m": {"temperature": "yes"}}, "temperature must be True or False, not 'yes'"),
        ({"m": {"structured": 1}}, "structured must be True or False"),
        ({"m": {"max_tokens_field": "limit"}}, "must be 'max_tokens' or 'max_completion_tokens'"),
    ],
)
def test_a_wrong_own_table_is_refused_wherever_it_is_given(
    own: dict[str, dict[str, Any]], message: str, opened: Callable[..., Provider]
) -> None:
    with pytest.raises(InvalidInput, match=message):
        offline_model("openai", "host", own)
    with pytest.raises(InvalidInput, match=message):
        opened("openai", profiles=own)


def test_no_temperature_goes_to_claude_unless_an_own_profile_says_so(
    opened: Callable[..., Provider],
) -> None:
    plain = opened("anthropic")
    request = plain.request(temperature=0.0)
    assert plain.model.sent(request) == {"max_tokens": 16_000}
    plain.model.complete(request, TIMEOUT_S)
    daring = opened("anthropic", profiles={"claude": {"temperature": True}})
    assert daring.model.sent(request)["temperature"] == 0.0
    with pytest.raises(ModelFailed, match="temperature: Extra inputs are not permitted"):
        daring.model.complete(request, TIMEOUT_S)


@for_each("model", ["gpt-5-mini", "o4-mini", "gpt-4o", "gpt-4", "gpt-oss-120b", "x"])
def test_what_the_table_sends_is_taken_by_a_strict_server(
    running: Callable[[str], Provider], model: str
) -> None:
    provider = running("openai")
    provider.fake.faults.clear()
    request = provider.request(temperature=0.0, schema=SCHEMA)
    provider.model.complete(replace(request, model=model), TIMEOUT_S)
    assert provider.fake.log.calls[-1].status == 200


def test_without_structured_output_no_schema_is_sent(opened: Callable[..., Provider]) -> None:
    provider = opened("openai", profiles={"gpt-4.1": {"structured": False}})
    parameters = provider.model.sent(provider.request(schema=SCHEMA, temperature=None))
    assert parameters == {"max_completion_tokens": 16_000}
