"""What the three profiles promise, each towards its own source."""

from __future__ import annotations

from pathlib import Path

import skillyard as sy
from skillyard import Diagnostic
from skillyard.check.validation import PROFILES
from tests.check.validation.skill_files import check, codes, text, tree
from tests.tables import for_each

MIXED: dict[str, str | bytes] = {
    "good/SKILL.md": text("good"),
    "crayon/SKILL.md": text("Other_Name"),
    "repaired/SKILL.md": text("repaired", "Use when: asked"),
    "broken/SKILL.md": "no frontmatter\n",
    "twice/SKILL.md": text("twice", extra="name: again\n"),
    "refused/SKILL.md": text('"../../evil"'),
    "mark/SKILL.md": b"\xff\xfe-\x00",
    "lower/skill.md": text("lower"),
    "mixed/Skill.md": text("mixed"),
    ".skills/strict.md": text("strict", extra="tags: alone\n"),
    ".skills/nameless.md": "---\ndescription: x\n---\nb\n",
    "AGENTS.md": "# Rules\n",
    "key_skills/half/SKILL.md": text("Half"),
}


def _errors(found: list[Diagnostic]) -> list[tuple[str, str]]:
    return sorted((each.path, each.code) for each in found if each.severity == "error")


def test_the_errors_of_lenient_are_exactly_what_does_not_load(tmp_path: Path) -> None:
    root = tree(tmp_path, MIXED)
    catalog = sy.load_catalog(root)
    found = sy.validate(root)
    assert _errors(found) == _errors(list(catalog.diagnostics))
    assert len(_errors(found)) == 6
    said = {each._replace(column=None) for each in found}
    assert {each._replace(column=None) for each in catalog.diagnostics} <= said


def test_the_findings_are_sorted_and_the_same_every_time(tmp_path: Path) -> None:
    root = tree(tmp_path, MIXED)
    for profile in PROFILES:
        found = sy.validate(root, profile)
        assert found == sorted(found, key=lambda d: (d.path, d.line or 0, d.code, d.column or 0))
        assert found == sy.validate(root, profile)
        assert len(set(found)) == len(found)


@for_each(
    ("line", "code"),
    [
        ("license: &a MIT", "yaml_anchor"),
        ("license: !x MIT", "yaml_tag"),
        ("name: again", "yaml_duplicate_key"),
        ("license: *a", "yaml_alias"),
    ],
)
def test_finer_yaml_codes_are_one_code_under_reference(
    line: str, code: str, tmp_path: Path
) -> None:
    content = text(extra=line + "\n")
    assert codes(check(tmp_path, content), "error") == [code]
    assert codes(check(tmp_path, content, "reference"), "error") == ["yaml_invalid"]


@for_each(
    ("content", "valid"),
    [
        (text(extra="license: [MIT]\n"), False),
        (text(extra="license: a [b]\n"), True),
        (text(extra='license: "[MIT]"\n'), True),
        (text(extra="license: a\tb\n"), False),
        (text(extra="license: a # b\tc\n"), True),
        (text(extra='license: "a\tb"\n'), True),
        (text(extra="license: |\n  [a]\tb\n"), True),
        (text(extra="metadata:\n  a: 1\n  b:\n    - x\n"), True),
        (text(extra="metadata: {}\n"), False),
        ("---\n{}\n---\nb\n", False),
        ("\ufeff" + text(), False),
        ("\n" + text(), False),
        (text().replace("\n", "\r"), True),
        (text(description="alpha --- beta"), True),
        ("---\nname: pencil\ndescription: x\n---body", True),
        ("--- # note\nname: pencil\ndescription: x\n---\n", True),
        (text(description="x" * 1025), False),
        (text(description='"' + "x" * 1020 + '      "'), False),
        (text('" pencil "'), True),
        (text("ｐｅｎｃｉｌ"), True),
        (text("~", description="null"), False),
        (text(extra="compatibility:\n"), True),
        (text(extra="\ufefflicense: MIT\n"), False),
    ],
)
def test_reference_reads_as_the_reference_validator_does(
    content: str, valid: bool, tmp_path: Path
) -> None:
    found = check(tmp_path, content, "reference")
    assert (codes(found, "error") == []) is valid, found
