"""Evaluating without asking: plan a hundred candidates, replay and report a thousand cases.

Every figure is of a whole process, as a shell sees it: start, imports, reading the library and the
cases, looking every answer up, the statistics, the results file. The processor time, user and
system, is held to the limit: work on one thread, of which an idle machine's wall time, shown
beside it, is about as long. The best round decides. What is replayed was made before, by a run
against the stand-in; how long that took is told, and bounded by nothing.

A made-up library stands for a real one: bodies of 1 to 25 KB over the three tiers of size, with a
``## Scope`` section each.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.limits import Bound, Row, RunSettings, command, from_options
from benchmarks.measure import (
    SOURCE,
    Figure,
    Options,
    Sample,
    child_environment,
    run_child,
    versions_of,
)

SUMMARY = "the plan of 100 candidates, 1,000 cases replayed and reported, calls of a second run"
ROUNDS = 5
PLANNED = 100
PLAN_S = 1.0
PROMPTS = 2
COMPARISONS = 3
CASES = 1_002
"""As few as are above 1,000 with three comparisons of two prompts."""
QUICK_CASES = 102
REPLAY_S = 3.0
REPORT_S = 3.0
"""For reading the results and writing the report and the page of all cases."""
SEED = 11
KEY = "benchmark-key"
WORDS = [
    "column",
    "table",
    "price",
    "query",
    "index",
    "cache",
    "plan",
    "step",
    "test",
    "error",
    "branch",
    "release",
    "invoice",
    "total",
    "date",
    "format",
    "filter",
    "group",
    "measure",
    "write",
    "check",
    "read",
    "split",
    "merge",
    "keep",
    "report",
    "result",
    "before",
    "after",
]


def run(options: Options) -> Iterator[Row]:
    """Yield the figures for ``python -m benchmarks``."""
    yield from measured(from_options(options))


def measured(settings: RunSettings) -> Iterator[Row]:
    """Yield wall times of a plan and of a replay against their limits, and the calls of a rerun."""
    yield Figure("what is used", versions_of("anthropic", "genai_prices", "scipy", extra="eval"))
    rounds = 1 if settings.quick else settings.rounds or ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _project(home / "planned", PLANNED)
        plans = _rounds(_line(home / "planned", "size-impact", "--dry-run"), rounds)
        yield _bound(f"dry run of {PLANNED} candidates", plans, PLAN_S)
        cases = QUICK_CASES if settings.quick else CASES
        _project(home / "run", cases // (PROMPTS * COMPARISONS))
        yield from _replayed(home / "run", cases, rounds)


def _replayed(home: Path, cases: int, rounds: int) -> Iterator[Row]:
    from skillyard_testkit.fake_llm import FakeLlm

    with FakeLlm() as fake, _address(fake.url):
        start = time.perf_counter()
        document = _run_layer(home, "--anyway", "--max-calls", "100000", "--json")
        made_s = time.perf_counter() - start
        call_count = len(fake.log.calls)
        if document["cases"] != cases or call_count != document["meta"]["calls"]:
            raise AssertionError(
                f"{document['cases']} cases, {call_count} requests: not as planned"
            )
        yield Figure(
            f"{cases:,} cases made before",
            f"{call_count:,} requests to the server, {made_s:.1f} s,"
            f" {call_count / made_s:,.0f} a second",
        )
        again = _run_layer(home, "--anyway", "--max-calls", "100000", "--json")
        calls = len(fake.log.calls) - call_count
        note = f"{again['meta']['cache_hits']:,} answers and judgements were kept"
        yield Bound("requests of a second run", calls, 0, "requests", note)
    replays = _rounds(_line(home, "size-impact", "--replay"), rounds)
    yield _bound(f"replay of {cases:,} kept cases", replays, REPLAY_S)
    results = max((home / "results").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    page = home / "report.html"
    reports = _rounds(_line(home, "report", str(results), "--out", str(page)), rounds)
    yield _bound(f"report and page of {cases:,} cases", reports, REPORT_S)
    if not page.exists():
        raise AssertionError("no report was written")


def _bound(what: str, samples: Sequence[Sample], most: float) -> Bound:
    walls = ", ".join(f"{sample.wall_s:.2f}" for sample in sorted(samples, key=lambda s: s.wall_s))
    best = min(sample.cpu_s for sample in samples)
    return Bound(what, best, most, "s", f"processor time; wall time of the rounds: {walls} s")


def _line(home: Path, verb: str, *arguments: str) -> list[str]:
    places = {
        "--root": home / "skills",
        "--evals-dir": home / "evals",
        "--results-dir" if verb == "report" else "--output-dir": home / "results",
    }
    options = [text for name, place in places.items() for text in (name, str(place))]
    return [sys.executable, "-m", "skillyard", "eval", verb, *options, *arguments]


def _rounds(line: Sequence[str], rounds: int) -> list[Sample]:
    """Run a command that often, after one round that fills the caches of the system."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = child_environment(bytecode)
        return [run_child(line, environment) for _ in range(rounds + 1)][1:]


def _run_layer(home: Path, *arguments: str) -> Any:
    """Run a project's layer with ``--json``; return what it printed."""
    line = _line(home, "size-impact", *arguments)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        raise AssertionError(f"{' '.join(line)} ended with {process.returncode}: {process.stderr}")
    return json.loads(process.stdout)


@contextmanager
def _address(url: str) -> Iterator[None]:
    """Let the runs meanwhile ask this server, and have a key for it."""
    variables = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _project(home: Path, skills: int) -> None:
    """Write that many skills and a candidate for each."""
    rng = random.Random(SEED)
    names = [f"made-up-{number:03}" for number in range(skills)]
    for name in names:
        folder = home / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(_skill(name, rng), encoding="utf-8")
    candidates = [
        {"skill": name, "test_prompts": [_sentence(rng, 14) for _ in range(PROMPTS)]}
        for name in names
    ]
    place = home / "evals" / "datasets" / "size_impact"
    place.mkdir(parents=True)
    text = json.dumps({"candidates": candidates}, indent=1)  # JSON is YAML
    (place / "candidates.yaml").write_text(text, encoding="utf-8")
    from skillyard_testkit import toml

    config = {"models": {"generation": "claude-haiku-5-5", "judge": "claude-sonnet-5-5"}}
    (home / "evals" / "skillyard.toml").write_text(toml({"eval": config}), encoding="utf-8")


def _skill(name: str, rng: random.Random) -> str:
    sections = "\n".join(
        f"\n## {_sentence(rng, 2)}\n\n{_sentence(rng, 90)}\n"
        for _ in range(rng.choice((2, 8, 14, 40)))
    )
    return (
        f"---\nname: {name}\ndescription: {_sentence(rng, 12)}\n---\n# {name}\n\n"
        f"## Scope\n\n{_sentence(rng, 40)}\n{sections}"
    )


def _sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)).capitalize()


if __name__ == "__main__":
    raise SystemExit(command("evals", SUMMARY, measured))
