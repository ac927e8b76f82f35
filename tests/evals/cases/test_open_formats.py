"""Evaluations of other tools: read as they are, from files and from inside skill folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skillyard.catalog import read_catalog
from skillyard.evals.cases.open_formats import (
    read_open_evals,
    read_skill_evals,
    read_trigger_set,
    rubrics_of,
)
from skillyard.evals.cases.parser import json_items
from skillyard.evals.criteria import DEFAULT_CRITERIA
from tests.evals.cases.making import library, one, written
from tests.tables import for_each

EVALS = """\
{
  "skill_name": "table-repair",
  "version": 3,
  "evals": [
    {"id": 1, "prompt": "sum up", "expected_output": "three", "files": ["evals/files/x.csv"],
     "assertions": ["names three", {"text": "shows how"}], "tags": ["a"]},
    {"id": "second", "prompt": "what is missing?", "expectations": ["says that b is missing"]},
    {"prompt": "hello?"}
  ]
}
"""
TRIGGERS = """\
[
  {"query": "my list does not load", "should_trigger": true, "note": "x"},
  {"query": "what is a table?",
   "should_trigger": false}
]
"""


def skill(folder: Path, name: str = "table-repair") -> Path:
    written(
        folder, f"{name}/SKILL.md", f"---\nname: {name}\ndescription: Repairs. Use it.\n---\nBody\n"
    )
    return folder / name


def test_evals_are_read_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "evals.json", EVALS)
    found = read_open_evals(path, catalog=library())
    assert found.diagnostics == ()
    assert [(case.id, case.prompt, case.line) for case in found.cases] == [
        ("1", "sum up", 5),
        ("second", "what is missing?", 7),
        ("3", "hello?", 8),
    ]
    first = found.cases[0]
    assert (first.skill_name, first.expected_output) == ("table-repair", "three")
    assert first.files == ("evals/files/x.csv",)
    assert first.assertions == ("names three", "shows how")
    assert found.cases[1].assertions == ("says that b is missing",)


def test_each_prompt_is_judged_by_what_its_entry_says(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    written(folder, "evals/files/x.csv", "a,b\n```\n")
    written(folder, "evals/evals.json", EVALS)
    catalog = read_catalog(tmp_path)
    (rubric,), left_out = rubrics_of(read_skill_evals(catalog).evals.cases, catalog)
    assert left_out == ()
    assert (
        rubric.test_prompts[0] == "sum up\n\nThe file evals/files/x.csv:\n\n````\na,b\n```\n\n````"
    )
    assert [
        (criterion.name, round(criterion.weight, 3), criterion.description)
        for criterion in rubric.criteria_of(0)
    ] == [
        ("assertion 1", 0.333, "names three"),
        ("assertion 2", 0.333, "shows how"),
        ("expected output", 0.333, "The answer amounts to this: three"),
    ]
    assert [criterion.name for criterion in rubric.criteria_of(1)] == ["assertion 1"]
    assert rubric.criteria_of(2) == DEFAULT_CRITERIA


@for_each(
    ("name", "content"),
    [("../secret.txt", None), ("/etc/passwd", None), ("gone.csv", None), ("x.png", b"\x89PNG\x00")],
)
def test_an_entry_whose_files_may_not_be_read_is_left_out(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    written(tmp_path, "secret.txt", "secret")
    folder = skill(tmp_path)
    if content is not None:
        (folder / name).write_bytes(content)
    entry = {"id": 1, "prompt": "look", "files": [name]}
    path = written(folder, "evals/evals.json", json.dumps({"skill_name": "x", "evals": [entry]}))
    catalog = read_catalog(tmp_path)
    found = read_skill_evals(catalog).evals
    rubrics, left_out = rubrics_of(found.cases, catalog)
    assert rubrics == ()
    one(left_out, path, 1, "the eval 1 is left out")
    assert "secret" not in left_out[0].message.replace(name, "")


@for_each(
    ("entry", "line", "says"),
    [
        ({"id": 1}, 4, "[0].prompt is missing"),
        ({"id": 1, "prompt": " "}, 4, "[0].prompt is empty"),
        ({"id": 1, "prompt": "use table-repair"}, 4, "names the skill under test"),
        ({"id": 1, "prompt": "x", "files": "a"}, 4, "[0].files is not a list"),
        ({"id": 1, "prompt": "x", "assertions": [{"kind": 1}]}, 4, "assertions[0] is not text"),
        (5, 4, "[0] is not an object"),
    ],
)
def test_a_bad_entry_is_told_with_its_line_and_the_others_are_read(
    tmp_path: Path, entry: Any, line: int, says: str
) -> None:
    text = (
        '{"skill_name": "table-repair",\n\n "evals": [\n'
        f'  {json.dumps(entry)},\n  {{"id": 2, "prompt": "fine"}}\n]}}'
    )
    path = written(tmp_path, "evals.json", text)
    found = read_open_evals(path, catalog=library())
    assert [(case.id, case.line) for case in found.cases] == [("2", 5)]
    one(found.errors, path, line, says)


@for_each(
    ("text", "line", "says"),
    [
        ('{"skill_name": "table-repair",\n "evals": [}', 2, "not JSON"),
        ('["a"]', 1, "the file is not an object with evals"),
        ('{"skill_name": "table-repair"}', 1, "there is no list of entries"),
        ('{"evals": []}', 1, "skill_name is missing"),
        ('{"skill_name": "nobody", "evals": []}', 1, "skill_name names a skill that is not there"),
    ],
)
def test_a_file_of_another_shape_is_told(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = written(tmp_path, "evals.json", text)
    one(read_open_evals(path, catalog=library()).errors, path, line, says)


def test_a_trigger_set_is_about_one_skill(tmp_path: Path) -> None:
    path = written(tmp_path, "triggers.json", TRIGGERS)
    found = read_trigger_set(path, "table-repair", library())
    assert found.diagnostics == ()
    positive, negative = found.cases
    assert (positive.about, positive.expected_skills, positive.line) == (
        "table-repair",
        ("table-repair",),
        2,
    )
    assert (negative.about, negative.expected_skills, negative.line) == ("table-repair", (), 3)
    assert (positive.should_activate, negative.should_activate) == (True, False)
    assert positive.id != negative.id


def test_the_other_spelling_of_a_trigger_set_is_read_too(tmp_path: Path) -> None:
    text = '{"evals": [{"prompt": "do it", "should_trigger": true}]}'
    found = read_trigger_set(written(tmp_path, "t.json", text), "letter", library())
    assert [case.user_prompt for case in found.cases] == ["do it"]


def test_a_bad_trigger_is_told_and_one_that_names_the_skill_is_a_remark(tmp_path: Path) -> None:
    text = (
        '[{"query": "x"},\n {"query": "y", "should_trigger": "true"},\n'
        ' {"query": "@letter z", "should_trigger": true}]'
    )
    path = written(tmp_path, "t.json", text)
    found = read_trigger_set(path, "letter", library())
    assert [case.user_prompt for case in found.cases] == ["@letter z"]
    one(found.errors, path, 1, "[0].should_trigger is missing")
    one(found.errors, path, 2, "[1].should_trigger is neither true nor false")
    one(found.diagnostics, path, 3, "the prompt names the skill under test")


def test_a_trigger_set_of_a_hidden_skill_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "t.json", TRIGGERS)
    found = read_trigger_set(path, "wipe-out", library())
    assert found.cases == ()
    one(found.errors, path, 1, "names a hidden skill")


def test_skill_folders_are_looked_into_and_other_files_passed_over(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    written(folder, "evals/evals.json", EVALS.replace('"skill_name": "table-repair",', ""))
    written(folder, "evals/trigger-eval.json", TRIGGERS)
    written(folder, "evals/benchmark.json", '{"runs": [1, 2]}')
    written(folder, "evals/deep/more.json", TRIGGERS)
    written(folder, "other.json", TRIGGERS)
    found = read_skill_evals(read_catalog(tmp_path))
    assert [case.skill_name for case in found.evals.cases] == ["table-repair"] * 3
    assert [case.about for case in found.triggers.cases] == ["table-repair"] * 2
    assert [*found.evals.diagnostics, *found.triggers.diagnostics] == []
    assert [Path(path).name for path in found.evals.files] == [
        "benchmark.json",
        "evals.json",
        "trigger-eval.json",
    ]


def test_each_kind_of_file_tells_its_own_faults_and_an_unreadable_one_is_told_twice(
    tmp_path: Path,
) -> None:
    """Who runs only one of the two kinds still hears of every file that could be of it."""
    folder = skill(tmp_path)
    evals = written(folder, "evals/evals.json", EVALS.replace("sum up", ""))
    triggers = written(folder, "evals/triggers.json", TRIGGERS.replace("true", "1"))
    broken = written(folder, "evals/what.json", "[\n{")
    found = read_skill_evals(read_catalog(tmp_path))
    assert [(each.path, each.line) for each in found.evals.errors] == [
        (str(evals), 5),
        (str(broken), 2),
    ]
    assert [(each.path, each.line) for each in found.triggers.errors] == [
        (str(triggers), 2),
        (str(broken), 2),
    ]


def test_a_skill_cannot_bring_evals_for_another_one(tmp_path: Path) -> None:
    skill(tmp_path, "other")
    folder = skill(tmp_path)
    path = written(folder, "evals/evals.json", EVALS.replace("table-repair", "other"))
    found = read_skill_evals(read_catalog(tmp_path)).evals
    assert {case.skill_name for case in found.cases} == {"table-repair"}
    one(found.diagnostics, path, 1, "skill_name is not that of the skill it lies in")


def test_a_link_out_of_the_skill_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    written(outside, "t.json", TRIGGERS)
    written(outside, "evals.json", EVALS)
    folder = skill(tmp_path / "root")
    (folder / "evals").symlink_to(outside)
    assert read_skill_evals(read_catalog(tmp_path / "root")).triggers.cases == ()
    (folder / "evals").unlink()
    (folder / "evals").mkdir()
    (folder / "evals" / "t.json").symlink_to(outside / "t.json")
    assert read_skill_evals(read_catalog(tmp_path / "root")).triggers.cases == ()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(PLAIN, max_size=6), st.sampled_from([None, 0, 2]), st.text(max_size=5))
def test_items_of_a_list_are_found_on_their_lines(
    items: list[Any], indent: int | None, other: str
) -> None:
    text = json.dumps({f"{other}_": [1, {"evals": []}], "evals": items}, indent=indent)
    lines = json_items(text, "evals")
    assert len(lines) == len(items)
    assert lines == sorted(lines)
    rows = text.split("\n")
    for line, item in zip(lines, items, strict=True):
        start = json.dumps(item, indent=indent).split("\n")[0]
        assert start in rows[line - 1]
    assert json_items(json.dumps(items, indent=indent), None) or not items
