"""The evaluations of the example library pass their own targets (spec/evals.md 1.2)."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from skillyard import Catalog, Skill
from skillyard.engine.catalog import read_catalog
from skillyard.evals.arms import Arms, skill_arms
from skillyard.evals.cases.reading import CasePlaces
from skillyard.evals.cases.skill_cases import ActivationCase, SkillCases, read_activation_cases
from skillyard.evals.operations.eval_runs import eval_config
from skillyard.evals.settings import Config
from skillyard.evals.statistics.intervals import planned_verdicts
from tests.evals.cases.making import read_cases
from tests.shared_data import REPOSITORY

HOME = REPOSITORY / "examples/evals"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return read_catalog(REPOSITORY / "examples/skills")


@pytest.fixture(scope="module")
def config() -> Config:
    return eval_config(str(HOME))


@pytest.fixture(scope="module")
def rubrics(config: Config, catalog: Catalog) -> tuple[SkillCases, ...]:
    dataset = read_cases(config.paths.rubrics, catalog)
    assert dataset.diagnostics == ()
    return dataset.cases


@pytest.fixture(scope="module")
def activation(config: Config, catalog: Catalog) -> tuple[ActivationCase, ...]:
    dataset = read_activation_cases(CasePlaces((config.paths.activation,)), catalog)
    assert dataset.diagnostics == ()
    return dataset.cases


@pytest.fixture(scope="module")
def candidates(config: Config, catalog: Catalog) -> tuple[SkillCases, ...]:
    dataset = read_cases(config.paths.candidates, catalog)
    assert dataset.diagnostics == ()
    return dataset.cases


def test_activation_has_positives_near_misses_and_languages(
    activation: tuple[ActivationCase, ...],
) -> None:
    positives = [case for case in activation if case.should_activate]
    negatives = [case for case in activation if not case.should_activate]
    assert len(positives) >= 50
    assert len({name for case in positives for name in case.expected_skills}) >= 20
    assert len(negatives) >= 15
    near = [case for case in negatives if case.category == "same words, other work"]
    assert len(near) >= 10
    categories = Counter(case.category for case in activation)
    assert len(categories) >= 12
    assert sum(categories[name] for name in ("German", "French", "Spanish", "Polish")) >= 6
    assert any(case.acceptable_skills for case in positives)


def arms(candidate: SkillCases, catalog: Catalog) -> Arms:
    skill: Skill = catalog.get(candidate.skill)
    with open(skill.path, encoding="utf-8") as file:
        text = file.read()
    return skill_arms(
        text,
        os.path.dirname(skill.path),
        siblings=candidate.siblings,
        max_sibling_bytes=candidate.max_sibling_bytes,
    )


def test_candidates_span_three_tiers_with_siblings(
    candidates: tuple[SkillCases, ...], catalog: Catalog
) -> None:
    assert len(candidates) >= 10
    tiers: Counter[str] = Counter()
    for candidate in candidates:
        facts = arms(candidate, catalog).facts
        sizes = facts["conditions"]
        assert facts["size_tier"] == candidate.expected_tier, candidate.skill
        assert facts["summary_error"] is None, candidate.skill
        assert (facts["missing_siblings"], facts["refused_siblings"]) == ([], [])
        assert ("full_siblings" in sizes) == bool(candidate.siblings)
        assert sizes["summary"]["bytes"] < sizes["full"]["bytes"] / 2
        assert len(candidate.prompts) >= 2
        tiers[facts["size_tier"]] += 1
    assert min(tiers[name] for name in ("small", "medium", "large")) >= 3
    assert sum(bool(candidate.siblings) for candidate in candidates) >= 3


def test_no_prompt_is_used_twice_or_taken_from_the_ranking_requests(
    rubrics: tuple[SkillCases, ...],
    candidates: tuple[SkillCases, ...],
    activation: tuple[ActivationCase, ...],
) -> None:
    listed = [*rubrics, *candidates]
    prompts = [prompt.prompt for each in listed for prompt in each.prompts]
    prompts += [case.user_prompt for case in activation]
    with open(REPOSITORY / "examples/requests.jsonl", encoding="utf-8") as file:
        prompts += [json.loads(line)["request"] for line in file]
    assert [prompt for prompt, times in Counter(prompts).items() if times > 1] == []


def test_the_readme_counts_what_is_there(activation: tuple[ActivationCase, ...]) -> None:
    text = (HOME / "README.md").read_text(encoding="utf-8")
    positives = [case for case in activation if case.should_activate]
    skills = {name for case in positives for name in case.expected_skills}
    assert f"{len(activation)} requests: {len(positives)} for {len(skills)} skills" in text
    assert f"{len(activation) - len(positives)} that should activate no skill" in text
    similar = Counter(case.category for case in positives if case.category.startswith("similar: "))
    assert len(similar) == 10
    assert f"three or four similar skills, {similar.total()} requests" in text


def test_the_case_file_can_show_a_difference(catalog: Catalog) -> None:
    places = CasePlaces((str(REPOSITORY / "examples/cases"),))
    cases = read_activation_cases(places, catalog).cases
    fires = [each for each in cases if each.should_activate]
    (plan,) = planned_verdicts({"csv-cleaning": len(fires)})
    assert plan.can_decide
    assert len(cases) - len(fires) == 5
