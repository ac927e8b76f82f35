"""Which parameters go to which model, and what identifies a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from skillyard.evals.models.providers import parameters_of, server_of
from tests.evals.models.conftest import TIMEOUT_S, Provider
from tests.tables import for_each

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@for_each(
    ("provider", "model", "limit", "takes_temperature"),
    [
        ("anthropic", "claude-haiku-4-5", "max_tokens", False),
        ("openai", "gpt-5", "max_completion_tokens", False),
        ("openai", "GPT-6.2-sol", "max_completion_tokens", False),
        ("openai", "o3-mini", "max_completion_tokens", False),
        ("openai", "gpt-4.1-mini", "max_completion_tokens", True),
        ("openai", "gpt-oss-20b", "max_tokens", True),
        ("openai", "qwen3:8b", "max_tokens", True),
    ],
)
def test_what_is_not_known_to_be_taken_is_not_sent(
    provider: str, model: str, limit: str, takes_temperature: bool
) -> None:
    assert parameters_of(provider, model) == (limit, takes_temperature)


def test_no_temperature_goes_to_claude(opened: Callable[..., Provider]) -> None:
    provider = opened("anthropic")
    request = provider.request(temperature=0.0)
    assert provider.model.parameters(request) == {"max_tokens": 16_000}
    provider.model.complete(request, TIMEOUT_S)


@for_each("model", ["gpt-5-mini", "o4-mini", "gpt-4o", "gpt-oss-120b", "x"])
def test_what_is_sent_is_taken_by_a_strict_server(
    running: Callable[[str], Provider], model: str
) -> None:
    provider = running("openai")
    provider.fake.faults.clear()
    request = provider.request(temperature=0.0, schema=SCHEMA)
    provider.model.complete(replace(request, model=model), TIMEOUT_S)
    assert provider.fake.log.calls[-1].status == 200


@for_each(
    ("provider", "address", "server"),
    [
        ("anthropic", "https://api.anthropic.com/", "api.anthropic.com"),
        ("openai", "https://api.openai.com/v1/", "api.openai.com"),
        ("openai", "https://api.openai.com/v2", "https://api.openai.com/v2"),
        ("openai", "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("anthropic", "", ""),
    ],
)
def test_a_server_is_identified_by_its_address(provider: str, address: str, server: str) -> None:
    assert server_of(provider, address) == server
