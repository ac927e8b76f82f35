"""``check --fix`` mends what needs no decision, and nothing a skill says changes by it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard import Skill, SkillError
from skillyard.check.operations.library_check import check_paths
from skillyard.check.validation.fixes import FIXABLE, FixPlace, fix_document, plan_fixes, write_plan
from skillyard.engine.formats.agentskills import SkillText, parse_document
from tests.check.validation.skill_files import codes, text, tree
from tests.tables import for_each

HEAD = "---\nname: pencil\ndescription: x\n"
PLACE = FixPlace("pencil/SKILL.md", "pencil")

MENDED = [
    ("byte_order_mark", "\ufeff" + text(), text()),
    ("line_ends_crlf", text().replace("\n", "\r\n"), text()),
    ("final_newline_missing", f"{HEAD}---\nb", f"{HEAD}---\nb\n"),
    ("trailing_blanks", "---\nname: pencil \ndescription: x\t\n---\nb \n", f"{HEAD}---\nb \n"),
    ("hidden_character", f"{HEAD}tags: [a\u200bb]\n---\nb\n", f"{HEAD}tags: [ab]\n---\nb\n"),
    ("yaml_invalid", f"{HEAD}tags:\n\t- a\n---\nb\n", f"{HEAD}tags:\n  - a\n---\nb\n"),
    (
        "yaml_repaired",
        text(description="Use when: pencils are blunt and dull."),
        text(description="'Use when: pencils are blunt and dull.'"),
    ),
    ("field_alias", f"{HEAD}allowed_tools: A B\n---\nb\n", f"{HEAD}allowed-tools: A B\n---\nb\n"),
    ("name_dir_mismatch", text("Pencil"), text("pencil")),
    ("name_dir_mismatch", text('"PENCIL"'), text('"pencil"')),
]

LEFT = {
    "blanks that are part of a text": f"{HEAD}compatibility: |\n  two \n  lines\n---\nb\n",
    "blanks in a field that nobody reads": f"{HEAD}notes: |\n  two \n  lines\n---\nb\n",
    "a name of its own": text("crayon"),
    "a character that may hide an order": f"{HEAD}tags: [a\u202eb]\n---\nb\n",
    "a hidden character in a name": "---\nname: pen\u200bcil\ndescription: x\n---\nb\n",
    "hidden characters in code": text(body='`ZERO_WIDTH = "\u200b"`'),
    "both spellings": f"{HEAD}allowed_tools: A\nallowed-tools: B\n---\nb\n",
    "tabs among blanks": f"{HEAD}tags:\n  - a\n\t- b\n---\nb\n",
    "a mark before another": "\ufeff\ufeff" + text(),
    "no frontmatter": "Text without an end",
    "no second fence": f"{HEAD}b\n",
    "a nul": text(body="\0"),
    "nothing": "",
}


@for_each("code, before, after", MENDED)
def test_a_fault_is_mended_and_named(code: str, before: str, after: str) -> None:
    data, fixes = fix_document(before.encode(), PLACE)
    assert data.decode() == after
    assert {fix.code for fix in fixes} == {code}
    assert all(fix.path == PLACE.path and fix.line >= 1 for fix in fixes)


def test_every_code_that_is_said_to_be_fixable_has_a_sample() -> None:
    assert {code for code, _, _ in MENDED} == FIXABLE


@for_each("code, before, after", MENDED)
def test_an_ignored_code_is_not_mended(code: str, before: str, after: str) -> None:
    assert fix_document(before.encode(), PLACE, {code})[0] == before.encode()


@for_each("why", LEFT)
def test_what_needs_a_decision_stays(why: str) -> None:
    data = LEFT[why].encode()
    assert fix_document(data, PLACE) == (data, ())


# A fix keeps the meaning: of any document, the skill is the same but for what was mended.

_VALUES = st.sampled_from(
    [
        *("x", "Use: when asked", "'quoted'", '"a: b"', "|\n  one \n  two", ">\n  a\n  b", ""),
        *(
            "[a, b]",
            "a # b",
            "true",
            "1.0",
            "a\u200bb",
            "{a: 1}",
            "\n\t- a\n\t- b",
            "\n  - a",
            "- a",
        ),
    ]
)
_KEYS = st.sampled_from(
    [
        *("description", "license", "tags", "allowed_tools", "allowed-tools", "skill_name"),
        *("notes", "metadata", "trigger", "version"),
    ]
)
_BLANKS = st.sampled_from(["", "", " ", "\t", "  "])
_LINES = st.lists(st.tuples(_KEYS, _VALUES, _BLANKS), max_size=6)
_BODIES = st.text(st.sampled_from("ab \t\n-#`\u200b\ufeff\r"), max_size=30)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["pencil", "Pencil", "PEN cil", "'Pencil'", "crayon", "pen\u200bcil", ""]),
    lines=_LINES,
    body=_BODIES,
    mark=st.sampled_from(["", "\ufeff"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_fix_keeps_the_meaning_and_a_second_changes_nothing(
    name: str, lines: list[tuple[str, str, str]], body: str, mark: str, end: str
) -> None:
    block = "".join(f"{key}: {value}{blanks}\n" for key, value, blanks in lines)
    whole = f"{mark}---\nname: {name}\ndescription: y\n{block}---\n{body}".replace("\n", end)
    data, fixes = fix_document(whole.encode(), PLACE)
    assert fix_document(data, PLACE) == (data, ())
    assert (data != whole.encode()) == bool(fixes)
    before, after = _skill(whole), _skill(data.decode())
    if before is not None:
        assert after is not None
        renamed = any(fix.code == "name_dir_mismatch" for fix in fixes)
        assert _said(before, renamed) == _said(after, renamed)
    assert _without_ends(data.decode()).endswith(_without_ends(body))


def _without_ends(content: str) -> str:
    return content.replace("\r", "").rstrip("\n")


def _skill(content: str) -> Skill | None:
    try:
        return parse_document(SkillText(*PLACE[:2]), content, strict=False).skill
    except SkillError:
        return None


def _said(skill: Skill, renamed: bool) -> dict[str, object]:
    left_out = {"hash", "id", "frontmatter", *(("name",) if renamed else ())}
    names = [name for name in type(skill).__slots__ if not name.startswith("_")]
    return {name: getattr(skill, name) for name in names if name not in left_out}


# Files.

MESSY = "\ufeff---\nname: Pencil\ndescription: Use when: pencils are blunt and dull.\n---\nb\n"
CLEAN = "---\nname: pencil\ndescription: 'Use when: pencils are blunt and dull.'\n---\nb\n"


def test_files_are_mended_in_place_and_then_there_is_nothing_left(tmp_path: Path) -> None:
    root = tree(tmp_path, {"pencil/SKILL.md": MESSY, "pencil/notes.md": MESSY, "AGENTS.md": "x"})
    os.chmod(root / "pencil/SKILL.md", 0o640)
    fixed, _ = check_paths([str(root)], fix=True)
    assert [fix.code for fix in fixed.fixes] == [
        "byte_order_mark",
        "yaml_repaired",
        "name_dir_mismatch",
    ]
    assert (root / "pencil/SKILL.md").read_bytes() == CLEAN.encode()
    assert (root / "pencil/notes.md").read_bytes() == MESSY.encode()
    assert sorted(os.listdir(root / "pencil")) == ["SKILL.md", "notes.md"]
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(root / "pencil/SKILL.md").st_mode) == 0o640
    assert (fixed.diagnostics, fixed.fixable, fixed.refused) == ((), 0, ())
    assert check_paths([str(root)], fix=True)[0].fixes == ()


def test_a_plan_writes_nothing_and_shows_its_change(tmp_path: Path) -> None:
    root = tree(tmp_path, {"pencil/SKILL.md": MESSY})
    checked, (plan,) = check_paths([str(root)])
    assert "\n-description: Use when: pencils are blunt and dull.\n" in plan.diff()
    assert "\n+description: 'Use when: pencils are blunt and dull.'\n" in plan.diff()
    assert (root / "pencil/SKILL.md").read_bytes() == MESSY.encode()
    assert checked.fixable == 3


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_nothing_behind_a_link_is_written(tmp_path: Path) -> None:
    tree(tmp_path, {"outside/SKILL.md": MESSY, "root/pencil/real.txt": MESSY, "root/x": ""})
    (tmp_path / "root/outside").symlink_to(tmp_path / "outside", target_is_directory=True)
    (tmp_path / "root/pencil/SKILL.md").symlink_to("real.txt")
    fixed, _ = check_paths([str(tmp_path / "root")], fix=True)
    assert (fixed.fixes, fixed.fixable) == ((), 0)
    assert "yaml_repaired" in codes(fixed.diagnostics)
    assert (tmp_path / "outside/SKILL.md").read_bytes() == MESSY.encode()
    assert (tmp_path / "root/pencil/real.txt").read_bytes() == MESSY.encode()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_folder_exchanged_for_a_link_after_planning_is_refused(tmp_path: Path) -> None:
    root = tree(tmp_path, {"root/pencil/SKILL.md": MESSY, "outside/SKILL.md": MESSY})
    path = root / "root"
    (plan,) = plan_fixes(path, sy.validate(path), "lenient")
    (path / "pencil").rename(root / "moved")
    (path / "pencil").symlink_to(root / "outside", target_is_directory=True)
    with pytest.raises(sy.SkillIoError, match="cannot write"):
        write_plan(plan)
    assert (root / "outside/SKILL.md").read_bytes() == MESSY.encode()


def test_a_file_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    root = tree(tmp_path, {"pencil/SKILL.md": MESSY})
    (plan,) = plan_fixes(root, sy.validate(root), "lenient")
    tree(root, {"pencil/SKILL.md": "mine"})
    with pytest.raises(sy.SkillIoError, match="changed") as caught:
        write_plan(plan)
    assert caught.value.code == "changed_while_reading"
    assert (root / "pencil/SKILL.md").read_bytes() == b"mine"
