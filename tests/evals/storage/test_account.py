"""The account of a run: what processes reserved and paid, read back from the events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillyard.evals.models.ledger import Ledger, Spending
from skillyard.evals.models.protocol import RunStopped
from skillyard.evals.storage.account import RunAccount
from skillyard.evals.storage.events import Events
from tests.tables import for_each


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[RunAccount]]:
    """Accounts that are closed at the end."""
    accounts: list[RunAccount] = []
    yield accounts
    for account in accounts:
        account.close()


def ledger(tmp_path: Path, opened: list[RunAccount], run_id: str = "r", **caps: Any) -> Ledger:
    """Return the ledger of another process of the run."""
    opened.append(RunAccount(str(tmp_path), run_id))
    return Ledger(**caps, account=opened[-1])


def test_a_later_process_goes_on_where_the_earlier_one_ended(
    tmp_path: Path, opened: list[RunAccount]
) -> None:
    first = ledger(tmp_path, opened, max_cost=1.0)
    first.reserve(0.6).settle(0.25)
    first.reserve(0.5).settle(0.5, lost=True)
    second = ledger(tmp_path, opened, max_cost=1.0)
    assert second.spending() == first.spending() == Spending(2, 0.75, 1, 0.5)
    with pytest.raises(RunStopped, match=r"0\.7500 are spent, and the next call"):
        second.reserve(0.26)
    second.reserve(0.25).settle(0.25)
    assert (second.spent, second.calls) == (0.25, 1), "its own"


def test_what_a_killed_process_had_in_flight_counts_as_spent_and_lost(
    tmp_path: Path, opened: list[RunAccount]
) -> None:
    ledger(tmp_path, opened, max_cost=1.0).reserve(0.6)
    second = ledger(tmp_path, opened, max_cost=1.0)
    assert second.spending() == Spending(1, 0.6, 1, 0.6)
    with pytest.raises(RunStopped, match=r"0\.0000 are spent, 0\.6000 reserved, and the next"):
        second.reserve(0.5)


def test_two_processes_see_each_other_at_once(tmp_path: Path, opened: list[RunAccount]) -> None:
    first = ledger(tmp_path, opened, max_cost=1.0, max_calls=3)
    second = ledger(tmp_path, opened, max_cost=1.0, max_calls=3)
    in_flight = first.reserve(0.7)
    with pytest.raises(RunStopped):
        second.reserve(0.7)
    in_flight.settle(0.1)
    second.reserve(0.7).settle(0.1)
    first.reserve(0.1)
    with pytest.raises(RunStopped, match="3 calls are used"):
        second.reserve(0.0)


def test_other_runs_in_the_folder_have_accounts_of_their_own(
    tmp_path: Path, opened: list[RunAccount]
) -> None:
    ledger(tmp_path, opened, "other", max_cost=1.0).reserve(1.0)
    assert ledger(tmp_path, opened, max_cost=1.0).spending() == Spending()


DAMAGED: list[Any] = [
    b"{",
    b'{"event":"rese',
    b'["r","call"]',
    *(
        {"event": "reserved", "run_id": "r", "call": call, "cost": cost}
        for call, cost in [
            ("a", -1), ("a", None), ("a", "1"), ("a", True), ("a", 1e300), (7, 1.0), (None, 1.0),
        ]
    ),
    {"event": "settled", "run_id": "r", "call": "never reserved", "cost": 5.0},
    {"event": "case", "run_id": "r", "call": "a", "cost": 5.0},
]  # fmt: skip


@for_each("line", DAMAGED)
def test_a_damaged_event_is_left_out(line: Any, tmp_path: Path, opened: list[RunAccount]) -> None:
    raw = line if isinstance(line, bytes) else json.dumps(line).encode()
    (tmp_path / "events.jsonl").write_bytes(raw + b"\n")
    account = ledger(tmp_path, opened, max_cost=1.0)
    account.reserve(0.5).settle(0.5)
    assert account.spending() == Spending(1, 0.5)


def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(
    tmp_path: Path, opened: list[RunAccount]
) -> None:
    account = ledger(tmp_path, opened, max_cost=1.0)
    line = b'{"event":"reserved","run_id":"r","call":"a","cost":0.5}\n'
    for part, calls in ((line[:20], 0), (line[20:], 1)):
        with (tmp_path / "events.jsonl").open("ab") as file:
            file.write(part)
        assert account.spending().calls == calls


def test_an_event_twice_counts_once(tmp_path: Path, opened: list[RunAccount]) -> None:
    events = Events(str(tmp_path), "r")
    for event, cost in (("reserved", 0.5), ("reserved", 0.5), ("settled", 0.1), ("settled", 0.1)):
        events.append(event, call="a", cost=cost, lost=False)
    events.close()
    assert ledger(tmp_path, opened).spending() == Spending(1, 0.1)
