"""Rubrics and candidates: read as they stand; a bad one is told with every fault and its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.cases.case_files import Dataset
from skillyard.evals.cases.skill_cases import SkillCases
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion
from tests.evals.cases.making import library, one, read_documents, told, written
from tests.tables import for_each

GOOD = """\
skill_name: table-repair
test_prompts:
  - My list does not load, what now?
  - |
    id;name
    1;Ann
criteria:
  - name: right
    weight: 0.5
    description: It is right.
  - {name: whole, weight: 0.3, description: Nothing is missing.}
  - {name: short, weight: 0.2, description: "No padding."}
"""


def read(folder: Path, text: str, name: str = "table-repair.yaml") -> Dataset[SkillCases]:
    return read_documents(written(folder, name, text).parent, library())


def test_a_rubric_is_read_as_it_stands(tmp_path: Path) -> None:
    result = read(tmp_path, GOOD)
    assert result.diagnostics == ()
    (rubric,) = result.cases
    assert rubric.skill == "table-repair"
    prompts = [each.prompt for each in rubric.prompts]
    assert prompts == ["My list does not load, what now?", "id;name\n1;Ann"]
    assert rubric.criteria == (
        Criterion("right", 0.5, "It is right."),
        Criterion("whole", 0.3, "Nothing is missing."),
        Criterion("short", 0.2, "No padding."),
    )
    assert (rubric.path, rubric.line) == (str(tmp_path / "table-repair.yaml"), 1)


def test_every_error_is_told_and_not_only_the_first(tmp_path: Path) -> None:
    text = """\
skill_name: table-repair
test_prompts:
  - ""
  - 12
  - fix it, table-repair
  - twice
  - twice
criteria:
  - {name: a, weight: true, description: x}
  - {name: A, weight: 0, description: ""}
  - {weight: 0.5, descripton: x}
extra: 1
"""
    result = read(tmp_path, text)
    assert result.cases == ()
    assert sorted(told(result.errors)) == [
        ("error", 3, "prompts[0].prompt is wrong"),
        ("error", 4, "prompts[1].prompt is wrong"),
        ("error", 9, "criteria[0].weight is wrong"),
        ("error", 11, "criteria[2].description is missing"),
        ("error", 11, "criteria[2].name is missing"),
        ("error", 11, "there is no field criteria[2].descripton"),
        ("error", 12, "there is no field extra"),
    ]


def test_what_a_field_says_is_checked_once_all_fields_are_there(tmp_path: Path) -> None:
    text = """\
skill_name: table-repair
test_prompts: ["fix it, table-repair", twice, twice]
criteria:
  - {name: a, weight: 1, description: x}
  - {name: A, weight: 0, description: ""}
