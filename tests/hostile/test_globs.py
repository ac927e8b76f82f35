"""File patterns of a skill cannot hang or crash a call."""

from __future__ import annotations

import skillyard as sy
from tests.hostile.glob_bombs import BOMBS, PATHS
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each


@for_each("pattern", BOMBS, ids=lambda pattern: pattern[:12])
def test_a_glob_bomb_is_answered_with_a_boolean(pattern: str) -> None:
    matcher = sy.PatternMatcher()
    with hang_bound():
        for path in PATHS:
            assert matcher.match_file_pattern(path, pattern) in (True, False)
        name, weight = matcher.classify(pattern)
    assert name
    assert 0 < weight <= 1


@for_each("pattern", BOMBS, ids=lambda pattern: pattern[:12])
def test_one_bomb_beside_a_good_pattern_costs_the_good_one_nothing(pattern: str) -> None:
    skill = sy.Skill(
        name="pages",
        description="Pages.",
        body="Body.",
        triggers=sy.Triggers(files=(pattern, "*.tsx")),
    )
    with hang_bound():
        matches = sy.PatternMatcher().match(PATHS, sy.Catalog.from_skills([skill]))
    assert [match.skill_name for match in matches] == ["pages"]
