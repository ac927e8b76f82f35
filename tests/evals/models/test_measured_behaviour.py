"""How the makers' libraries behave by themselves (evals.md §4): what the adapters are built on.

A new version that behaves otherwise fails here first. Waits are recorded, not waited.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from skillyard_testkit.fake_llm import FakeLlm, faults
from tests.evals.models.conftest import KEY, MODELS

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

Ask = Callable[..., Any]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


@pytest.fixture(params=["anthropic", "openai"])
def ask(request: pytest.FixtureRequest, fake: FakeLlm) -> Iterator[Ask]:
    """One request through a library as it comes, with its own two retries."""
    model = MODELS[request.param]
    turns = [{"role": "user", "content": "Hello there."}]
    if request.param == "anthropic":
        client = anthropic.Anthropic(api_key=KEY, base_url=fake.url)
        create, more = client.messages.create, {"max_tokens": 100}
    else:
        client = openai.OpenAI(api_key=KEY, base_url=fake.openai_url)
        create, more = client.chat.completions.create, {}
    with client:
        yield lambda **options: create(model=model, messages=turns, **more, **options)


def calls(fake: FakeLlm) -> int:
    return len(fake.log.calls)


def test_retry_after_is_waited_for(ask: Ask, fake: FakeLlm, waits: list[float]) -> None:
    fake.faults.add(faults.rate_limited("1"))
    ask()
    assert (calls(fake), waits) == (2, [1.0])


@pytest.mark.parametrize("status", [500, 503, 529])
def test_server_errors_are_retried_twice(
    ask: Ask, fake: FakeLlm, waits: list[float], status: int
) -> None:
    fake.faults.add(faults.status(status))
    ask()
    assert calls(fake) == 2
    fake.faults.add(faults.status(status), times=3)
    with pytest.raises((anthropic.APIStatusError, openai.APIStatusError)) as caught:
        ask()
    assert (calls(fake), caught.value.status_code, len(waits)) == (5, status, 3)


def test_a_spend_limit_is_retried_in_vain(ask: Ask, fake: FakeLlm, waits: list[float]) -> None:
    fake.faults.add(faults.spend_limit(), times=3)
    with pytest.raises((anthropic.RateLimitError, openai.RateLimitError)):
        ask()
    assert calls(fake) == 3


@pytest.mark.parametrize(
    ("status", "name"), [(400, "BadRequestError"), (401, "AuthenticationError")]
)
def test_some_statuses_are_not_retried(
    ask: Ask, fake: FakeLlm, waits: list[float], status: int, name: str
) -> None:
    fake.faults.add(faults.status(status))
    with pytest.raises((getattr(anthropic, name), getattr(openai, name))):
        ask()
    assert (calls(fake), waits) == (1, [])


@pytest.mark.parametrize("name", ["reset", "truncated-body"])
def test_broken_connections_are_retried(
    ask: Ask, fake: FakeLlm, waits: list[float], name: str
) -> None:
    fake.faults.add(faults.NAMED[name]())
    ask()
    assert calls(fake) == 2


def test_broken_json_is_an_error_of_no_library(ask: Ask, fake: FakeLlm, waits: list[float]) -> None:
    fake.faults.add(faults.broken_json())
    with pytest.raises(ValueError) as caught:  # noqa: PT011  its type is the point
        ask()
    assert not isinstance(caught.value, anthropic.AnthropicError | openai.OpenAIError)
    assert calls(fake) == 1


def test_a_page_is_returned_as_a_text(ask: Ask, fake: FakeLlm) -> None:
    fake.faults.add(faults.html())
    assert isinstance(ask(), str)


def test_missing_usage_is_no_error(ask: Ask, fake: FakeLlm) -> None:
    fake.faults.add(faults.without_usage())
    assert getattr(ask(), "usage", None) is None


def test_a_slow_server_is_a_timeout(ask: Ask, fake: FakeLlm, waits: list[float]) -> None:
    fake.faults.add(faults.hang(), times=3)
    with pytest.raises((anthropic.APITimeoutError, openai.APITimeoutError)):
        ask(timeout=0.1)
    assert len(waits) == 2


def test_a_refusal_is_a_good_answer_without_text(fake: FakeLlm) -> None:
    fake.faults.add(faults.reply_with(stop="refusal"))
    with anthropic.Anthropic(api_key=KEY, base_url=fake.url) as client:
        message = client.messages.create(
            model="claude-haiku-4-5", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
        )
    assert (message.stop_reason, list(message.content)) == ("refusal", [])


def test_temperature_is_no_argument_any_more(fake: FakeLlm) -> None:
    with (
        anthropic.Anthropic(api_key=KEY, base_url=fake.url) as client,
        pytest.raises(TypeError, match="temperature"),
    ):
        client.messages.create(model="claude-haiku-4-5", max_tokens=9, messages=[], temperature=0.0)


def test_the_api_version_and_the_key_that_are_sent(ask: Ask, fake: FakeLlm) -> None:
    ask()
    headers = fake.log.calls[0].headers
    assert headers["authorization"] == f"Bearer {KEY}" or headers["x-api-key"] == KEY
    if fake.log.calls[0].api == "anthropic":
        assert headers["anthropic-version"] == "2026-10-21"


def test_a_client_without_a_key_fails_late_with_a_type_error(
    fake: FakeLlm, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    with (
        anthropic.Anthropic(base_url=fake.url) as client,
        pytest.raises(TypeError, match="authentication"),
    ):
        client.messages.create(
            model="claude-haiku-4-5", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
        )
    assert calls(fake) == 0
