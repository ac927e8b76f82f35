"""What a run may spend is never passed, and what it did not get to is told."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from skillyard_testkit.fake_llm import FakeLlm, faults
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project
from tests.evals.end_to_end.test_kills import ended, start


def skipped(envelope: dict[str, Any]) -> Counter[str]:
    return Counter(case["skipped"] or "done" for case in envelope["cases"])


@pytest.mark.parametrize(("cap", "concurrency"), [(1, 8), (7, 1), (30, 8)])
def test_no_more_requests_than_allowed(
    cap: int, concurrency: int, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    done = run("size-impact", "--max-calls", str(cap), "--concurrency", str(concurrency))
    assert done.code == 3
    assert "--max-calls" in done.err
    assert len(fake.log.calls) == cap
    envelope = workspace.envelope()
    meta = envelope["meta"]
    assert (meta["aborted"], meta["stop_reason"], meta["calls"]) == (True, "budget", cap)
    assert meta["fail_fast_reason"] is None
    assert not meta["degraded"]
    assert {*skipped(envelope)} <= {"budget", "done"}
    assert skipped(envelope)["budget"]
    assert len(envelope["cases"]) == 14, "a case that was cut is written down as one"
    assert run("size-impact", "--resume", meta["run_id"], "--max-calls", "42").code == 0
    assert len(fake.log.calls) == 42, "and nothing is paid twice"
    assert skipped(workspace.envelope()) == {"done": 14}


@pytest.mark.parametrize("concurrency", [1, 8])
def test_money_is_never_passed(
    concurrency: int, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    """Though the worst case of one call is far above what it comes to."""
    workspace.configure(max_tokens=1_000, judging={"max_tokens": 1_000})
    width = ("--concurrency", str(concurrency))
    assert run("size-impact", *width).code == 0
    cap = workspace.envelope()["meta"]["total_cost"] * 0.7
    elsewhere = ("--output-dir", str(workspace.folder / "other"))
    done = run("size-impact", *width, *elsewhere, "--max-cost", f"{cap:.4f}")
    assert done.code == 3
    assert "--max-cost" in done.err
    envelope = workspace.envelope(workspace.folder / "other")
    assert 0 < envelope["meta"]["total_cost"] <= cap
    assert envelope["meta"]["stop_reason"] == "budget"
    assert skipped(envelope)["budget"]
    assert 0 < len(fake.log.calls) - 42 < 42


def cost_of_log(fake: FakeLlm, run: Run, workspace: Project) -> float:
    """Return what the requests of a whole run cost; the stand-in forgets them."""
    elsewhere = workspace.folder / "whole"
    assert run("size-impact", "--output-dir", str(elsewhere)).code == 0
    fake.log.clear()
    return float(workspace.envelope(elsewhere)["meta"]["total_cost"])


def test_all_resumes_of_a_run_share_one_budget(run: Run, fake: FakeLlm, workspace: Project) -> None:
    """One request at a time: another one than the first that is too dear might be cheaper."""
    workspace.configure(max_tokens=1_000, judging={"max_tokens": 1_000}, concurrency=1)
    cap = cost_of_log(fake, run, workspace) * 0.5
    assert run("size-impact", "--max-cost", f"{cap:.6f}").code == 3
    meta = workspace.envelope()["meta"]
    requests = len(fake.log.calls)
    for _ in range(3):
        assert run("size-impact", "--resume", meta["run_id"]).code == 3
        resumed = workspace.envelope()["meta"]
        assert 0 < resumed["run_cost"] <= cap
        assert resumed["run_calls"] == len(fake.log.calls)
    assert resumed["total_cost"] == 0.0, "what is left does not pay for one more call"
    assert len(fake.log.calls) == requests
    assert run("size-impact", "--resume", meta["run_id"], "--max-cost", "15").code == 0
    whole = workspace.envelope()["meta"]
    assert whole["run_calls"] == len(fake.log.calls) == 42
    assert whole["run_cost"] == pytest.approx(meta["run_cost"] + whole["total_cost"], abs=2e-6)
    assert whole["lost_calls"] == 0


def test_a_resumed_run_says_what_all_its_parts_cost(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    assert run("size-impact", "--max-calls", "30", "--concurrency", "1").code == 3
    run_id = workspace.envelope()["meta"]["run_id"]
    done = run("size-impact", "--resume", run_id, "--max-calls", "42")
    assert done.code == 0
    assert "in all its parts the run cost" in done.out


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (("--model", "claude-opus-4-8"), ("claude-opus-4-8", "claude-haiku-5-5")),
        (("--judge-model", "claude-haiku-5-5"), ("claude-haiku-5-5", "claude-sonnet-5-5")),
        (("--seed", "7"), ("7", "42")),
        (("--runs", "2"), ("2", "1")),
        (("--orders", "single"), ("single", "both")),
        (("--provider", "openai"), ("openai", "anthropic")),
        (("--skill", "bread-baking"), ("bread-baking", "none")),
        (("--limit", "1"), ("1", "none")),
        (("--base-url", "http://127.0.0.1:9"), ("http://127.0.0.1:9", "http://127.0.0.1:")),
    ],
)  # fmt: skip
def test_a_resume_with_other_settings_is_refused_and_leaves_the_results(
    given: tuple[str, str], values: tuple[str, str], run: Run, fake: FakeLlm, workspace: Project
) -> None:
    """The results of a resume replace those of the run, which are paid for."""
    assert run("size-impact", "--max-calls", "7").code == 3
    before = workspace.envelope()
    run_id = before["meta"]["run_id"]
    for more in ((), ("--dry-run",)):
        refused = run("size-impact", "--resume", run_id, *given, *more)
        assert refused.code == 2
        message = " ".join(refused.err.split())
        new, old = values
        assert f"{given[0]}" in message
        assert f" is {new}, and the run has {old}" in message
        assert "to start a new run, leave out --resume" in message
    other = run("effectiveness", "--resume", run_id)
    assert other.code == 2
    assert "was one of size_impact, not of effectiveness" in " ".join(other.err.split())
    assert workspace.envelope() == before
    assert len(fake.log.calls) == 7


def test_a_resume_with_other_cases_is_refused_and_leaves_the_results(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    assert run("size-impact", "--max-calls", "7").code == 3
    before = workspace.envelope()
    (path,) = (workspace.folder / "evals/datasets/size_impact").iterdir()
    text = path.read_text("utf-8")
    path.write_text(text.replace("How", "Say how", 1), "utf-8")
    assert path.read_text("utf-8") != text
    refused = run("size-impact", "--resume", before["meta"]["run_id"])
    assert refused.code == 2
    assert "the cases are not those that run" in " ".join(refused.err.split())
    assert workspace.envelope() == before
    path.write_text(text, "utf-8")
    assert run("size-impact", "--resume", before["meta"]["run_id"], "--max-calls", "42").code == 0
    assert len(fake.log.calls) > 7


def test_a_resume_takes_its_own_settings_again_and_other_limits(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    assert run("size-impact", "--max-calls", "7").code == 3
    run_id = workspace.envelope()["meta"]["run_id"]
    same = ("--model", "claude-haiku-5-5", "--seed", "42", "--base-url", f"{fake.url}/")
    limits = ("--max-calls", "42", "--max-cost", "9", "--concurrency", "1")
    assert run("size-impact", "--resume", run_id, *same, *limits).code == 0


def test_two_processes_that_resume_one_run_share_its_budget(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    workspace.configure(max_tokens=1_000, judging={"max_tokens": 1_000})
    cap = cost_of_log(fake, run, workspace) * 0.6
    assert run("size-impact", "--max-cost", "0.0001").code == 3
    run_id = workspace.envelope()["meta"]["run_id"]
    given = ("--resume", run_id, "--max-cost", f"{cap:.6f}")
    processes = [start(workspace, *given) for _ in range(2)]
    assert [ended(process)[0] for process in processes] == [3, 3]
    assert run("size-impact", *given).code == 3
    meta = workspace.envelope()["meta"]
    assert 0 < meta["run_cost"] <= cap
    assert meta["run_calls"] == len(fake.log.calls)


def test_a_call_that_failed_after_it_was_sent_counts_as_lost(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    """Its answer never came, but the provider may have billed it."""
    fake.faults.add(faults.truncated())
    done = run("size-impact", "--skill", "bread-baking", "--concurrency", "1")
    assert done.code == 0
    meta = workspace.envelope()["meta"]
    assert meta["lost_calls"] == 1
    assert 0 < meta["lost_cost"] < meta["run_cost"] == meta["total_cost"]
    assert "1 request gave no result and may have been billed" in done.out


def test_a_cap_below_one_call_asks_nobody(run: Run, fake: FakeLlm, workspace: Project) -> None:
    assert run("size-impact", "--max-cost", "0.0001").code == 3
    assert not fake.log.calls
    assert skipped(workspace.envelope()) == {"budget": 14}


def test_a_price_that_nobody_knows_wants_a_cap_on_calls(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    given = ("--model", "nobodys-model", "--skill", "bread-baking")
    refused = run("size-impact", *given)
    assert refused.code == 2
    assert "nobodys-model" in refused.err
    assert "--max-calls" in refused.err
    assert not fake.log.calls
    assert not workspace.results.exists()
    assert run("size-impact", *given, "--max-calls", "20").code == 0
    meta = workspace.envelope()["meta"]
    assert meta["unpriced"]
    workspace.configure(cost={"max_cost_per_run": "none"})
    assert run("size-impact", *given).code == 0, "without a cap in money there is none to keep"


def test_runs_go_outermost_so_that_every_skill_gets_as_many(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    run("size-impact", "--runs", "2", "--max-calls", "60", "--concurrency", "1")
    done = [case for case in workspace.envelope()["cases"] if not case["skipped"]]
    assert sum(case["run_index"] == 0 for case in done) == 14


@pytest.mark.parametrize(
    "given",
    [("--max-cost", "-1"), ("--max-calls", "-1"), ("--max-calls", "x"), ("--runs", "0"),
     ("--limit", "0"), ("--concurrency", "0"), ("--concurrency", "65"), ("--max-cost", "nan"),
     ("--orders", "neither"), ("--provider", "nobody"), ("--resume", "../../x"),
     ("--resume", "20260101T000000Z-000000"), ("--base-url", "file:///etc/passwd")],
)  # fmt: skip
def test_wrong_use_is_said_before_anything_is_sent(
    given: tuple[str, str], run: Run, fake: FakeLlm, workspace: Project
) -> None:
    done = run("effectiveness", *given)
    assert done.code == 2
    assert done.err
    assert "Traceback" not in done.err
    assert not fake.log.calls
    assert not workspace.results.exists()
