"""A host that is silent holds up what waits for it once, and a host that is only slow never."""

from __future__ import annotations

import asyncio

import pytest

from skillyard import SourceFailed
from skillyard.install.sources.quotas import OPEN_S, CircuitBreaker
from skillyard.install.sources.transport import MAX_REQUESTS, Transport
from skillyard_testkit import Response, faults
from tests.install.sources.clients import Clock, Network

HERE, THERE = "https://here.test:443", "https://there.test:443"
TIMEOUT = SourceFailed("timeout", "no answer")


@pytest.fixture
def clock() -> Clock:
    return Clock()


def is_silent(breaker: CircuitBreaker, origin: str) -> bool:
    try:
        breaker.check(origin)
    except SourceFailed as error:
        return (error.code, origin in str(error)) == ("timeout", True)
    return False


def test_a_host_is_silent_for_a_while_after_a_timeout(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, 30)
    assert not is_silent(breaker, HERE)
    breaker.record(HERE, TIMEOUT)
    assert is_silent(breaker, HERE)
    assert not is_silent(breaker, THERE)
    clock.turn(OPEN_S)
    assert not is_silent(breaker, HERE)


@pytest.mark.parametrize("code", [None, "not_found", "status", "too_large", "unreachable"])
def test_a_host_that_said_anything_lately_is_not_silent(clock: Clock, code: str | None) -> None:
    breaker = CircuitBreaker(clock, 30)
    breaker.record(HERE, None if code is None else SourceFailed(code, "it said so"))
    breaker.record(HERE, TIMEOUT)
    assert not is_silent(breaker, HERE)


def ask_many(net: Network, count: int, deadline_s: float) -> list[str]:
    """Return how each of many requests to one host ended."""

    async def asked(transport: Transport) -> list[str]:
        answers = await asyncio.gather(
            *(transport.get("github-raw", f"/demo/{number}") for number in range(count)),
            return_exceptions=True,
        )
        return [getattr(answer, "code", "answered") for answer in answers]

    return net.ask(asked, deadline_s=deadline_s)


def test_what_waits_for_room_at_a_silent_host_does_not_wait_for_a_deadline_too(
    net: Network,
) -> None:
    net.up.faults.add("github_raw", "*", faults.hang(), times=None)
    assert set(ask_many(net, 3 * MAX_REQUESTS, 0.5)) == {"timeout"}
    assert net.up.count("github_raw") <= MAX_REQUESTS


def test_one_that_hangs_among_others_costs_itself_alone(net: Network) -> None:
    net.up.faults.add("github_raw", "/demo/0", faults.hang(), times=None)
    net.up.faults.add("github_raw", "*", faults.respond_with(Response(200, b"x")), times=None)
    ended = ask_many(net, 2 * MAX_REQUESTS, 1.0)
    assert ended == ["timeout", *["answered"] * (2 * MAX_REQUESTS - 1)]
