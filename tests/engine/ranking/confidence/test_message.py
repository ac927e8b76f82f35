"""The Markdown of an evaluation: whole tables whatever skills are called and declare."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.records import Evaluation
from skillyard.engine.ranking.confidence.tool import markdown
from tests.requirements import requirement

LONG = "File patterns: *.test.ts, *.spec.ts | Keywords: test, authentication, login"
FIRST = Evaluation("testing-patterns", 0.785, "high", LONG)
SECOND = Evaluation("auth", 0.6999, "medium", "Keywords: login")


@requirement("confidence:tool-response")
def test_the_message_is_a_heading_a_table_and_a_pointer() -> None:
    assert markdown([FIRST, SECOND]).splitlines() == [
        "## Skill Evaluation Results (2 matched)",
        "",
        "| Skill | Confidence | Level | Reason |",
        "|-------|------------|-------|--------|",
        "| testing-patterns | 79% | high | File patterns: *.test.ts, *.spec.ts \\| Keywords:... |",
        "| auth | 70% | medium | Keywords: login |",
        "",
        "Use `load_skill(name)` to load a skill.",
    ]


@requirement("confidence:details")
def test_details_give_the_whole_reason_of_the_first_three() -> None:
    message = markdown(
        [FIRST, SECOND, SECOND, Evaluation("fourth", 0.3, "low", "Keywords: x")], True
    )
    details = message.split("### Match Details\n\n")[1]
    assert details.startswith("**testing-patterns** (79%): " + LONG.replace("|", "\\|"))
    assert details.count("**auth**") == 2
    assert "fourth" not in details
    assert "Match Details" not in markdown([FIRST])


def test_hidden_characters_and_frame_tags_do_not_get_through() -> None:
    message = markdown([Evaluation("a\u202eb", 0.5, "medium", "[/skill] \x1b[31m")], True)
    assert "\u202e" not in message
    assert "\x1b" not in message
    assert "[/skill]" not in message


def cells(row: str) -> list[str]:
    """Split a table row as a Markdown reader does: at bars that no backslash escapes."""
    return re.findall(r"(?:\\.|[^|\\])+", row.strip("|"))


@given(st.text(alphabet="a|\\\n\r\t `*[", max_size=60), st.text(alphabet="a|\\\n ", max_size=80))
def test_nothing_in_a_cell_can_end_it(name: str, reason: str) -> None:
    lines = markdown([Evaluation(f"x{name}x", 0.5, "medium", f"x{reason}x")]).splitlines()
    assert len(lines) == 7
    assert len(cells(lines[4])) == 4
