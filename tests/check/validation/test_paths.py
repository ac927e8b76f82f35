"""What may be named: a folder, a file, a root; and what happens with everything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.check.validation import PROFILES
from tests.check.validation.skill_files import codes, text, tree
from tests.tables import for_each


def test_a_skill_a_file_and_a_root_give_the_same_finding(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "lib/crayon/SKILL.md": text("pencil"),
            "lib/good/SKILL.md": text("good", "Cleans erasers. Use for dirty paper."),
        },
    )
    path = root / "lib/crayon/SKILL.md"
    for profile in PROFILES:
        found = sy.validate(root, profile)
        assert codes(found) == ["name_dir_mismatch"]
        assert found == sy.validate(path.parent, profile) == sy.validate(path, profile)


def test_a_document_below_dot_skills_is_read_strictly_by_its_own_path(tmp_path: Path) -> None:
    content = text("pencil", "Use when: asked")
    root = tree(tmp_path, {".skills/a/pencil.md": content, ".skills/b/SKILL.md": content})
    for name in ("a/pencil.md", "b/SKILL.md"):
        assert codes(sy.validate(root / ".skills" / name)) == ["yaml_invalid"]
    good = tree(tmp_path, {".skills/a/crayon.md": text("pencil", body="a\u200bb")})
    found = sy.validate(good / ".skills/a/crayon.md")
    assert codes(found) == ["name_file_mismatch", "hidden_character"]
    assert sy.validate(good / ".skills/a")[0].code == "skill_md_missing"


@for_each("profile", PROFILES)
def test_a_place_without_a_skill_is_an_error(profile: str, tmp_path: Path) -> None:
    root = tree(tmp_path, {"README.md": text()})
    (found,) = sy.validate(root, profile)
    assert (found.code, found.severity, found.path) == ("skill_md_missing", "error", str(root))
    assert found.hint


def test_a_lower_case_file_name_is_judged_by_the_profile(tmp_path: Path) -> None:
    root = tree(tmp_path, {"pencil/skill.md": text()})
    graded = {
        profile: [(e.code, e.severity) for e in sy.validate(root, profile)] for profile in PROFILES
    }
    assert graded == {
        "lenient": [("file_name_case", "warning")],
        "spec": [("file_name_case", "error")],
        "reference": [],
    }


@for_each(
    ("path", "content", "expected"),
    [
        ("key_skills/a/SKILL.md", text("a"), ["oasis_incomplete"]),
        (".claude/commands/c.md", "# Notes\n\nCollects.\n", []),
        (".cursor/rules/deep/r.mdc", "---\nglobs: *.py\n---\nText.\n", []),
    ],
)
def test_how_a_path_is_written_does_not_say_how_leniently_it_is_read(
    tmp_path: Path, path: str, content: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path, {path: content})
    folder, name = os.path.split(path)
    for inside, given in ((".", path), (".", root / path), (folder, name), (folder, f"./{name}")):
        monkeypatch.chdir(root / inside)
        assert codes(sy.validate(given, "lenient")) == expected
