"""Rubrics: a good one is read as it stands, and a bad one is told with every fault and its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.cases.case_files import RUBRIC, read_files
from skillyard.evals.cases.dataset import Dataset
from skillyard.evals.cases.skill_cases import SkillCases
from skillyard.evals.criteria import Criterion
from tests.evals.cases.making import library, one, told, written
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
    return read_files(written(folder, name, text).parent, RUBRIC, library())


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
        ("error", 3, "test_prompts[0] is empty"),
        ("error", 4, "test_prompts[1] is not text"),
        ("error", 5, "the prompt names the skill under test, table-repair"),
        ("error", 7, "test_prompts[4] occurs twice (first on line 6)"),
        ("error", 9, "criteria[0].weight is not a number"),
        ("error", 10, "criteria[1].description is empty"),
        ("error", 10, "criteria[1].name is that of criteria[0] too"),
        ("error", 10, "criteria[1].weight must be above 0 and at most 1"),
        ("error", 11, "criteria[2].description is missing"),
        ("error", 11, "criteria[2].name is missing"),
        ("error", 11, "there is no field criteria[2].descripton"),
        ("error", 12, "there is no field extra"),
    ]


@for_each(
    ("old", "new", "line", "says"),
    [
        (
            "skill_name: table-repair",
            "skill_name: graph-drawing",
            1,
            "differs from the file's name",
        ),
        ("skill_name: table-repair\n", "", 1, "skill_name is missing"),
        ("weight: 0.5", "weight: 0.48", 7, "the weights sum to 0.98, not to 1"),
        ("weight: 0.5", "weight: 1.5", 9, "criteria[0].weight must be above 0 and at most 1"),
        ("weight: 0.5", 'weight: "0.5"', 9, "criteria[0].weight is not a number"),
        ("weight: 0.5", "weight: .nan", 9, "criteria[0].weight is not a number"),
        ("name: whole", "name: Right", 11, "criteria[1].name is that of criteria[0] too"),
        ("  - name: right\n    weight", "  - just text\n  - weight", 8, "is not a mapping"),
        ("test_prompts:\n", "test_prompts: none\nmore:\n", 2, "test_prompts is not a list"),
        ("test_prompts:\n", "test_prompts:\nprompts:\n", 2, "test_prompts is empty"),
        ("criteria:\n", "criteria: []\nrest:\n", 7, "criteria is empty"),
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


@for_each("weights", [(0.34, 0.33, 0.33), (0.333, 0.333, 0.333), (0.5, 0.3, 0.21)])
def test_weights_may_be_off_by_a_hundredth(
    tmp_path: Path, weights: tuple[float, float, float]
) -> None:
    text = GOOD
    for old, new in zip(("0.5", "0.3", "0.2"), weights, strict=True):
        text = text.replace(f"weight: {old}", f"weight: W{new}", 1)
    text = text.replace("W", "")
    assert read(tmp_path, text).errors == ()


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
        ("- a\n- b\n", "yaml_not_mapping", 1),
        ("", "yaml_not_mapping", 1),
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
    written(tmp_path, "graph-drawing.yaml", "nonsense")
    (tmp_path / "letter.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    written(tmp_path, ".hidden.yaml", "nonsense")
    written(tmp_path, "notes.txt", "nonsense")
    result = read(tmp_path, GOOD)
    assert [each.skill for each in result.cases] == ["table-repair"]
    assert [(Path(each.path).name, each.code) for each in result.errors] == [
        ("gone.yaml", "io_error"),
        ("graph-drawing.yaml", "yaml_not_mapping"),
        ("letter.yaml", "encoding_not_utf8"),
    ]


def test_the_digest_is_of_the_bytes_and_not_of_the_place(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    first, second = read(here, GOOD), read(there, GOOD)
    assert first.sha256 == second.sha256
    assert read(there, GOOD + "\n").sha256 != first.sha256
    written(there, "table-repair.yaml", GOOD[:40])
    written(there, "zz.yaml", GOOD[40:])
    assert read_files(there, RUBRIC, library()).sha256 != first.sha256


def test_a_folder_that_is_not_there_has_no_rubrics_and_a_file_that_is_not_is_an_error(
    tmp_path: Path,
) -> None:
    assert read_files(tmp_path / "none", RUBRIC, library()).diagnostics == ()
    (error,) = read_files(tmp_path / "none.yaml", RUBRIC, library()).errors
    assert error.code == "io_error"


@given(st.text(max_size=200))
def test_no_text_whatever_makes_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("rubrics")
    (folder / "x.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    result = read_files(folder, RUBRIC, library())
    assert result.cases == ()
    assert result.errors
