"""Money and calls: what is spent and reserved together never passes the cap, in any process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard.errors import InvalidInput
from skillyard.evals.models.calls import Budget, Price, RunStopped, Spending, require_prices
from skillyard.evals.storage import Events
from tests.evals.models.making import price_of

GOING = Event()
"""Never set: nobody interrupts."""
Process = Callable[..., Budget]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """Return the budget of another process of a run."""
    with ExitStack() as at_end:

        def opened(run_id: str = "r", **caps: Any) -> Budget:
            return Budget(**caps, events=at_end.enter_context(Events(str(tmp_path), run_id)))

        yield opened


@given(
    cap=st.integers(0, 100),
    costs=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans()), max_size=40),
)
def test_in_any_order_of_reserving_and_settling_the_cap_holds(
    cap: int, costs: Sequence[tuple[int, int, bool]]
) -> None:
    """Amounts are hundredths, so that sums of floats would drift; the last cent can be used."""
    budget = Budget(cap / 100)
    stopped = Event()
    stopped.set()  # nobody waits
    flying: list[tuple[str, int, int]] = []
    spent = 0
    for worst, actual, settle_first in costs:
        if settle_first and flying:
            call, _, cost = flying.pop(0)
            budget.settle(call, cost / 100)
            spent += cost
        fits = spent + sum(each[1] for each in flying) + worst <= cap
        try:
            flying.append((budget.reserve(worst / 100, stopped), worst, min(worst, actual)))
        except RunStopped:
            assert not fits
        else:
            assert fits
        assert budget.spending().cost <= cap / 100 + 1e-9
        assert budget.own.cost == pytest.approx(spent / 100)


@settings(max_examples=25)
@given(
    cap=st.integers(10, 300),
    worst=st.integers(1, 60),
    shares=st.lists(st.integers(0, 100), min_size=1, max_size=60),
)
def test_many_threads_never_pass_the_cap(cap: int, worst: int, shares: Sequence[int]) -> None:
    budget = Budget(cap / 100)
    barrier = Barrier(8)
    seen: list[float] = []

    def work(number: int) -> int:
        barrier.wait()
        done = 0
        for share in shares[number::8]:
            try:
                call = budget.reserve(worst / 100, GOING)
            except RunStopped:
                return done
            seen.append(budget.spending().cost)
            budget.settle(call, worst * share / 10_000)
            done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(work, range(8)))
    assert max(seen, default=0.0) <= cap / 100 + 1e-9
    assert budget.own.calls == done
    assert budget.spending().cost == pytest.approx(budget.own.cost)
    assert budget.own.cost <= cap / 100 + 1e-9


def test_a_call_waits_for_those_in_flight_and_then_fits() -> None:
    budget = Budget(1.0)
    first = budget.reserve(0.8, GOING)
    calls: list[str] = []
    waiting = Thread(target=lambda: calls.append(budget.reserve(0.8, GOING)))
    waiting.start()
    budget.settle(first, 0.01)
    waiting.join(20)
    budget.settle(calls[0], 0.5)
    with pytest.raises(RunStopped, match=r"0\.5100 are spent, and the next call"):
        budget.reserve(0.8, GOING)  # nothing is in flight: waiting would not help


def test_a_cap_in_dollars_needs_prices_or_a_cap_on_calls() -> None:
    known: dict[str, Price | None] = {"a": price_of(1.0, 2.0), "b": None, "c": None}
    with pytest.raises(InvalidInput, match=r"no price is known for 'b', 'c', so a cap of 5 US"):
        require_prices(5.0, None, known)
    require_prices(5.0, 100, known)
    require_prices(None, None, known)
    require_prices(5.0, None, {"a": known["a"]})


def test_a_later_process_goes_on_where_the_earlier_one_ended(process: Process) -> None:
    first = process(max_cost=1.0)
    first.settle(first.reserve(0.6, GOING), 0.25)
    first.settle(first.reserve(0.5, GOING), None, lost=True)
    second = process(max_cost=1.0)
    assert second.spending() == first.spending() == Spending(2, 0.75, 1, 0.5)
    with pytest.raises(RunStopped, match=r"0\.7500 are spent, and the next call"):
        second.reserve(0.26, GOING)
    second.settle(second.reserve(0.25, GOING), 0.25)
    assert second.own == Spending(1, 0.25)


def test_what_a_killed_process_had_in_flight_counts_as_spent_and_lost(process: Process) -> None:
    process(max_cost=1.0).reserve(0.6, GOING)
    second = process(max_cost=1.0)
    assert second.spending() == Spending(1, 0.6, 1, 0.6)
    with pytest.raises(RunStopped, match=r"0\.0000 are spent, 0\.6000 reserved, and the next"):
        second.reserve(0.5, GOING)


def test_two_processes_see_each_other_at_once(process: Process) -> None:
    first, second = (process(max_cost=1.0, max_calls=3) for _ in range(2))
    in_flight = first.reserve(0.7, GOING)
    with pytest.raises(RunStopped):
        second.reserve(0.7, GOING)
    first.settle(in_flight, 0.1)
    second.settle(second.reserve(0.7, GOING), 0.1)
    first.reserve(0.1, GOING)
    with pytest.raises(RunStopped, match="3 calls are used"):
        second.reserve(0.0, GOING)


def test_other_runs_in_the_folder_have_budgets_of_their_own(process: Process) -> None:
    process("other", max_cost=1.0).reserve(1.0, GOING)
    assert process(max_cost=1.0).spending() == Spending()


DAMAGED: list[Any] = [
    b"{",
    b'{"event":"rese',
    b'["r","call"]',
    *(
        {"event": "reserved", "run_id": "r", "call": call, "cost": cost}
        for call, cost in [("a", -1), ("a", None), ("a", "1"), (7, 1.0), (None, 1.0)]
    ),
    {"event": "settled", "run_id": "r", "call": "never reserved", "cost": 5.0},
    {"event": "case", "run_id": "r", "call": "a", "cost": 5.0},
]  # fmt: skip


def test_damaged_events_are_left_out(tmp_path: Path, process: Process) -> None:
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in DAMAGED]
    (tmp_path / "events.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    budget = process(max_cost=1.0)
    budget.settle(budget.reserve(0.5, GOING), 0.5)
    assert budget.spending() == Spending(1, 0.5)


def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(
    tmp_path: Path, process: Process
) -> None:
    budget = process(max_cost=1.0)
    line = b'{"event":"reserved","run_id":"r","call":"a","cost":0.5}\n'
    for part, calls in ((line[:20], 0), (line[20:], 1)):
        with (tmp_path / "events.jsonl").open("ab") as file:
            file.write(part)
        assert budget.spending().calls == calls
