"""The class of a pattern decides what a match of it is worth."""

from __future__ import annotations

from skillyard.engine.ranking.confidence.glob import classify
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
