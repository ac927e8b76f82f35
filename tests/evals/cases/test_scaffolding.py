"""``eval init``: what it writes is valid, is marked as proposed, and touches nobody's work."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard.catalog import Catalog, read_catalog
from skillyard.errors import InvalidInput
from skillyard.evals.cases.activation import read_activation
from skillyard.evals.cases.candidates import read_candidates
from skillyard.evals.cases.rubrics import read_rubrics
from skillyard.evals.cases.scaffolding import scaffold
from skillyard.evals.cases.skill_names import find_name
from skillyard.evals.config import read_config
from skillyard.skill import Skill, Triggers
from tests.evals.cases.making import library, written
from tests.shared_data import REPOSITORY
from tests.tables import for_each

CANDIDATES = "datasets/size_impact/candidates.yaml"


def names(paths: tuple[str, ...], folder: Path) -> list[str]:
    return [Path(path).relative_to(folder).as_posix() for path in paths]


def valid(folder: Path, catalog: Catalog) -> None:
    """Everything below the folder reads without an error."""
    assert read_rubrics(folder / "rubrics", catalog).errors == ()
    assert read_activation(folder / "datasets/activation", catalog=catalog).errors == ()
    assert read_candidates(folder / CANDIDATES, catalog).errors == ()
    assert read_config(folder / "config.yaml")[0] is not None


def test_the_files_of_a_skill_are_valid_and_marked(tmp_path: Path) -> None:
    catalog = library()
    found = scaffold(catalog.get("table-repair"), catalog, tmp_path)
    assert names(found.written, tmp_path) == [
        "config.yaml",
        "rubrics/table-repair.yaml",
        "datasets/activation/table-repair.jsonl",
        "datasets/activation/nothing-fits.jsonl",
        CANDIDATES,
    ]
    assert found.existing == ()
    valid(tmp_path, catalog)
    for path in found.written:
        assert "EDIT" in Path(path).read_text(encoding="utf-8")
    (candidate,) = read_candidates(tmp_path / CANDIDATES, catalog).cases
    assert (candidate.skill, candidate.expected_tier) == ("table-repair", "small")


def test_near_misses_belong_to_the_nearest_skills(tmp_path: Path) -> None:
    catalog = read_catalog(REPOSITORY / "examples/skills")
    scaffold(catalog.get("csv-cleaning"), catalog, tmp_path)
    cases = read_activation(tmp_path / "datasets/activation", catalog=catalog).cases
    own = [case for case in cases if case.expected_skills == ("csv-cleaning",)]
    near = [case for case in cases if case.category == "near miss"]
    assert len(own) >= 4
    assert 1 <= len(near) <= 3
    assert "spreadsheet-formulas" in {case.expected_skills[0] for case in near}
    assert any(not case.should_activate for case in cases)


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    catalog = library()
    skill = catalog.get("letter")
    first = scaffold(skill, catalog, tmp_path)
    before = {path: Path(path).read_bytes() for path in first.written}
    again = scaffold(skill, catalog, tmp_path)
    assert (again.written, sorted(again.existing)) == ((), sorted(first.written))
    assert {path: Path(path).read_bytes() for path in first.written} == before


def test_what_somebody_wrote_is_kept(tmp_path: Path) -> None:
    catalog = library()
    mine = [
        written(tmp_path, "rubrics/letter.yaml", "my own notes"),
        written(tmp_path, "config.yaml", "runs: 9\n"),
        written(tmp_path, CANDIDATES, "candidates: [{skill: table-repair, test_prompt: x}]\n"),
    ]
    before = [path.read_text() for path in mine]
    found = scaffold(catalog.get("letter"), catalog, tmp_path)
    assert [path.read_text() for path in mine] == before
    assert sorted(found.existing) == sorted(map(str, mine))


def test_a_second_skill_joins_the_candidates_at_the_end(tmp_path: Path) -> None:
    catalog = library()
    text = "candidates:\n  # mine\n  - skill: letter\n    test_prompt: x\n\n"
    path = written(tmp_path, CANDIDATES, text)
    found = scaffold(catalog.get("table-repair"), catalog, tmp_path)
    assert str(path) in found.written
    assert path.read_text().startswith(text.rstrip("\n"))
    assert [case.skill for case in read_candidates(path, catalog).cases] == [
        "letter",
        "table-repair",
    ]


def test_skills_of_every_kind_share_a_folder_without_an_error(tmp_path: Path) -> None:
    catalog = read_catalog(REPOSITORY / "examples/skills")
    skills = ["csv-cleaning", "garden-planning", "bulk-delete", "hotline-escalation", "agents"]
    for name in skills:
        scaffold(catalog.get(name), catalog, tmp_path)
    valid(tmp_path, catalog)
    assert len(read_candidates(tmp_path / CANDIDATES).cases) == len(skills)


def test_a_hidden_skill_gets_no_activation_cases(tmp_path: Path) -> None:
    catalog = library()
    found = scaffold(catalog.get("wipe-out"), catalog, tmp_path)
    assert not any("activation" in name for name in names(found.written, tmp_path))


@for_each("name", ["../out", "a/b", "/abs", "nul", "-x"])
def test_a_name_that_leads_elsewhere_writes_nothing(tmp_path: Path, name: str) -> None:
    skill = Skill(name, "Does it.", "B")
    with pytest.raises(InvalidInput, match="no files can be named after"):
        scaffold(skill, Catalog.from_skills([skill]), tmp_path / "evals")
    assert list(tmp_path.iterdir()) == []


TEXTS = st.text(
    alphabet=string.ascii_letters + " .,:#'\"\\{}[]&*!|>%@`-\n\t\x00\x85\u2028\u202eäß漢🎉",
    max_size=60,
)


@given(TEXTS, st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
@example("", [":", ":"], [])
def test_whatever_a_skill_says_the_files_are_valid_and_do_not_name_it(
    tmp_path_factory: pytest.TempPathFactory, text: str, phrases: list[str], keywords: list[str]
) -> None:
    description = f"Use two-words when {text}"
    skill = Skill(
        "two-words", description, text, triggers=Triggers((), tuple(keywords), tuple(phrases))
    )
    catalog = Catalog.from_skills([skill, *library()])
    folder = tmp_path_factory.mktemp("evals")
    scaffold(skill, catalog, folder)
    valid(folder, catalog)
    (rubric,) = read_rubrics(folder / "rubrics", catalog).cases
    assert len(rubric.test_prompts) == 2
    assert [find_name(prompt, "two-words") for prompt in rubric.test_prompts] == [None, None]
