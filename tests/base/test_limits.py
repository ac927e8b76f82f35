"""The caps: one value, overridable, each far from what hurts and in a sensible order."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.discovery.layout import Root
from skillyard.engine.discovery.walk import scan
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
    assert {field: getattr(sy.files.DEFAULT_LIMITS, field) for field in DEMANDED} == DEMANDED


LONG = "a" * 4_097
# The further lines of a document, or a name and a description, that break one cap by one.
OVER = [
    (
        f"metadata: {{{', '.join(f'k{n}: {LONG[:90]}' for n in range(199))}}}\n",
        "frontmatter_too_large",
    ),
    (f"metadata: {'[' * 17}{']' * 17}\n", "yaml_too_deep"),
    (f"metadata: {'[' * 2_001}\n", "yaml_too_large"),
    (f"metadata: [{'1,' * 2_000}]\n", "yaml_too_large"),
    ("".join(f"k{n}: 1\n" for n in range(199)), "yaml_too_large"),
    (f"license: {LONG}\n", "field_too_long"),
    (f"tags: [{LONG}, a]\n", "field_too_long"),
    (f"allowed-tools: {LONG} Read\n", "field_too_long"),
    (f"triggers: {{files: [a, {LONG}]}}\n", "field_too_long"),
    (f"tags: [{'a,' * 501}]\n", "list_too_long"),
    (f"allowed-tools: {'a ' * 501}\n", "list_too_long"),
    (f"triggers: {{keywords: [{'a,' * 501}]}}\n", "list_too_long"),
]


@for_each(("extra", "code"), OVER)
@for_each("strict", [True, False])
def test_a_document_over_a_cap_is_refused(extra: str, code: str, strict: bool) -> None:
    text = document("name", "Does a thing.", extra=extra)
    assert refused(text, strict=strict) == code


@for_each("strict", [True, False])
def test_a_name_and_a_description_over_their_caps_are_refused(strict: bool) -> None:
    assert refused(document(LONG[:257], "Does a thing."), strict=strict) == "name_too_long"
    assert refused(document("name", LONG), strict=strict) == "description_too_long"


def refused(text: str, *, strict: bool) -> str:
    """Return the code of the refusal of a text, which names a line."""
    with pytest.raises(sy.SkillError) as caught:
        parse_document(SkillText("SKILL.md"), text, strict=strict)
    assert caught.value.line is not None
    return caught.value.code


def test_the_walk_stops_at_its_cap_and_says_so_once(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "p", {f"{name}/SKILL.md": document(name) for name in ("a", "b", "c", "d")}
    )
    found = scan([Root(str(root))], sy.files.DEFAULT_LIMITS._replace(folders_walked=3))
    assert [candidate.folder for candidate in found.candidates] == ["a", "b"]
    assert [(d.code, d.severity) for d in found.diagnostics] == [("too_many_folders", "error")]
    twice = scan(
        [Root(str(root)), Root(str(tmp_path))], sy.files.DEFAULT_LIMITS._replace(folders_walked=3)
    )
    assert [d.code for d in twice.diagnostics] == ["too_many_folders"]


def test_a_folder_below_the_deepest_level_is_named_and_not_entered(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "p", {"a/SKILL.md": document("a"), "a/b/SKILL.md": document("b")})
    found = scan([Root(str(root))], sy.files.DEFAULT_LIMITS._replace(tree_depth=1))
    assert [candidate.folder for candidate in found.candidates] == ["a"]
    assert [(d.code, d.path) for d in found.diagnostics] == [("tree_too_deep", f"{root}/a/b")]
