"""Runs of the three layers: what they write, again and again the same."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.cli.making import write
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project
from tests.evals.end_to_end.test_replay import LAYERS, told


def in_folder(workspace: Project, name: str) -> tuple[tuple[str, str], Path]:
    path = workspace.folder / name
    return ("--output-dir", str(path)), path


@pytest.mark.parametrize("layer", LAYERS)
def test_concurrency_changes_nothing_but_the_time(
    layer: str, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    results = []
    for width in ("1", "8"):
        where, path = in_folder(workspace, width)
        assert run(layer, *LAYERS[layer], "--concurrency", width, *where).code == 0
        results.append(workspace.envelope(path))
    first, second = map(told, results)
    assert first == second
    costs = [[case["cost"] for case in each["cases"]] for each in results]
    assert costs[0] == costs[1], "a shared answer is always paid for by the same case"


def test_both_orders_are_judged_and_merged(run: Run, fake: FakeLlm, workspace: Project) -> None:
    assert run("size-impact").code == 0
    for case in workspace.envelope()["cases"]:
        first, second = (order["ab_assignment"] for order in case["orders"])
        assert case["ab_assignment"] == first == {"A": second["B"], "B": second["A"]}
        scores = [order["scores"] for order in case["orders"]]
        for condition, score in case["scores"].items():
            assert score == pytest.approx((scores[0][condition] + scores[1][condition]) / 2)
        winners = {order["winner"] for order in case["orders"]}
        assert case["winner"] == (winners.pop() if len(winners) == 1 else "tie")


def test_the_results_say_what_was_run(run: Run, fake: FakeLlm, workspace: Project) -> None:
    assert run("size-impact", "--limit", "3").code == 0
    envelope = workspace.envelope()
    meta = envelope["meta"]
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]+", meta["run_id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["timestamp"])
    assert {name: meta[name] for name in (
        "schema", "eval_type", "backend", "provider", "model", "judge_model", "orders", "limit",
        "runs", "seed", "temperature_requested", "temperature_sent", "aborted", "router",
    )} == {
        "schema": "skillyard.eval/1", "eval_type": "size_impact", "backend": "fake",
        "provider": "anthropic", "model": "claude-haiku-5-5", "judge_model": "claude-sonnet-5-5",
        "orders": "both", "limit": 3, "runs": 1, "seed": 42, "temperature_requested": 0.0,
        "temperature_sent": None, "aborted": False, "router": None,
    }  # fmt: skip
    assert {*meta["skill_sha256s"]} == {"tea-brewing", "coffee-roasting", "bread-baking"}
    assert len({(case["skill_name"], case["prompt_index"]) for case in envelope["cases"]}) == 3
    paid = sum(case["cost"] for case in envelope["cases"])
    assert meta["total_cost"] == pytest.approx(paid, abs=1e-5)
    assert paid > 0
    for case in envelope["cases"]:
        assert case["run_id"] == meta["run_id"]
        assert case["timestamp"] == meta["timestamp"]
        for name, path in case["generations"].items():
            text = json.loads((workspace.results / path).read_text("utf-8"))["text"]
            assert len(text) == case["lengths"][name]
        assert len(case["judgements"]) == 2
        assert all((workspace.results / path).is_file() for path in case["judgements"])
    events = [
        json.loads(line) for line in (workspace.results / "events.jsonl").read_text().splitlines()
    ]
    calls = [event for event in events if event["event"] in ("reserved", "settled")]
    assert [event["event"] for event in events if event not in calls] == ["start"]
    assert len(calls) == 2 * meta["calls"]
    assert {event["run_id"] for event in events} == {meta["run_id"]}


def test_terminal_report_and_summary_have_one_f1(run: Run, workspace: Project) -> None:
    """Of seven cases that expect a skill one finds none; three expect none and get none."""
    path = workspace.folder / "evals/datasets/activation/all.jsonl"
    lost = {**json.loads(path.read_text().splitlines()[0]), "id": "p-7", "user_prompt": "xyzzy"}
    path.write_text(path.read_text() + json.dumps(lost) + "\n")
    done = run("activation", "--format", "md")
    summary = workspace.envelope()["summary"]
    assert summary["_overall"]["f1"] == pytest.approx(6 / 7, abs=1e-6)
    f1_of = {
        skill: re.search(rf"^{skill} .*  (\d\.\d\d) ", done.out, re.MULTILINE)
        for skill in ("bread-baking", "coffee-roasting", "tea-brewing")
    }
    assert [result and result[1] for result in f1_of.values()] == ["1.00", "1.00", "0.67"]
    assert "F1 0.86, " in done.out
    report = next((workspace.folder / "evals").glob("reports/*.md")).read_text()
    assert "F1 0.86, " in report
    assert re.search(r"tea-brewing .* 0\\?\.67 \|", report)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_two_servers_with_one_model_name_share_no_answer(
    provider: str, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    """They differ by their port alone, as two local models do."""
    given = ("--skill", "bread-baking", "--provider", provider, "--max-calls", "99")
    assert run("size-impact", *given).code == 0
    requests = len(fake.log.calls)
    with FakeLlm() as other:
        address = other.url if provider == "anthropic" else other.openai_url
        planned = run("size-impact", *given, "--base-url", address, "--dry-run", "--json").json
        assert planned["generations"]["kept"] == planned["judgements"]["kept"] == 0
        assert run("size-impact", *given, "--base-url", address).code == 0
        assert len(other.log.calls) == requests
        last = workspace.envelopes()[-1]["meta"]
        assert (last["cache_hits"], last["host"]) == (0, address)
    assert run("size-impact", *given).code == 0
    assert len(fake.log.calls) == requests, "the first server's answers are still used"


def test_an_answer_without_a_skill_is_shared_by_all(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    prompt = "What about water?"
    write(
        workspace.folder,
        {
            "evals/datasets/size_impact/candidates.yaml": "candidates:\n"
            + "".join(
                f"  - {{skill: {name}, test_prompt: {prompt}}}\n"
                for name in ("tea-brewing", "coffee-roasting", "bread-baking")
            )
        },
    )
    plan = run("size-impact", "--dry-run", "--json").json
    assert plan["generations"]["planned"] == 3 * 2 + 1
    assert run("size-impact", "--concurrency", "8").code == 0
    assert sum(seen.kind == "generation" for seen in fake.log.calls) == 7
    bare = {case["generations"]["baseline"] for case in workspace.envelope()["cases"]
            if "baseline" in case["generations"]}  # fmt: skip
    assert len(bare) == 1
    assert bare.pop().startswith("generations/_without_skill/")


@pytest.mark.parametrize(
    ("layer", "flag", "near", "hint"),
    [
        ("size-impact", "--skill", "tea-brewin", "tea-brewing"),
        ("effectiveness", "--skill", "cofee-roasting", "coffee-roasting"),
        ("activation", "--skill", "bread-bakin", "bread-baking"),
        ("effectiveness", "--skill", "bread-baking", "coffee-roasting, tea-brewing"),
    ],
)
def test_what_no_case_is_about_is_wrong_use(
    layer: str, flag: str, near: str, hint: str, run: Run, workspace: Project
) -> None:
    done = run(layer, flag, near)
    assert done.code == 2
    assert hint in done.err
    assert near in done.err
    assert not workspace.results.exists()


def test_a_sample_is_drawn_by_seed_and_keeps_both_kinds(run: Run, workspace: Project) -> None:
    """With our own scorer, which asks no model."""
    drawn = []
    for number, seed in enumerate(("1", "1", "2", "3", "4")):
        where, path = in_folder(workspace, f"run-{number}")
        assert run("activation", "--limit", "2", "--seed", seed, *where).code == 0
        envelope = workspace.envelope(path)
        assert envelope["meta"]["limit"] == 2
        assert envelope["meta"]["backend"] == "none"
        assert sorted(case["should_activate"] for case in envelope["cases"]) == [False, True]
        drawn.append(tuple(case["id"] for case in envelope["cases"]))
    assert drawn[0] == drawn[1]
    assert len({*drawn}) > 1


def test_scorers_ask_nobody_and_need_no_model(run: Run, workspace: Project) -> None:
    workspace.configure(models={})
    done = run("activation", "--runs", "2")
    assert done.code == 0, done.err
    for envelope in workspace.envelopes():
        meta = envelope["meta"]
        assert (meta["backend"], meta["model"], meta["calls"]) == ("none", None, 0)
        assert meta["router"] == "hybrid"
        runs: dict[int, list[Any]] = {0: [], 1: []}
        for case in envelope["cases"]:
            runs[case["run_index"]].append((case["id"], case["picked"], case["passed"]))
        assert runs[0] == runs[1]
    assert not workspace.entries("generations")


def test_models_have_to_be_named(run: Run, fake: FakeLlm, workspace: Project) -> None:
    workspace.configure(models={})
    done = run("size-impact")
    assert done.code == 2
    assert "--model" in done.err
    assert run("size-impact", "--model", "claude-haiku-5-5", "--skill", "bread-baking").code == 0
    assert workspace.envelope()["meta"]["judge_model"] == "claude-haiku-5-5"


def test_a_changed_text_is_judged_as_what_it_says(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    """A judgement belongs to two texts: with another text it is not found."""
    assert run("effectiveness", "--skill", "coffee-roasting").code == 0
    path = workspace.entries("generations")[0]
    entry = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**entry, "text": "Something else, edited by hand."}))
    assert run("effectiveness", "--skill", "coffee-roasting").code == 0
    assert [seen.kind for seen in fake.log.calls][4:] == ["judge", "judge"]


def test_the_address_that_gets_the_key_is_not_taken_from_a_results_folder(
    run: Run, fake: FakeLlm, workspace: Project
) -> None:
    """Somebody may have written its events; the key goes where config or command line say."""
    with FakeLlm() as thief:
        given = ("effectiveness", "--skill", "coffee-roasting")
        assert run(*given, "--max-calls", "1", "--base-url", fake.url).code == 3
        events = workspace.results / "events.jsonl"
        events.write_text(events.read_text().replace(fake.url, thief.url))
        run_id = workspace.envelope()["meta"]["run_id"]
        done = run(*given, "--resume", run_id, "--max-calls", "9")
        assert done.code == 2
        assert thief.url in done.err
        assert "--base-url" in done.err
        assert not thief.log.calls
        resume = (*given, "--resume", run_id, "--max-calls", "9", "--base-url", fake.url)
        done = run(*resume)
        assert done.code == 2, "the events name another server than the one that was asked"
        assert not thief.log.calls
        events.write_text(events.read_text().replace(thief.url, fake.url))
        assert run(*resume).code == 0
        assert not thief.log.calls
        assert len(fake.log.calls) == 4


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="looks files up in /proc")
def test_what_was_paid_for_is_on_disk_at_once_and_what_is_free_need_not_be(
    run: Run, fake: FakeLlm, workspace: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay of a thousand cases would otherwise wait for the disk a thousand times."""
    synced: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if os.path.realpath(f"/proc/self/fd/{descriptor}").endswith("events.jsonl"):
            synced.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    assert run("effectiveness", "--concurrency", "1").code == 0
    calls = workspace.envelope()["meta"]["calls"]
    assert len(synced) == 1 + calls, "the start, and what may be billed"
    synced.clear()
    assert run("effectiveness", "--replay").code == 0
    assert len(synced) == 1
