"""The pattern matcher of the skill evaluation document."""

from __future__ import annotations

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill


def matches(path: str, pattern: str) -> bool:
    return sy.PatternMatcher().match_file_pattern(path, pattern)


@requirement("confidence:globs")
@for_each(
    ("pattern", "path"),
    [
        ("*.ts", "app.ts"),
        ("*.ts", "utils.ts"),
        ("*.test.ts", "app.test.ts"),
        ("*.test.ts", "utils.test.ts"),
        ("*.test.ts", "src/app.test.ts"),
        ("src/**", "src/app.ts"),
        ("src/**", "src/lib/utils.ts"),
        ("package.json", "package.json"),
        ("**/*.tsx", "App.tsx"),
        ("**/*.tsx", "src/App.tsx"),
        ("**/*.tsx", "src/deep/er/App.tsx"),
    ],
)
def test_a_documented_pattern_matches_its_example(pattern: str, path: str) -> None:
    assert matches(path, pattern)


@requirement("confidence:globs")
@for_each(
    ("pattern", "path"),
    [
        ("*.ts", "app.tsx"),
        ("*.test.ts", "app.ts"),
        ("src/**", "source/app.ts"),
        ("package.json", "my-package.json"),
        ("**/*.tsx", "src/App.ts"),
    ],
)
def test_a_documented_pattern_matches_nothing_else(pattern: str, path: str) -> None:
    assert not matches(path, pattern)


@requirement("confidence:glob-rules")
@for_each(
    ("pattern", "path"),
    [
        ("config/app.json", "config/app.json"),
        ("app.json", "config/app.json"),
        ("src/**", "/home/me/project/src/app.ts"),
        ("./src/**", "src/app.ts"),
        ("src\\**", "src/app.ts"),
        ("src/", "src/app.ts"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("*.{ts,tsx}", "app.tsx"),
        ("file[0-9].txt", "file7.txt"),
        ("file[!0-9].txt", "filex.txt"),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx"),
        ("*.c++", "main.c++"),
        ("+page.*", "src/+page.svelte"),
        ("app/(shop)/**", "app/(shop)/cart.tsx"),
        ("*.TS", "App.ts"),
        ("Makefile", "makefile"),
        ("*.env", ".env"),
        ("/src/*.ts", "src/a.ts"),
    ],
)
def test_folders_sets_and_signs_match_as_specified(pattern: str, path: str) -> None:
    assert matches(path, pattern)


@requirement("confidence:glob-rules")
@for_each(
    ("pattern", "path"),
    [
        ("src/**", "src"),
        ("src/*.ts", "src/lib/a.ts"),
        ("/src/*.ts", "packages/src/a.ts"),
        ("tests", "tests/a.py"),
        ("?.ts", "ab.ts"),
        ("+page.*", "page.svelte"),
        ("app/(shop)/**", "app/shop/cart.tsx"),
        ("a|*", "b"),
        ("!*.ts", "a.ts"),
        ("*", ""),
        ("", "a.ts"),
        ("file[!0-9].txt", "file7.txt"),
    ],
)
def test_folders_sets_and_signs_do_not_match_beyond_it(pattern: str, path: str) -> None:
    assert not matches(path, pattern)


@requirement("confidence:glob-linear")
@for_each(
    ("pattern", "path"),
    [
        ("*a" * 6 + "b", "a" * 200),
        ("*a" * 200 + "b", "a" * 2000),
        ("**/" * 6 + "x*", "d/" * 80 + "y"),
        ("**/" * 100 + "x", "d/" * 500 + "y"),
        ("{a,b}" * 60, "a" * 59),
        ("{" * 300, "{"),
        ("[" * 300, "["),
        ("(*.ts", "a.ts.b"),
        ("*" * 5000, "b/" * 20 + "/"),
    ],
)
def test_no_pattern_can_hang_or_fail_a_call(pattern: str, path: str) -> None:
    assert isinstance(matches(path, pattern), bool)
    bad = skill("bad", triggers=sy.Triggers(files=(pattern,)))
    good = skill("good", triggers=sy.Triggers(files=("*.py",)))
    found = sy.PatternMatcher().match([path, "app.py"], catalog(bad, good))
    assert "good" in [match.skill_name for match in found]


@requirement("confidence:pattern-weights")
@for_each(
    ("pattern", "weight"),
    [
        ("package.json", 0.35),
        ("*.ts", 0.30),
        ("src/**", 0.25),
        ("*.test.ts", 0.20),
        ("test-*", 0.15),
        ("Dockerfile", 0.35),
        ("*.mp3", 0.30),
        ("*.test-utils.ts", 0.20),
    ],
)
def test_each_class_of_pattern_has_its_weight(pattern: str, weight: float) -> None:
    class_name, found = sy.PatternMatcher().classify(pattern)
    assert class_name
    assert found == pytest.approx(weight)


@requirement("confidence:pattern-api", "confidence:records")
def test_the_documented_call_answers_names_confidence_and_patterns() -> None:
    testing = skill("testing", triggers=sy.Triggers(files=("*.test.ts", "*.spec.ts")))
    other = skill("other", triggers=sy.Triggers(files=("*.py",)))
    (found,) = sy.PatternMatcher().match(["src/app.test.ts", "src/app.ts"], catalog(testing, other))
    assert found.skill_name == "testing"
    # One of two files matches a compound pattern: 0.6 x 0.20 + 0.4 x min(1, 2 x 1/2).
    assert found.confidence == pytest.approx(0.52)
    record = found.to_dict()
    assert record["skillName"] == "testing"
    assert record["confidence"] == found.confidence
    assert "*.test.ts" in repr(record["matchedPatterns"])
    assert "*.spec.ts" not in repr(record["matchedPatterns"])


@requirement("confidence:pattern-score")
@for_each(
    ("pattern", "files", "confidence"),
    [
        ("package.json", ["package.json"], 0.61),
        ("*.ts", ["a.ts"], 0.58),
        ("src/**", ["src/a"], 0.55),
        ("*.test.ts", ["a.test.ts"], 0.52),
        ("test-*", ["test-a"], 0.49),
        ("*.ts", ["a.ts", "b.py", "c.py"], 0.6 * 0.30 + 0.4 * 2 / 3),
        ("*.ts", ["a.ts", "b.py", "c.py", "d.py"], 0.6 * 0.30 + 0.4 * 0.6),
        ("*.ts", ["a.ts", *[f"{number}.py" for number in range(50)]], 0.6 * 0.30 + 0.4 * 0.6),
        ("*.ts", ["a.ts", "a.ts", "a.ts", "b.py"], 0.58),
    ],
)
def test_the_pattern_score_is_the_ruled_formula(
    pattern: str, files: list[str], confidence: float
) -> None:
    one = catalog(skill("one", triggers=sy.Triggers(files=(pattern,))))
    (found,) = sy.PatternMatcher().match(files, one)
    assert found.confidence == pytest.approx(confidence)


@requirement("confidence:pattern-score")
def test_each_file_counts_with_its_heaviest_pattern_only() -> None:
    one = catalog(skill("one", triggers=sy.Triggers(files=("*.test.ts", "*.ts"))))
    (found,) = sy.PatternMatcher().match(["a.test.ts", "b.ts"], one)
    assert found.confidence == pytest.approx(0.6 * 0.30 + 0.4)
