"""What the skills of a library do to each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import skillyard as sy
from skillyard.check.validation import library_rules
from tests.check.validation.skill_files import text, tree
from tests.requirements import requirement
from tests.tables import for_each


def _skill(name: str, description: str | None = None, **fields: Any) -> sy.Skill:
    return sy.Skill(
        name=name,
        description=f"Unlike {name}." if description is None else description,
        body="b",
        path=f"lib/{name}/SKILL.md",
        **fields,
    )


def _told(*skills: sy.Skill, **options: Any) -> list[tuple[str, str]]:
    found = library_rules(sy.Catalog.from_skills(skills), **options)
    assert all(each.hint and each.severity in ("warning", "info") for each in found)
    return [(each.code, each.path.split("/")[1]) for each in found]


def _files(*patterns: str) -> sy.Triggers:
    return sy.Triggers(files=patterns)


@requirement("validate:author-guidance")
@for_each("pattern", ["*", "**", "**/*", "*.*", "./**", "**/**", " * ", "**/*.*"])
def test_a_pattern_for_every_file_is_told(pattern: str) -> None:
    assert _told(_skill("one", triggers=_files("*.py", pattern))) == [("pattern_generic", "one")]


@requirement("validate:author-guidance")
def test_a_trigger_of_two_skills_is_told_at_both_without_case_and_punctuation() -> None:
    one = _skill("alpha", triggers=sy.Triggers(phrases=("Tidy it up!", "mine")))
    two = _skill("omega", triggers=sy.Triggers(keywords=("tidy  it-up", "tidy it up")))
    assert _told(one, two) == [("trigger_shared", "alpha"), ("trigger_shared", "omega")]
    found = library_rules(sy.Catalog.from_skills([one, two]))
    assert (
        found[0].message == "the trigger 'tidy it up' is also that of 'omega' (lib/omega/SKILL.md)"
    )


@requirement("validate:author-guidance")
def test_descriptions_of_nearly_the_same_words_are_told_at_the_later_one() -> None:
    first = _skill("first", "Extract text and tables from PDF files and fill in PDF forms.")
    second = _skill(
        "second", "Use this skill to fill PDF forms and extract tables, text from files."
    )
    third = _skill("third", "Bakes bread from wheat and rye in stone ovens.")
    assert _told(first, second, third) == [("descriptions_confusable", "second")]


@for_each(
    ("one", "two"),
    [
        ("clawhub", "clawhub1"),
        ("clawhub", "cllawhub"),
        ("clawhub", "clawhb"),
        ("clawhub", "clawhbu"),
        ("clawhub", "clavhub"),
        ("clawhub", "claw-hub"),
        ("modern", "modem"),
        ("pencil", "pencíl"),
        ("paypal", "раураl".replace("l", "ӏ")),
        ("tool", "t00l"),
        ("pdf-tools", "pdf_tools"),
    ],
)
def test_names_that_are_taken_for_one_another_are_told_at_both(one: str, two: str) -> None:
    told = _told(_skill(one, "Cuts wood."), _skill(two, "Bakes bread."))
    assert sorted(told) == sorted([("name_lookalike", one), ("name_lookalike", two)])


def test_a_tag_that_every_skill_carries_is_told_once() -> None:
    skills = [_skill(name, tags=("Wood", name)) for name in ("birch", "maple", "cedar")]
    assert _told(*skills) == [("tag_on_every_skill", "birch")]
    assert _told(*skills[:2]) == []
    assert _told(*skills, _skill("untagged")) == []


def test_a_tool_that_does_not_exist_is_told_when_the_tools_are_known() -> None:
    skill = _skill("one", allowed_tools=("Read", "Bash(git:*)", "Rread", "mcp__x__*", "mcp__y__*"))
    assert _told(skill) == []
    assert _told(skill, tools=["Read", "Bash", "mcp__x__get"]) == [("tool_unknown", "one")] * 2
    found = library_rules(sy.Catalog.from_skills([skill]), tools=["Read", "Bash", "mcp__y__get"])
    assert "did you mean `Read`?" in [each.hint for each in found]


def test_shadowed_twins_and_convention_documents_are_left_out(tmp_path: Path) -> None:
    same = text("pencil")
    files = {
        ".skills/pencil.md": same,
        "pencil/SKILL.md": same,
        "AGENTS.md": same,
        "a/CLAUDE.md": same,
    }
    catalog = sy.load_catalog(tree(tmp_path, files))
    assert catalog.shadowed
    assert library_rules(catalog) == []
