"""Bodies: as large as asked for, unpacked or refused, and never taken for another's."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Mapping

import pytest

from skillyard.install.sources.transport import HttpResponse, Transport
from skillyard_testkit import Response, faults
from tests.install.sources.clients import (
    FILE,
    TREE,
    Network,
    is_json,
    with_files,
)
from tests.requirements import requirement


@pytest.fixture
def site(net: Network) -> Network:
    return with_files(net)


# --- bodies ---


def test_a_body_may_have_as_many_bytes_as_asked_for_and_no_more(site: Network) -> None:
    site.answers("github_raw", Response(200, b"x" * 1_000), Response(200, b"x" * 1_001))
    assert len(site.get("github-raw", FILE, max_bytes=1_000).body) == 1_000
    assert site.failure("github-raw", "/b", max_bytes=1_000).code == "too_large"


BAD_PACKING = {
    "no gzip": ("gzip", b"plain text"),
    "cut gzip": ("gzip", gzip.compress(b"hello" * 100)[:-20]),
    "damaged gzip": ("gzip", gzip.compress(b"hello" * 100)[:-6] + b"\x00" * 6),
    "unknown": ("snappy", b"hello"),
    "empty gzip": ("gzip", b""),
    "no deflate": ("deflate", b"\xff\xff\xff\xff"),
}


@pytest.mark.parametrize("name", BAD_PACKING)
def test_a_body_that_is_packed_badly_is_refused(site: Network, name: str) -> None:
    coding, body = BAD_PACKING[name]
    site.answers("github_raw", Response(200, body, {"content-encoding": coding}))
    assert site.failure("github-raw", FILE, fresh_s=60).code == "bad_answer"
    assert site.get("github-raw", FILE, fresh_s=60).body == b"first"


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "identity", ""])
def test_a_body_that_is_packed_well_is_unpacked(site: Network, coding: str) -> None:
    body = gzip.compress(b"hello") if coding.lower() == "gzip" else b"hello"
    headers = {"content-encoding": coding} if coding else {}
    site.answers("github_raw", Response(200, body, headers))
    assert site.get("github-raw", FILE).body == b"hello"


MORE: Mapping[str, bytes] = {
    "46 MB": bytes(46 * 10**6),
    "one byte": b"x",
    "another member": gzip.compress(b"more"),
}


@requirement("safety:fetch:counted")
@pytest.mark.parametrize("more", MORE)
def test_what_follows_the_end_of_a_gzip_stream_is_refused(site: Network, more: str) -> None:
    body = gzip.compress(b"hello") + MORE[more]
    tracemalloc.start()
    try:
        site.answers("github_raw", Response(200, body, {"content-encoding": "gzip"}))
        before = tracemalloc.get_traced_memory()[0]
        assert site.failure("github-raw", FILE).code in ("bad_answer", "too_large")
        assert tracemalloc.get_traced_memory()[1] - before < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_a_body_after_which_more_comes_does_not_become_the_next_answer(site: Network) -> None:
    async def use(transport: Transport) -> HttpResponse:
        site.up.faults.add("github_raw", "*/a.md", faults.wrong_length(-3))
        short = await transport.get("github-raw", FILE)
        assert short.body == b"fi"
        return await transport.get("github-raw", "/demo/skills/HEAD/b.md")

    assert site.ask(use, kept=False).body == b"b"


@pytest.mark.parametrize(
    "body",
    [b"", b"nul", b"\xff\xfe{}", b"[" * 100_000, b'{"a": 1', b"<!DOCTYPE html><p>{}</p>"],
    ids=["empty", "no word", "not UTF-8", "deep", "cut", "a page"],
)
def test_what_is_no_json_is_a_bad_answer(site: Network, body: bytes) -> None:
    site.answers("github_api", Response(200, body, {"content-type": "application/json"}))
    assert site.failure("github-api", TREE, check=is_json).code == "bad_answer"
