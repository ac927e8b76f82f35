"""Jobs begin in their order, each once; and a run ends whole."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.layers import scheduler
from skillyard.evals.layers.scheduler import run_jobs
from skillyard.evals.models.protocol import RunStopped

BUDGET = RunStopped("budget", "no money")


def nothing() -> None:
    """Do nothing."""


@given(count=st.integers(0, 25), concurrency=st.integers(1, 6))
def test_every_job_begins_once_and_in_order(count: int, concurrency: int) -> None:
    began: list[int] = []
    jobs = [partial(began.append, place) for place in range(count)]
    assert run_jobs(jobs, concurrency, threading.Event()) is None
    assert sorted(began) == list(range(count))
    if concurrency == 1:
        assert began == list(range(count))


@given(bad=st.integers(0, 24), concurrency=st.integers(1, 6))
def test_after_a_stop_nothing_begins(bad: int, concurrency: int) -> None:
    ran: list[int] = []
    stop = threading.Event()

    def work(place: int) -> None:
        ran.append(place)
        if place == bad:
            raise BUDGET

    jobs = [partial(work, place) for place in range(25)]
    assert run_jobs(jobs, concurrency, stop) is BUDGET
    assert stop.is_set()
    assert len(ran) == len({*ran})
    assert concurrency > 1 or max(ran) == bad


def test_jobs_that_run_come_to_their_end_after_a_stop() -> None:
    """Their answers are paid for."""
    running = threading.Event()
    done: list[str] = []

    def slow() -> None:
        running.set()
        stop.wait(30)
        done.append("slow")

    def bad() -> None:
        running.wait(30)
        raise BUDGET

    stop = threading.Event()
    assert run_jobs([slow, bad, nothing], 2, stop) is BUDGET
    assert done == ["slow"]


def test_an_error_of_ours_is_raised_and_not_lost() -> None:
    def broken() -> None:
        raise ZeroDivisionError("a bug")

    ran: list[int] = []
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run_jobs([broken, partial(ran.append, 1)], 1, threading.Event())
    assert not ran


def test_an_interrupt_of_the_waiting_thread_waits_for_what_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The interrupt is raised where the run waits, as Python does it; a second one is let out."""
    interrupts = [KeyboardInterrupt()]
    began = threading.Event()
    done: list[int] = []

    def wait(end: threading.Event) -> None:
        began.wait(30)
        if interrupts:
            raise interrupts.pop()
        end.wait()

    def slow() -> None:
        began.set()
        stop.wait(30)
        done.append(1)

    stop = threading.Event()
    monkeypatch.setattr(scheduler, "_wait", wait)
    result = run_jobs([slow, nothing], 1, stop)
    assert result is not None
    assert result.reason == "interrupted"
    assert done == [1]
    interrupts += [KeyboardInterrupt(), KeyboardInterrupt()]
    began.clear()
    stop = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        run_jobs([slow], 1, stop)


def test_an_interrupt_after_a_job_stopped_the_run_waits_for_what_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    interrupts = [KeyboardInterrupt()]
    answers: list[int] = []
    stop, release = threading.Event(), threading.Event()

    def broke() -> None:
        raise BUDGET

    def paid() -> None:
        stop.wait(30)
        release.wait(30)
        answers.append(1)

    def wait(end: threading.Event) -> None:
        stop.wait(30)
        if interrupts:
            raise interrupts.pop()
        release.set()
        end.wait()

    monkeypatch.setattr(scheduler, "_wait", wait)
    result = run_jobs([paid, broke], 2, stop)
    assert result is not None
    assert result.reason == "budget"
    assert answers == [1]
