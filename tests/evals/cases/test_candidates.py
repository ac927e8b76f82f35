"""Candidates for the size comparison: one entry a skill, every fault with its line."""

from __future__ import annotations

from pathlib import Path

from skillyard.evals.cases.case_files import CANDIDATES, read_files
from skillyard.evals.criteria import DEFAULT_CRITERIA
from tests.evals.cases.making import library, one, written
from tests.tables import for_each

GOOD = """\
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
    path = written(tmp_path, "candidates.yaml", GOOD)
    dataset = read_files(path, CANDIDATES, library())
    assert dataset.errors == ()
    assert sorted(each.code for each in dataset.diagnostics) == [
        "candidate_sibling_twice",
        "rubric_criteria_count",
    ]
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
        (
            "skill: letter",
            "skill: lettre",
            9,
            "candidates[1].skill names a skill that is not there",
        ),
        ("skill: letter", "skill: table-repair", 9, "candidates[1].skill is a candidate twice"),
        ("test_prompt: write to her", "notes: x", 9, "candidates[1].test_prompts is missing"),
        ("test_prompt: write to her", "test_prompt:", 10, "candidates[1].test_prompt is empty"),
        (
            "test_prompt: write to her",
            "test_prompt: 7",
            10,
            "candidates[1].test_prompt[0] is not text",
        ),
        (
            "test_prompt: write to her",
            "test_prompt: a\n    test_prompts: [b]",
            10,
            "candidates[1].test_prompt stands beside test_prompts",
        ),
        (
            "test_prompt: write to her",
            "test_prompt: the letter skill",
            10,
            "names the skill under test",
        ),
        (
            "expected_tier: small",
            "expected_tier: tiny",
            4,
            "candidates[0].expected_tier is no tier",
        ),
        ("max_sibling_bytes: 500", "max_sibling_bytes: 0", 6, "must be at least 1"),
        ("max_sibling_bytes: 500", "max_sibling_bytes: 0.5", 6, "is not a whole number"),
        ("max_sibling_bytes: 500", "max_sibling_bytes: true", 6, "is not a whole number"),
        ("siblings: [b.md", "siblings: [1", 5, "candidates[0].siblings[0] is not text"),
        ("weight: 1.0", "weight: 0.9", 8, "the weights sum to 0.9, not to 1"),
        ("weight: 1.0", "weight: yes", 8, "criteria[0].weight is not a number"),
        ("expected_tier", "expected_teir", 4, "there is no field candidates[0].expected_teir"),
    ],
)
def test_a_fault_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in GOOD
    path = written(tmp_path, "candidates.yaml", GOOD.replace(old, new, 1))
    dataset = read_files(path, CANDIDATES, library())
    assert len(dataset.cases) == 1
    one(dataset.errors, path, line, says)


@for_each(
    ("text", "line", "says"),
    [
        ("candidates: 5\n", 1, "candidates is not a list"),
        ("skills: []\n", 1, "candidates is missing"),
        ("candidates:\n  - just a name\n", 2, "candidates[0] is not a mapping"),
    ],
)
def test_a_file_of_another_shape_is_told(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = written(tmp_path, "candidates.yaml", text)
    dataset = read_files(path, CANDIDATES, library())
    assert dataset.cases == ()
    one(dataset.errors, path, line, says)


def test_paths_of_siblings_are_not_judged_here(tmp_path: Path) -> None:
    """What may be read is decided where it is read (``conditions/siblings.py``)."""
    path = written(tmp_path, "c.yaml", GOOD.replace("b.md", "../../etc/passwd"))
    assert read_files(path, CANDIDATES, library()).cases[0].siblings[0] == "../../etc/passwd"
