"""The YAML of one skill or several: own cases, rubrics and candidates, each fault with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.cases.reading import CasePlaces
from skillyard.evals.cases.skill_cases import read_activation_cases, read_answer_cases
from skillyard.evals.checks import Check
from skillyard.evals.judgement.verdicts import DEFAULT_CRITERIA, Criterion
from tests.evals.cases.making import library, one, read_cases, written
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
RUBRIC = """\
skill_name: table-repair
test_prompts:
  - My list does not load, what now?
  - |
    id;name
    1;Ann
criteria:
  - name: right
    weight: 0.5
    description: It is right.
  - {name: whole, weight: 0.3, description: Nothing is missing.}
  - {name: short, weight: 0.2, description: "No padding."}
"""
CANDIDATES = """\
candidates:
  - skill: table-repair
    test_prompts: [one thing, another thing]
    expected_tier: small
    siblings: [b.md, references/a.md, b.md]
    max_sibling_bytes: 500
    criteria:
      - {name: right, weight: 1.0, description: all of it}
  - skill: letter
    test_prompt: write to her
"""


def places(folder: Path) -> CasePlaces:
    return CasePlaces((str(folder / "evals"),))


def test_every_layer_has_its_cases_from_one_file(tmp_path: Path) -> None:
    written(tmp_path, "evals/table-repair.yaml", CASES)
    written(tmp_path, "evals/files/x.csv", "a,b\n")
    written(tmp_path, "evals/check.py", "pass\n")
    written(tmp_path, "evals/letter.yaml", "skill: letter\nprompts: [answer my aunt]\n")
    catalog = library()
    activation = read_activation_cases(places(tmp_path), catalog)
    assert activation.diagnostics == ()
    assert [
        (each.id, each.user_prompt, each.should_activate, each.about, each.line)
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
    written(tmp_path, "evals/letter.yaml", "skill: letter\nprompts: [q, r]\n")
    both = CasePlaces((str(tmp_path / "evals/rubrics"), str(tmp_path / "evals")))
    dataset = read_answer_cases(both, library())
    assert [prompt.prompt for prompt in dataset.cases[0].prompts] == ["p", "q", "r"]


def test_a_rubric_is_read_as_it_stands(tmp_path: Path) -> None:
    result = read_cases(written(tmp_path, "table-repair.yaml", RUBRIC))
    assert result.diagnostics == ()
    (rubric,) = result.cases
    assert rubric.skill == "table-repair"
    assert [(each.prompt, each.should_fire, each.line) for each in rubric.prompts] == [
        ("My list does not load, what now?", None, 3),
        ("id;name\n1;Ann", None, 4),
    ]
    assert rubric.criteria == (
        Criterion("right", 0.5, "It is right."),
        Criterion("whole", 0.3, "Nothing is missing."),
        Criterion("short", 0.2, "No padding."),
    )


def test_candidates_are_read_as_they_stand(tmp_path: Path) -> None:
    path = written(tmp_path, "candidates.yaml", CANDIDATES)
    dataset = read_cases(path)
    assert not dataset.diagnostics
    first, second = dataset.cases
    assert [each.prompt for each in first.prompts] == ["one thing", "another thing"]
    assert (first.expected_tier, second.expected_tier) == ("small", None)
    assert (first.siblings, first.max_sibling_bytes) == (("b.md", "references/a.md"), 500)
    assert [each.name for each in first.criteria] == ["right"]
    assert [each.prompt for each in second.prompts] == ["write to her"]
    assert (second.siblings, second.max_sibling_bytes) == ((), 10_000)
    assert (second.criteria, second.path, second.line) == ((), str(path), 9)


def test_every_error_is_told_and_not_only_the_first(tmp_path: Path) -> None:
    text = """\
skill_name: table-repair
test_prompts:
  - ""
  - 12
criteria:
  - {name: a, weight: true, description: x}
  - {weight: 0.5, descripton: x}
extra: 1
"""
    errors = read_cases(written(tmp_path, "table-repair.yaml", text)).errors
    assert sorted((each.line, each.message) for each in errors) == [
        (3, "test_prompts[0].prompt is wrong"),
        (4, "test_prompts[1] is wrong"),
        (6, "criteria[0].weight is wrong"),
        (7, "criteria[1].description is missing"),
        (7, "criteria[1].name is missing"),
        (7, "there is no field criteria[1].descripton"),
        (8, "there is no field extra"),
    ]


def test_what_a_field_says_is_checked_once_all_fields_are_there(tmp_path: Path) -> None:
    text = """\
skill_name: table-repair
test_prompts: ["fix it, table-repair", twice, twice]
criteria:
  - {name: a, weight: 1, description: x}
  - {name: A, weight: 0, description: x}
