"""Asking models: how busy the calls of an evaluation keep a server, at a limit of concurrency.

The server is the stand-in, a process of its own that waits 50 ms before every answer. The calls go
through the makers' own libraries and through everything an evaluation puts around them: ledger,
prices, retries, events. A server that is never left waiting is in use for ``limit`` seconds a
second; the share of it that is not used is the figure. The peer sends the same bodies with the
standard library's bare client, over as many kept connections. Both need processor time between an
answer and the next request, so a busy machine shows in both; the best round decides.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Event, local
from typing import Any
from urllib.parse import urlsplit

from benchmarks.limits import Bound, Row, RunSettings, command, from_options
from benchmarks.measure import SOURCE, Figure, Options, Ratios, versions_of

SUMMARY = "calls to a server that takes 50 ms: the share of the concurrency limit that is in use"
LATENCY_MS = 50
LIMITS = (8, 16)
ROUNDS = 5
CALLS_A_SLOT = 80
"""So that the ramp at both ends is one eightieth of a round."""
IDLE = 10.0
"""Percent of the limit that may stay unused."""
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4.1-mini"}
KEY = "benchmark-key"
SYSTEM = "You are an experienced professional. " * 100
USER = "Clean the export: {number} rows, some of them twice."
TIMEOUT_S = 30.0


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield, for each library and limit, the unused share and what a call costs us."""
    yield Figure("what is used", versions_of("anthropic", "openai", "genai_prices", extra="eval"))
    rounds = 1 if settings.quick else settings.rounds or ROUNDS
    with _server() as urls:
        for provider in MODELS:
            for limit in LIMITS[:1] if settings.quick else LIMITS:
                yield from _compared(provider, urls[provider], limit, rounds)


def _compared(provider: str, url: str, limit: int, rounds: int) -> Iterator[Row]:
    ours, peer = _ours(provider, url, limit), _peer(provider, url, limit)
    for job in (ours, peer):  # connections, imports, the price table
        _round(job, url, limit, limit)
    shares: dict[str, list[float]] = {"ours": [], "peer": []}
    walls: dict[str, list[float]] = {"ours": [], "peer": []}
    cpus: list[float] = []
    count = limit * CALLS_A_SLOT
    for _ in range(rounds):
        for name, job in (("ours", ours), ("peer", peer)):
            cpu = time.process_time()
            share, wall = _round(job, url, limit, count)
            if name == "ours":
                cpus.append(time.process_time() - cpu)
            shares[name].append(share)
            walls[name].append(wall)
    used = [100 * share for share in shares["ours"]]
    yield Bound(
        f"{provider}, {limit} at once: unused",
        100 - max(used),
        IDLE,
        "%",
        f"best of {rounds} rounds; in use {min(used):.1f}–{max(used):.1f} %,"
        f" median {statistics.median(used):.1f} %;"
        f" peer's median {100 * statistics.median(shares['peer']):.1f} %",
    )
    yield Figure(
        f"{provider}, {limit} at once: wall time",
        f"{count / statistics.median(walls['ours']):,.0f} calls/s, "
        f"{1e3 * statistics.median(cpus) / count:.1f} ms of processor time a call",
        f"{count / statistics.median(walls['peer']):,.0f} calls/s with http.client",
        Ratios(tuple(a / b for a, b in zip(walls["ours"], walls["peer"], strict=True))),
    )


def _round(job: Callable[[int], object], url: str, limit: int, count: int) -> tuple[float, float]:
    """Run ``count`` calls, ``limit`` at once; return the limit's share in use, and the time."""
    before = _busy_s(url)
    start = time.perf_counter()
    with ThreadPoolExecutor(limit) as pool:
        for succeeded in pool.map(job, range(count)):
            assert succeeded
    wall = time.perf_counter() - start
    return (_busy_s(url) - before) / (wall * limit), wall


def _ours(provider: str, url: str, limit: int) -> Callable[[int], object]:
    from skillyard.evals.models.calls import Budget, Calls, ModelRequest, RetryTimes
    from skillyard.evals.models.providers import price
    from skillyard.evals.models.sdk import open_model

    os.environ |= {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    model = open_model(provider, base_url=url)
    calls = Calls(
        model,
        Budget(10_000.0, 1_000_000),
        prices={name: price(provider, name) for name in MODELS.values()},
        retry=RetryTimes(),
        stop=Event(),
        consecutive=None,
    )

    def job(number: int) -> object:
        request = ModelRequest(MODELS[provider], SYSTEM, USER.format(number=number))
        return calls.complete(request, TIMEOUT_S).text

    return job


def _peer(provider: str, url: str, limit: int) -> Callable[[int], object]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    host, port = parts.hostname, parts.port
    path = "/v1/messages" if provider == "anthropic" else "/v1/chat/completions"
    headers = {
        "content-type": "application/json",
        "authorization": f"Bearer {KEY}",
        "anthropic-version": "2026-10-21",
    }
    state = local()

    def job(number: int) -> object:
        if not hasattr(state, "connection"):
            state.connection = HTTPConnection(host, port, timeout=TIMEOUT_S)
        state.connection.request("POST", path, _body(provider, number), headers)
        response = state.connection.getresponse()
        document = json.loads(response.read())
        assert response.status == 200, document
        return document

    return job


def _body(provider: str, number: int) -> bytes:
    turns = [{"role": "user", "content": USER.format(number=number)}]
    body: dict[str, Any] = {"model": MODELS[provider], "messages": turns}
    if provider == "anthropic":
        body |= {"system": SYSTEM, "max_tokens": 16_000}
    else:
        turns.insert(0, {"role": "system", "content": SYSTEM})
        body |= {"max_completion_tokens": 16_000, "temperature": 0.0}
    return json.dumps(body).encode()


def _busy_s(url: str) -> float:
    """Return the time of all requests that the server has answered, in seconds."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/health")
        return float(json.loads(connection.getresponse().read())["busy_s"])
    finally:
        connection.close()


@contextmanager
def _server() -> Iterator[dict[str, str]]:
    """Run the fake model server; give the base URL for each library."""
    line = [sys.executable, "-m", "skillyard_testkit.fake_llm", "--latency-ms", str(LATENCY_MS)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            addresses = dict(process.stdout.readline().strip().split("=", 1) for _ in MODELS)
            yield {name: addresses[f"{name.upper()}_BASE_URL"] for name in MODELS}
        finally:
            process.terminate()
            process.wait(timeout=30)


if __name__ == "__main__":
    raise SystemExit(command("evals_calls", SUMMARY, measured))
