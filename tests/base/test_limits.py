"""The caps: one value, overridable, each far from what hurts and in a sensible order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.discovery import Root, scan
from skillyard.engine.formats.agentskills import SkillText, parse_document
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

# spec/security.md §2.4, field by field.
DEMANDED = {
    "skill_file_bytes": 1024 * 1024,
    "frontmatter_bytes": 16 * 1024,
    "yaml_depth": 16,
    "yaml_nodes": 2_000,
    "yaml_keys": 200,
    "name_warn_chars": 64,
    "description_warn_chars": 1_024,
    "description_chars": 4_096,
    "resources_listed": 1_000,
    "tree_depth": 16,
    "folders_walked": 100_000,
}


def test_the_caps_are_those_of_the_specification() -> None:
    assert {field: getattr(sy.DEFAULT_LIMITS, field) for field in DEMANDED} == DEMANDED


# Each text breaks one cap by one when the cap is as small as given.
AT_A_SMALL_CAP = [
    ("frontmatter_bytes", 20, "", "frontmatter_too_large"),
    ("yaml_depth", 1, "tags: [a]\n", "yaml_too_deep"),
    ("yaml_nodes", 4, "", "yaml_too_large"),
    ("yaml_nodes", 1, "metadata: {a: {b: c}}\n", "yaml_too_large"),
    ("yaml_keys", 1, "", "yaml_too_large"),
    ("name_chars", 3, "", "name_too_long"),
    ("description_chars", 12, "", "description_too_long"),
    ("field_chars", 4, "license: Apache\n", "field_too_long"),
    ("field_chars", 4, "tags: [short, a]\n", "field_too_long"),
    ("field_chars", 4, "allowed-tools: Bash(git) Read\n", "field_too_long"),
    ("field_chars", 4, "triggers: {files: ['*.rs', '*.toml']}\n", "field_too_long"),
    ("list_items", 1, "tags: [a, b]\n", "list_too_long"),
    ("list_items", 1, "allowed-tools: Bash Read\n", "list_too_long"),
    ("list_items", 1, "triggers: {keywords: [a, b]}\n", "list_too_long"),
]


@for_each(("field", "cap", "extra", "code"), AT_A_SMALL_CAP)
@for_each("strict", [True, False])
def test_a_document_over_a_cap_is_refused_by_the_name_of_the_cap(
    field: str, cap: Any, extra: str, code: str, strict: bool
) -> None:
    text = document("name", "Does a thing.", extra=extra)
    parse_document(SkillText("SKILL.md"), text, strict=strict)
    limits = sy.DEFAULT_LIMITS._replace(**{field: cap})
    with pytest.raises(sy.SkillError) as caught:
        parse_document(SkillText("SKILL.md"), text, strict=strict, limits=limits)
    assert caught.value.code == code
    assert caught.value.line is not None


def test_the_walk_stops_at_its_cap_and_says_so_once(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "p", {f"{name}/SKILL.md": document(name) for name in ("a", "b", "c", "d")}
    )
    found = scan([Root(str(root))], sy.DEFAULT_LIMITS._replace(folders_walked=3))
    assert [candidate.folder for candidate in found.candidates] == ["a", "b"]
    assert [(d.code, d.severity) for d in found.diagnostics] == [("too_many_folders", "error")]
    twice = scan(
        [Root(str(root)), Root(str(tmp_path))], sy.DEFAULT_LIMITS._replace(folders_walked=3)
    )
    assert [d.code for d in twice.diagnostics] == ["too_many_folders"]


def test_a_folder_below_the_deepest_level_is_named_and_not_entered(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "p", {"a/SKILL.md": document("a"), "a/b/SKILL.md": document("b")})
    found = scan([Root(str(root))], sy.DEFAULT_LIMITS._replace(tree_depth=1))
    assert [candidate.folder for candidate in found.candidates] == ["a"]
    assert [(d.code, d.path) for d in found.diagnostics] == [("tree_too_deep", f"{root}/a/b")]
