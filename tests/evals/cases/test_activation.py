"""Activation cases: from lines of JSON and from files about one skill, without contradictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Catalog
from skillyard.evals.cases.reading import CasePlaces, Dataset
from skillyard.evals.cases.skill_cases import ActivationCase, read_activation_cases
from tests.evals.cases.making import library, one, written
from tests.tables import for_each

GOOD: dict[str, Any] = {
    "id": "a-1",
    "user_prompt": "my list does not load",
    "expected_skills": ["table-repair"],
    "acceptable_skills": ["graph-drawing"],
    "should_activate": True,
    "category": "symptom",
}
FAR: dict[str, Any] = {"id": "f-1", "user_prompt": "hello", "should_activate": False}


def line(base: dict[str, Any] = GOOD, /, **changes: Any) -> str:
    return json.dumps({**base, **changes})


def read(
    place: Path, catalog: Catalog | None = None, skill: str | None = None
) -> Dataset[ActivationCase]:
    return read_activation_cases(CasePlaces((str(place),), skill=skill), catalog or library())


def test_cases_are_read_past_comments_and_blank_lines(tmp_path: Path) -> None:
    text = f"# what people ask\n\n{line()}\n   \n  # more\r\n{line(FAR)}\r\n"
    result = read(written(tmp_path, "x.jsonl", text))
    assert result.diagnostics == ()
    path = str(tmp_path / "x.jsonl")
    repair, graph = ("table-repair",), ("graph-drawing",)
    assert result.cases == (
        ActivationCase(
            "a-1", "my list does not load", True, repair, graph, "symptom", path=path, line=3
        ),
        ActivationCase("f-1", "hello", False, path=path, line=6),
    )


@for_each(
    ("bad", "says"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "the entry is wrong"),
        ('{"id": "a", "id": "b"}', "the key 'id' stands twice in one object"),
        ('{"id": NaN}', "NaN is no number of JSON"),
        ("[" * 100_000, "JSON that is refused"),
        (line(id=None), "id is wrong"),
        (line(id=""), "id is wrong"),
        (line(id="x" * 201), "id is wrong"),
        (line(user_prompt="  "), "user_prompt is wrong"),
        (line(user_prompt="x" * 100_001), "user_prompt is wrong"),
        (line(user_prompt="half \ud83d of it"), "the entry is wrong"),
        (line(expected_skills="table-repair"), "expected_skills is wrong"),
        (line(expected_skills=["nobody"]), "expected_skills names a skill that is not there"),
        (line(expected_skills=["wipe-out"]), "expected_skills names a hidden skill"),
        (line(should_activate=1), "should_activate is wrong"),
        (line(should_activate=False), "should_activate is false, yet skills are named"),
        (line(FAR, should_activate=True), "should_activate is true, yet no skill is expected"),
        (line(user_prompt="use table-repair on it"), "the prompt names the skill under test"),
        (line(user_promt="x"), "there is no field user_promt"),
    ],
)
def test_a_bad_line_is_told_with_its_line_and_the_others_are_read(
    tmp_path: Path, bad: str, says: str
) -> None:
    path = written(
        tmp_path, "x.jsonl", f"{line(FAR, id='first')}\n{bad}\n{line(FAR, user_prompt='bye')}\n"
    )
    result = read(path)
    assert [each.id for each in result.cases] == ["first", "f-1"]
    one(result.errors, path, 2, says)


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    written(tmp_path, "a.jsonl", line(FAR) + "\n")
    text = f"{line(FAR, user_prompt='other')}\n{line(FAR, user_prompt='third')}\n"
    second = written(tmp_path, "b.jsonl", text)
    result = read(tmp_path)
    assert [each.id for each in result.cases] == ["f-1", "f-1/b"]
    one(result.errors, second, 2, "the id occurs twice")


def test_a_prompt_that_occurs_twice_is_used_once(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", f"{line(FAR)}\n{line(FAR, id='2', user_prompt=' HELLO')}\n")
    result = read(path)
    assert (len(result.cases), result.errors) == (1, ())
    one(result.diagnostics, path, 2, f"the prompt is also at {path}:1")


def test_an_id_of_a_skill_stands_for_its_name(tmp_path: Path) -> None:
    catalog = library()
    path = written(tmp_path, "x.jsonl", line(expected_skills=[catalog.get("letter").id]))
    assert read(path, catalog).cases[0].expected_skills == ("letter",)


def test_a_case_of_a_group_of_similar_skills_is_read(tmp_path: Path) -> None:
    group = {"group": "g", "user_prompt": "p", "acceptable_skills": ["letter"]}
    text = f"{line(group, id='1', expected_skill='table-repair')}\n"
    far = {"id": "2", "group": "g", "user_prompt": "q", "expected_skill": None}
    result = read(written(tmp_path, "x.jsonl", text + line(far)))
    assert result.diagnostics == ()
    assert [
        (each.expected_skills, each.should_activate, each.category) for each in result.cases
    ] == [
        (("table-repair",), True, "g"),
        ((), False, "g"),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.sampled_from([*GOOD, "other"]), JSON, max_size=8)


@given(st.lists(RECORDS, max_size=4))
def test_every_line_gives_a_case_or_a_note(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("cases") / "x.jsonl"
    lines = [line(FAR), *map(json.dumps, records)]
    path.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    result = read(path)
    valid = {case.line for case in result.cases}
    wrong = {each.line for each in result.diagnostics}
    assert valid.isdisjoint(wrong)
    assert valid | wrong == set(range(1, len(lines) + 1))


TRIGGERS = """\
[
  {"query": "my list does not load", "should_trigger": true, "note": "x"},
  {"query": "what is a table?",
   "should_trigger": false}
]
"""


@for_each(
    "document",
    [TRIGGERS, f'{{"skill_name": "table-repair", "evals":\n{TRIGGERS.strip()}}}\n'],
)
def test_a_trigger_set_is_about_one_skill_and_has_no_answers(tmp_path: Path, document: str) -> None:
    result = read(written(tmp_path, "triggers.json", document), skill="table-repair")
    assert result.diagnostics == ()
    assert [
        (each.id, each.user_prompt, each.expected_skills, each.about) for each in result.cases
    ] == [
        ("table-repair/1", "my list does not load", ("table-repair",), "table-repair"),
        ("table-repair/2", "what is a table?", (), "table-repair"),
    ]


def test_the_triggers_of_a_hidden_skill_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "t.json", TRIGGERS)
    result = read(path, skill="wipe-out")
    assert result.cases == ()
    one(result.diagnostics, path, 1, "wipe-out is hidden")


def test_a_request_of_two_files_about_one_skill_counts_once(tmp_path: Path) -> None:
    written(tmp_path, "letter.yaml", "skill: letter\nprompts: [p, q]\n")
    path = written(
        tmp_path,
        "triggers.json",
        '{"skill_name": "letter", "evals": [{"query": "p", "should_trigger": true},\n'
        ' {"query": "r", "should_trigger": true}]}',
    )
    result = read(tmp_path)
    assert [(each.id, each.user_prompt) for each in result.cases] == [
        ("letter/1", "p"),
        ("letter/2", "q"),
        ("letter/2/triggers", "r"),
    ]
    one(result.diagnostics, path, 1, "the prompt is also at")
