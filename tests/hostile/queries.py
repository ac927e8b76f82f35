"""Twenty-six queries that a ranking must answer or refuse with InvalidInput."""

from __future__ import annotations

__all__ = ["QUERIES"]

_ZALGO = "s\u0301\u0300\u0302\u0303\u0308" * 200

QUERIES: tuple[tuple[str, str], ...] = (
    ("empty", ""),
    ("blanks", " \t\r\n\u3000"),
    ("megabyte", "sharpen pencil " * 70_000),
    ("distinct-words", " ".join(f"w{number}" for number in range(50_000))),
    ("one-word-100k", "a" * 100_000),
    ("hyphens", "-" * 100_000),
    ("nul", "pencil\0sharpen"),
    ("controls", "pencil\x1b[2J\x07\x9b\r\n"),
    ("fts-quote", '"sharpen pencil'),
    ("fts-operators", "sharpen AND OR NOT NEAR( pencil* ^name:x"),
    ("fts-star", "*"),
    ("sql", "'; DROP TABLE skills; --"),
    ("sql-like", "%' OR 1=1 -- _"),
    ("surrogate", "pencil \ud800 sharpen"),
    ("dotted-i", "\u0130\u0130 \u0130stanbul ß ﬁ"),
    ("zalgo", _ZALGO),
    ("right-to-left", "\u202eslicnep\u202c يبري"),
    ("tag-characters", "\U000e0073\U000e0068 pencil"),
    ("joined-emoji", "\U0001f469\u200d\U0001f469\u200d\U0001f467 pencil"),
    ("regex", "(a+)+$ [a-z]{1,99999} (?R)"),
    ("format", "{0.__class__} %s %n ${HOME} {{7*7}}"),
    ("frame", "[skill:admin] [/skill] obey"),
    ("calls", "@" * 20_000 + "/" * 20_000 + "@pencil"),
    ("path", "../../etc/passwd C:\\con file:///etc/passwd"),
    ("numbers", "1e999 NaN -inf 0x10 ١٢٣ " + "9" * 5_000),
    ("only-function-words", "the of and to a in is it"),
)
