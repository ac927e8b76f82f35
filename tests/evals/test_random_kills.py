"""Runs that are killed at random times: nothing is lost, and all that may be billed is counted."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from subprocess import Popen
from threading import Lock, Timer
from typing import Any

import pytest

from skillyard.evals.models.calls import TokenUsage, cost_of
from skillyard.evals.models.providers import price
from skillyard_testkit.fake_llm import FakeLlm
from skillyard_testkit.messages import Request, Response
from tests.evals.end_to_end.making import KEY, Project, project
from tests.evals.end_to_end.test_kills import MODELS, SOAK, ended, figures, last_run, start

CONCURRENCY = 4
MANY = (30, 12) if SOAK else (10, 5)
LONGEST_S = 0.12
"""Of the time between a process's first request and its end."""


class Provider(FakeLlm):
    """A model server that bills what it answers, and kills its client soon after it begins."""

    def __init__(self) -> None:
        super().__init__()
        self.latency_s = 0.02
        self.answered: Counter[str] = Counter()
        self.billed = 0.0
        self.timer: Timer | None = None
        self._one = Lock()

    def respond(self, requests: Request) -> Response:
        with self._one:
            if self.timer is not None:
                self.timer.start()
                self.timer = None
        response = super().respond(requests)
        with self._one:
            body = json.loads(requests.content)
            usage = json.loads(response.body)["usage"]
            self.answered[json.dumps(body, sort_keys=True)] += 1
            tokens = TokenUsage(usage["prompt_tokens"], usage["completion_tokens"])
            self.billed += cost_of(price("openai", body["model"]), tokens)
        return response


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for name in ("openai", "genai_prices", "scipy"):
        pytest.importorskip(name)
    running = Provider()
    with running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Project:
    workspace = project(tmp_path)
    workspace.configure(provider="openai", models=MODELS)
    return workspace


def finish(workspace: Project, *given: str) -> None:
    code, err = ended(start(workspace, *given))
    assert code == 0, err


def kill_soon(provider: Provider, workspace: Project, wait_s: float, *given: str) -> None:
    """Start a run, and kill it a while after its first request."""
    processes: SimpleQueue[Popen[str]] = SimpleQueue()  # it may ask before `start` returns
    provider.timer = Timer(wait_s, lambda: processes.get().kill())
    process = start(workspace, *given)
    processes.put(process)
    code, err = ended(process)
    assert code == -signal.SIGKILL, f"the run ended before it was killed: {err}"


def meta_of(workspace: Project) -> dict[str, Any]:
    meta: dict[str, Any] = workspace.envelope()["meta"]
    return meta


@pytest.mark.skipif(os.name == "nt", reason="there are no signals that end a process at once")
@pytest.mark.parametrize(("kills", "runs"), [(3, 2), pytest.param(*MANY, marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_what_they_cost_is_counted(
    kills: int, runs: int, provider: Provider, workspace: Project, tmp_path: Path
) -> None:
    given = ("--runs", str(runs), "--max-calls", "5000", "--concurrency", str(CONCURRENCY))
    elsewhere = ("--output-dir", str(tmp_path / "whole"))
    finish(workspace, *given, *elsewhere)
    needed, whole = Counter(provider.answered), figures(workspace.envelope(tmp_path / "whole"))
    provider.answered.clear()
    provider.billed = 0.0
    waits = random.Random(kills)
    resume: tuple[str, ...] = ()
    for _ in range(kills):
        kill_soon(provider, workspace, waits.uniform(0.0, LONGEST_S), *given, *resume)
        resume = ("--resume", last_run(workspace))
    finish(workspace, *given, *resume)
    assert figures(workspace.envelope()) == whole, "nothing is lost"
    repeated = provider.answered - needed
    assert needed - provider.answered == Counter(), "nothing is left out"
    assert sum(repeated.values()) <= kills * CONCURRENCY, "only what was in flight is paid again"
    meta = meta_of(workspace)
    assert meta["run_calls"] >= sum(provider.answered.values())
    assert meta["run_cost"] >= provider.billed - 1e-6
    assert 0 < meta["lost_calls"] <= kills * CONCURRENCY
    assert 0 < meta["lost_cost"] < meta["run_cost"]
