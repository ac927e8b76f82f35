"""Runs that end before their time: killed, interrupted, terminated; and two at once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Timer
from typing import Any

import pytest

from skillyard.evals.models.calls import TokenUsage, cost_of
from skillyard.evals.models.providers import price
from skillyard_testkit.fake_llm import FakeLlm
from skillyard_testkit.fake_llm.call_log import CallLog
from skillyard_testkit.messages import Request, Response
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import KEY, Project, project

MANY = (30, 12) if os.environ.get("SKILLYARD_SOAK") == "1" else (10, 5)
"""Kills, and runs of each prompt."""
CONCURRENCY = 4
LONGEST_S = 0.12
"""Of the time between a process's first request and its end."""
REQUESTS = 42
"""Of the size-impact run: 14 answers, 28 judgements."""
LAYER = "size-impact"
MODELS = {"generation": "gpt-4.1-mini", "judge": "gpt-4.1"}


class Trap(FakeLlm):
    """Does something to somebody when the n-th request comes, and bills what it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.came = 0
        self.at = 0
        self.act: Callable[[], None] = lambda: None
        self.billed = 0.0
        self._one = Lock()

    def respond(self, requests: Request) -> Response:
        with self._one:
            self.came += 1
            if self.came == self.at:
                self.act()
        response = super().respond(requests)
        usage = json.loads(response.body)["usage"]
        tokens = TokenUsage(usage["prompt_tokens"], usage["completion_tokens"])
        with self._one:
            self.billed += cost_of(price("openai", json.loads(requests.content)["model"]), tokens)
        return response

    def answered(self) -> Counter[str]:
        """Return how often each request was answered, by its body.

        A process that is killed may have sent half of one.
        """
        bodies = (seen.body for seen in self.log.calls if seen.status == 200)
        return Counter(json.dumps(body, sort_keys=True) for body in bodies)


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    for name in ("openai", "genai_prices", "scipy"):
        pytest.importorskip(name)
    running = Trap()
    with running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Project:
    """The project, answered by the library that is imported faster."""
    workspace = project(tmp_path)
    workspace.configure(provider="openai", models=MODELS)
    return workspace


def start(workspace: Project, *given: str) -> subprocess.Popen[str]:
    """Start a run as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-m", "skillyard", *workspace.arguments(LAYER, *given)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=240)
    return process.returncode, err


def stopped_at(
    trap: Trap, workspace: Project, request: int, number: int, *given: str, wait_s: float = 0.0
) -> tuple[int, str]:
    """Run until the n-th request comes, and send a signal then, or a while later."""
    trap.at = trap.came + request
    processes: SimpleQueue[subprocess.Popen[str]] = (
        SimpleQueue()
    )  # it may ask before `start` returns
    timer = Timer(wait_s, lambda: processes.get().send_signal(number))
    trap.act = timer.start if wait_s else timer.function
    process = start(workspace, *given)
    processes.put(process)
    return ended(process)


