"""The class of a pattern decides what a match of it is worth."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.glob import PATTERN_CLASSES, classify
from tests.requirements import requirement
from tests.tables import for_each


@requirement("confidence:pattern-weights")
@for_each(
    ("pattern", "name"),
    [
        ("package.json", "exact"),
        ("src/app/main.py", "exact"),
        ("app/[slug]/page.tsx", "exact"),
        ("*.ts", "simple_extension"),
        ("*.c++", "simple_extension"),
        ("*.{ts,tsx}", "simple_extension"),
        ("./*.ts", "simple_extension"),
        ("src/**", "directory"),
        ("src/", "directory"),
        ("src/**/*.ts", "directory"),
        ("**/*.tsx", "directory"),
        ("*.test.ts", "compound_extension"),
        ("src/**/*.test.ts", "compound_extension"),
        ("!*.test.ts", "compound_extension"),
        ("*.tar.gz.sig", "compound_extension"),
        ("test-*", "generic"),
        ("*", "generic"),
        ("**", "generic"),
        ("**/*", "generic"),
        ("src/*.ts", "generic"),
        ("*.?s", "generic"),
        ("*.ts*", "generic"),
        ("*..ts", "generic"),
        ("*.", "generic"),
        ("foo**", "generic"),
    ],
)
def test_the_first_fitting_rule_names_the_class(pattern: str, name: str) -> None:
    assert classify(pattern).name == name


def test_braces_take_the_lightest_class_of_their_alternatives() -> None:
    assert classify("{package.json,*.test.ts}").name == "compound_extension"


def test_too_many_braces_are_classed_as_they_stand() -> None:
    assert classify("{a,b}" * 9).name == "exact"
    assert classify("{a,b}" * 9 + "*").name == "generic"


def test_the_classes_stand_heaviest_first() -> None:
    weights = [found.weight for found in PATTERN_CLASSES]
    assert weights == sorted(weights, reverse=True) == [0.35, 0.30, 0.25, 0.20, 0.15]


@given(st.text(max_size=40))
def test_every_text_has_a_class(pattern: str) -> None:
    assert classify(pattern) in PATTERN_CLASSES
