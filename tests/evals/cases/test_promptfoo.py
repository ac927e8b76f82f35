"""Tests of promptfoo: read as prompts with checks, and what has no counterpart is named."""

from __future__ import annotations

from pathlib import Path

from skillyard.evals.cases.case_files import find_sources, read_case_files
from skillyard.evals.cases.layer_cases import (
    CasePlaces,
    read_activation_cases,
    read_answer_cases,
)
from skillyard.evals.cases.promptfoo import is_promptfoo
from skillyard.evals.cases.records import Notes
from skillyard.evals.checks.check import Check
from skillyard.evals.checks.outcome import run_checks
from tests.evals.cases.making import library, one, written
from tests.tables import for_each

CONFIG = """\
description: letters
prompts: ["Answer as a clerk: {{request}}"]
providers: [echo]
defaultTest:
  assert:
    - {type: not-contains, value: sorry}
tests:
  - description: first
    vars: {request: answer my aunt}
    assert:
      - {type: contains, value: Dear}
      - {type: icontains, value: "AUNT (old)"}
      - {type: contains-any, value: [yours, regards]}
      - {type: contains-all, value: [a, b]}
      - {type: regex, value: "^Dear"}
      - {type: is-json}
      - {type: llm-rubric, value: it is polite}
      - {type: javascript, value: "output.length < 9"}
      - {type: assert-set, assert: [{type: equals, value: "x"}]}
  - vars: {request: "file://mail.txt"}
  - vars: {other: 1}
"""


def answers(path: Path, skill: str | None = "letter") -> CasePlaces:
    return CasePlaces((str(path),), skill=skill)


def test_assertions_become_checks_and_statements(tmp_path: Path) -> None:
    path = written(tmp_path, "promptfooconfig.yaml", CONFIG)
    dataset = read_answer_cases(answers(path), library())
    ((prompt,),) = (each.prompts for each in dataset.cases)
    assert prompt.prompt == "answer my aunt"
    assert prompt.checks == (
        Check("not_contains", "sorry"),
        Check("contains", "Dear"),
        Check("regex", r"(?i:AUNT \(old\))"),
        Check("regex", "yours|regards"),
        Check("contains", "a"),
        Check("contains", "b"),
        Check("regex", "^Dear"),
        Check("json_schema", "true"),
        Check("regex", r"\A\s*x\s*\z"),
    )
    assert [(each.name, each.description) for each in prompt.criteria] == [
        ("assertion 1", "it is polite")
    ]
    one(dataset.diagnostics, path, 1, "assertions that are not read: javascript")
    one(dataset.diagnostics, path, 20, "its request cannot be read")
    one(dataset.diagnostics, path, 21, "its request cannot be read")


@for_each(
    ("answer", "passed"),
    [("My Aunt (OLD) wrote", True), ("Tante (old)", False), ("aunt old", False)],
)
def test_a_text_without_case_is_matched_as_it_is(tmp_path: Path, answer: str, passed: bool) -> None:
    path = written(tmp_path, "promptfooconfig.yaml", CONFIG)
    ((prompt,),) = (each.prompts for each in read_answer_cases(answers(path), library()).cases)
    (outcome,) = run_checks([prompt.checks[2]], answer)
    assert outcome.passed is passed


def test_tests_may_lie_in_other_files_and_in_lists_of_their_own(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "promptfooconfig.yaml",
        "prompts: ['{{query}}']\ntests: [file://tests/a.yaml, file://tests/b.csv]\n",
    )
    listed = written(
        tmp_path, "tests/a.yaml", "# mine\n- vars:\n    query: p\n- vars: {query: q}\n"
    )
    dataset = read_answer_cases(answers(path), library())
    assert [prompt.prompt for prompt in dataset.cases[0].prompts] == ["p", "q"]
    one(dataset.diagnostics, path, 2, "file://tests/b.csv is left out")
    alone = read_answer_cases(answers(listed), library())
    assert [prompt.prompt for prompt in alone.cases[0].prompts] == ["p", "q"]
    broken = written(tmp_path, "tests/c.yaml", "- vars: {query: p}\n- vars: {query: [}\n")
    one(read_answer_cases(answers(broken), library()).errors, broken, 2, "expected")


def test_a_template_with_its_variables_is_the_request(tmp_path: Path) -> None:
    text = "prompts: ['Write to {{ name }}']\ntests: [{vars: {name: Ada, skill: letter}}]\n"
    path = written(tmp_path, "promptfooconfig.yaml", text)
    dataset = read_answer_cases(answers(path, None), library())
    assert [prompt.prompt for prompt in dataset.cases[0].prompts] == ["Write to Ada"]


