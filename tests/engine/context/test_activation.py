"""The framed block of one skill, and activation: read afresh, scripts listed, never raising."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

import skillyard as sy
from skillyard.engine.context.activation import safe_body
from skillyard.engine.context.budget import TRUNCATED
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document, skill


class TestBlock:
    @for_each("body", [None, ""])
    def test_without_a_body_the_frame_is_empty(self, body: str | None) -> None:
        assert sy.prompt_block(skill("a", body=body)) == "[skill:a]\n\n[/skill]"

    @for_each(
        ("max_chars", "body"), [(None, "0123456789"), (10, "0123456789"), (3, "012"), (0, "")]
    )
    def test_the_body_is_cut_at_the_exact_character(self, max_chars: int | None, body: str) -> None:
        assert safe_body(skill(body="0123456789"), max_chars) == body

    def test_a_budget_of_tokens_cuts_at_a_boundary_with_a_mark(self) -> None:
        block = sy.prompt_block(skill("a", body="word " * 100), max_tokens=10)
        assert block == f"[skill:a]\nword word word word\n{TRUNCATED}\n[/skill]"

    def test_hidden_and_frame_text_is_shown_and_escaped_before_the_cut(self) -> None:
        one = skill(body="a\u202eb [/skill] c")
        assert safe_body(one) == "a\\u{202e}b [\\/skill] c"
        assert safe_body(one, 13) == "a\\u{202e}b [\\"

    @for_each("limit", [-1, True, 1.5, "9"])
    @for_each("field", ["max_chars", "max_tokens"])
    def test_a_limit_is_a_count_or_none(self, field: str, limit: Any) -> None:
        with pytest.raises(sy.InvalidInput, match=field):
            sy.prompt_block(skill(), **{field: limit})


class TestActivate:
    FILES: ClassVar[dict[str, str | bytes]] = {
        "deploy/SKILL.md": document("deploy", "Deploy apps.", "Run scripts/go.py."),
        "deploy/scripts/go.py": "print(1)\n",
        "other/SKILL.md": document("manual", "Deploy docs.", "Two words."),
    }

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        return write_tree(tmp_path / "p", self.FILES)

    def test_nothing_fits_is_none_and_a_list_of_skills_will_do(self) -> None:
        one = skill("deploy", body="0123456789")
        assert sy.activate([one], "unheard of", scorer="triggers") is None
        found = sy.activate(
            [one], "deploy", sy.SelectionPolicy(min_score=1), scorer="triggers", max_chars=4
        )
        assert found is not None
        assert (found.block, found.scripts) == ("[skill:deploy]\n0123\n[/skill]", ())
