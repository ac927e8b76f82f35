"""Shares of clients: nobody takes everything, and what is idle for the longest goes first."""

from __future__ import annotations

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from skillyard.serve.runtime.clients import CLIENT, UNKNOWN, FairShare, client_of_address
from skillyard.serve.runtime.guards import ConcurrencyLimiter
from skillyard.serve.runtime.options import ServiceLimits
from skillyard.serve.runtime.slots import SlotTable
from tests.requirements import requirement
from tests.tables import for_each

pytestmark = requirement("service:fair-use")


@for_each(
    ("address", "client"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_client_is_an_address_or_a_network_of_ipv6(address: str, client: str) -> None:
    assert client_of_address(address) == client


def test_one_without_an_address_has_no_share() -> None:
    share = FairShare(10)
    assert all(share.acquire(UNKNOWN) for _ in range(10))


@given(st.integers(1, 2_000), st.integers(1, 6))
def test_however_many_take_all_they_can_the_next_one_gets_something(total: int, many: int) -> None:
    share = FairShare(total)
    for number in range(many):
        while share.acquire(str(number)):
            pass
    # One alone has three quarters; each further one leaves a quarter of what was left.
    assert share.amount_of("0") >= 3 * (total - 1) // 4
    assert share.acquire("late") == (share.free + share.amount_of("late") > 0)
    assert share.used + share.free == total


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 30)), max_size=80))
def test_what_is_given_back_is_free_again(moves: list[tuple[str, int]]) -> None:
    share, held = FairShare(60), Counter[str]()
    for client, amount in moves:
        if amount >= 0 and share.acquire(client, amount):
            held[client] += amount
        elif amount < 0 and held[client] >= -amount:
            share.release(client, -amount)
            held[client] += amount
        assert share.used == held.total() <= 60
        assert all(share.amount_of(each) == held[each] for each in "abc")


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from(["new", "busy", "idle", "end"]), st.integers(0, 40),
             st.sampled_from("abc")), max_size=120),
)  # fmt: skip
def test_the_table_never_holds_more_and_gives_up_only_what_is_idle(
    most: int, moves: list[tuple[str, int, str]]
) -> None:
    table: SlotTable[int] = SlotTable(most)
    open_: dict[int, str] = {}
    busy: set[int] = set()
    for number, (move, which, client) in enumerate(moves):
        chosen = list(open_)[which % len(open_)] if open_ else -1
        if move == "new":
            admitted, victim = table.admit(client)
            if victim is not None:
                assert victim not in busy
                del open_[victim]
            if admitted:
                table.add(number, client)
                open_[number] = client
        elif move == "busy":
            table.set_busy(chosen)
            busy.add(chosen)
        elif move == "idle":
            table.set_idle(chosen)
            busy.discard(chosen)
        else:
            table.remove(chosen)
            open_.pop(chosen, None)
            busy.discard(chosen)
        assert len(table) == len(open_) <= most
        assert all(each in table for each in open_)


def test_a_client_at_its_share_loses_its_own_oldest_and_nobody_elses() -> None:
    table: SlotTable[str] = SlotTable(8)
    assert table.admit("honest") == (True, None)
    table.add("h", "honest")
    for number in range(20):
        admitted, victim = table.admit("greedy")
        assert admitted
        assert victim in (None, f"g{number - 6}")
        table.add(f"g{number}", "greedy")
    assert "h" in table
    assert len(table) == 7


def test_those_who_wait_have_their_turns_by_client() -> None:
    async def work() -> list[str]:
        places = ConcurrencyLimiter(ServiceLimits(at_once=1, queue=15))
        order: list[str] = []
        begun = asyncio.Event()

        async def ask(client: str, name: str) -> None:
            CLIENT.set(client)
            async with places.slot():
                order.append(name)
                await begun.wait()

        async with asyncio.TaskGroup() as group:
            for number in range(5):
                group.create_task(ask("greedy", f"g{number}"))
            group.create_task(ask("honest", "h0"))
            group.create_task(ask("honest", "h1"))
            await asyncio.sleep(0)
            given_up = group.create_task(ask("other", "o0"))
            await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.sleep(0)
            assert (places.running, places.waiting) == (1, 6)
            begun.set()
        assert (places.running, places.waiting) == (0, 0)
        return order

    assert asyncio.run(work()) == ["g0", "g1", "h0", "g2", "h1", "g3", "g4"]