def figures(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return what a run found out, without when and what for."""
    left_out = ("run_id", "timestamp", "cost")
    cases = [
        {name: value for name, value in case.items() if name not in left_out}
        for case in envelope["cases"]
    ]
    return {"summary": envelope["summary"], "artifacts": envelope["artifacts"], "cases": cases}


@pytest.fixture
def whole(tmp_path: Path, workspace: Project, trap: Trap, run: Run) -> dict[str, Any]:
    """The results of a run that nobody stopped; the stand-in forgets it."""
    elsewhere = tmp_path / "whole"
    assert run(LAYER, "--output-dir", str(elsewhere)).code == 0
    assert trap.came == REQUESTS
    trap.came = 0
    trap.log = CallLog()
    return figures(workspace.envelope(elsewhere))


def last_run(workspace: Project) -> str:
    lines = (workspace.results / "events.jsonl").read_text().splitlines()
    return str(json.loads(lines[0])["run_id"])


@pytest.mark.skipif(os.name == "nt", reason="there are no signals that end a process at once")
@pytest.mark.parametrize(("kills", "runs"), [(3, 2), pytest.param(*MANY, marks=pytest.mark.slow)])
def test_killed_runs_are_finished_and_only_what_was_in_flight_is_paid_twice(
    kills: int, runs: int, trap: Trap, workspace: Project, run: Run, tmp_path: Path
) -> None:
    """Wherever the power goes: nothing is lost, and all that may be billed is counted."""
    trap.latency_s = 0.02
    given = ("--runs", str(runs), "--max-calls", "5000", "--concurrency", str(CONCURRENCY))
    assert run(LAYER, *given, "--output-dir", str(tmp_path / "whole")).code == 0
    needed, whole = trap.answered(), figures(workspace.envelope(tmp_path / "whole"))
    trap.log, trap.billed = CallLog(), 0.0
    waits = random.Random(kills)
    events = workspace.results / "events.jsonl"
    resume: tuple[str, ...] = ()
    for _ in range(kills):
        wait_s = waits.uniform(0.001, LONGEST_S)
        code, err = stopped_at(trap, workspace, 1, signal.SIGKILL, *given, *resume, wait_s=wait_s)
        assert code == -signal.SIGKILL, f"the run ended before it was killed: {err}"
        assert not list(workspace.results.glob("*_2*.json")), "no results of half a run"
        events.write_bytes(events.read_bytes() + b'{"event":"case","run_')  # as a kill may leave it
        resume = ("--resume", last_run(workspace))
    trap.at = 0
    done = run(LAYER, *given, *resume)
    assert done.code == 0, done.err
    assert "gave no result and may have been billed" in done.out
    assert figures(workspace.envelope()) == whole, "nothing is lost"
    answered = trap.answered()
    assert needed - answered == Counter(), "nothing is left out"
    assert sum((answered - needed).values()) <= kills * CONCURRENCY, "but what was in flight"
    meta = workspace.envelope()["meta"]
    assert meta["run_id"] == resume[1]
    assert meta["run_calls"] >= sum(answered.values())
    assert meta["run_cost"] >= trap.billed - 1e-6
    assert 0 < meta["lost_calls"] <= kills * CONCURRENCY
    assert 0 < meta["lost_cost"] < meta["run_cost"] - meta["total_cost"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_writes_what_it_has(
    number: int, trap: Trap, workspace: Project, run: Run, whole: dict[str, Any]
) -> None:
    code, err = stopped_at(trap, workspace, 20, number)
    assert code == 3, err
    envelope = workspace.envelope()
    meta = envelope["meta"]
    assert (meta["aborted"], meta["stop_reason"]) == (True, "interrupted")
    assert len(envelope["cases"]) == 14
    skipped = [case["skipped"] for case in envelope["cases"] if case["skipped"]]
    assert skipped
    assert {*skipped} == {"interrupted"}
    assert not [case["errors"] for case in envelope["cases"] if case["errors"]]
    assert f"--resume {meta['run_id']}" in err
    assert "Traceback" not in err
    assert run(LAYER, "--resume", meta["run_id"]).code == 0
    assert sorted(trap.answered().values()) == [1] * REQUESTS, "what was in flight was waited for"
    assert figures(workspace.envelope()) == whole


@pytest.mark.slow
def test_a_second_interrupt_ends_it_at_once(trap: Trap, workspace: Project) -> None:
    """Even where an answer never comes."""
    trap.at = 10
    process = start(workspace, "--concurrency", "1")

    def interrupt() -> None:
        trap.latency_s = 3_600.0
        process.send_signal(signal.SIGINT)

    trap.act = interrupt
    while process.poll() is None:
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            if trap.latency_s:
                process.send_signal(signal.SIGINT)
    code, err = ended(process)
    assert code == 130
    assert "interrupted" in err
    assert "1 request gave no result and may have been billed, at most $" in err
    assert f"a resume of {last_run(workspace)} counts this as spent" in err
    assert len(workspace.entries("generations")) + len(workspace.entries("judgements")) == 9


@pytest.mark.slow
def test_two_runs_that_share_a_folder_pay_once(
    trap: Trap, workspace: Project, run: Run, whole: dict[str, Any]
) -> None:
    """The second one begins when the first one has begun to ask."""
    begun = Event()
    trap.at, trap.act = 1, begun.set
    other = start(workspace)
    assert begun.wait(240)
    assert run(LAYER).code == 0
    assert ended(other)[0] == 0
    assert sorted(trap.answered().values()) == [1] * REQUESTS
    both = workspace.envelopes()
    assert [figures(each) for each in both] == [whole, whole]
    calls = [each["meta"]["calls"] for each in both]
    assert sum(calls) == REQUESTS
    assert both[0]["meta"]["run_id"] != both[1]["meta"]["run_id"]
    lines = (workspace.results / "events.jsonl").read_text().splitlines()
    events = Counter((json.loads(line)["run_id"], json.loads(line)["event"]) for line in lines)
    calls = [events.pop((each["meta"]["run_id"], "reserved"), 0) for each in both]
    assert sum(calls) == REQUESTS
    assert [events.pop((each["meta"]["run_id"], "settled"), 0) for each in both] == calls
    assert sorted(events.values()) == [1, 1]


@pytest.mark.slow
def test_two_runs_make_anew_what_each_was_told_to(trap: Trap, workspace: Project) -> None:
    assert ended(start(workspace, "--skill", "bread-baking"))[0] == 0
    first = sum(trap.answered().values())
    runs = [start(workspace, "--skill", "bread-baking", "--regenerate") for _ in range(2)]
    assert [ended(each)[0] for each in runs] == [0, 0]
    assert sum(trap.answered().values()) == 3 * first
    for path in (*workspace.entries("generations"), *workspace.entries("judgements")):
        json.loads(path.read_text("utf-8"))


def test_a_folder_that_cannot_be_written_is_said(trap: Trap, workspace: Project, run: Run) -> None:
    blocked = workspace.folder / "blocked"
    blocked.write_text("a file")
    done = run(LAYER, "--output-dir", str(blocked))
    assert done.code == 2
    assert str(blocked) in done.err
    assert "--output-dir" in done.err
    assert trap.came == 0, "nothing is paid for that cannot be kept"
