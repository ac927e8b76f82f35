"""The Oasis document: its example file, its points, its summary and its registry."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, document, names, skill

EXAMPLE = """---
id: code-review
name: Code Review
description: Identify defects, risks, and test gaps in code changes.
triggers:
  - review this
  - code review
  - find bugs
priority: 80
inputs:
  - git diff
  - changed files
outputs:
  - ordered findings with severity
---

# Code Review Skill

When asked to review code:
1. Focus on correctness and regressions first.
2. Then cover security, performance, and missing tests.
3. Return findings ordered by severity.
"""
PATH = "key_skills/code-review/SKILL.md"


@pytest.fixture
def example(tmp_path: Path) -> sy.Catalog:
    return sy.load_catalog(write_tree(tmp_path / "project", {PATH: EXAMPLE}))


@requirement("oasis:example-file", "discovery:origins")
def test_the_example_file_is_read_field_by_field(example: sy.Catalog) -> None:
    (found,) = example.find(origin="oasis")
    assert (found.slug, found.name, found.priority) == ("code-review", "Code Review", 80)
    assert found.description == "Identify defects, risks, and test gaps in code changes."
    assert found.triggers.phrases == ("review this", "code review", "find bugs")
    assert found.triggers.files == ()
    assert found.inputs == ("git diff", "changed files")
    assert found.outputs == ("ordered findings with severity",)
    assert found.safety_notes == ()
    assert found.body is not None
    assert found.body.startswith("# Code Review Skill\n\nWhen asked")
    assert found.origin == "oasis"


@requirement("oasis:example-file", "triggers:points")
@for_each(
    ("request_text", "points"),
    [
        ("find bugs", 10),
        ("please review this: find bugs", 20),
        ("do a code review", 31),
        ("the code changes have risks", 3),
        ("bake bread", 0),
    ],
)
def test_the_example_skill_gets_the_documented_points(
    example: sy.Catalog, request_text: str, points: int
) -> None:
    found = sy.rank(example, request_text, scorer="triggers", limit=None)
    assert ([match.score for match in found] or [0]) == [points]


def trained(
    name: str = "Zed",
    slug: str = "zed",
    priority: int = 0,
    phrases: tuple[str, ...] = ("red",),
    description: str = "Nothing.",
) -> sy.Skill:
    """Return a skill that fires on ``phrases``."""
    return skill(
        name,
        description,
        slug=slug,
        priority=priority,
        path=f"key_skills/{slug}/SKILL.md",
        triggers=sy.Triggers(phrases=phrases),
    )


@requirement("triggers:threshold")
def test_ten_points_are_enough_and_nine_are_not() -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet"
    one = catalog(trained(phrases=("qq",), description=words))
    assert names(sy.select(one, words, scorer="triggers").selected) == ["Zed"]
    nine = sy.select(one, words.removesuffix(" juliet"), scorer="triggers")
    assert nine.selected == ()
    assert nine.abstained


@requirement("summary:line", "summary:no-bodies")
def test_the_summary_line_has_the_suggested_format(example: sy.Catalog) -> None:
    (line,) = sy.summary(example).splitlines()
    assert line == (
        "- Code Review (code-review): Identify defects, risks, and test gaps in code changes."
        " | triggers: review this, code review, find bugs"
    )
    assert "Focus on correctness" not in sy.summary(example)


@requirement("oasis:scan")
def test_only_the_first_level_of_key_skills_belongs_to_the_registry(tmp_path: Path) -> None:
    other = EXAMPLE.replace("id: code-review", "id: other")
    root = write_tree(
        tmp_path / "project",
        {
            PATH: EXAMPLE,
            "key_skills/SKILL.md": other,
            "key_skills/group/other/SKILL.md": other,
            "key_skills/lower/skill.md": other,
            "skills/other/SKILL.md": other,
            "pkg/notes/SKILL.md": document("notes"),
        },
    )
    found = sy.load_catalog(root)
    assert [one.slug for one in found.find(origin="oasis")] == ["code-review"]
    assert "notes" in {one.name for one in found.find(origin="agentskills")}


@requirement("oasis:duplicate-id")
def test_of_two_skills_with_one_id_the_folder_equal_to_it_wins(tmp_path: Path) -> None:
    copy = EXAMPLE.replace("Identify defects", "Find defects")
    root = write_tree(tmp_path / "project", {"key_skills/a-copy/SKILL.md": copy, PATH: EXAMPLE})
    loaded = sy.load_catalog(root)
    (winner,) = loaded.find(origin="oasis")
    assert winner.path.endswith(PATH)
    told = [found for found in loaded.diagnostics if found.severity == "warning"]
    assert any("a-copy" in found.path + found.message for found in told)
