"""Quotas and waits: counted down, kept to, and never for longer than makes sense."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.transport import HttpResponse, Transport
from skillyard_testkit import RateLimit, Response, faults
from tests.install.sources.clients import (
    FILE,
    TREE,
    Network,
    with_files,
)


@pytest.fixture
def site(net: Network) -> Network:
    return with_files(net)


# --- quotas ---


def test_a_spent_quota_is_not_asked_again_before_it_comes_back(site: Network) -> None:
    site.up.switches.rate_limits["github_api"] = RateLimit(anonymous=2, window_s=600)

    async def use(transport: Transport) -> None:
        for number in range(2):
            await transport.get("github-api", f"{TREE}&n={number}")
        site.clock.turn(100)
        for number in range(2, 8):
            with pytest.raises(SourceFailed) as caught:
                await transport.get("github-api", f"{TREE}&n={number}")
            assert caught.value.code == "rate_limited"
            assert caught.value.retry_after_s == pytest.approx(500, abs=2)
        assert site.up.count("github_api") == 2  # none of them was sent
        assert (await transport.get("github-raw", FILE)).body == b"first"  # another quota
        site.clock.turn(502)
        assert (await transport.get("github-api", f"{TREE}&n=9")).status == 200

    site.ask(use)
    assert site.up.count("github_api") == 3


def retry_after(text: str, code: int = 429) -> Response:
    return Response(code, b"{}", {"retry-after": text})


@contextmanager
def limited() -> Iterator[None]:
    """Let a limit pass, and nothing else."""
    try:
        yield
    except SourceFailed as error:
        if error.code != "rate_limited":
            raise


def asked_again_after(net: Network, waits: list[float]) -> list[int]:
    """Return how many requests were sent in all after each further wait."""

    async def use(transport: Transport) -> list[int]:
        counts = []
        for wait in [0.0, *waits]:
            net.clock.turn(wait)
            with limited():
                await transport.get("github-api", TREE)
            counts.append(net.up.count("github_api"))
        return counts

    return net.ask(use)


@pytest.mark.parametrize("code", [403, 429, 503])
def test_retry_after_is_kept_to(site: Network, code: int) -> None:
    site.answers("github_api", retry_after("40", code))
    assert site.failure("github-api", TREE).retry_after_s == 40
    site.up.faults.clear()
    site.clock.turn(3_600)
    site.answers("github_api", retry_after("40"))
    assert asked_again_after(site, [39, 2]) == [2, 2, 3]


def test_the_secondary_limit_holds_for_what_it_says_or_a_minute(site: Network) -> None:
    site.up.faults.add("github_api", "*", faults.secondary_limited(retry_after=90))
    site.up.faults.add("github_api", "*", faults.secondary_limited(retry_after=None))
    assert asked_again_after(site, [89, 2, 59, 2]) == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("reset", ["soon", "-1", "inf", "9" * 400])
def test_a_reset_that_makes_no_sense_shuts_nothing_out_for_ever(site: Network, reset: str) -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    site.answers("github_api", Response(200, b"{}", headers), Response(429, b"{}", headers))

    async def use(transport: Transport) -> HttpResponse:
        for _ in range(2):
            with limited():
                await transport.get("github-api", TREE)
            site.clock.turn(3_601)
        return await transport.get("github-api", TREE)

    assert json.loads(site.ask(use).body)["truncated"] is False


def test_403_without_a_limit_is_a_denial_and_says_nothing_of_limits(site: Network) -> None:
    site.up.faults.add("github_api", "*", faults.status(403))

    async def use(transport: Transport) -> HttpResponse:
        with pytest.raises(SourceFailed) as caught:
            await transport.get("github-api", "/repos/demo/skills")
        assert (caught.value.code, caught.value.status) == ("denied", 403)
        assert caught.value.retry_after_s is None
        return await transport.get("github-api", TREE)

    assert site.ask(use).status == 200
