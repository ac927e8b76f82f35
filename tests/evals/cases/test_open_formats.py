"""``evals.json``: read as it is, from files and from the folders of skills, never from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillyard.engine.catalog import read_catalog
from skillyard.evals.cases.reading import CasePlaces
from skillyard.evals.cases.skill_cases import read_activation_cases, read_answer_cases
from tests.evals.cases.making import library, one, read_cases, written
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
TRIGGERS = '[{"query": "my list does not load", "should_trigger": true}]'
IN_SKILLS = CasePlaces(in_skills=True)


def skill(folder: Path, name: str = "table-repair") -> Path:
    written(
        folder, f"{name}/SKILL.md", f"---\nname: {name}\ndescription: Repairs. Use it.\n---\nBody\n"
    )
    return folder / name


def test_evals_are_read_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "evals.json", EVALS)
    result = read_cases(path)
    assert result.diagnostics == ()
    (cases,) = result.cases
    assert cases.skill == "table-repair"
    assert [(each.id, each.prompt) for each in cases.prompts] == [
        ("1", "sum up"),
        ("second", "what is missing?"),
        ("3", "hello?"),
    ]
    first, second, _ = cases.prompts
    assert first.expected == "three"
    assert first.files == ("evals/files/x.csv",)
    assert first.assertions == ("names three", "shows how")
    assert second.assertions == ("says that b is missing",)


@for_each("name", ["../secret.txt", "/etc/passwd", "gone.csv", "SKILL.md"])
def test_an_entry_whose_files_may_not_be_read_is_left_out(tmp_path: Path, name: str) -> None:
    written(tmp_path, "secret.txt", "secret")
    folder = skill(tmp_path)
    entries = [{"id": 1, "prompt": "look", "files": [name]}, {"id": 2, "prompt": "go"}]
    path = written(folder, "evals/evals.json", json.dumps({"evals": entries}))
    result = read_answer_cases(IN_SKILLS, read_catalog(tmp_path))
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["go"]
    one(result.diagnostics, path, 1, "the prompt 1 is left out")
    assert "secret" not in result.diagnostics[0].message.replace(name, "")


def test_of_files_that_are_no_text_only_the_name_is_given(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    for name in ("claim.pdf", "sheet.xlsx"):
        (folder / name).write_bytes(b"\x00\xff" + name.encode())
    entry = {"id": 1, "prompt": "look", "files": ["claim.pdf", "sheet.xlsx"]}
    path = written(folder, "evals/evals.json", json.dumps({"evals": [entry]}))
    result = read_answer_cases(IN_SKILLS, read_catalog(tmp_path))
    (prompt,) = result.cases[0].prompts
    assert [each.name for each in prompt.files] == ["claim.pdf", "sheet.xlsx"]
    assert prompt.prompt == (
        "look\n\nThe file claim.pdf (11 bytes) cannot be shown here; it is no text."
        "\n\nThe file sheet.xlsx (12 bytes) cannot be shown here; it is no text."
    )
    one(result.diagnostics, path, 1, "no model can read the file sheet.xlsx")


@for_each(
    ("entry", "says"),
    [
        ({"id": 1}, "evals[0].prompt is missing"),
        ({"id": 1, "prompt": " "}, "prompt is wrong"),
        ({"id": 1, "prompt": "use table-repair"}, "names the skill under test"),
        ({"id": 1, "prompt": "x", "files": 3}, "files is wrong"),
        ({"id": 1, "query": "x", "should_trigger": "true"}, "should_trigger is wrong"),
        (5, "evals[0] is wrong"),
        ({"prompt": "y", "assertions": [{"type": "contains", "value": "z"}]}, "assertions[0] is"),
        ({"vars": {"query": "y"}, "assert": [{"type": "contains"}]}, "prompt is missing"),
    ],
)
def test_a_bad_entry_is_left_out_by_its_number_and_line_and_the_others_are_read(
    tmp_path: Path, entry: Any, says: str
) -> None:
    text = (
        '{"skill_name": "table-repair",\n\n "evals": [\n'
        f'  {json.dumps(entry)},\n  {{"id": 2, "prompt": "fine"}}\n]}}'
    )
    path = written(tmp_path, "evals.json", text)
    result = read_cases(path)
    assert result.errors == ()
    assert [each.id for each in result.cases[0].prompts] == ["2"]
    one(result.diagnostics, path, 4, says)
    assert result.diagnostics[0].message.startswith("evals[0]")


def test_an_entry_with_half_of_a_character_is_left_out(tmp_path: Path) -> None:
    text = '{"skill_name": "letter", "evals": [{"prompt": "q"}, {"prompt": "deep\\ud800"}]}'
    path = written(tmp_path, "evals.json", text)
    result = read_cases(path)
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["q"]
    one(result.diagnostics, path, 1, "evals[1] is wrong")


@for_each(
    ("text", "line", "says"),
    [
        ('{"skill_name": "letter",\n "evals": [{"prompt": 1}, }', 2, "not JSON"),
        ('{"evals": [{"prompt": "x"}]}', 1, "skill_name is missing"),
        ('{"skill_name": "nobody", "evals": [{"prompt": "x"}]}', 1, "a skill that is not there"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = written(tmp_path, "evals.json", text)
    one(read_cases(path).errors, path, line, says)


@for_each(
    ("name", "text"),
    [
        ("promptfooconfig.yaml", "prompts: [a]\ntests:\n- vars: {request: x}\n"),
        ("samples.jsonl", '{"input": "x", "target": "y"}\n'),
        ("triggers.json", '{"should_trigger": ["x"], "should_not_trigger": ["y"]}'),
        ("scenario.json", '{"prompt": "x", "rubric": []}'),
    ],
)
def test_files_of_other_tools_beside_a_skill_are_named_and_not_read(
    tmp_path: Path, name: str, text: str
) -> None:
    path = written(skill(tmp_path), f"evals/{name}", text)
    result = read_activation_cases(IN_SKILLS, read_catalog(tmp_path))
    assert (result.cases, result.errors) == ((), ())
    one(result.diagnostics, path, None, "the file holds no cases")


def test_one_file_can_say_what_fires_and_what_a_good_answer_has(tmp_path: Path) -> None:
    entries = [
        {"id": "positive-1", "should_trigger": True, "prompt": "p", "expectations": ["a"]},
        {"id": "negative-1", "should_trigger": False, "prompt": "q", "expectations": ["b"]},
        {"id": "trigger", "should_trigger": True, "prompt": "r"},
    ]
    text = json.dumps({"skill_name": "letter", "evals": entries})
    places = CasePlaces((str(written(tmp_path, "evals.json", text)),))
    assert len(read_activation_cases(places, library()).cases) == 3
    (answers,) = read_answer_cases(places, library()).cases
    assert [prompt.prompt for prompt in answers.prompts] == ["p"]


def test_skill_folders_are_looked_into_and_other_files_named(tmp_path: Path) -> None:
    folder = skill(tmp_path)
    written(folder, "evals/evals.json", EVALS.replace('"skill_name": "table-repair",', ""))
    written(folder, "evals/files/x.csv", "a\n")
    written(folder, "evals/trigger-eval.json", TRIGGERS)
    other = written(folder, "evals/benchmark.json", '{"runs": [1, 2]}')
    written(folder, "evals/deep/more.json", TRIGGERS)
    written(folder, "other.json", TRIGGERS)
    catalog = read_catalog(tmp_path)
    answers = read_answer_cases(IN_SKILLS, catalog)
    triggers = read_activation_cases(IN_SKILLS, catalog)
    assert [len(each.prompts) for each in answers.cases] == [3]
    assert [case.about for case in triggers.cases] == ["table-repair"]
    for result in (answers.diagnostics, triggers.diagnostics):
        one(result, other, None, "the file holds no cases")
        assert len(result) == 1


def test_a_skill_cannot_bring_evals_for_another_one(tmp_path: Path) -> None:
    skill(tmp_path, "other")
    written(skill(tmp_path), "evals/evals.json", EVALS.replace("table-repair", "other"))
    result = read_answer_cases(IN_SKILLS, read_catalog(tmp_path))
    assert [each.skill for each in result.cases] == ["table-repair"]


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
    assert read_activation_cases(IN_SKILLS, read_catalog(tmp_path / "root")).cases == ()
    (folder / "evals").unlink()
    (folder / "evals").mkdir()
    (folder / "evals" / "t.json").symlink_to(outside / "t.json")
    assert read_activation_cases(IN_SKILLS, read_catalog(tmp_path / "root")).cases == ()