"""
    errors = read_cases(written(tmp_path, "table-repair.yaml", text)).errors
    assert sorted((each.line, each.message) for each in errors) == [
        (2, "the prompt names the skill under test, table-repair"),
        (2, "the prompt occurs twice (first on line 2)"),
        (4, "criteria[1].name is that of another one too"),
        (4, "criteria[1].weight must be above 0 and at most 1"),
    ]


PROMPT = "skill: letter\nprompts:\n  - prompt: x\n"


@for_each(
    ("text", "line", "says"),
    [
        ("skill: letter\n", 1, "prompts is missing"),
        ("skill: letter\nprompts: []\n", 1, "prompts is wrong"),
        ("skill: nobody\nprompts: [x]\n", 1, "skill names a skill that is not there"),
        ("skill: letter\nprompt: [x]\nprompts: [y]\n", 2, "there is no field prompt"),
        ("skill: letter\nprompts:\n  - promt: x\n", 3, "there is no field prompts[0].promt"),
        ("skill: letter\nprompts: [x, X]\n", 2, "the prompt occurs twice (first on line 2)"),
        ("skill: letter\nprompts:\n  - use the letter skill\n", 3, "names the skill under test"),
        (f"{PROMPT}    should_fire: maybe\n", 4, "should_fire is wrong"),
        (f"{PROMPT}    checks: [{{contain: y}}]\n", 4, "checks[0].contain is wrong"),
        (f"{PROMPT}    checks:\n    - {{contains: y, regex: z}}\n", 5, "checks[0] is wrong"),
        (f"{PROMPT}    checks:\n      - regex: '(?=y)'\n", 5, "regex is wrong: not a pattern"),
        (f"{PROMPT}    checks:\n      - script: 'a \"b'\n", 5, "script is wrong: No closing"),
        (RUBRIC.replace("0.5", "0.48"), 8, "the weights sum to 0.98, not to 1"),
        (RUBRIC.replace("0.5", "1.5"), 8, "criteria[0].weight must be above 0 and at most 1"),
        (RUBRIC.replace("0.5", ".nan"), 9, "criteria[0].weight is wrong"),
        (RUBRIC.replace("criteria:\n", "criteria: []\nrest:\n"), 1, "criteria is wrong"),
        (
            RUBRIC.replace("test_prompts", "test_prompt: a\ntest_prompts"),
            2,
            "there is no field test_prompt",
        ),
        (CANDIDATES.replace("letter", "lettre"), 9, "skill names a skill that is not there"),
        (CANDIDATES.replace("test_prompt: w", "notes: w"), 9, "candidates[1].prompts is missing"),
        (CANDIDATES.replace("small", "tiny"), 4, "candidates[0].expected_tier is wrong"),
        (CANDIDATES.replace("500", "true"), 6, "max_sibling_bytes is wrong"),
        ("candidates: []\nmore: 1\n", 2, "there is no field more"),
        ("candidates:\n  - a name\n", 2, "candidates[0].skill is missing"),
        ("skill: a\nskill: b\n", 2, "the key 'skill' a second time"),
        ("skill: &a table-repair\nprompts: [*a]\n", 1, "the anchor &a"),
        ("skill: !!python/name:os.system x\nprompts: [b]\n", 1, "the tag"),
        ("skill: x\n---\nskill: y\n", 2, "a second document"),
        ("skill: x\n\ttest: y\n", 2, "invalid YAML"),
        (f"skill: x\nprompts: {'[' * 200}{']' * 200}\n", 2, "levels"),
        (f"skill: x\nprompts: [{'a,' * 60_000}a]\n", 2, "more than 50,000 values"),
        ("skill: b\u2028c\n", 1, "U+2028"),
    ],
)
def test_an_error_names_file_line_and_fix(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = written(tmp_path, "evals/letter.yaml", text)
    for reader in (read_activation_cases, read_answer_cases):
        errors = reader(places(tmp_path), library()).errors
        one(errors, path, line, says)
        assert "frontmatter" not in f"{errors[0].message}{errors[0].hint}"
        assert "fences" not in errors[0].hint


def test_a_skill_that_is_not_there_is_told_with_its_neighbour(tmp_path: Path) -> None:
    path = written(tmp_path, "x.yaml", "skill: table-repairs\nprompts: [x]\n")
    (error,) = read_cases(path).errors
    assert error.found == "table-repairs"
    assert "table-repair?" in error.hint


def test_one_bad_file_does_not_hide_the_others_and_a_foreign_one_is_named(tmp_path: Path) -> None:
    written(tmp_path, "table-repair.yaml", RUBRIC)
    written(tmp_path, "graph-drawing.yaml", "skill_name: [")
    (tmp_path / "letter.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    written(tmp_path, ".hidden.yaml", "nonsense")
    written(tmp_path, "notes.txt", "nonsense")
    written(tmp_path, "other.yaml", "a: 1\n")
    result = read_cases(tmp_path)
    assert [each.skill for each in result.cases] == ["table-repair"]
    assert [(Path(each.path).name, each.code) for each in result.diagnostics] == [
        ("gone.yaml", "io_error"),
        ("graph-drawing.yaml", "yaml_invalid"),
        ("letter.yaml", "encoding_not_utf8"),
        ("other.yaml", "case_file_not_used"),
    ]


def test_the_digest_is_of_the_text_and_not_of_the_place(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    first = read_cases(written(here, "x.yaml", RUBRIC).parent)
    assert first.sha256 == read_cases(written(there, "x.yaml", RUBRIC).parent).sha256
    assert first.sha256 != read_cases(written(there, "x.yaml", RUBRIC + "\n").parent).sha256
    written(there, "x.yaml", CASES[:40])
    written(there, "zz.yaml", CASES[40:])
    assert read_cases(there).sha256 != read_cases(written(here, "x.yaml", CASES)).sha256


@given(st.text(max_size=200))
def test_no_text_whatever_makes_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("rubrics")
    (folder / "x.yaml").write_bytes(f"skill_name: {text}".encode("utf-8", "surrogatepass"))
    result = read_cases(folder)
    assert result.cases == ()
    assert result.diagnostics
