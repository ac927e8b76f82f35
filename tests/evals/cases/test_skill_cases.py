"""``evals/<skill>.yaml``: one file a skill, from which every layer has its cases."""

from __future__ import annotations

from pathlib import Path

from skillyard.evals.cases.activation import read_activation_cases
from skillyard.evals.cases.answers import read_answer_cases
from skillyard.evals.cases.case_files import CasePlaces
from skillyard.evals.checks.outcome import Check
from skillyard.evals.criteria import DEFAULT_CRITERIA, Criterion
from tests.evals.cases.making import library, one, written
from tests.tables import for_each

CASES = """\
skill: table-repair
siblings: [references/codes.md]
prompts:
  - prompt: the sheet does not load
    expected: a sheet that loads
    files: [evals/files/x.csv]
    checks:
      - contains: "sheet"
      - regex: "(?i)rows?"
      - script: "python check.py --strict"
  - all my umlauts are gone
  - id: other
    prompt: what is a table?
    should_fire: false
"""
CRITERIA = """\
criteria:
  - {name: right, weight: 0.6, description: It is right.}
  - {name: short, weight: 0.2, description: It is short.}
  - {name: kind, weight: 0.2, description: It is kind.}
"""


def places(folder: Path) -> CasePlaces:
    return CasePlaces((str(folder / "evals"),))


def test_every_layer_has_its_cases_from_one_file(tmp_path: Path) -> None:
    written(tmp_path, "evals/table-repair.yaml", CASES)
    written(tmp_path, "evals/files/x.csv", "a,b\n")
    written(tmp_path, "evals/check.py", "pass\n")
    written(tmp_path, "evals/config.yaml", "runs: 2\n")
    written(
        tmp_path,
        "evals/letter.yaml",
        "skill: letter\nprompts: [answer my aunt]\n",
    )
    catalog = library()
    activation = read_activation_cases(places(tmp_path), catalog)
    assert activation.diagnostics == ()
    assert [
        (each.case.id, each.case.user_prompt, each.case.should_activate, each.about, each.line)
        for each in activation.cases
    ] == [
        ("letter/1", "answer my aunt", True, "letter", 2),
        ("table-repair/1", "the sheet does not load", True, "table-repair", 4),
        ("table-repair/2", "all my umlauts are gone", True, "table-repair", 11),
        ("table-repair/other", "what is a table?", False, "table-repair", 13),
    ]
    answers = read_answer_cases(places(tmp_path), catalog)
    assert answers.diagnostics == ()
    _, tables = answers.cases
    assert (tables.skill, tables.siblings) == ("table-repair", ("references/codes.md",))
    first, second = tables.prompts
    assert first.prompt.endswith("The file evals/files/x.csv:\n\n```\na,b\n\n```")
    assert [(check.kind, check.value) for check in first.checks] == [
        ("contains", "sheet"),
        ("regex", "(?i)rows?"),
        ("script", "python check.py --strict"),
    ]
    assert [file.name for file in first.checks[2].files] == ["check.py"]
    assert [criterion.name for criterion in first.criteria] == ["expected output"]
    assert second.criteria == DEFAULT_CRITERIA


def test_a_rubric_and_what_a_prompt_expects_count_half_each(tmp_path: Path) -> None:
    text = (
        "skill: letter\nprompts:\n  - {prompt: p, expected: e, assertions: [a]}\n"
        f"  - prompt: q\n    checks: [{{contains: x}}]\n{CRITERIA}"
    )
    written(tmp_path, "evals/letter.yaml", text)
    ((first, second),) = (
        each.prompts for each in read_answer_cases(places(tmp_path), library()).cases
    )
    assert [(each.name, round(each.weight, 3)) for each in first.criteria] == [
        ("right", 0.3),
        ("short", 0.1),
        ("kind", 0.1),
        ("assertion 1", 0.25),
        ("expected output", 0.25),
    ]
    assert second.criteria[0] == Criterion("right", 0.6, "It is right.")


def test_a_prompt_with_checks_and_nothing_to_judge_needs_no_judge(tmp_path: Path) -> None:
    text = "skill: letter\nprompts:\n  - {prompt: p, checks: [{not_contains: x}]}\n"
    written(tmp_path, "evals/letter.yaml", text)
    ((prompt,),) = (each.prompts for each in read_answer_cases(places(tmp_path), library()).cases)
    assert prompt.criteria == ()
    assert prompt.checks == (Check("not_contains", "x"),)


