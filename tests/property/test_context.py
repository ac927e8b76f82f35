"""Laws of what reaches a model: budgets hold, lines stay lines, and prompts are not lost."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.base.text import clean_line
from tests.property.strategies import few, hostile_text, queries, skills

FORMATS = ["lines", "markdown", "xml"]


@st.composite
def hostile_skills(draw: st.DrawFn) -> list[sy.Skill]:
    texts = draw(st.lists(st.tuples(*[hostile_text] * 5), max_size=5))
    return [
        sy.Skill(
            name,
            text,
            body,
            f"p{place}-{path}",
            slug=phrase or None,
            triggers=sy.Triggers(phrases=(phrase, text)),
        )
        for place, (name, text, body, path, phrase) in enumerate(texts)
    ]


@pytest.mark.parametrize("format", FORMATS)
@few
@given(hostile_skills(), st.one_of(st.none(), st.integers(0, 200)), queries)
def test_a_summary_keeps_its_budget_whatever_stands_in_the_fields(
    format: str, listed: list[sy.Skill], budget: int | None, query: sy.Query
) -> None:
    for asked in (None, query):
        text = sy.summary(listed, format, budget, asked)
        assert budget is None or sy.context.estimate_tokens(text) <= budget
        assert text == sy.summary(list(reversed(listed)), format, budget, asked)
        assert all(len(line.splitlines()) <= 1 for line in text.split("\n"))


@few
@given(hostile_skills())
def test_a_summary_has_one_line_for_each_skill_and_no_other(listed: list[sy.Skill]) -> None:
    for format in ("lines", "markdown"):
        text = sy.summary(listed, format)
        assert len(text.split("\n") if text else []) == len(listed)


@few
@given(hostile_skills())
def test_the_xml_catalogue_is_read_back_as_it_was(listed: list[sy.Skill]) -> None:
    gone = str.maketrans("", "", "\ufffe\uffff")  # no XML reader takes these two
    text = sy.summary(listed, "xml").translate(gone)
    found = list(ElementTree.fromstring(text)) if text else []
    told = [
        tuple((entry.findtext(tag) or "").strip() for tag in ("name", "description", "location"))
        for entry in found
    ]
    expected = [
        tuple(
            clean_line(field).translate(gone).strip() for field in (s.name, s.description, s.path)
        )
        for s in listed
    ]
    assert sorted(told) == sorted(expected)


_parts = st.one_of(
    hostile_text,
    st.sampled_from(["deploy the app", "clean data", ""]),
    st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["deploy", "", "x"])),
    st.just({"type": "image", "data": "…"}),
)
_prompts: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["deploy the app", "clean data", "", " "]),
    st.builds(
        lambda role, content: {"role": role, "content": content, "id": 1},
        st.sampled_from(["user", "user", "system"]),
        st.one_of(st.sampled_from(["deploy the app", None]), st.lists(_parts, max_size=4)),
    ),
)


def texts(prompt: Any) -> list[Any]:
    """Return every part of a prompt, texts and others, in order."""
    content = prompt if isinstance(prompt, str) else prompt["content"]
    parts = content if isinstance(content, list) else [content]
    return [part.get("text", part) if isinstance(part, dict) else part for part in parts]


@few
@given(_prompts, skills(min_size=1), st.integers(0, 50))
def test_injecting_puts_one_block_in_front_and_loses_nothing(
    prompt: Any, listed: list[sy.Skill], max_chars: int
) -> None:
    policy = sy.SelectionPolicy(min_score=0.1)
    injection = sy.inject(prompt, listed, policy, max_chars=max_chars)
    before, after = texts(prompt), texts(injection.prompt)
    if injection.match is None:
        assert after == before
        return
    block = sy.prompt_block(injection.match.skill, max_chars)
    changed = [place for place, part in enumerate(after) if part != before[place]]
    assert len(after) == len(before)
    assert len(changed) == 1
    assert after[changed[0]] == f"{block}\n\n{before[changed[0]]}"
    assert changed[0] == next(n for n, part in enumerate(before) if isinstance(part, str))
