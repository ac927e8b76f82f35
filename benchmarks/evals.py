"""Evaluating without asking: the plan of a hundred candidates, and a thousand cases replayed.

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

from benchmarks.limits import Asked, Bound, Row, command, from_options
from benchmarks.measure import (
    SOURCE,
    Figure,
    Options,
    Sample,
    Skipped,
    child_environment,
    run_child,
)

SUMMARY = "the plan of 100 candidates, 1,000 kept cases replayed, and what a second run asks"
ROUNDS = 5
PLANNED = 100
PLAN_S = 1.0
PROMPTS = 2
COMPARISONS = 3
CASES = 1_002
"""As few as are above 1,000 with three comparisons of two prompts."""
QUICK_CASES = 102
REPLAY_S = 3.0
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


def measured(asked: Asked) -> Iterator[Row]:
    """Yield wall times of a plan and of a replay against their limits, and the calls of a rerun."""
    try:
        import anthropic
        import genai_prices
        import scipy
    except ImportError as missing:
        raise Skipped(f"needs skillyard[eval]: {missing}") from None
    versions = f"anthropic {anthropic.__version__}, genai-prices {genai_prices.__version__}"
    yield Figure("what is used", f"{versions}, scipy {scipy.__version__}")
    rounds = 1 if asked.quick else asked.rounds or ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _project(home / "planned", PLANNED)
        plans = _rounds(home / "planned", "--dry-run", rounds)
        yield _bound(f"dry run of {PLANNED} candidates", plans, PLAN_S)
        cases = QUICK_CASES if asked.quick else CASES
        _project(home / "run", cases // (PROMPTS * COMPARISONS))
        yield from _replayed(home / "run", cases, rounds)


def _replayed(home: Path, cases: int, rounds: int) -> Iterator[Row]:
    from skillyard_testkit.fake_llm import FakeLlm

    with FakeLlm() as fake, _address(fake.url):
        start = time.perf_counter()
        document = _done(home, "--max-calls", "100000", "--json")
        made_s = time.perf_counter() - start
        asked = len(fake.log.calls)
        if document["cases"] != cases or asked != document["meta"]["calls"]:
            raise AssertionError(f"{document['cases']} cases, {asked} requests: not as planned")
        yield Figure(
            f"{cases:,} cases made before",
            f"{asked:,} requests to the server, {made_s:.1f} s, {asked / made_s:,.0f} a second",
        )
        again = _done(home, "--max-calls", "100000", "--json")
        calls = len(fake.log.calls) - asked
        note = f"{again['meta']['cache_hits']:,} answers and judgements were kept"
        yield Bound("requests of a second run", calls, 0, "requests", note)
    replays = _rounds(home, "--replay", rounds)
    yield _bound(f"replay of {cases:,} kept cases", replays, REPLAY_S)


def _bound(what: str, samples: Sequence[Sample], most: float) -> Bound:
    walls = ", ".join(f"{sample.wall_s:.2f}" for sample in sorted(samples, key=lambda s: s.wall_s))
    best = min(sample.cpu_s for sample in samples)
    return Bound(what, best, most, "s", f"processor time; wall time of the rounds: {walls} s")


def _line(home: Path, *given: str) -> list[str]:
    places = {
        "--root": home / "skills",
        "--evals-dir": home / "evals",
        "--output-dir": home / "results",
    }
    told = [text for name, place in places.items() for text in (name, str(place))]
    return [sys.executable, "-m", "skillyard", "eval", "size-impact", *told, *given]


def _rounds(home: Path, flag: str, rounds: int) -> list[Sample]:
    """Run a project's layer that often, after one round that fills the caches of the system."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = child_environment(bytecode)
        return [run_child(_line(home, flag), environment) for _ in range(rounds + 1)][1:]


def _done(home: Path, *given: str) -> Any:
    """Run a project's layer with ``--json``; return what it printed."""
    line = _line(home, *given)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(line)} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


@contextmanager
def _address(url: str) -> Iterator[None]:
    """Let the runs meanwhile ask this server, and have a key for it."""
    given = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
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
    config = {"models": {"generation": "claude-haiku-5-5", "judge": "claude-sonnet-5-5"}}
    (home / "evals" / "config.yaml").write_text(json.dumps(config), encoding="utf-8")


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
