"""What the property tests draw from: hostile text, documents, skills, queries and trees of files.

Every test draws the same examples in every run (``derandomize``), so a failure is never chance.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

import skillyard as sy

__all__ = ["blocks", "documents", "few", "hostile_text", "many", "queries", "skills", "tag_soup"]

many = settings(derandomize=True, max_examples=2 * settings().max_examples)
few = settings(derandomize=True)

_HIDDEN = "\x00\x07\x1b\r\x7f\x85\x9b\u200b\u200d\u2028\u202e\u2060\u2069\ufeff\u00ad\u200e\ufe0f"
_ODD = [*_HIDDEN, "\ud800", "\udfff", "\U0001f3f4", "\U000e0067", "\U000e007f", "ſ", "K", "İ"]

hostile_text = st.text(
    st.one_of(st.characters(), st.sampled_from(_ODD), st.sampled_from(" \n\t[]/\\:skill<>&\"'")),
    max_size=60,
)

# Pieces of which frame tags are made, in every order.
tag_soup = st.lists(
    st.one_of(
        st.sampled_from(["[", "[", "/", "skill", "SKILL", "s", "kill", "]", ":", " ", "\n", "\\"]),
        st.sampled_from(["\u200b", "\u00ad", "\u200d", "ſkill", "sKill", "[/skill]", "[skill:x]"]),
        st.text(max_size=3),
    ),
    max_size=20,
).map("".join)

_KEYS = ["name", "description", "tags", "triggers", "metadata", "license", "x-y", "a b", "<<", "~"]
_VALUES = [
    "x", "two words", "a: b", "a #b", "'q'", '"q"', "'", "[a, b]", "[a", "{a: b}", "{", "|", ">-",
    "", "~", "null", "1.10", "2024-99-99", "&a x", "*a", "!t x", "@x", "- a", "true", "é", "- - a",
]  # fmt: skip
_LINES = st.one_of(
    st.builds("{}: {}".format, st.sampled_from(_KEYS), st.sampled_from(_VALUES)),
    st.builds("{}{}".format, st.sampled_from(["", "  ", "    ", "\t", "- ", "  - "]),
              st.sampled_from([*_VALUES, *(f"{key}: x" for key in _KEYS)])),
    st.sampled_from(["", "# comment", "...", "---x", " ---", "----", "%YAML 1.2", "? a", ": b"]),
)  # fmt: skip

blocks = st.lists(_LINES, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))
"""Frontmatter, more or less: lines of YAML and of what looks like it."""

_FENCES = st.sampled_from(["---", "---", "---", "--- ", "---\t", "----", " ---", "---x", ""])
_ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])


_FIELDS = [
    "title", "version", "license", "hint", "tags", "keywords", "triggers", "trigger", "priority",
    "inputs", "references", "metadata", "allowed-tools", "allowed_tools", "user-invocable", "id",
    "trigger_files", "unknown",
]  # fmt: skip
_DESCRIPTIONS = [
    "D.",
    "D.",
    "Use when: always",
    "a # b",
    "[x](y): z",
    "'q'",
    "@x",
    "~",
    "D\n  more: x",
]
_BODIES = st.one_of(hostile_text, st.sampled_from(["", "Body.\n---\nmore\n---\n"]))


@st.composite
def _neat(draw: st.DrawFn) -> str:
    """A document between good fences whose fields hold anything."""
    fields = draw(st.dictionaries(st.sampled_from(_FIELDS), st.sampled_from(_VALUES), max_size=3))
    lines = [f"name: {draw(st.sampled_from(['n', 'n', 'My Name', '-x', 'no']))}"]
    lines += [f"description: {draw(st.sampled_from(_DESCRIPTIONS))}"]
    lines += [f"{field}: {value}" for field, value in fields.items()]
    text = "\n".join(["---", *lines, "---", draw(_BODIES)])
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace(
        "\n", draw(st.sampled_from(["\n", "\r\n"]))
    )


@st.composite
def _odd(draw: st.DrawFn) -> str:
    """A document of which everything may be wrong, its fences first."""
    required = draw(st.sampled_from(["name: n\ndescription: D.\n", "name: n\n", ""]))
    text = f"{draw(_FENCES)}\n{required}{draw(blocks)}{draw(_FENCES)}\n{draw(_BODIES)}"
    start = draw(st.sampled_from(["", "", "", "\ufeff", "\n", " "]))
    return start + text.replace("\n", draw(_ENDS))


documents = st.one_of(_neat(), _odd())
"""Skill files: a good part of them can be read, leniently at least."""

_WORDS = [
    "deploy", "deploys", "deployment", "app", "apps", "data", "clean", "cleaning", "review", "code",
    "test", "tests", "the", "and", "with", "researcher", "research", "数据", "清洗", "数据清洗",
    "naïve", "Straße", "C++", ".py", "a1", "now",
]  # fmt: skip
_texts = st.lists(st.sampled_from(_WORDS), max_size=6).map(" ".join)
_lists = st.lists(st.sampled_from(_WORDS), max_size=3).map(tuple)
_globs = st.lists(st.sampled_from(["*.py", "src/**", "**/*.{ts,js}", "Dockerfile"]), max_size=2)


@st.composite
def _skill(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "name": "-".join(draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=2))),
        "description": draw(_texts),
        "body": draw(st.one_of(st.none(), _texts)),
        "title": draw(st.one_of(st.none(), _texts)),
        "slug": draw(st.one_of(st.none(), st.sampled_from(_WORDS))),
        "tags": draw(_lists),
        "keywords": draw(_lists),
        "triggers": sy.Triggers(tuple(draw(_globs)), draw(_lists), draw(_lists)),
        "priority": draw(st.integers(-1, 1)),
        "install_count": draw(st.sampled_from([0, 0, 5, 300, 20_000])),
        "curated": draw(st.booleans()),
        "references": draw(st.sampled_from([(), (sy.types.Reference("r.md", "r.md"),)])),
        "source": draw(st.sampled_from([None, "o/r"])),
    }


@st.composite
def skills(draw: st.DrawFn, min_size: int = 0, max_size: int = 8) -> list[sy.Skill]:
    """Skills of few words, so that they match often; no two lie in one place."""
    drawn = draw(st.lists(_skill(), min_size=min_size, max_size=max_size))
    return [sy.Skill(**fields, path=f"p{place % 3}/{place}") for place, fields in enumerate(drawn)]


queries = st.builds(
    sy.Query,
    st.one_of(_texts, st.sampled_from(["", " ", "deploy deploy, the DEPLOY!", "数据清洗数据"])),
    st.lists(st.sampled_from(["a.py", "src/b.ts", "Dockerfile", "x/y/z.js"]), max_size=3),
    _lists,
    include_references=st.booleans(),
)
