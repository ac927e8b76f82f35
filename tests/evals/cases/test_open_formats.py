"""``evals.json`` and trigger sets: read as they are, from files and from inside skill folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillyard import Catalog
from skillyard.engine.catalog import read_catalog
from skillyard.evals.cases.activation import read_activation_cases
from skillyard.evals.cases.answers import read_answer_cases
from skillyard.evals.cases.case_files import (
    JSON,
    CasePlaces,
    Dataset,
    build_dataset,
    find_sources,
    read_case_files,
)
from skillyard.evals.cases.reading import Notes
from skillyard.evals.cases.skill_cases import SkillCases
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


def read(path: Path, catalog: Catalog, skill: str | None = None) -> Dataset[SkillCases]:
    notes = Notes()
    files = find_sources(CasePlaces((str(path),)), catalog, notes)
    return build_dataset(read_case_files(files, catalog, notes, skill), notes, files, (JSON,))


def test_evals_are_read_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "evals.json", EVALS)
    result = read(path, library())
    assert result.diagnostics == ()
    (cases,) = result.cases
    assert cases.skill == "table-repair"
    assert [(each.id, each.prompt, each.line) for each in cases.prompts] == [
        ("1", "sum up", 5),
        ("second", "what is missing?", 7),
        ("3", "hello?", 8),
    ]
    first, second, _ = cases.prompts
    assert first.expected == "three"
    assert first.files == ("evals/files/x.csv",)
    assert first.assertions == ("names three", "shows how")
    assert second.assertions == ("says that b is missing",)


@for_each("name", ["../secret.txt", "/etc/passwd", "gone.csv"])
def test_an_entry_whose_files_may_not_be_read_is_left_out(tmp_path: Path, name: str) -> None:
    written(tmp_path, "secret.txt", "secret")
    folder = skill(tmp_path)
    entries = [{"id": 1, "prompt": "look", "files": [name]}, {"id": 2, "prompt": "go"}]
    path = written(folder, "evals/evals.json", json.dumps({"evals": entries}))
    result = read_answer_cases(CasePlaces(in_skills=True), read_catalog(tmp_path))
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["go"]
    one(result.diagnostics, path, 1, "the eval 1 is left out")
    assert "secret" not in result.diagnostics[0].message.replace(name, "")


def test_of_files_that_are_no_text_only_the_name_is_given(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    for name in ("claim.pdf", "sheet.xlsx"):
        (folder / name).write_bytes(b"\x00\xff" + name.encode())
    entry = {"id": 1, "prompt": "look", "files": ["claim.pdf", "sheet.xlsx", "SKILL.md"]}
    path = written(folder, "evals/evals.json", json.dumps({"evals": [entry]}))
    result = read_answer_cases(CasePlaces(in_skills=True), read_catalog(tmp_path))
    (prompt,) = result.cases[0].prompts
    assert [each.name for each in prompt.files] == ["claim.pdf", "sheet.xlsx"]
    assert prompt.prompt == (
        "look\n\nThe file claim.pdf (11 bytes) cannot be shown here; it is no text."
        "\n\nThe file sheet.xlsx (12 bytes) cannot be shown here; it is no text."
    )
    one(result.diagnostics, path, 1, "no model can read the file sheet.xlsx")
    one(result.diagnostics, path, 1, "SKILL.md is an input file of an eval")


@for_each(
    ("entry", "line", "says"),
    [
        ({"id": 1}, 4, "prompt is missing"),
        ({"id": 1, "prompt": " "}, 4, "prompt is wrong"),
        ({"id": 1, "prompt": "use table-repair"}, 4, "names the skill under test"),
        ({"id": 1, "prompt": "x", "files": 3}, 4, "files is wrong"),
        (5, 4, "evals[0] is not an object"),
    ],
)
def test_a_bad_entry_is_left_out_with_its_line_and_the_others_are_read(
    tmp_path: Path, entry: Any, line: int, says: str
) -> None:
    text = (
        '{"skill_name": "table-repair",\n\n "evals": [\n'
        f'  {json.dumps(entry)},\n  {{"id": 2, "prompt": "fine"}}\n]}}'
    )
    path = written(tmp_path, "evals.json", text)
    result = read(path, library())
    assert [(each.id, each.line) for each in result.cases[0].prompts] == [("2", 5)]
    one(result.diagnostics, path, line, says)


@for_each(
    ("text", "line", "says"),
    [
        ('{"skill_name": "table-repair",\n "evals": [}', 2, "not JSON"),
        ('{"evals": [{"prompt": "x"}]}', 1, "skill_name is missing"),
        (
            '{"skill_name": "nobody", "evals": [{"prompt": "x"}]}',
            1,
            "the skill is not there",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = written(tmp_path, "evals.json", text)
    result = read(path, library())
    errors = [each for each in result.diagnostics if each.severity == "error"]
    one(errors, path, line, says)


def test_nothing_that_a_file_says_is_dropped_silently(tmp_path: Path) -> None:
    entries = [
        {"prompt": "x", "assertions": [{"text": "t", "cmd": ["a"]}], "turns": 3},
        {"prompt": "y", "assertions": [7], "turns": 3},
    ]
    text = json.dumps({"skill_name": "letter", "harness": "h", "notes": "n", "evals": entries})
    path = written(tmp_path, "evals.json", text)
    result = read(path, library())
    one(
        result.diagnostics,
        path,
        1,
        "not read: assertions.cmd, turns (2 times), assertions, harness",
    )


@for_each(
    ("entry", "expected", "assertions"),
    [
        # skill-creator, as it documents the file
        (
            {"id": 1, "prompt": "p", "expected_output": "e", "files": [], "expectations": ["a"]},
            "e",
            ("a",),
        ),
        # the format for evaluations of agentskills.io
        ({"id": 1, "name": "n", "prompt": "p", "assertions": ["a", "b"]}, "", ("a", "b")),
        # assertions as objects, with ids or without
        ({"id": "x", "prompt": "p", "assertions": [{"id": "x", "text": "a"}]}, "", ("a",)),
    ],
)
def test_entries_of_evals_are_read(
    tmp_path: Path, entry: dict[str, Any], expected: str, assertions: tuple[str, ...]
) -> None:
    text = json.dumps({"skill_name": "table-repair", "evals": [entry]})
    result = read(written(tmp_path, "evals.json", text), library())
    assert result.diagnostics == ()
    prompt = result.cases[0].prompts[0]
    assert (prompt.prompt, prompt.expected, prompt.assertions) == ("p", expected, assertions)


@for_each(
    "document",
    [
        [{"query": "p", "should_trigger": True}, {"query": "q", "should_trigger": False}],
        {
            "skill_name": "letter",
            "evals": [
                {"prompt": "p", "should_trigger": True},
                {"prompt": "q", "should_trigger": False},
            ],
        },
    ],
)
def test_trigger_sets_are_read(tmp_path: Path, document: Any) -> None:
    path = written(tmp_path, "triggers.json", json.dumps(document))
    result = read_activation_cases(CasePlaces((str(path),), skill="letter"), library())
    assert result.diagnostics == ()
    assert [
        (each.case.user_prompt, each.case.should_activate, each.about, each.case.expected_skills)
        for each in result.cases
    ] == [("p", True, "letter", ("letter",)), ("q", False, "letter", ())]
    assert read_answer_cases(CasePlaces((str(path),), skill="letter"), library()).cases == ()


@for_each(
    ("name", "text"),
    [
        ("promptfooconfig.yaml", "prompts: [a]\ntests:\n- vars: {request: x}\n"),
        ("samples.jsonl", '{"input": "x", "target": "y"}\n'),
        ("triggers.json", '{"should_trigger": ["x"], "should_not_trigger": ["y"]}'),
    ],
)
def test_files_of_other_tools_beside_a_skill_are_named_and_not_read(
    tmp_path: Path, name: str, text: str
) -> None:
    path = written(skill(tmp_path), f"evals/{name}", text)
    result = read_activation_cases(CasePlaces(in_skills=True), read_catalog(tmp_path))
    assert result.cases == ()
    one(result.diagnostics, path, None, "the file holds no cases")


def test_one_file_can_say_what_fires_and_what_a_good_answer_has(tmp_path: Path) -> None:
    entries = [
        {"id": "positive-1", "should_trigger": True, "prompt": "p", "expectations": ["a"]},
        {"id": "negative-1", "should_trigger": False, "prompt": "q", "expectations": ["b"]},
    ]
    text = json.dumps({"skill_name": "letter", "evals": entries})
    places = CasePlaces((str(written(tmp_path, "evals.json", text)),))
    assert len(read_activation_cases(places, library()).cases) == 2
    (answers,) = read_answer_cases(places, library()).cases
    assert [prompt.prompt for prompt in answers.prompts] == ["p"]


def test_trigger_entries_have_their_lines_and_ids_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, "triggers.json", TRIGGERS)
    result = read_activation_cases(CasePlaces((str(path),), skill="table-repair"), library())
    assert [(each.case.id, each.line) for each in result.cases] == [
        ("table-repair/triggers/1", 2),
        ("table-repair/triggers/2", 3),
    ]


def test_a_bad_trigger_is_left_out_and_one_that_names_the_skill_is_a_remark(tmp_path: Path) -> None:
    text = (
        '[{"query": "x"},\n {"query": "y", "should_trigger": "true"},\n'
        ' {"query": "@letter z", "should_trigger": true}]'
    )
    path = written(tmp_path, "t.json", text)
    result = read_activation_cases(CasePlaces((str(path),), skill="letter"), library())
    assert [each.case.user_prompt for each in result.cases] == ["@letter z"]
    one(result.diagnostics, path, 1, "should_trigger is missing")
    one(result.diagnostics, path, 2, "should_trigger is wrong")
    one(result.diagnostics, path, 3, "the prompt names the skill under test")


def test_a_request_that_should_trigger_and_should_not_is_an_error_with_both_lines(
    tmp_path: Path,
) -> None:
    text = (
        '[{"query": "Write a letter", "should_trigger": true},\n'
        ' {"query": "a poster", "should_trigger": false},\n'
        ' {"query": " write  A letter ", "should_trigger": false}]'
    )
    path = written(tmp_path, "triggers.json", text)
    places = CasePlaces((str(path),), skill="letter")
    result = read_activation_cases(places, library())
    (error,) = (each for each in result.diagnostics if each.severity == "error")
    assert (error.code, error.path, error.line) == ("case_contradiction", str(path), 3)
    assert error.message.casefold() == (
        f'letter should not fire for "write a letter", but at {str(path).casefold()}:1'
        " letter should fire for it"
    )
    assert error.hint.startswith("remove the entry that is wrong")


def test_files_contradict_each_other_only_about_one_skill(tmp_path: Path) -> None:
    entry = {"query": "write it up", "should_trigger": True}
    written(tmp_path, "a.json", json.dumps({"skill_name": "letter", "evals": [entry]}))
    other = {"skill_name": "table-repair", "evals": [{**entry, "should_trigger": False}]}
    written(tmp_path, "b.json", json.dumps(other))
    places = CasePlaces((str(tmp_path),))
    assert read_activation_cases(places, library()).diagnostics == ()
    line = {"id": "n", "user_prompt": "Write it up", "should_activate": False}
    path = written(tmp_path, "c.jsonl", json.dumps(line))
    (error,) = read_activation_cases(places, library()).diagnostics
    assert error.path == str(tmp_path / "a.json")
    assert error.message == (
        f'letter should fire for "write it up", but at {path}:1 no skill should fire for it'
    )


def test_one_of_several_expected_skills_may_be_the_wrong_one(tmp_path: Path) -> None:
    line = {"id": "n", "user_prompt": "Write it up", "should_activate": True}
    either = {**line, "expected_skills": ["letter", "table-repair"]}
    written(tmp_path, "a.jsonl", json.dumps(either))
    other = {"query": "write it up", "should_trigger": False}
    written(tmp_path, "b.json", json.dumps({"skill_name": "letter", "evals": [other]}))
    assert read_activation_cases(CasePlaces((str(tmp_path),)), library()).diagnostics == ()


def test_the_triggers_of_a_hidden_skill_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "t.json", TRIGGERS)
    result = read_activation_cases(CasePlaces((str(path),), skill="wipe-out"), library())
    assert result.cases == ()
    one(result.diagnostics, path, 1, "wipe-out is hidden")


def test_skill_folders_are_looked_into_and_other_files_named(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    written(folder, "evals/evals.json", EVALS.replace('"skill_name": "table-repair",', ""))
    written(folder, "evals/files/x.csv", "a\n")
    written(folder, "evals/trigger-eval.json", TRIGGERS)
    other = written(folder, "evals/benchmark.json", '{"runs": [1, 2]}')
    written(folder, "evals/deep/more.json", TRIGGERS)
    written(folder, "other.json", TRIGGERS)
    catalog = read_catalog(tmp_path)
    answers = read_answer_cases(CasePlaces(in_skills=True), catalog)
    triggers = read_activation_cases(CasePlaces(in_skills=True), catalog)
    assert [len(each.prompts) for each in answers.cases] == [3]
    assert [case.about for case in triggers.cases] == ["table-repair"] * 2
    for result in (answers.diagnostics, triggers.diagnostics):
        one(result, other, None, "the file holds no cases")
        assert len(result) == 1


def test_a_skill_cannot_bring_evals_for_another_one(tmp_path: Path) -> None:
    skill(tmp_path, "other")
    folder = skill(tmp_path)
    path = written(folder, "evals/evals.json", EVALS.replace("table-repair", "other"))
    result = read_answer_cases(CasePlaces(in_skills=True), read_catalog(tmp_path))
    assert [each.skill for each in result.cases] == ["table-repair"]
    one(result.diagnostics, path, 1, "skill_name is not that of the skill it lies in")


def test_a_skill_cannot_have_files_outside_of_it_read(tmp_path: Path) -> None:
    written(tmp_path, "secret.txt", "secret")
    folder = skill(tmp_path)
    path = written(
        folder, "t.json", json.dumps({"evals": [{"prompt": "p", "files": ["secret.txt"]}]})
    )
    result = read_answer_cases(CasePlaces((str(path),)), read_catalog(tmp_path))
    assert result.cases == ()
    one(result.diagnostics, path, 1, "there is no file 'secret.txt'")


def test_a_link_out_of_the_skill_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    written(outside, "t.json", TRIGGERS)
    folder = skill(tmp_path / "root")
    (folder / "evals").symlink_to(outside)
    places = CasePlaces(in_skills=True)
    assert read_activation_cases(places, read_catalog(tmp_path / "root")).cases == ()
    (folder / "evals").unlink()
    (folder / "evals").mkdir()
    (folder / "evals" / "t.json").symlink_to(outside / "t.json")
    assert read_activation_cases(places, read_catalog(tmp_path / "root")).cases == ()


@for_each(
    ("field", "fault"),
    [
        ('"prompt": "how deep\\ud800"', "prompt holds half of a character"),
        ('"prompt": "p", "assertions": ["\\ud800"]', "assertions[0] holds half of a character"),
        ('"prompt": "p", "id": "\\ud800"', "id holds half of a character"),
    ],
)
def test_an_entry_with_half_of_a_character_is_left_out(
    tmp_path: Path, field: str, fault: str
) -> None:
    text = f'{{"skill_name": "letter", "evals": [{{"prompt": "q"}},\n {{{field}}}]}}'
    path = written(tmp_path, "evals.json", text)
    result = read(path, library())
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["q"]
    one(result.diagnostics, path, 1, fault)
