"""Convention documents, and which reader a path asks for."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.engine.formats.agentskills import SkillText
from skillyard.engine.formats.conventions import parse_convention
from skillyard.engine.formats.file_names import convention_of
from tests.tables import for_each
from tests.worked_examples.making import document

BROKEN = "---\nname: acct\ndescription: Use when: always\n---\nBody.\n"


@for_each(
    ("file", "name", "tag"),
    [
        ("AGENTS.md", "agents", "agents-md"),
        ("AGENT.md", "agents", "agents-md"),
        ("claude.MD", "claude", "claude-md"),
        ("GEMINI.md", "gemini", "gemini-md"),
        ("COPILOT.md", "copilot", "copilot-md"),
        ("SKILLS.md", "skills", "skills-md"),
        ("Soul.md", "soul", "soul-md"),
    ],
)
def test_a_convention_file_is_known_by_its_name_in_any_case(file: str, name: str, tag: str) -> None:
    assert convention_of(file) == (name, tag)
    skill = sy.parse_instructions(f"pkg/{file}", "Text.")
    assert (skill.name, skill.slug, skill.tags) == (name, name, ("convention", tag))
    assert skill.origin == "convention"


@for_each("file", ["README.md", "AGENTS.txt", "XAGENTS.md", "agents", ""])
def test_no_other_file_is_one(file: str) -> None:
    assert convention_of(file) is None


class TestReader:
    @for_each("path", [".skills/x.md", "a/.SKILLS/b/AGENTS.md", "a\\.skills\\x.md"])
    def test_below_dot_skills_reading_is_strict(self, path: str) -> None:
        with pytest.raises(sy.SkillYamlError):
            sy.parse_instructions(path, BROKEN)
        assert sy.parse_instructions(path, document("acct")).name == "acct"

    def test_a_file_called_dot_skills_is_no_folder(self) -> None:
        with pytest.raises(sy.SkillYamlError):
            sy.parse_instructions("a/.skills", BROKEN)

    def test_a_skill_file_is_repaired(self) -> None:
        skill = sy.parse_instructions("a/SKILL.md", BROKEN)
        assert skill.description == "Use when: always"

    def test_any_other_file_is_read_strictly(self) -> None:
        with pytest.raises(sy.SkillYamlError):
            sy.parse_instructions("a/notes.md", BROKEN)
        assert sy.parse_instructions("a/notes.md", document("acct")).name == "acct"


class TestConvention:
    @for_each(
        ("text", "description"),
        [
            ("intro\n\n## The   rules ##\nmore", "The rules ##"),
            ("\n\n  first line\nsecond", "first line"),
            ("#\n#nospace\n", "nospace"),
            ("x" * 200, "x" * 120),
            ("# a\u200bb", "a\\u{200b}b"),
            ("", "Instructions loaded from AGENTS.md"),
            ("#", "#"),
        ],
    )
    def test_the_description_is_the_first_heading_else_the_first_line(
        self, text: str, description: str
    ) -> None:
        assert sy.parse_instructions("pkg/AGENTS.md", text).description == description

    def test_the_whole_text_is_the_body_without_its_blank_ends(self) -> None:
        skill = sy.parse_instructions("AGENTS.md", "\ufeff\r\n# A\r\nb\r\n\r\n")
        assert skill.body == "# A\nb"

    def test_frontmatter_that_cannot_be_used_stays_in_the_text_and_is_reported(self) -> None:
        parsed = parse_convention(SkillText("AGENTS.md"), "---\nname: a\n# no close\n")
        assert parsed.skill.name == "agents"
        assert parsed.skill.body == "---\nname: a\n# no close"
        (found,) = parsed.diagnostics
        assert (found.code, found.severity) == ("frontmatter_unclosed", "warning")
        assert found.message.startswith("the frontmatter was left in the text")
        assert found.hint

    @for_each("text", ["---\n\n# A rule above\n", "--- not a fence\nname\n"])
    def test_a_rule_at_the_top_is_no_frontmatter(self, text: str) -> None:
        parsed = parse_convention(SkillText("AGENTS.md"), text)
        assert parsed.diagnostics == []
        assert parsed.skill.body == text.strip()

    def test_hash_and_place_are_kept(self) -> None:
        where = SkillText("x/AGENTS.md", None, "convention", "user", "f" * 64, 7)
        skill = parse_convention(where, "Text.").skill
        assert (skill.id, skill.hash) == ("agents-" + "f" * 12, "f" * 64)
        assert (skill.scope, skill.last_modified, skill.origin) == ("user", 7, "convention")
        assert len(sy.parse_instructions("AGENTS.md", "Text.").hash or "") == 64
