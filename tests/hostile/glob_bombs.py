"""Twelve file patterns that cost a naive matcher for ever, and four paths to try them on."""

from __future__ import annotations

__all__ = ["BOMBS", "PATHS"]

BOMBS = (
    "*a" * 200 + "b",
    "**/" * 150 + "x",
    "**/a" * 100 + "/b",
    "{a,b}" * 20 + "c",
    "{" * 200 + "a" + "}" * 200,
    "{a,{a,{a,{a,{a,{a,b}}}}}}" * 8,
    "{" + "," * 400 + "}*",
    "[" * 400 + "a",
    "[!" + "a-z" * 100 + "]*" * 20 + "b",
    "(a+)+$|(a|a)*b",
    "?*" * 200 + "b",
    "*" * 50_000 + "b",
)
"""The last is longer than any pattern may be; the others are within the cap of 512 characters."""

PATHS = (
    "a" * 5_000,
    "a/" * 2_000 + "a",
    "src/app/page.tsx",
    "ab" * 1_000 + "/" + "aaaa/" * 200 + "c.py",
)
