"""``eval init``: enough lines for a verdict, refused until they are written, and no lost work."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from skillyard import Catalog, Skill
from skillyard.engine.catalog import read_catalog
from skillyard.errors import InvalidInput
from skillyard.evals.cases.reading import CasePlaces
from skillyard.evals.cases.scaffolding import (
    PROMPTS_THAT_DO_NOT_FIRE,
    PROMPTS_THAT_FIRE,
    write_case_file,
    write_model,
)
from skillyard.evals.cases.skill_cases import read_activation_cases, read_answer_cases
from tests.evals.cases.making import library, one, written
from tests.shared_data import REPOSITORY
from tests.tables import for_each


def fill(path: Path) -> None:
    """Write every prompt that is still to be written."""
    lines = path.read_text(encoding="utf-8").split("\n")
    filled = [
        f"  - prompt: request number {number}" if '- prompt: "TODO' in line else line
        for number, line in enumerate(lines)
    ]
    path.write_text("\n".join(filled), encoding="utf-8")


def test_a_new_file_has_enough_prompts_and_is_refused_until_they_are_written(
    tmp_path: Path,
) -> None:
    catalog = library()
    file = write_case_file(catalog.get("table-repair"), catalog, tmp_path)
    assert (file.path, file.is_new) == (str(tmp_path / "table-repair.yaml"), True)
    assert file.to_write == PROMPTS_THAT_FIRE + PROMPTS_THAT_DO_NOT_FIRE == 15
    places = CasePlaces((str(tmp_path),))
    for dataset in (read_activation_cases(places, catalog), read_answer_cases(places, catalog)):
        assert dataset.cases == ()
        one(dataset.errors, Path(file.path), 6, "15 prompts are still to be written")
    fill(Path(file.path))
    activation = read_activation_cases(places, catalog)
    assert activation.diagnostics == ()
    assert [each.should_activate for each in activation.cases] == [True] * 10 + [False] * 5
    (answers,) = read_answer_cases(places, catalog).cases
    assert len(answers.prompts) == PROMPTS_THAT_FIRE


def test_the_nearest_skills_are_named_for_near_misses(tmp_path: Path) -> None:
    catalog = read_catalog(REPOSITORY / "examples/skills")
    file = write_case_file(catalog.get("csv-cleaning"), catalog, tmp_path)
    assert "a request for spreadsheet-formulas instead" in Path(file.path).read_text("utf-8")


def test_what_the_skill_ships_is_taken_over_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "skills/letter"
    written(home, "SKILL.md", "---\nname: letter\ndescription: Writes. Use it.\n---\nBody\n")
    written(home, "evals/files/x.csv", "a,b\n")
    entry = {
        "prompt": 'two\nlines, "quoted" \u202e',
        "expected_output": "e",
        "assertions": ["a: b"],
        "must_have": [r"\bx\b"],
        "files": ["evals/files/x.csv"],
    }
    written(home, "evals/evals.json", json.dumps({"evals": [entry]}))
    written(home, "evals/triggers.json", '[{"query": "q", "should_trigger": false}]')
    catalog = read_catalog(tmp_path / "skills")
    file = write_case_file(catalog.get("letter"), catalog, tmp_path / "evals")
    assert (file.taken_over, file.to_write) == (2, 9 + 4)
    fill(Path(file.path))
    places = CasePlaces((str(tmp_path / "evals"),))
    ((shipped, *_),) = (each.prompts for each in read_answer_cases(places, catalog).cases)
    in_skill = CasePlaces(in_skills=True)
    ((original,),) = (each.prompts for each in read_answer_cases(in_skill, catalog).cases)
    assert shipped == original
    cases = read_activation_cases(places, catalog).cases
    assert ("q", False) in [(each.user_prompt, each.should_activate) for each in cases]


def test_what_somebody_wrote_is_kept(tmp_path: Path) -> None:
    catalog = library()
    mine = written(tmp_path, "letter.yaml", "my own notes")
    file = write_case_file(catalog.get("letter"), catalog, tmp_path)
    assert (file.is_new, file.to_write) == (False, 0)
    assert mine.read_text() == "my own notes"


def test_a_hidden_skill_gets_no_prompts_that_should_not_fire(tmp_path: Path) -> None:
    catalog = library()
    file = write_case_file(catalog.get("wipe-out"), catalog, tmp_path)
    assert file.to_write == PROMPTS_THAT_FIRE


def test_the_command_that_is_shown_next_runs_the_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from skillyard.cli import main

    text = "---\nname: letter\ndescription: Writes letters. Use it.\n---\nBody\n"
    written(tmp_path, "skills/letter/SKILL.md", text)
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "a"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "a"))
    places = ["--evals-dir", "my cases", "--root", "a", "--root", "skills", "--scope", "user"]
    assert main(["eval", "init", "letter", "--model", "claude-x", *places]) == 0
    options = "--root a --root skills --scope user --evals-dir 'my cases'"
    command = f"skillyard eval run activation {options}"
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Write the prompts, then: {command} and" in shown
    assert shown.endswith(f"skillyard eval run effectiveness {options}")
    fill(tmp_path / "my cases/letter.yaml")
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"] == 15
    assert main(["eval", "run", "effectiveness", *shlex.split(options), "--dry-run"]) == 0


def test_a_key_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="looks like a credential"):
        write_model(str(tmp_path), "sk-ant-0123456789")
    assert list(tmp_path.iterdir()) == []


@for_each("name", ["../out", "a/b", "/abs", "nul", "-x"])
def test_a_name_that_leads_elsewhere_writes_nothing(tmp_path: Path, name: str) -> None:
    skill = Skill(name, "Does it.", "B")
    with pytest.raises(InvalidInput, match="no file can be named after"):
        write_case_file(skill, Catalog.from_skills([skill]), tmp_path / "evals")
    assert list(tmp_path.iterdir()) == []
