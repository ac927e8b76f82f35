"""Jobs begin in their order, after what they need, each once; and a run ends whole."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.layers import scheduler
from skillyard.evals.layers.scheduler import Job, run_jobs
from skillyard.evals.models.protocol import RunStopped

BUDGET = RunStopped("budget", "no money")


def nothing() -> None:
    """Do nothing."""


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Jobs that need some of those before them."""
    count = draw(st.integers(0, 25))
    return [
        tuple(sorted(draw(st.sets(st.integers(0, place - 1), max_size=4)))) if place else ()
        for place in range(count)
    ]


@given(graph=graphs(), concurrency=st.integers(1, 6))
def test_every_job_runs_once_after_its_needs(
    graph: list[tuple[int, ...]], concurrency: int
) -> None:
    ended: list[int] = []
    guard = threading.Lock()

    def work(place: int) -> Callable[[], None]:
        def do() -> None:
            with guard:
                assert {*graph[place]} <= {*ended}
                ended.append(place)

        return do

    jobs = [Job(work(place), after) for place, after in enumerate(graph)]
    assert run_jobs(jobs, concurrency, threading.Event()) is None
    assert sorted(ended) == list(range(len(graph)))
    if concurrency == 1:
        waiting, order = {*range(len(graph))}, []
        while waiting:
            first = min(place for place in waiting if not {*graph[place]} & waiting)
            order.append(first)
            waiting.remove(first)
        assert ended == order, "of all that may begin, the first in the list does"


@given(graph=graphs(), concurrency=st.integers(1, 6), data=st.data())
def test_after_a_stop_nothing_begins_that_needed_it(
    graph: list[tuple[int, ...]], concurrency: int, data: st.DataObject
) -> None:
    if not graph:
        return
    bad = data.draw(st.integers(0, len(graph) - 1))
    ran: list[int] = []

    def work(place: int) -> Callable[[], None]:
        def do() -> None:
            ran.append(place)
            if place == bad:
                raise BUDGET

        return do

    stop = threading.Event()
    jobs = [Job(work(place), after) for place, after in enumerate(graph)]
    assert run_jobs(jobs, concurrency, stop) is BUDGET
    assert stop.is_set()
    assert len(ran) == len({*ran})
    assert not any(bad in graph[place] for place in ran)


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
    assert run_jobs([Job(slow), Job(bad), Job(nothing, (0,))], 2, stop) is BUDGET
    assert done == ["slow"]


def test_an_error_of_ours_is_raised_and_not_lost() -> None:
    def broken() -> None:
        raise ZeroDivisionError("a bug")

    ran: list[int] = []
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run_jobs([Job(broken), Job(lambda: ran.append(1), (0,))], 2, threading.Event())
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
    result = run_jobs([Job(slow), Job(nothing, (0,))], 2, stop)
    assert result is not None
    assert result.reason == "interrupted"
    assert done == [1]
    interrupts += [KeyboardInterrupt(), KeyboardInterrupt()]
    began.clear()
    stop = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        run_jobs([Job(slow)], 1, stop)


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
    result = run_jobs([Job(paid), Job(broke)], 2, stop)
    assert result is not None
    assert result.reason == "budget"
    assert answers == [1]
