"""What a run would do and cost, told without asking anybody; and the run then does just that."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project, run_apart
from tests.evals.end_to_end.test_replay import LAYERS

SKILLS_TOLD = {"tea-brewing", "coffee-roasting", "bread-baking"}


def planned(run: Run, layer: str, *given: str) -> dict[str, Any]:
    done = run(layer, "--dry-run", "--json", *given)
    assert done.code == 0, done.err
    plan: dict[str, Any] = done.json
    return plan


@pytest.mark.parametrize("layer", LAYERS)
def test_the_plan_is_what_the_run_asks(
    layer: str, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    given = LAYERS[layer]
    plan = planned(run, layer, *given)
    assert not fake.log.calls
    assert not workspace.results.exists()
    assert run(layer, *given).code == 0
    kinds = [seen.kind for seen in fake.log.calls]
    judged = kinds.count("judge")
    assert plan["generations"] == count(len(kinds) - judged, 0)
    assert plan["judgements"] == count(judged, 0)
    assert plan["cases"] == len(workspace.envelope()["cases"])
    assert plan["price_source"].startswith("genai-prices")
    after = planned(run, layer, *given)
    assert after["generations"] == count(0, len(kinds) - judged)
    assert after["judgements"] == count(0, judged)
    assert (after["cost_low"], after["cost_high"]) == (0, 0)
    cost = workspace.envelope()["meta"]["total_cost"]
    assert 0 < plan["cost_low"] <= plan["cost_high"]
    assert cost <= plan["cost_high"]


def count(to_make: int, cached: int) -> dict[str, int]:
    return {"planned": to_make + cached, "kept": cached, "to_make": to_make}


@pytest.mark.parametrize(
    ("given", "generations", "judgements"),
    [((), 0, 0), (("--regenerate",), 3, 6), (("--rejudge",), 0, 6), (("--runs", "2"), 3, 6),
     (("--orders", "single"), 0, 0), (("--seed", "43"), 0, 0),
     (("--judge-model", "claude-opus-5-5"), 0, 6)],
)  # fmt: skip
def test_the_plan_counts_what_is_kept(
    given: tuple[str, ...], generations: int, judgements: int, run: Run, fake: FakeLlm
) -> None:
    """Both orders are kept of everything, so a single one, in any seed's slots, is kept too."""
    requests = ("size-impact", "--skill", "bread-baking")
    assert run(*requests).code == 0
    plan = planned(run, *requests, *given)
    assert plan["generations"]["to_make"] == generations
    assert plan["judgements"]["to_make"] == judgements
    before = len(fake.log.calls)
    assert run(*requests, *given).code == 0
    assert len(fake.log.calls) - before == generations + judgements


def test_costs_are_learned_from_what_is_kept(run: Run, fake: FakeLlm, workspace: Project) -> None:
    blind = planned(run, "size-impact")
    assert run("size-impact", "--skill", "bread-baking").code == 0
    seen = planned(run, "size-impact")
    assert 0 < seen["cost_low"] < blind["cost_low"], "the stand-in's answers are short"
    before = workspace.envelope()["meta"]["total_cost"]
    assert run("size-impact").code == 0
    rest = workspace.envelopes()[-1]["meta"]["total_cost"]
    assert rest == pytest.approx(seen["cost_low"], rel=0.5)
    assert before > 0
    assert rest <= seen["cost_high"]


def test_the_plan_tells_sizes_and_siblings(run: Run, workspace: Project) -> None:
    candidates = workspace.folder / "evals/datasets/size_impact/candidates.yaml"
    text = candidates.read_text().replace(
        "siblings: [references/altitude.md]", "siblings: [references/altitude.md, references/no.md]"
    )
    candidates.write_text(text.replace("expected_tier: small", "expected_tier: large"))
    plan = planned(run, "size-impact")
    skills = {each["skill"]: each for each in plan["skills"]}
    assert {*skills} == SKILLS_TOLD
    tea = skills["tea-brewing"]
    assert (tea["size_tier"], tea["expected_tier"], tea["prompts"]) == ("small", "large", 2)
    assert tea["missing_siblings"] == ["references/no.md"]
    sizes = tea["conditions"]
    assert list(sizes) == ["full", "summary", "baseline", "full_siblings"]
    assert sizes["baseline"]["bytes"] == 0
    assert 0 < sizes["summary"]["bytes"] < sizes["full"]["bytes"] < sizes["full_siblings"]["bytes"]
    assert "full_siblings" not in skills["bread-baking"]["conditions"]
    shown = run("size-impact", "--dry-run").out
    assert "references/no.md is not there" in shown
    assert "large is expected" in shown


@pytest.mark.parametrize("layer", LAYERS)
def test_a_plan_needs_no_model(layer: str, run: Run, workspace: Project) -> None:
    given = LAYERS[layer]
    named = planned(run, layer, *given)
    workspace.configure(models={})
    plan = planned(run, layer, *given)
    assert (plan["cost_low"], plan["cost_high"], plan["unpriced"]) == (None, None, [""])
    same = ("cases", "generations", "judgements")
    assert {name: plan[name] for name in same} == {name: named[name] for name in same}
    assert "cost unknown: give --model" in run(layer, "--dry-run", *given).out
    assert planned(run, layer, *given, "--model", "claude-haiku-5-5")["cost_high"] > 0
    assert run(layer, *given).code == 2, "a run needs one"


def test_cases_that_cannot_be_read_are_named(run: Run, workspace: Project) -> None:
    """Otherwise a plan of four cases looks like a plan of all sixteen."""
    evals = [
        {
            "id": number,
            "prompt": f"Which water for pot {number}?",
            "expectations": ["It names a temperature."],
            "files": ["missing.bin"] if number else [],
        }
        for number in range(4)
    ]
    path = workspace.folder / "evals.json"
    path.write_text(json.dumps({"skill_name": "tea-brewing", "evals": evals}))
    done = run("effectiveness", str(path), "--dry-run", "--json")
    assert (done.code, done.json["cases"]) == (0, 1)
    left_out = [warning for warning in done.json["warnings"] if "is left out" in warning]
    assert len(left_out) == 3
    for number, warning in enumerate(left_out, 1):
        assert f"the prompt {number} is left out" in warning
        assert warning in done.err


def test_a_price_that_nobody_knows_is_said(run: Run) -> None:
    plan = planned(run, "size-impact", "--model", "nobodys-model")
    assert plan["unpriced"] == ["nobodys-model"]
    assert (plan["cost_low"], plan["cost_high"]) == (None, None)
    assert (
        "nobodys-model is not known"
        in run("size-impact", "--dry-run", "--model", "nobodys-model").out
    )


@pytest.mark.slow
def test_a_dry_run_loads_no_library_of_a_provider(workspace: Project) -> None:
    program = (
        "import sys\n"
        "from skillyard.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "heavy = {'anthropic', 'openai', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else code)\n"
    )
    done = run_apart(program, workspace.arguments("size-impact", "--dry-run"))
    assert done.returncode == 0, done.stderr
    assert "14 cases" in done.stdout
    assert "28 judgements" in done.stdout


def test_wrong_cases_are_told_by_a_dry_run_too(run: Run, workspace: Project) -> None:
    rubric = workspace.folder / "evals/rubrics/tea-brewing.yaml"
    rubric.write_text(rubric.read_text().replace("weight: 0.6", "weight: 0.9"))
    done = run("effectiveness", "--dry-run")
    assert done.code == 2
    assert "tea-brewing.yaml" in done.err