"""
    result = read(tmp_path, text)
    assert result.cases == ()
    assert sorted(told(result.errors)) == [
        ("error", 2, "the prompt names the skill under test, table-repair"),
        ("error", 2, "the prompt occurs twice (first on line 2)"),
        ("error", 4, "criteria[1] has no name or no description"),
        ("error", 4, "criteria[1].weight must be above 0 and at most 1"),
    ]


@for_each(
    ("old", "new", "line", "says"),
    [
        ("skill_name: table-repair\n", "", 2, "skill is missing"),
        ("weight: 0.5", "weight: 0.48", 8, "the weights sum to 0.98, not to 1"),
        ("weight: 0.5", "weight: 1.5", 8, "criteria[0].weight must be above 0 and at most 1"),
        ("weight: 0.5", 'weight: "0.5"', 9, "criteria[0].weight is wrong"),
        ("weight: 0.5", "weight: .nan", 9, "criteria[0].weight is wrong"),
        ("name: whole", "name: Right", 8, "criteria[1].name is that of criteria[0] too"),
        ("  - name: right\n    weight", "  - just text\n  - weight", 8, "criteria[0] is wrong"),
        ("test_prompts:\n", "test_prompts: none\nmore:\n", 2, "prompts is wrong"),
        ("test_prompts:\n", "test_prompt: a\ntest_prompts:\n", 1, "under two names"),
        ("criteria:\n", "criteria: []\nrest:\n", 1, "criteria is wrong"),
        ("1;Ann", "1;\u202eAnn\n    ask the table-repair skill", 4, "names the skill"),
    ],
)
def test_a_fault_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in GOOD
    result = read(tmp_path, GOOD.replace(old, new, 1))
    assert result.cases == ()
    one(result.errors, tmp_path / "table-repair.yaml", line, says)


def test_a_skill_that_is_not_there_is_told_with_its_neighbour(tmp_path: Path) -> None:
    text = GOOD.replace("table-repair", "table-repairs")
    result = read(tmp_path, text, "table-repairs.yaml")
    (error,) = result.errors
    assert (error.line, error.found) == (1, "table-repairs")
    assert "table-repair" in error.hint


def test_an_unusual_number_of_criteria_is_a_remark_and_no_error(tmp_path: Path) -> None:
    text = GOOD.split("criteria:")[0] + "criteria: [{name: a, weight: 1, description: all}]\n"
    result = read(tmp_path, text)
    assert len(result.cases) == 1
    assert [each.code for each in result.diagnostics] == ["rubric_criteria_count"]


@for_each(
    ("text", "code", "line"),
    [
        ("skill_name: a\nskill_name: b\n", "yaml_duplicate_key", 2),
        ("skill_name: &a x\ntest_prompts: [*a]\n", "yaml_anchor", 1),
        ("skill_name: !!python/object:os.system x\n", "yaml_tag", 1),
        ("skill_name: x\n---\nskill_name: y\n", "yaml_invalid", 2),
        ("skill_name: x\n\ttest: y\n", "yaml_invalid", 2),
        ("a: " + "[" * 40 + "]" * 40, "yaml_too_deep", 1),
        ("a: b\u2028c\n", "hidden_character", 1),
    ],
)
def test_yaml_that_may_not_be_read_is_refused(
    tmp_path: Path, text: str, code: str, line: int
) -> None:
    result = read(tmp_path, text)
    (error,) = result.errors
    assert (error.code, error.line) == (code, line)
    assert "frontmatter" not in error.message + error.hint
    assert "fences" not in error.hint


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    written(tmp_path, "graph-drawing.yaml", "skill_name: [")
    (tmp_path / "letter.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    written(tmp_path, ".hidden.yaml", "nonsense")
    written(tmp_path, "notes.txt", "nonsense")
    result = read(tmp_path, GOOD)
    assert [each.skill for each in result.cases] == ["table-repair"]
    assert [(Path(each.path).name, each.code) for each in result.errors] == [
        ("gone.yaml", "io_error"),
        ("graph-drawing.yaml", "yaml_invalid"),
        ("letter.yaml", "encoding_not_utf8"),
    ]


def test_the_digest_is_of_the_bytes_and_not_of_the_place(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    first, second = read(here, GOOD), read(there, GOOD)
    assert first.sha256 == second.sha256
    assert read(there, GOOD + "\n").sha256 != first.sha256
    written(there, "table-repair.yaml", GOOD[:40])
    written(there, "zz.yaml", GOOD[40:])
    assert read_documents(there, library()).sha256 != first.sha256


@given(st.text(max_size=200))
def test_no_text_whatever_makes_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("rubrics")
    (folder / "x.yaml").write_bytes(f"skill_name: {text}".encode("utf-8", "surrogatepass"))
    result = read_documents(folder, library())
    assert result.cases == ()
    assert result.diagnostics


CANDIDATES = """\
candidates:
  - skill: table-repair
    test_prompts: [one thing, another thing]
    expected_tier: small
    siblings: [b.md, references/a.md, b.md]
    max_sibling_bytes: 500
    criteria:
      - {name: right, weight: 1.0, description: all of it}
  - skill: letter
    test_prompt: write to her
"""


def test_candidates_are_read_as_they_stand(tmp_path: Path) -> None:
    path = written(tmp_path, "candidates.yaml", CANDIDATES)
    dataset = read_documents(path, library())
    assert [each.code for each in dataset.diagnostics] == ["rubric_criteria_count"]
    first, second = dataset.cases
    assert [each.prompt for each in first.prompts] == ["one thing", "another thing"]
    assert (first.expected_tier, second.expected_tier) == ("small", None)
    assert (first.siblings, first.max_sibling_bytes) == (("b.md", "references/a.md"), 500)
    assert [each.name for each in first.criteria] == ["right"]
    assert [each.prompt for each in second.prompts] == ["write to her"]
    assert (second.siblings, second.max_sibling_bytes) == ((), 10_000)
    assert (second.criteria, second.path, second.line) == (DEFAULT_CRITERIA, str(path), 9)


@for_each(
    ("old", "new", "line", "says"),
    [
        ("skill: letter", "skill: lettre", 9, "the skill is not there"),
        ("test_prompt: write to her", "notes: x", 9, "candidates[1].prompts is missing"),
        ("test_prompt: write to her", "test_prompt: 7", 10, "candidates[1].prompts[0].prompt"),
        ("test_prompt: write to her", "test_prompt: the letter skill", 10, "names the skill"),
        ("expected_tier: small", "expected_tier: tiny", 4, "candidates[0].expected_tier is wrong"),
        ("max_sibling_bytes: 500", "max_sibling_bytes: 0", 6, "max_sibling_bytes is wrong"),
        ("max_sibling_bytes: 500", "max_sibling_bytes: true", 6, "max_sibling_bytes is wrong"),
        ("siblings: [b.md", "siblings: [1", 5, "candidates[0].siblings[0] is wrong"),
        ("weight: 1.0", "weight: 0.9", 8, "the weights sum to 0.9, not to 1"),
        ("expected_tier", "expected_teir", 4, "there is no field candidates[0].expected_teir"),
    ],
)
def test_a_fault_of_a_candidate_is_told_and_the_others_are_read(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    path = written(tmp_path, "candidates.yaml", CANDIDATES.replace(old, new, 1))
    dataset = read_documents(path, library())
    assert len(dataset.cases) == 1
    one(dataset.errors, path, line, says)


@for_each("text", ["candidates: 5\n", "candidates: []\nmore: 1\n", "candidates:\n  - a name\n"])
def test_a_file_of_another_shape_is_told(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "candidates.yaml", text)
    dataset = read_documents(path, library())
    assert dataset.cases == ()
    assert dataset.errors
