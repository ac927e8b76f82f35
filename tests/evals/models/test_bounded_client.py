"""The HTTP client: bounded in time and in size, packed bodies too, and no redirects."""

from __future__ import annotations

import gzip
from importlib.util import find_spec

import pytest

from skillyard.evals.models.sdk import bounded_client
from skillyard_testkit.fake_llm import FakeLlm, faults
from skillyard_testkit.messages import Response
from tests.evals.models.conftest import KEY, TIMEOUT_S

pytestmark = pytest.mark.skipif(find_spec("httpx2") is None, reason="httpx2 is not installed")


def post(fake: FakeLlm, fault: faults.Fault, max_body: int, timeout_s: float = TIMEOUT_S) -> bytes:
    fake.faults.add(fault)
    body = {
        "model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hello."}],
    }  # fmt: skip
    headers = {"x-api-key": KEY, "anthropic-version": "2026-10-21"}
    with bounded_client(max_body) as client:
        response = client.post(
            f"{fake.url}/v1/messages", json=body, headers=headers, timeout=timeout_s
        )
        assert "content-encoding" not in response.headers
        result: bytes = response.content
        return result


def packed(size: int) -> Response:
    data = gzip.compress(b"x" * size)
    return Response(200, data, {"content-type": "text/plain", "content-encoding": "gzip"})


def test_a_body_within_the_bound_comes_whole_and_unpacked(fake: FakeLlm) -> None:
    assert post(fake, faults.respond_with(Response(200, b"x" * 1_000)), 1_000) == b"x" * 1_000
    assert post(fake, faults.respond_with(packed(1_000)), 1_000) == b"x" * 1_000


@pytest.mark.parametrize("answer", [Response(200, b"x" * 1_001), packed(50_000_000)])
def test_a_longer_one_is_refused_also_when_it_was_packed(fake: FakeLlm, answer: Response) -> None:
    import httpx2

    with pytest.raises(httpx2.ReadError, match="more than 1,000 bytes"):
        post(fake, faults.respond_with(answer), 1_000)
