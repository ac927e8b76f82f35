"""Money and calls: what is spent and reserved together never passes the cap."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.evals.models.ledger import Ledger, Reservation, require_prices
from skillyard.evals.models.prices import Price
from skillyard.evals.models.protocol import RunStopped
from tests.tables import for_each


@for_each(("cap", "shown"), [(0.0001, "0.0001"), (0.0, "0.00"), (0.5, "0.50"), (0.125, "0.125")])
def test_a_small_cap_is_told_with_its_digits(cap: float, shown: str) -> None:
    with pytest.raises(RunStopped, match=rf"the run may cost {shown} US dollars"):
        Ledger(cap).reserve(0.6)
    with pytest.raises(InvalidInput, match=rf"a cap of {shown} US"):
        require_prices(cap, None, {"home-made": None})


@given(
    cap=st.integers(0, 100),
    costs=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans()), max_size=40),
)
def test_in_any_order_of_reserving_and_settling_the_cap_holds(
    cap: int, costs: Sequence[tuple[int, int, bool]]
) -> None:
    """Amounts are hundredths, so that sums of floats would drift; the last cent can be used."""
    ledger = Ledger(cap / 100)
    flying: list[tuple[Reservation, int, int]] = []
    spent = 0
    for worst, actual, settle_first in costs:
        if settle_first and flying:
            reservation, _, cost = flying.pop(0)
            reservation.settle(cost / 100)
            spent += cost
        reserved = sum(each[1] for each in flying)
        fits = spent + reserved + worst <= cap
        try:
            flying.append((ledger.reserve(worst / 100), worst, min(worst, actual)))
        except RunStopped:
            assert not fits
        else:
            assert fits
        assert ledger.spent + ledger.reserved <= cap / 100 + 1e-9
        assert ledger.spent == pytest.approx(spent / 100)


@settings(max_examples=25)
@given(
    cap=st.integers(10, 300),
    worst=st.integers(1, 60),
    shares=st.lists(st.integers(0, 100), min_size=1, max_size=60),
    patient=st.booleans(),
)
def test_many_threads_never_pass_the_cap(
    cap: int, worst: int, shares: Sequence[int], patient: bool
) -> None:
    ledger = Ledger(cap / 100)
    stop = Event()
    barrier = Barrier(8)
    seen: list[float] = []

    def work(number: int) -> int:
        barrier.wait()
        done = 0
        for share in shares[number::8]:
            try:
                reservation = ledger.reserve(worst / 100, stop=stop if patient else None)
            except RunStopped:
                return done
            seen.append(ledger.spent + ledger.reserved)
            reservation.settle(worst * share / 10_000)
            done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(work, range(8)))
    assert max(seen, default=0.0) <= cap / 100 + 1e-9
    assert (ledger.calls, ledger.reserved) == (done, 0.0)
    assert ledger.spent <= cap / 100 + 1e-9


def test_a_patient_call_waits_for_those_in_flight_and_then_fits() -> None:
    ledger = Ledger(1.0)
    first = ledger.reserve(0.8)
    got: list[Reservation] = []
    waiting = Thread(target=lambda: got.append(ledger.reserve(0.8, stop=Event())))
    waiting.start()
    first.settle(0.01)
    waiting.join(20)
    assert len(got) == 1
    with pytest.raises(RunStopped):
        ledger.reserve(0.8)
    got[0].settle(0.5)
    with pytest.raises(RunStopped, match=r"0\.5100 are spent, and the next call"):
        ledger.reserve(0.8, stop=Event())  # nothing is in flight: waiting would not help


def test_a_cap_in_dollars_needs_prices_or_a_cap_on_calls() -> None:
    known: dict[str, Price | None] = {"a": Price(1.0, 2.0), "b": None, "c": None}
    with pytest.raises(InvalidInput, match=r"no price is known for 'b', 'c', so a cap of 5\.00 US"):
        require_prices(5.0, None, known)
    require_prices(5.0, 100, known)
    require_prices(None, None, known)
    require_prices(5.0, None, {"a": known["a"]})


def test_where_the_worst_case_does_not_fit_all_that_is_left_is_reserved() -> None:
    """Only when no call is in flight: mostly more is left when one has settled."""
    ledger = Ledger(1.0)
    first = ledger.reserve(0.8, least_cost=0.1)
    with pytest.raises(RunStopped):
        ledger.reserve(0.8, least_cost=0.1)
    first.settle(0.7)
    second = ledger.reserve(0.8, least_cost=0.1)
    assert (first.whole, second.whole) == (True, False)
    assert second.cost == pytest.approx(0.3)
    second.settle(0.25)
    with pytest.raises(RunStopped, match=r"the next call may cost up to 0\.1000"):
        ledger.reserve(0.8, least_cost=0.1)
