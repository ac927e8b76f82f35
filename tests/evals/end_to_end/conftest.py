"""A project, a stand-in for the models, and the command line in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.bugs import raise_bugs
from tests.evals.end_to_end.making import KEY, Project, project
from tests.running import Answer, run_here

Run = Callable[..., Answer]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same environment everywhere; a bug raises instead of being reported."""
    raise_bugs(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Project:
    return project(tmp_path)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLlm]:
    """The stand-in, as the environment's provider."""
    pytest.importorskip("anthropic")
    pytest.importorskip("genai_prices")
    pytest.importorskip("numpy")
    with FakeLlm() as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield running


@pytest.fixture
def run(workspace: Project, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one layer in this process: ``run("size-impact", "--runs", "2")``."""
    return lambda layer, *given: run_here(capsys, workspace.arguments(layer, *given))
