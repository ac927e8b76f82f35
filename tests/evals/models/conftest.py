"""The stand-in on loopback, and the makers' unmodified libraries in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from skillyard.evals.models.calls import ModelRequest
from skillyard.evals.models.sdk import SdkModel, open_model
from skillyard_testkit.fake_llm import FakeLlm

KEY = "sk-test-4f9a2c7781d04e6b"
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4.1-mini"}
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Provider:
    """One provider's library, pointed at the stand-in."""

    name: str
    fake: FakeLlm
    model: SdkModel

    @property
    def url(self) -> str:
        return self.fake.url if self.name == "anthropic" else self.fake.openai_url

    def request(self, user: str = "Clean the export.", **more: object) -> ModelRequest:
        return ModelRequest(MODELS[self.name], "You help.", user, **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a user: keys, and no address."""
    for provider in MODELS:
        monkeypatch.delenv(f"{provider.upper()}_BASE_URL", raising=False)
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)


@pytest.fixture
def fake() -> Iterator[FakeLlm]:
    with FakeLlm() as running:
        yield running


def _open(fake: FakeLlm, name: str, closing: ExitStack, **more: Any) -> Provider:
    pytest.importorskip(name)
    url = fake.url if name == "anthropic" else fake.openai_url
    model = open_model(name, **{"base_url": url, **more})
    closing.callback(model.close)
    return Provider(name, fake, model)


@pytest.fixture
def opened(fake: FakeLlm) -> Iterator[Callable[..., Provider]]:
    """Opens a provider by its name, with more arguments of ``open_model`` where given."""
    with ExitStack() as closing:
        yield lambda name, **more: _open(fake, name, closing, **more)


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[str], Provider]]:
    """One stand-in and one client of each provider: to open one takes a hundred calls' time."""
    with ExitStack() as closing:
        fake = closing.enter_context(FakeLlm())
        yield cache(lambda name: _open(fake, name, closing))


@pytest.fixture(params=list(MODELS))
def provider(request: pytest.FixtureRequest, running: Callable[[str], Provider]) -> Provider:
    """Each provider in turn: a test with it is part of the contract that both keep."""
    given = running(request.param)
    given.fake.faults.clear()
    given.fake.log.clear()
    return given
