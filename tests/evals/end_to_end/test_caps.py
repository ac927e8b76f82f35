"""What a run may spend is never passed, and what it did not get to is told."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project


def skipped(envelope: dict[str, Any]) -> Counter[str]:
    return Counter(case["skipped"] or "done" for case in envelope["cases"])


@pytest.mark.parametrize(("cap", "concurrency"), [(1, 8), (7, 1), (30, 8)])
def test_no_more_requests_than_allowed(
    cap: int, concurrency: int, run: Run, fake: FakeLlm, made: Project
) -> None:
    done = run("size-impact", "--max-calls", str(cap), "--concurrency", str(concurrency))
    assert done.code == 3
    assert "--max-calls" in done.err
    assert len(fake.log.calls) == cap
    envelope = made.envelope()
    meta = envelope["meta"]
    assert (meta["aborted"], meta["stop_reason"], meta["calls"]) == (True, "budget", cap)
    assert meta["fail_fast_reason"] is None
    assert not meta["degraded"]
    assert {*skipped(envelope)} <= {"budget", "done"}
    assert skipped(envelope)["budget"]
    assert len(envelope["cases"]) == 14, "a case that was cut is written down as one"
    assert run("size-impact", "--resume", meta["run_id"], "--max-calls", "42").code == 0
    assert len(fake.log.calls) == 42, "and nothing is paid twice"
    assert skipped(made.envelope()) == {"done": 14}


def test_as_many_requests_as_are_needed_are_enough(run: Run, fake: FakeLlm, made: Project) -> None:
    assert run("size-impact", "--max-calls", "42").code == 0
    assert not made.envelope()["meta"]["aborted"]


@pytest.mark.parametrize("concurrency", [1, 8])
def test_money_is_never_passed(concurrency: int, run: Run, fake: FakeLlm, made: Project) -> None:
    """Though the worst case of one call is far above what it comes to."""
    made.configure(max_tokens=1_000, judging={"max_tokens": 1_000})
    width = ("--concurrency", str(concurrency))
    assert run("size-impact", *width).code == 0
    cap = made.envelope()["meta"]["total_cost"] * 0.7
    elsewhere = ("--output-dir", str(made.folder / "other"))
    done = run("size-impact", *width, *elsewhere, "--max-cost", f"{cap:.4f}")
    assert done.code == 3
    assert "--max-cost" in done.err
    envelope = made.envelope(made.folder / "other")
    assert 0 < envelope["meta"]["total_cost"] <= cap
    assert envelope["meta"]["stop_reason"] == "budget"
    assert skipped(envelope)["budget"]
    assert 0 < len(fake.log.calls) - 42 < 42


def test_a_cap_below_one_call_asks_nobody(run: Run, fake: FakeLlm, made: Project) -> None:
    assert run("size-impact", "--max-cost", "0.0001").code == 3
    assert not fake.log.calls
    assert skipped(made.envelope()) == {"budget": 14}


def test_a_price_that_nobody_knows_wants_a_cap_on_calls(
    run: Run, fake: FakeLlm, made: Project
) -> None:
    given = ("--model", "nobodys-model", "--skill", "bread-baking")
    refused = run("size-impact", *given)
    assert refused.code == 2
    assert "nobodys-model" in refused.err
    assert "--max-calls" in refused.err
    assert not fake.log.calls
    assert not made.results.exists()
    assert run("size-impact", *given, "--max-calls", "20").code == 0
    meta = made.envelope()["meta"]
    assert meta["unpriced"]
    assert meta["max_calls"] == 20
    made.configure(cost={"max_cost_per_run": None})
    assert run("size-impact", *given).code == 0, "without a cap in money there is none to keep"


def test_runs_go_outermost_so_that_every_skill_gets_as_many(
    run: Run, fake: FakeLlm, made: Project
) -> None:
    run("size-impact", "--runs", "2", "--max-calls", "60", "--concurrency", "1")
    done = [case for case in made.envelope()["cases"] if not case["skipped"]]
    assert sum(case["run_index"] == 0 for case in done) == 14


@pytest.mark.parametrize("layer", ["activation", "confusion"])
def test_routers_that_are_models_stop_too(
    layer: str, run: Run, fake: FakeLlm, made: Project
) -> None:
    assert run(layer, "--router", "model", "--max-calls", "3").code == 3
    assert len(fake.log.calls) == 3
    envelope = made.envelope()
    assert skipped(envelope)["done"] == 3
    assert {*skipped(envelope)} == {"done", "budget"}


@pytest.mark.parametrize(
    "given",
    [("--max-cost", "-1"), ("--max-calls", "-1"), ("--max-calls", "x"), ("--runs", "0"),
     ("--limit", "0"), ("--concurrency", "0"), ("--concurrency", "65"), ("--max-cost", "nan"),
     ("--orders", "neither"), ("--provider", "nobody"), ("--resume", "../../x"),
     ("--resume", "20260101T000000Z-000000"), ("--base-url", "file:///etc/passwd")],
)  # fmt: skip
def test_wrong_use_is_said_before_anything_is_sent(
    given: tuple[str, str], run: Run, fake: FakeLlm, made: Project
) -> None:
    done = run("effectiveness", *given)
    assert done.code == 2
    assert done.err
    assert "Traceback" not in done.err
    assert not fake.log.calls
    assert not made.results.exists()
