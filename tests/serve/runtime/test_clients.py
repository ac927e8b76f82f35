"""Shares of clients: nobody takes everything, and what is idle for the longest goes first."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from skillyard.serve.runtime.guards import UNKNOWN, FairShare, client_of_address
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
    assert share.amounts["0"] >= 3 * (total - 1) // 4
    assert share.acquire("late") == (share.free + share.amounts["late"] > 0)
    assert share.amounts.total() + share.free == total


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 30)), max_size=80))
def test_what_is_given_back_is_free_again(moves: list[tuple[str, int]]) -> None:
    share, held = FairShare(60), Counter[str]()
    for client, amount in moves:
        if amount >= 0 and share.acquire(client, amount):
            held[client] += amount
        elif amount < 0 and held[client] >= -amount:
            share.add(client, amount)
            held[client] += amount
        assert 60 - share.free == held.total() <= 60
        assert all(share.amounts[each] == held[each] for each in "abc")
