"""Token budgets: the estimate, and cutting at a boundary with a mark."""

from __future__ import annotations

from skillyard.engine.context.budget import TRUNCATED, cut, estimate_tokens
from tests.tables import for_each


@for_each(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("数据", 2), ("é" * 4, 2), ("\ud800", 1)],
)
def test_a_token_is_four_bytes_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@for_each(
    ("text", "max_tokens", "shown"),
    [
        ("short", 2, "short"),
        ("one two three four five six seven", 8, f"one two three\n{TRUNCATED}"),
        ("first line\nsecond line and more of it", 9, f"first line\n{TRUNCATED}"),
        ("a\nlong line that goes on and on and on", 9, f"a\nlong line that\n{TRUNCATED}"),
        ("x" * 100, 5, f"xxxx\n{TRUNCATED}"),
        ("éééééééééééééééééééééééé", 5, f"éé\n{TRUNCATED}"),
        ("    \n    \n       and then the text begins", 6, TRUNCATED),
        ("x" * 100, 4, TRUNCATED),
        ("x" * 100, 3, ""),
        ("x" * 100, 0, ""),
    ],
)
def test_a_text_is_cut_behind_a_line_or_a_blank_and_marked(
    text: str, max_tokens: int, shown: str
) -> None:
    assert cut(text, max_tokens) == shown
    assert estimate_tokens(shown) <= max_tokens
