"""Confusion cases: groups live in the data, and one in which nothing can be confused is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillyard.evals.cases.confusion import ConfusionCase, groups_of
from skillyard.evals.cases.dataset import Dataset
from skillyard.evals.cases.layer_cases import CasePlaces, read_confusion_cases
from tests.evals.cases.making import library, one, written
from tests.tables import for_each


def line(key: str, group: str | None, expected: str | None, **changes: Any) -> str:
    record = {"id": key, "group": group, "user_prompt": f"ask {key}", "expected_skill": expected}
    return json.dumps({**record, **changes})


PAIR = f"{line('1', 'g', 'letter')}\n{line('2', 'g', 'table-repair')}\n"


def read(path: Path) -> Dataset[ConfusionCase]:
    return read_confusion_cases(CasePlaces((str(path),)), library())


def test_groups_come_from_what_the_cases_expect(tmp_path: Path) -> None:
    written(
        tmp_path,
        "groups.jsonl",
        PAIR + line("3", "g", "letter", acceptable_skills=["graph-drawing"]),
    )
    negatives = f"{line('n1', 'g', None)}\n{line('n2', None, None)}\n"
    path = written(tmp_path, "negatives.jsonl", negatives)
    result = read(tmp_path)
    assert result.diagnostics == ()
    assert groups_of(result.cases) == {"g": ("letter", "table-repair")}
    assert result.cases[2].acceptable_skills == ("graph-drawing",)
    assert result.cases[3:] == (
        ConfusionCase("n1", "g", "ask n1", None, (), str(path), 1),
        ConfusionCase("n2", "", "ask n2", None, (), str(path), 2),
    )


@for_each(
    ("bad", "says"),
    [
        (line("3", None, "letter"), "group is empty"),
        (line("3", "g", "nobody"), "expected_skill names a skill that is not there"),
        (line("3", "g", "wipe-out"), "expected_skill names a hidden skill"),
        (line("3", "g", ""), "expected_skill is empty"),
        (
            line("3", "g", "letter", acceptable_skills=["letter"]),
            "acceptable_skills names the expected",
        ),
        (
            line("3", "g", None, acceptable_skills=["letter"]),
            "acceptable_skills names skills, yet none",
        ),
        (
            line("3", "g", "table-repair", user_prompt="TABLE_REPAIR it"),
            "names the skill under test",
        ),
        (line("1", "g", "letter"), "the id is taken"),
        (line("3", "g", "letter", expected_skills=[]), "there is no field expected_skills"),
        ("nonsense", "not JSON"),
    ],
)
def test_a_bad_line_is_told_with_its_line(tmp_path: Path, bad: str, says: str) -> None:
    path = written(tmp_path, "x.jsonl", PAIR + bad)
    result = read(path)
    assert [case.id for case in result.cases] == ["1", "2"]
    one(result.errors, path, 3, says)


def test_a_group_of_one_skill_is_an_error_and_its_cases_are_left_out(tmp_path: Path) -> None:
    alone = [line("3", "alone", "letter"), line("4", "alone", "letter"), line("5", "typo", None)]
    path = written(tmp_path, "x.jsonl", PAIR + "\n".join(alone))
    result = read(path)
    assert [case.id for case in result.cases] == ["1", "2"]
    one(result.errors, path, 3, "the group 'alone' has 1 expected skills")
    one(result.errors, path, 5, "the group 'typo' has 0 expected skills")
    assert len(result.errors) == 2
