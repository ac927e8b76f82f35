"""The one way out: asks once, keeps what is good, and says how old it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.transport import HttpResponse, Transport
from skillyard_testkit import faults
from skillyard_testkit.faults import Fault
from tests.install.sources.clients import (
    FILE,
    TREE,
    Network,
    is_json,
    sent,
    with_files,
)
from tests.tables import for_each

IMPATIENT = {"deadline_s": 0.4}


@pytest.fixture
def site(net: Network) -> Network:
    return with_files(net)


def change(net: Network, text: str = "second") -> None:
    net.up.add_repository("demo/skills", {"a.md": text, "b.md": "b"})


# --- asked once ---


def test_what_is_asked_for_many_times_at_once_is_asked_for_once(site: Network) -> None:
    site.up.switches.latency_s = 0.1

    async def use(transport: Transport) -> list[HttpResponse]:
        asked = [transport.get("github-raw", FILE) for _ in range(40)]
        return list(await asyncio.gather(*asked))

    for kept in (True, False):
        before = site.up.count("github_raw")
        replies = site.ask(use, kept=kept)
        assert {reply.body for reply in replies} == {b"first"}
        assert site.up.count("github_raw") == before + 1


def test_closing_while_one_waits_ends_at_once(site: Network) -> None:
    site.up.faults.add("github_raw", "*", faults.hang())

    async def use(transport: Transport) -> asyncio.Task[HttpResponse]:
        waiting = asyncio.create_task(transport.get("github-raw", FILE))
        while not site.up.count("github_raw"):
            await asyncio.sleep(0)
        return waiting

    async def closed() -> object:
        async with site.transport() as transport:
            waiting = await use(transport)
        waiting.cancel()
        (result,) = await asyncio.gather(waiting, return_exceptions=True)
        return result

    result = asyncio.run(asyncio.wait_for(closed(), 10))
    assert isinstance(result, asyncio.CancelledError | SourceFailed)


def test_a_host_that_hangs_does_not_hold_up_another(site: Network) -> None:
    site.up.faults.add("github_api", "*", faults.hang(), times=None)

    async def use(transport: Transport) -> HttpResponse:
        slow = [
            asyncio.create_task(transport.get("github-api", f"/repos/demo/x{number}"))
            for number in range(16)
        ]
        while site.up.count("github_api") < 8:
            await asyncio.sleep(0)
        reply = await transport.get("github-raw", FILE)
        assert not any(task.done() for task in slow)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return reply

    assert site.ask(use, deadline_s=5.0).body == b"first"


# --- fresh, the same, changed ---


def test_what_is_fresh_is_not_asked_for_and_says_its_age(site: Network) -> None:
    first = site.get("github-raw", FILE, fresh_s=60)
    change(site)
    site.clock.turn(59)
    again = site.get("github-raw", FILE, fresh_s=60)
    assert (first.body, first.age_s, first.stale) == (b"first", 0.0, False)
    assert (again.body, again.age_s, again.stale) == (b"first", 59.0, False)
    assert site.up.count("github_raw") == 1


def test_what_is_no_longer_fresh_is_asked_for_with_its_tag(site: Network) -> None:
    site.get("github-raw", FILE, fresh_s=60)
    site.clock.turn(61)
    again = site.get("github-raw", FILE, fresh_s=60)
    assert (again.status, again.body, again.age_s, again.stale) == (200, b"first", 0.0, False)
    first, second = sent(site)
    assert "if-none-match" not in first
    assert second["if-none-match"]
    assert [request.status for request in site.up.requests] == [200, 304]


def test_an_answer_is_kept_across_processes_and_not_without_a_cache(site: Network) -> None:
    for kept, count in ((True, 1), (True, 1), (False, 2), (False, 3)):
        site.get("github-raw", FILE, fresh_s=60, how={"kept": kept})
        assert site.up.count("github_raw") == count


# --- the remote is away, limited or lying ---

AWAY: dict[str, tuple[Callable[[], Fault], str]] = {
    "401": (lambda: faults.status(401), "denied"),
    "403": (lambda: faults.status(403), "denied"),
    "409": (lambda: faults.status(409), "status"),
    "429": (lambda: faults.status(429), "rate_limited"),
    "429 with a wait": (lambda: faults.status(429, retry_after=9), "rate_limited"),
    "500": (lambda: faults.status(500), "status"),
    "502": (lambda: faults.status(502), "status"),
    "503": (lambda: faults.status(503), "status"),
    "primary limit, 403": (lambda: faults.rate_limited(403), "rate_limited"),
    "primary limit, 429": (lambda: faults.rate_limited(429), "rate_limited"),
    "secondary limit": (lambda: faults.secondary_limited(), "rate_limited"),
    "secondary limit, no wait": (
        lambda: faults.secondary_limited(retry_after=None),
        "rate_limited",
    ),
    "a page": (faults.html, "bad_answer"),
    "cut JSON": (faults.truncated_json, "bad_answer"),
    "hang": (faults.hang, "timeout"),
    "hang within": (lambda: faults.hang(after=5), "timeout"),
    "endless": (faults.endless, "too_large"),
    "bomb": (lambda: faults.gzip_bomb(64 * 1024 * 1024), "too_large"),
    "promises more": (lambda: faults.wrong_length(+100), "unreachable"),
    "promises less": (lambda: faults.wrong_length(-5), "bad_answer"),
}


@for_each("name", AWAY)
def test_a_failure_is_named_never_kept_and_what_was_kept_answers_instead(
    site: Network, name: str
) -> None:
    make, code = AWAY[name]
    tree = f"{TREE}&case={[*AWAY].index(name)}"  # nothing of it is kept yet
    site.up.faults.add("github_api", "*", make())
    error = site.failure("github-api", tree, fresh_s=60, check=is_json, how=IMPATIENT)
    assert error.code == code
    assert str(error)
    site.clock.turn(120)
    good = site.get("github-api", tree, fresh_s=60, check=is_json)
    assert (json.loads(good.body)["truncated"], good.stale) == (False, False)

    site.clock.turn(500)
    site.up.faults.add("github_api", "*", make())
    reply = site.get("github-api", tree, fresh_s=60, check=is_json, how=IMPATIENT)
    assert (reply.status, reply.body) == (200, good.body)
    assert (reply.stale, reply.age_s) == (True, 500.0)
    site.clock.turn(120)
    later = site.get("github-api", tree, fresh_s=60, check=is_json)
    assert (later.body, later.stale) == (good.body, False)


def test_a_check_that_fails_is_a_failure_and_its_answer_is_not_kept(site: Network) -> None:
    def refuse(headers: Mapping[str, str], body: bytes) -> None:
        raise SourceFailed("bad_answer", "not what was asked for")

    assert site.failure("github-raw", FILE, fresh_s=60, check=refuse).code == "bad_answer"
    assert site.get("github-raw", FILE, fresh_s=60).body == b"first"
    assert site.up.count("github_raw") == 2


# --- not there ---


@pytest.mark.parametrize("code", [404, 410, 451])
def test_what_is_not_there_is_an_answer_that_is_kept_for_a_minute_at_most(
    site: Network, code: int
) -> None:
    site.up.faults.add("github_raw", "*", faults.status(code))
    assert site.get("github-raw", FILE, fresh_s=3_600).status == 404 or code != 404
    site.clock.turn(61)
    reply = site.get("github-raw", FILE, fresh_s=3_600)
    assert (reply.status, reply.body) == (200, b"first")


# --- offline ---


def test_offline_answers_from_what_is_kept_whatever_its_age(site: Network) -> None:
    site.get("github-raw", FILE, fresh_s=60)
    site.clock.turn(86_400)
    before = len(site.up.requests)
    reply = site.get("github-raw", FILE, fresh_s=60, how={"offline": True})
    assert (reply.body, reply.age_s, reply.stale) == (b"first", 86_400.0, True)
    assert len(site.up.requests) == before


def test_offline_sends_nothing_and_says_so(site: Network) -> None:
    for kept in (True, False):
        error = site.failure("github-raw", FILE, how={"offline": True, "kept": kept})
        assert error.code == "offline"
    assert site.up.requests == []
