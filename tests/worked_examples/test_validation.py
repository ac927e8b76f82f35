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


@requirement("validate:unknown-profile")
def test_a_wrong_profile_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match=r"lenient.*reference.*spec"):
        sy.validate(tmp_path, profile="strictest")
