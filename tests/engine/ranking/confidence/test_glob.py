"""File patterns against paths: the rules, an independent slow reading, and the cost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.engine.ranking.confidence.glob import compile_glob, split_path
from skillyard.files import DEFAULT_LIMITS
from tests.engine.ranking.confidence.glob_oracle import slow_match
from tests.requirements import requirement
from tests.tables import for_each


def matches(path: str, pattern: str, case_sensitive: bool = False) -> bool:
    return compile_glob(pattern, case_sensitive).matches(split_path(path, case_sensitive))


@requirement("confidence:glob-rules")
@for_each(
    ("pattern", "path"),
    [
        ("a.ts", "x/A.TS"),
        ("src/a.ts", "/home/me/src/a.ts"),
        ("/src/a.ts", "src/a.ts"),
        ("/src/a.ts", "/src/a.ts"),
        ("./src/*.ts", "./src/a.ts"),
        ("././a.ts", "b/a.ts"),
        ("src//a.ts", "src/./a.ts"),
        ("src\\*.ts", "c:\\src\\a.ts"),
        ("**", "a"),
        ("**/*", "a"),
        ("***/a", "b/c/a"),
        ("a/**/**/b", "a/b"),
        ("src/", "src/a"),
        ("src/**", "src/lib/"),
        ("{src/,lib/}", "lib/a"),
        ("*.{test,spec}.{ts,js}", "x.spec.js"),
        ("*", ".env"),
        ("a*c", "ac"),
        ("a**c", "abbc"),
        ("[abc].py", "b.py"),
        ("[A-C].py", "b.py"),
        ("[]a].py", "].py"),
        ("[a-].py", "-.py"),
        ("[!a].py", "b.py"),
        ("[!a].py", "[!a].py"),
        ("[!].py", "[!].py"),
        ("[slug]/*.tsx", "[slug]/page.tsx"),
        ("[...slug].tsx", "[...slug].tsx"),
        ("[a", "[a"),
        ("a]", "a]"),
        ("[]", "[]"),
        ("ΟΔΟΣ*", "οδος.md"),
        ("+page.{js,ts}", "routes/+page.ts"),
        ("a b.txt", "dir/a b.txt"),
    ],
)
def test_a_pattern_matches_by_the_rules(pattern: str, path: str) -> None:
    assert matches(path, pattern)


@requirement("confidence:glob-rules")
@for_each(
    ("pattern", "path"),
    [
        ("", "a"),
        ("/", "a"),
        ("./", "a"),
        ("!", "a"),
        ("*", ""),
        ("*", "/"),
        ("**", ""),
        ("!a", "a"),
        ("!a", "b"),
        ("/a.ts", "x/a.ts"),
        ("src/**", "src"),
        ("src/**", "src/"),
        ("*.ts", "dir.ts/"),
        ("dir", "dir/a.ts"),
        ("src/*", "src/a/b"),
        ("a/**/b", "ab"),
        ("a?c", "a/c"),
        ("a?c", "ac"),
        ("[!a].py", "a.py"),
        ("[a-c].py", "d.py"),
        ("[c-a].py", "b.py"),
        ("[ab]", "ab"),
        ("{a,b}", "{a,b}"),
        ("ab*ba", "aba"),
        ("a.c", "abc"),
        ("a|b", "a"),
    ],
)
def test_a_pattern_matches_nothing_beyond_the_rules(pattern: str, path: str) -> None:
    assert not matches(path, pattern)


@requirement("confidence:glob-rules")
def test_case_counts_only_when_asked() -> None:
    assert matches("README.md", "readme.*")
    assert not matches("README.md", "readme.*", case_sensitive=True)
    assert not matches("b.py", "[A-C].py", case_sensitive=True)
    assert matches("B.py", "[A-C].py", case_sensitive=True)


@requirement("confidence:glob-linear")
@for_each("pattern", ["a" * (DEFAULT_LIMITS.glob_chars + 1), "{a,b}" * 7, "", "!./"])
def test_a_pattern_that_is_empty_or_too_large_matches_nothing(pattern: str) -> None:
    assert not compile_glob(pattern).covers(split_path(pattern))


SEGMENTS = st.one_of(
    st.just("**"),
    st.lists(st.sampled_from(["a", "b", "*", "?"]), min_size=1, max_size=5).map("".join),
)
BRACKETED = st.lists(
    st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "[b"]), min_size=1, max_size=4
).map("".join)
PATH = st.lists(st.text(alphabet="ab", min_size=1, max_size=5), min_size=1, max_size=5).map(
    "/".join
)


@given(st.booleans(), st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join), st.booleans(), PATH)
@requirement("confidence:glob-rules")
def test_stars_agree_with_a_slow_second_reading(
    anchored: bool, body: str, folder: bool, path: str
) -> None:
    pattern = "/" * anchored + body + "/" * folder
    assert matches(path, pattern) is slow_match(path, pattern)


@given(
    st.lists(BRACKETED, min_size=1, max_size=3).map("/".join),
    st.lists(st.text(alphabet="ab[]!", min_size=1, max_size=6), min_size=1, max_size=3).map(
        "/".join
    ),
)
@requirement("confidence:glob-rules")
def test_brackets_agree_with_a_slow_second_reading(pattern: str, path: str) -> None:
    assert matches(path, pattern) is slow_match(path, pattern)


@given(st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join), st.lists(PATH, max_size=3), PATH)
def test_a_matching_path_answers_to_a_lookup_key_of_the_route(
    pattern: str, others: list[str], path: str
) -> None:
    # Files are looked up by these keys, so a key that a matching path lacks would lose a match.
    for route in compile_glob(pattern).routes:
        for each in (*others, path):
            split = split_path(each)
            if route.matches(split):
                assert set(route.lookup_keys()) <= split.lookup_keys()


def steps(call: Callable[[], Any]) -> int:
    """Count the lines of Python that a call executes: its cost, without a clock."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@requirement("confidence:glob-linear")
@for_each(
    ("pattern", "unit"),
    [
        ("*a" * 250 + "b", "a"),
        ("*?a" * 150 + "b", "a"),
        ("?*" * 250 + "b", "a"),
        ("*[ab][ab][ab][ab]c", "a"),
        ("**/" * 160 + "x*", "d/"),
        ("**/a/" * 100 + "b", "a/"),
        ("**/?/" * 100 + "b", "a/"),
        ("{a,b}" * 6 + "*c", "ab"),
        ("[" * 500, "["),
    ],
)
def test_doubling_the_path_at_most_doubles_the_work(pattern: str, unit: str) -> None:
    glob = compile_glob(pattern)

    def cost(length: int) -> int:
        path = split_path(unit * length + "c")
        return steps(lambda: glob.covers(path))

    assert cost(2_000) <= 2.1 * cost(1_000) + 100