def test_a_list_of_values_makes_a_request_of_each_combination(tmp_path: Path) -> None:
    text = (
        "prompts: ['{{a}} to {{b}}']\ndefaultTest: {vars: {a: [x, y]}}\ntests:\n"
        "  - vars: {b: [1, 2], unused: [3, 4]}\n"
        f"  - vars: {{b: {list(range(51))}}}\n"
        "  - {description: none, vars: {b: []}}\n"
        "  - vars: {b: {c: d}}\n"
    )
    path = written(tmp_path, "promptfooconfig.yaml", text)
    notes = Notes()
    files = find_sources([path], library(), notes)
    (cases,) = read_case_files(files, library(), notes, "letter")
    assert [(each.id, each.prompt) for each in cases.prompts] == [
        ("1-1", "x to 1"),
        ("1-2", "x to 2"),
        ("1-3", "y to 1"),
        ("1-4", "y to 2"),
    ]
    one(notes.diagnostics, path, 5, "left out: its lists of variables have 102 combinations")
    one(notes.diagnostics, path, 6, "left out: its lists of variables have 0 combinations")
    one(notes.diagnostics, path, 7, "its request cannot be read")


def test_what_is_no_test_and_no_assertion_is_named(tmp_path: Path) -> None:
    text = (
        "prompts: ['{{query}}']\ntests:\n"
        "  - vars: {query: p}\n"
        "    assert: nope\n"
        "  - 7\n"
        "  - vars: {query: q}\n"
        "    assert: [often, {type: contains, value: x}]\n"
    )
    path = written(tmp_path, "promptfooconfig.yaml", text)
    dataset = read_answer_cases(answers(path), library())
    assert [prompt.checks for prompt in dataset.cases[0].prompts] == [(), (Check("contains", "x"),)]
    one(dataset.diagnostics, path, 4, "tests[0].assert is a list of mappings")
    one(dataset.diagnostics, path, 5, "tests[1] is left out: it is not a mapping")
    one(dataset.diagnostics, path, 7, "tests[2].assert is a list of mappings")
    assert len(dataset.diagnostics) == 3


def test_whether_a_skill_is_used_is_an_activation_case(tmp_path: Path) -> None:
    text = (
        "prompts: ['{{query}}']\ntests:\n"
        "  - {vars: {query: p}, assert: [{type: skill-used, value: letter}]}\n"
        "  - {vars: {query: q}, assert: [{type: not-skill-used, value: letter}]}\n"
    )
    path = written(tmp_path, "promptfooconfig.yaml", text)
    dataset = read_activation_cases(answers(path), library())
    assert [(case.user_prompt, case.should_activate) for case in dataset.cases] == [
        ("p", True),
        ("q", False),
    ]


def test_the_value_names_the_skill_that_should_be_used(tmp_path: Path) -> None:
    text = (
        "prompts: ['{{query}}']\ntests:\n"
        "  - {vars: {query: p}, assert: [{type: skill-used, value: letter}]}\n"
        "  - vars: {query: q}\n"
        "    assert:\n"
        "      - {type: skill-used, value: [letter, {name: graph-drawing}]}\n"
        "      - {type: not-skill-used, value: table-repair}\n"
        "  - {vars: {query: r}, assert: [{type: skill-used, value: lettre}]}\n"
        "  - {vars: {query: s}, assert: [{type: skill-used, value: {pattern: 'l*'}}]}\n"
    )
    path = written(tmp_path, "promptfooconfig.yaml", text)
    for skill, others in ((None, []), ("table-repair", [("s", "table-repair", None)])):
        notes = Notes()
        files = find_sources([path], library(), notes)
        cases = read_case_files(files, library(), notes, skill)
        fires = [
            (prompt.prompt, each.skill, prompt.should_fire)
            for each in cases
            for prompt in each.prompts
        ]
        assert sorted(fires) == [
            ("p", "letter", True),
            ("q", "graph-drawing", True),
            ("q", "letter", True),
            ("q", "table-repair", False),
            *others,
        ]
        one(notes.diagnostics, path, 8, "tests[2] is left out: the skill is not there: lettre")
        one(notes.diagnostics, path, 1, "assertions that are not read: skill-used")


def test_a_test_that_names_other_skills_as_not_used_keeps_its_own(tmp_path: Path) -> None:
    text = (
        "prompts: ['{{query}}']\ntests:\n"
        "  - vars: {query: p}\n"
        "    assert: [{type: not-skill-used, value: letter}, {type: contains, value: x}]\n"
    )
    path = written(tmp_path, "promptfooconfig.yaml", text)
    ((prompt,),) = (
        each.prompts for each in read_answer_cases(answers(path, "table-repair"), library()).cases
    )
    assert prompt.checks == (Check("contains", "x"),)


@for_each(
    ("text", "expected"),
    [
        ("tests: []\nproviders: [x]\n", True),
        ("- vars: {a: b}\n", True),
        ("- description: d\n  assert: []\n", True),
        ("tests: []\n", False),
        ("skill: a\nprompts: [x]\n", False),
        ("- a\n- b\n", False),
        ("---\nskill: x\n", False),
    ],
)
def test_a_file_of_promptfoo_is_known_by_its_fields(text: str, expected: bool) -> None:
    assert is_promptfoo(text) is expected
