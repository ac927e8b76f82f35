"""The three profiles of validation, and the advice for authors."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document

EXTRA = (
    'version: "1.0"\ntags: [db]\nkeywords: [table]\ntrigger: false\nhint: Which?\n'
    "triggers:\n  files: ['*.sql']\n"
)


def found(path: Path, profile: str) -> list[sy.Diagnostic]:
    return sy.validate(path, profile=profile)


def severities(diagnostics: list[sy.Diagnostic]) -> set[str]:
    return {one.severity for one in diagnostics}


@requirement("validate:lenient-default")
def test_the_default_profile_is_lenient_and_takes_documented_fields(tmp_path: Path) -> None:
    write_tree(tmp_path, {"query-db/SKILL.md": document("query-db", extra=EXTRA)})
    path = tmp_path / "query-db"
    assert sy.validate(path) == found(path, "lenient")
    assert "error" not in severities(sy.validate(path))
    assert "unexpected_fields" not in {one.code for one in sy.validate(path)}


@requirement("validate:lenient-default")
def test_what_can_be_understood_is_no_error_under_lenient(tmp_path: Path) -> None:
    write_tree(tmp_path, {"folder/SKILL.md": document("Other_Name", "Use when: asked")})
    path = tmp_path / "folder"
    assert "error" not in severities(found(path, "lenient"))
    assert "error" in severities(found(path, "reference"))


@requirement("validate:lenient-default", "validate:profiles:diagnostics")
@for_each("profile", ["lenient", "spec", "reference"])
def test_a_good_skill_has_no_error_and_an_unreadable_one_has_under_every_profile(
    tmp_path: Path, profile: str
) -> None:
    files = {"good/SKILL.md": document("good"), "bad/SKILL.md": "# No frontmatter\n"}
    write_tree(tmp_path, files)
    assert "error" not in severities(found(tmp_path / "good", profile))
    bad = [one for one in found(tmp_path / "bad", profile) if one.severity == "error"]
    assert [one.code for one in bad] == ["frontmatter_missing"]
    assert bad[0].path.endswith("SKILL.md")
    assert bad[0].hint


@requirement("validate:extension-fields")
@for_each(
    "field",
    [
        'version: "1.0"',
        "tags: [a]",
        "hint: x",
        "trigger: true",
        "references: [references/a.md]",
        "keywords: [a]",
        "triggers: [a b]",
        "priority: 5",
        "id: x",
        "inputs: [a]",
        "outputs: [a]",
        "safety_notes: [a]",
    ],
)
def test_a_documented_extension_field_warns_under_spec_and_fails_under_reference(
    tmp_path: Path, field: str
) -> None:
    write_tree(tmp_path, {"good/SKILL.md": document("good", extra=field + "\n")})
    path = tmp_path / "good"
    assert severities(found(path, "spec")) == {"warning"}
    errors = [one for one in found(path, "reference") if one.severity == "error"]
    assert [one.code for one in errors] == ["unexpected_fields"]


@requirement("validate:extension-fields")
@for_each(
    ("name", "code"),
    [
        ("My-skill", "name_not_lowercase"),
        ("a--b", "name_double_hyphen"),
        ("-a", "name_edge_hyphen"),
        ("a.b", "name_bad_chars"),
        ("a" * 65, "name_too_long"),
    ],
)
def test_a_broken_name_rule_is_an_error_under_spec_and_reference(
    tmp_path: Path, name: str, code: str
) -> None:
    write_tree(tmp_path, {f"{name}/SKILL.md": document(f'"{name}"')})
    for profile in ("spec", "reference"):
        errors = {one.code for one in found(tmp_path / name, profile) if one.severity == "error"}
        assert code in errors


@requirement("validate:unknown-profile")
def test_a_wrong_profile_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match=r"lenient.*reference.*spec"):
        sy.validate(tmp_path, profile="strictest")


def advice(tmp_path: Path, **documents: str) -> list[sy.Diagnostic]:
    """Return what is said about these skills beyond errors, with its hints."""
    files = {f"{name}/SKILL.md": text for name, text in documents.items()}
    told = sy.validate(write_tree(tmp_path / "library", files))
    assert "error" not in severities(told)
    assert all(one.hint for one in told)
    return told


@requirement("validate:author-guidance")
def test_a_pattern_that_matches_everything_is_advised_against(tmp_path: Path) -> None:
    broad = document("broad", "Formats code.", extra="triggers:\n  files: ['*', '**/*']\n")
    narrow = document("narrow", "Runs tests.", extra="triggers:\n  files: ['*.test.ts']\n")
    told = advice(tmp_path, broad=broad, narrow=narrow)
    assert {"broad"} == {one.path.split("/")[-2] for one in told}


@requirement("validate:author-guidance")
def test_the_same_trigger_in_two_skills_is_advised_against(tmp_path: Path) -> None:
    one = document("one", "Formats code.", extra="triggers: [tidy it up]\n")
    two = document("two", "Sends letters.", extra="triggers: [Tidy it up!]\n")
    assert any(
        "tidy it up" in (each.message + each.found).lower()
        for each in advice(tmp_path, one=one, two=two)
    )


@requirement("validate:author-guidance")
def test_two_descriptions_that_say_the_same_are_advised_against(tmp_path: Path) -> None:
    text = "Extract text and tables from PDF files and fill in PDF forms."
    told = advice(
        tmp_path,
        first=document("first", text),
        second=document("second", text.replace("fill in", "fill")),
        third=document("third", "Bakes bread."),
    )
    folders = {one.path.split("/")[-2] for one in told}
    assert folders & {"first", "second"}
    assert "third" not in folders
