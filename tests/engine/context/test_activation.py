"""The framed block of one skill, and activation: read afresh, scripts listed, never raising."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.context.budget import TRUNCATED
from tests.tables import for_each
from tests.worked_examples.making import skill


class TestBlock:
    def test_a_budget_of_tokens_cuts_at_a_boundary_with_a_mark(self) -> None:
        block = sy.prompt_block(skill("a", body="word " * 100), max_tokens=10)
        assert block == f"[skill:a]\nword word word word\n{TRUNCATED}\n[/skill]"

    @for_each("limit", [-1, True, 1.5, "9"])
    @for_each("field", ["max_chars", "max_tokens"])
    def test_a_limit_is_a_count_or_none(self, field: str, limit: Any) -> None:
        with pytest.raises(sy.errors.InvalidInput, match=field):
            sy.prompt_block(skill(), **{field: limit})
