"""Convention documents, and which reader a path asks for."""

from __future__ import annotations

import skillyard as sy
from skillyard.engine.formats.agentskills import SkillText
from skillyard.engine.formats.conventions import parse_convention
from skillyard.engine.formats.file_names import convention_of
from tests.tables import for_each


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

    def test_frontmatter_that_cannot_be_used_stays_in_the_text_and_is_reported(self) -> None:
        parsed = parse_convention(SkillText("AGENTS.md"), "---\nname: a\n# no close\n")
        assert parsed.skill.name == "agents"
        assert parsed.skill.body == "---\nname: a\n# no close"
        (found,) = parsed.diagnostics
        assert (found.code, found.severity) == ("frontmatter_unclosed", "warning")
        assert found.message.startswith("the frontmatter was left in the text")
        assert found.hint
