"""The catalogue for a system prompt: three formats, one line a skill, and the budget."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill


class TestFormats:
    def test_markdown_escapes_what_would_be_markup(self) -> None:
        text = sy.summary(catalog(skill("a_b", "*x* [y](z) <i> `c` | \\")), "markdown")
        assert text == "- **a\\_b**: \\*x\\* \\[y\\](z) \\<i\\> \\`c\\` \\| \\\\"

    def test_a_wrong_format_lists_the_known_ones(self) -> None:
        with pytest.raises(sy.errors.UnknownName, match="lines, markdown, xml"):
            sy.summary([], "yaml")

    @for_each("budget", [-1, True, 2.5])
    def test_a_budget_is_a_count_or_none(self, budget: Any) -> None:
        with pytest.raises(sy.errors.InvalidInput, match="budget_tokens"):
            sy.summary([], budget_tokens=budget)


class TestBudget:
    SKILLS = catalog(
        *(
            skill(f"s{number}", f"Number {number}: " + "words and more " * 20, priority=number % 3)
            for number in range(9)
        )
    )

    def test_descriptions_are_shortened_first_all_alike(self) -> None:
        text = sy.summary(self.SKILLS, budget_tokens=300)
        lines = text.splitlines()
        assert len(lines) == 9
        assert {len(line) for line in lines} <= {len(lines[0]), len(lines[0]) - 1}
        assert all(line.endswith("…") for line in lines)

    def test_then_skills_are_dropped_by_priority_and_the_number_is_said(self) -> None:
        lines = sy.summary(self.SKILLS, budget_tokens=80).splitlines()
        kept = [line.split("(")[1].split(")")[0] for line in lines[:-1]]
        assert lines[-1] == f"({9 - len(kept)} more skills not listed)"
        assert kept == sorted(kept)
        assert {"s2", "s5", "s8"} <= set(kept)

    @for_each(
        ("format", "last"),
        [
            ("xml", "<!-- (8 more skills not listed) -->"),
            ("markdown", "- (8 more skills not listed)"),
        ],
    )
    def test_every_format_says_how_many_are_left_out(self, format: str, last: str) -> None:
        for budget in range(20, 120):
            lines = sy.summary(self.SKILLS, format, budget).splitlines()
            if last in lines:
                return
        raise AssertionError("no budget lists exactly one skill")
