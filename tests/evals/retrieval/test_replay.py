"""Logged answers, asked again of other skills."""

from __future__ import annotations

import json

import pytest

import skillyard as sy
from skillyard.errors import InvalidInput
from skillyard.evals.retrieval.replay import parse_log, replay
from skillyard.shapes.encoder import encode
from skillyard.usecases.skill_selection import select_skills
from tests.tables import for_each
from tests.worked_examples.making import catalog, skill

BEFORE = (
    skill("git-bisect", "Finds the commit that broke the build."),
    skill("csv-cleaning", "Repairs messy CSV files."),
)


def log(*requests: str) -> str:
    lines = [
        json.dumps(encode(select_skills(catalog(*BEFORE), sy.Query(text)))) for text in requests
    ]
    return "\n".join(lines) + "\n"


REQUESTS = ("find the commit that broke the build", "repair messy csv files", "hello")


def moved(*skills: sy.Skill) -> list[tuple[int, str, str]]:
    result = replay(catalog(*skills), parse_log(log(*REQUESTS), "log"))
    return [(one.line, one.skill, one.what) for one in result]


def test_nothing_moves_while_nothing_changes() -> None:
    assert moved(*BEFORE) == []


def test_what_is_gone_changed_added_and_dropped_is_told() -> None:
    assert moved(BEFORE[0]) == [(2, "csv-cleaning", "gone")]
    changed = skill("csv-cleaning", "Repairs messy CSV files.", "Other steps.")
    assert (2, "csv-cleaning", "changed") in moved(BEFORE[0], changed)
    twin = skill("git-hunt", "Finds the commit that broke the build.")
    assert (1, "git-hunt", "added") in moved(*BEFORE, twin)


@for_each("line", ["{", "[]", '{"query": {}}', '{"query": {"text": 5}}', "null"])
def test_a_wrong_line_is_named(line: str) -> None:
    with pytest.raises(InvalidInput, match="log:4"):
        parse_log(log(*REQUESTS) + line, "log")