def test_a_rubric_and_a_case_file_of_one_skill_add_up(tmp_path: Path) -> None:
    rubric = f"skill_name: letter\ntest_prompts: [p, q]\n{CRITERIA}"
    written(tmp_path, "evals/rubrics/letter.yaml", rubric)
    path = written(tmp_path, "evals/letter.yaml", "skill: letter\nprompts: [q, r]\n")
    both = CasePlaces((str(tmp_path / "evals/rubrics"), str(tmp_path / "evals")))
    dataset = read_answer_cases(both, library())
    assert [prompt.prompt for prompt in dataset.cases[0].prompts] == ["p", "q", "r"]
    one(dataset.diagnostics, path, 1, "1 prompt is also in")


@for_each(
    ("text", "line", "says"),
    [
        ("skill: letter\n", 1, "prompts is missing"),
        ("skill: letter\nprompts: []\n", 1, "prompts is wrong"),
        ("prompts: [x]\n", 1, "skill is missing"),
        ("skill: nobody\nprompts: [x]\n", 1, "the skill is not there"),
        ("skill: letter\nprompt: [x]\nprompts: [y]\n", 2, "there is no field prompt"),
        ("skill: letter\nprompts:\n  - promt: x\n", 3, "there is no field prompts[0].promt"),
        ("skill: letter\nprompts:\n  - x\n  - x\n", 4, "occurs twice (first on line 3)"),
        ("skill: letter\nprompts: [x, X]\n", 2, "the prompt occurs twice (first on line 2)"),
        ("skill: letter\nprompts:\n  - 7\n", 3, "prompts[0].prompt is wrong"),
        ("skill: letter\nprompts:\n  - use the letter skill\n", 3, "names the skill under test"),
        (
            "skill: letter\nprompts:\n  - prompt: x\n    should_fire: maybe\n",
            4,
            "should_fire is wrong",
        ),
        (
            "skill: letter\nprompts:\n  - prompt: x\n    checks: [{contain: y}]\n",
            4,
            "checks[0] must have one field that is a check",
        ),
        (
            "skill: letter\nprompts:\n  - prompt: x\n    checks:\n    - {contains: y, regex: z}\n",
            5,
            "checks[0].contains must have one field that is a check",
        ),
        (
            "skill: letter\nprompts:\n  - prompt: x\n    checks:\n      - regex: '(?=y)'\n",
            5,
            "regex is not a pattern of RE2",
        ),
        (
            "skill: letter\nprompts:\n  - prompt: x\n    checks:\n      - script: 'a \"b'\n",
            5,
            "script cannot be split into arguments",
        ),
    ],
)
def test_an_error_names_file_line_and_fix(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = written(tmp_path, "evals/letter.yaml", text)
    dataset = read_activation_cases(places(tmp_path), library())
    assert dataset.cases == ()
    one(dataset.errors, path, line, says)


def test_a_file_that_no_layer_reads_is_named(tmp_path: Path) -> None:
    written(tmp_path, "evals/letter.yaml", "skill: letter\nprompts: [x]\n")
    path = written(tmp_path, "evals/notes.yaml", "a: 1\n")
    one(
        read_activation_cases(places(tmp_path), library()).diagnostics,
        path,
        None,
        "the file holds no cases of this kind",
    )


def test_a_request_of_two_files_about_one_skill_counts_once(tmp_path: Path) -> None:
    written(tmp_path, "evals/letter.yaml", "skill: letter\nprompts: [p, q]\n")
    path = written(
        tmp_path,
        "evals/triggers.json",
        '{"skill_name": "letter", "evals": [{"query": "p", "should_trigger": true},\n'
        ' {"query": "r", "should_trigger": true}]}',
    )
    dataset = read_activation_cases(places(tmp_path), library())
    assert [each.case.user_prompt for each in dataset.cases] == ["p", "q", "r"]
    assert len({each.case.id for each in dataset.cases}) == 3
    one(dataset.diagnostics, path, 1, "the prompt is also in")
