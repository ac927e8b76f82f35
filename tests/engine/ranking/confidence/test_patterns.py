"""The pattern signal over many skills and many files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import PatternMatcher, Skill
from skillyard.engine.ranking.confidence.glob import (
    FilePath,
    GlobRoute,
    classify,
    compile_glob,
    split_path,
)
from skillyard.engine.ranking.confidence.patterns import MAX_STEPS, PatternIndex, declared_by
from skillyard.files import DEFAULT_LIMITS
from tests.engine.ranking.confidence.skills import PATHS, patterned, skills
from tests.requirements import requirement


@requirement("confidence:pattern-api")
def test_the_matches_come_best_first_and_equals_by_name() -> None:
    found = PatternMatcher().match(
        ["src/a.ts"],
        [patterned("*.ts", name="z"), patterned("a.ts", name="m"), patterned("*.ts", name="b")],
    )
    assert [match.skill_name for match in found] == ["m", "b", "z"]


@requirement("confidence:records")
def test_a_match_names_each_file_once_with_its_heaviest_pattern() -> None:
    (match,) = PatternMatcher().match(
        ["b.md", "./src\\a.test.ts", "src/a.test.ts", "b.ts"],
        [patterned("*.test.ts", "src/**", "*.ts")],
    )
    assert [tuple(entry) for entry in match.matched_patterns] == [
        ("*.ts", "./src\\a.test.ts", 0.30),
        ("*.ts", "b.ts", 0.30),
    ]
    assert match.to_dict()["matchedPatterns"] == [
        {"pattern": "*.ts", "matchedFile": "./src\\a.test.ts", "weight": 0.30},
        {"pattern": "*.ts", "matchedFile": "b.ts", "weight": 0.30},
    ]


@requirement("confidence:glob-rules")
def test_a_negated_pattern_takes_files_away_wherever_it_stands() -> None:
    files = ["a.ts", "a.test.ts"]
    for patterns in (("*.ts", "!*.test.ts"), ("!*.test.ts", "*.ts")):
        (match,) = PatternMatcher().match(files, [patterned(*patterns)])
        assert [entry.matched_file for entry in match.matched_patterns] == ["a.ts"]
    assert PatternMatcher().match(["a.test.ts"], [patterned("*.ts", "!*.test.ts")]) == []
    assert PatternMatcher().match(files, [patterned("!*.py")]) == []


@requirement("confidence:glob-linear")
def test_patterns_beyond_the_limit_of_a_skill_do_not_count() -> None:
    many = [f"f{number}" for number in range(DEFAULT_LIMITS.patterns_per_skill + 1)]
    (match,) = PatternMatcher().match(["f199", "f200"], [patterned(*many)])
    assert [entry.matched_file for entry in match.matched_patterns] == ["f199"]


def slow_score(one: Skill, files: list[str]) -> float:
    """P by its definition: every file against every pattern."""
    distinct = list(dict.fromkeys(split_path(file) for file in files))
    globs = [(compile_glob(pattern), classify(pattern).weight) for pattern in one.triggers.files]
    best = []
    for path in distinct:
        weights = [weight for glob, weight in globs if glob.matches(path)]
        if weights and not any(glob.negated and glob.covers(path) for glob, _ in globs):
            best.append(max(weights))
    if not best:
        return 0.0
    coverage = max(0.6, min(1.0, 2 * len(best) / len(distinct)))
    return 0.6 * sum(best) / len(best) + 0.4 * coverage


@given(skills(), st.lists(st.sampled_from(PATHS), max_size=6))
@requirement("confidence:pattern-score")
def test_the_index_gives_the_score_of_its_definition(
    candidates: list[Skill], files: list[str]
) -> None:
    found = PatternIndex(declared_by(candidates)).match(files)
    for number, one in enumerate(candidates):
        expected = slow_score(one, files)
        assert found.scores.get(number, 0.0) == pytest.approx(expected)
        assert len(found.matches_of(number)) <= len(set(files))


def evil(name: str = "evil") -> tuple[str, tuple[str, ...]]:
    """The patterns of one SKILL.md inside every cap: 37 of braces and stars."""
    alternatives = [f"*{one}?{two}*" for one in "abcdefgh" for two in "abcdefg"]
    assert len(alternatives) < DEFAULT_LIMITS.brace_expansions
    return name, tuple(f"**/{{*{number}*,{','.join(alternatives)}}}" for number in range(37))


LONG_PATHS = ["a/" * 300 + "abcdefgh" * 40 + str(number) for number in range(200)]


@requirement("safety:work:bounded")
def test_patterns_that_cost_too_much_are_left_out_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted in comparisons, not by the clock: 29 seconds before there was a bound."""
    steps = 0
    matches = GlobRoute.matches

    def counting(route: GlobRoute, path: FilePath) -> bool:
        nonlocal steps
        steps += route.steps(len(path.segments), sum(map(len, path.segments)))
        return matches(route, path)

    monkeypatch.setattr(GlobRoute, "matches", counting)
    honest = [(f"honest-{number}", (f"*{number}", "!*.md")) for number in range(10)]
    found = PatternIndex([*honest[:5], evil(), *honest[5:], evil("twin")]).match(LONG_PATHS)
    assert found.left_out == ("evil", "twin")
    assert steps <= MAX_STEPS
    assert found.scores == {
        at + (at > 4): score for at, score in PatternIndex(honest).match(LONG_PATHS).scores.items()
    }
    assert len(found.scores) == 10


@requirement("safety:work:bounded")
def test_many_skills_that_each_cost_little_enough_are_bounded_together() -> None:
    files = [f"{'d' * 90}/{number}" for number in range(200)]
    many = [(f"skill-{number}", (f"**/*{number}?d*",)) for number in range(60)]
    one = PatternIndex(many[:1]).match(files)
    assert one.left_out == ()
    found = PatternIndex(many).match(files)
    assert 0 < len(found.left_out) < 60
    assert found.left_out == PatternIndex(many).match(files[::-1]).left_out
