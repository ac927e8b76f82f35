"""Reading one file: the fields, the strictness and the errors of the documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document

ZENITH = """---
name: zenith-voice-receptionist
description: Official voice persona for Mario's Plumbing Co. receptionist.
version: "1.1.0"
license: MIT
compatibility: Gemini Live 2.5 Flash Native Audio
allowed-tools:
  - user_profile
  - knowledge
  - reasoning_engine
references:
  - references/technicians.json
---
You are Zenith, the voice receptionist for Mario's Plumbing...
"""
STRICT = ".skills/zenith.md"


@requirement("parsing:strict:fields")
def test_the_documented_example_file_is_read_field_by_field() -> None:
    found = sy.parse_skill(STRICT, ZENITH)
    assert found.name == "zenith-voice-receptionist"
    assert found.description == "Official voice persona for Mario's Plumbing Co. receptionist."
    assert (found.version, found.license) == ("1.1.0", "MIT")
    assert found.compatibility == "Gemini Live 2.5 Flash Native Audio"
    assert found.allowed_tools == ("user_profile", "knowledge", "reasoning_engine")
    assert found.declared_references == ("references/technicians.json",)
    assert found.body == "You are Zenith, the voice receptionist for Mario's Plumbing..."
    assert found.path == STRICT


@requirement("parsing:strict:fields", "parsing:metadata-values")
def test_trigger_hint_tags_and_metadata_are_read() -> None:
    extra = (
        "tags: [db, ops]\ntrigger: true\nhint: Which table?\n"
        "metadata:\n  author: me\n  stars: 3\n  ratio: 0.5\n  beta: true\n  gone: null\n"
        '  text: "1.10"\n'
    )
    found = sy.parse_skill(STRICT, document("wipe-db", extra=extra))
    assert (found.tags, found.trigger, found.hint) == (("db", "ops"), True, "Which table?")
    assert dict(found.metadata) == {
        "author": "me",
        "stars": 3,
        "ratio": 0.5,
        "beta": True,
        "gone": None,
        "text": "1.10",
    }


@requirement("parsing:strict:required", "errors:kinds", "errors:place")
@for_each("value", ["", '""', '"  "', None])
@for_each("field", ["name", "description"])
def test_a_strict_file_without_a_required_field_is_an_error_naming_it(
    field: str, value: str | None
) -> None:
    lines = {"name": "repo-search", "description": "Search the code base."}
    if value is None:
        del lines[field]
    else:
        lines[field] = value
    front = "".join(f"{key}: {text}\n" for key, text in lines.items())
    with pytest.raises(sy.MissingField) as caught:
        sy.parse_skill(STRICT, f"---\n{front}---\nBody.\n")
    assert (caught.value.field, caught.value.kind) == (field, "MissingField")
    assert caught.value.path == STRICT
    assert STRICT in str(caught.value)


@requirement("errors:kinds", "errors:place")
@for_each(
    ("content", "kind"),
    [
        ("# No frontmatter\n", "InvalidFrontmatter"),
        ("---\nname: a\ndescription: b\n", "InvalidFrontmatter"),
        ("---\nname: [a\ndescription: b\n---\n", "Yaml"),
        ("---\nname: a\nname: b\ndescription: c\n---\n", "Yaml"),
        ("---\nname: a\n---\n", "MissingField"),
    ],
)
def test_every_error_of_a_file_has_its_documented_kind_and_its_path(
    content: str, kind: str
) -> None:
    with pytest.raises(sy.SkillError) as caught:
        sy.parse_skill(STRICT, content)
    assert caught.value.kind == kind
    assert caught.value.path == STRICT


@requirement("errors:place")
def test_a_yaml_error_names_the_line_in_the_file() -> None:
    with pytest.raises(sy.SkillError) as caught:
        sy.parse_skill(STRICT, "---\nname: a\ndescription: b\nname: c\n---\n")
    assert caught.value.line == 4


@requirement("errors:kinds")
@for_each(
    ("error", "kind"),
    [
        ("SkillIoError", "Io"),
        ("SkillYamlError", "Yaml"),
        ("InvalidFrontmatter", "InvalidFrontmatter"),
        ("MissingField", "MissingField"),
        ("InvalidSkillsRoot", "InvalidSkillsRoot"),
        ("ValidationFailed", "Validation"),
        ("IndexDamaged", "IndexError"),
    ],
)
def test_the_public_errors_form_one_tree_with_the_documented_words(error: str, kind: str) -> None:
    found = getattr(sy, error)
    assert issubclass(found, sy.SkillError)
    assert found.kind == kind


@requirement("errors:invalid-root")
def test_a_root_that_is_no_folder_is_an_error_with_its_path(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("x", encoding="utf-8")
    for root in (plain, tmp_path / "absent"):
        with pytest.raises(sy.InvalidSkillsRoot, match=root.name):
            sy.load_catalog(root)


@requirement("parsing:strict:no-repair")
def test_a_file_below_dot_skills_is_never_repaired(tmp_path: Path) -> None:
    broken = document("repo-search", "Use when: asked")
    with pytest.raises(sy.SkillYamlError):
        sy.parse_instructions(".skills/repo-search.md", broken)
    with pytest.raises(sy.SkillYamlError):
        sy.parse_skill("repo-search/SKILL.md", broken)
    loaded = sy.load_catalog(write_tree(tmp_path / "p", {".skills/repo-search.md": broken}))
    assert len(loaded) == 0
    assert [found.severity for found in loaded.diagnostics] == ["error"]


@requirement("parsing:convention:frontmatter")
def test_valid_frontmatter_of_a_convention_file_is_used() -> None:
    text = document("ops", "Ops rules.", extra="tags: [ops]\n")
    found = sy.parse_instructions("AGENTS.md", text)
    assert (found.name, found.description, found.body) == ("ops", "Ops rules.", "Body.")
    assert {"ops", "convention", "agents-md"} <= set(found.tags)


@requirement("parsing:text-values")
def test_known_fields_keep_their_text() -> None:
    front = "name: 2048\ndescription: true\nversion: 1.10\nlicense: no\ncompatibility: 0x1F\n"
    found = sy.parse_skill(STRICT, f"---\n{front}---\n")
    assert (found.name, found.description, found.version) == ("2048", "true", "1.10")
    assert (found.license, found.compatibility) == ("no", "0x1F")


@requirement("parsing:bom-crlf")
@for_each("path", ["a/SKILL.md", ".skills/a.md", "key_skills/a/SKILL.md"])
def test_a_byte_order_mark_and_crlf_load(tmp_path: Path, path: str) -> None:
    text = "\ufeff" + document("a", body="One.\nTwo.").replace("\n", "\r\n")
    (found,) = sy.load_catalog(write_tree(tmp_path / "p", {path: text})).skills
    assert (found.name, found.description, found.body) == ("a", "Does a thing.", "One.\nTwo.")


@requirement("parsing:evaluation-metadata")
def test_the_documented_metadata_block_is_read() -> None:
    front = """---
name: my-skill
description: Brief description for keyword matching
keywords:
  - keyword1
  - keyword2
tags:
  - category1
  - category2
triggers:
  files:
    - "*.test.ts"
    - "src/components/**"
  keywords:
    - specific-keyword
---
"""
    found = sy.parse_skill("my-skill/SKILL.md", front)
    assert found.keywords == ("keyword1", "keyword2")
    assert found.tags == ("category1", "category2")
    assert found.triggers.files == ("*.test.ts", "src/components/**")
    assert found.triggers.keywords == ("specific-keyword",)
    assert found.triggers.phrases == ()
