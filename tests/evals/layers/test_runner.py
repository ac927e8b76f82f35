"""Jobs begin in their order, each once, and a run ends whole; looks keep the promise of a run."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.layers import run
from skillyard.evals.layers.run import look_sizes, run_in_threads
from skillyard.evals.layers.work import LOOKS
from skillyard.evals.models.calls import RunStopped
from skillyard.evals.statistics.verdicts import BETTER, WORSE, ArmComparison
from tests.evals.statistics.planting import allowed
from tests.tables import for_each

BUDGET = RunStopped("budget", "no money")


@given(count=st.integers(0, 25), threads=st.integers(1, 6))
def test_every_job_begins_once_and_in_order(count: int, threads: int) -> None:
    began: list[int] = []
    assert run_in_threads(began.append, count, threads, threading.Event()) is None
    assert sorted(began) == list(range(count))
    if threads == 1:
        assert began == list(range(count))


@given(bad=st.integers(0, 24), threads=st.integers(1, 6))
def test_after_a_stop_nothing_begins(bad: int, threads: int) -> None:
    ran: list[int] = []
    stop = threading.Event()

    def work(place: int) -> None:
        ran.append(place)
        if place == bad:
            raise BUDGET

    assert run_in_threads(work, 25, threads, stop) is BUDGET
    assert stop.is_set()
    assert len(ran) == len({*ran})
    assert threads > 1 or max(ran) == bad


def test_jobs_that_run_come_to_their_end_after_a_stop() -> None:
    """Their answers are paid for."""
    stop, running = threading.Event(), threading.Event()
    done: list[str] = []

    def work(place: int) -> None:
        if place == 0:
            running.set()
            stop.wait(30)
            done.append("slow")
        else:
            running.wait(30)
            raise BUDGET

    assert run_in_threads(work, 3, 2, stop) is BUDGET
    assert done == ["slow"]


def test_an_error_of_ours_is_raised_and_not_lost() -> None:
    def broken(place: int) -> None:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        run_in_threads(broken, 2, 1, threading.Event())


def blocked(release: threading.Event) -> None:
    release.wait(30)


@for_each("fails", [False, True])
def test_a_first_interrupt_waits_for_what_runs_and_a_second_one_does_not(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt is raised where the run waits, also after a job has stopped the run."""
    stop, running, release = (threading.Event() for _ in range(3))
    last = stop if fails else running
    done: list[int] = []
    interrupts = [KeyboardInterrupt()]

    def work(place: int) -> None:
        if fails and place == 1:
            raise BUDGET
        running.set()
        stop.wait(30)
        done.append(place)

    def wait(end: threading.Event) -> None:
        last.wait(30)
        if interrupts:
            raise interrupts.pop()
        end.wait()

    monkeypatch.setattr(run, "_wait", wait)
    result = run_in_threads(work, 2, 2 if fails else 1, stop)
    assert result is not None
    assert result.reason == ("budget" if fails else "interrupted")
    assert done == [0]
    interrupts += [KeyboardInterrupt(), KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        run_in_threads(lambda place: blocked(release), 1, 1, threading.Event())
    release.set()


@for_each(
    ("prompts", "skills", "sizes"),
    [(30, 1, (6, 18, 30)), (7, 1, (6, 7)), (6, 1, (6,)), (3, 1, (3,)), (30, 12, (9, 20, 30))],
)
def test_the_first_look_is_where_a_result_can_count(
    prompts: int, skills: int, sizes: tuple[int, ...]
) -> None:
    assert look_sizes(prompts, skills) == sizes


def share_decided(effect: float, chance: float, trials: int) -> float:
    """Return the share of runs that stop with better or worse."""
    rng = random.Random(4)
    decided = 0
    for _ in range(trials):
        values = tuple(rng.gauss(effect, 0.8) for _ in range(20))
        whole = ArmComparison("full", "baseline", 0, 0, 20, 0.8, values, (2.5, 1.5), 0.0, chance)
        words = {replace(whole, values=values[:size]).word for size in look_sizes(20, 1)}
        decided += bool(words & {BETTER, WORSE})
    return decided / trials


def test_looking_three_times_raises_no_more_false_alarms_than_looking_once() -> None:
    pytest.importorskip("numpy")
    trials = 600
    assert share_decided(0.0, 0.05 / LOOKS, trials) <= allowed(0.05, trials)
    assert share_decided(0.0, 0.95, trials) > 0.055, "which looking uncorrected does"
    assert share_decided(1.0, 1 - 0.05 / LOOKS, 100) > 0.95
