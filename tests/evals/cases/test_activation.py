"""Activation cases: JSON lines, read by file and line, whatever stands in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Catalog
from skillyard.evals.cases.activation import (
    ActivationCase,
    LocatedCase,
    read_activation_cases,
)
from skillyard.evals.cases.answers import read_answer_cases
from skillyard.evals.cases.case_files import CasePlaces, Dataset
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


def read(*paths: Path, catalog: Catalog | None = None) -> Dataset[LocatedCase]:
    return read_activation_cases(CasePlaces(tuple(map(str, paths))), catalog or library())


def test_cases_are_read_past_comments_and_blank_lines(tmp_path: Path) -> None:
    text = f"# what people ask\n\n{line()}\n   \n  # more\r\n{line(FAR)}\r\n"
    result = read(written(tmp_path, "x.jsonl", text))
    assert result.diagnostics == ()
    path = str(tmp_path / "x.jsonl")
    assert result.cases == (
        LocatedCase(
            ActivationCase(
                "a-1",
                "my list does not load",
                True,
                ("table-repair",),
                ("graph-drawing",),
                category="symptom",
            ),
            path,
            3,
        ),
        LocatedCase(ActivationCase("f-1", "hello", False), path, 6),
    )


@for_each(
    ("bad", "says"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "the line is not a JSON object"),
        ('{"id": 1} trailing', "not JSON"),
        ('{"id": "a", "id": "b"}', "the key 'id' stands twice in one object"),
        ('{"id": NaN}', "NaN is no number of JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"id": ' + "9" * 5_000 + "}", "JSON that is refused"),
        (line(id=None), "id is wrong"),
        (line(id=""), "id is wrong"),
        (line(id=7), "id is wrong"),
        (line(id="a\u200bb"), "id holds a character that no reader sees"),
        (line(id="x" * 201), "id is longer than 200 characters"),
        (line(user_prompt="  "), "user_prompt is wrong"),
        (line(user_prompt="x" * 100_001), "user_prompt is longer than 100,000 characters"),
        (line(user_prompt="half \ud83d of it"), "user_prompt holds half of a character"),
        (line(user_prompt="hello \u200b \ud83d"), "user_prompt holds half of a character"),
        (line(expected_skills="table-repair"), "expected_skills is wrong"),
        (line(expected_skills=[]), "expected_skills is empty, yet something should be activated"),
        (line(expected_skills=["nobody"]), "expected_skills names a skill that is not there"),
        (line(expected_skills=["wipe-out"]), "expected_skills names a hidden skill"),
        (line(acceptable_skills=["table-repair"]), "acceptable_skills names a skill that is"),
        (line(should_activate="yes"), "should_activate is wrong"),
        (line(should_activate=1), "should_activate is wrong"),
        (line(should_activate=None), "should_activate is wrong"),
        (line(should_activate=False), "should_activate is false, yet skills are named"),
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
    assert [each.case.id for each in result.cases] == ["first", "f-1"]
    one(result.errors, path, 2, says)


def test_an_id_is_taken_once_over_all_files(tmp_path: Path) -> None:
    written(tmp_path, "a.jsonl", line(FAR) + "\n")
    second = written(tmp_path, "b.jsonl", "\n" + line(FAR, user_prompt="other") + "\n")
    result = read(tmp_path)
    assert len(result.cases) == 1
    one(result.errors, second, 2, f"the id is taken (first at {tmp_path / 'a.jsonl'}:1)")


def test_a_prompt_that_occurs_twice_is_a_remark(tmp_path: Path) -> None:
    text = f"{line(FAR)}\n{line(FAR, id='2', user_prompt=' HELLO')}\n"
    result = read(written(tmp_path, "x.jsonl", text))
    assert len(result.cases) == 2
    assert [(each.severity, each.line) for each in result.diagnostics] == [("warning", 2)]


def test_an_id_of_a_skill_stands_for_its_name(tmp_path: Path) -> None:
    catalog = library()
    key = catalog.get("letter").id
    path = written(tmp_path, "x.jsonl", line(expected_skills=[key]))
    assert read(path, catalog=catalog).cases[0].case.expected_skills == ("letter",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.sampled_from([*GOOD, "other"]), JSON, max_size=8)


@given(st.lists(RECORDS, max_size=4))
def test_every_line_gives_a_case_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("cases") / "x.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    result = read(path)
    valid = {case.line for case in result.cases}
    wrong = {each.line for each in result.errors}
    assert valid.isdisjoint(wrong)
    assert valid | wrong == set(range(1, len(records) + 1))


BROKEN = {
    "quote": ('skill: table-repair\nprompts:\n  - "my list\n', "yaml_invalid"),
    "anchor": ("skill: &a table-repair\nprompts: [*a]\n", "yaml_anchor"),
    "tag": ("skill: !!python/name:os.system x\nprompts: [b]\n", "yaml_tag"),
    "depth": (f"skill: table-repair\nprompts: {'[' * 200}{']' * 200}\n", "yaml_too_deep"),
    "nodes": (f"skill: table-repair\nprompts: [{'a,' * 60_000}a]\n", "yaml_too_large"),
}


@for_each("name", BROKEN)
def test_a_yaml_file_that_cannot_be_read_is_an_error_with_its_line(
    name: str, tmp_path: Path
) -> None:
    """As for the layers that compare answers; it is not called a file without cases."""
    text, code = BROKEN[name]
    path = written(tmp_path, f"{name}.yaml", text)
    for reader in (read_activation_cases, read_answer_cases):
        (error,) = reader(CasePlaces((str(path),)), library()).errors
        assert (error.code, error.path) == (code, str(path))
        assert error.line is not None
        assert error.hint
