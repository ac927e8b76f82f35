"""The judged task prompts: well formed, and their grades those of the sheets they came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.tables import for_each
from training.folds import FOLDS, fold_of

DATA = Path(__file__).parents[1] / "training" / "data"
FILES = ("long_tasks.jsonl", "tuning_tasks.jsonl")


def tasks(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@for_each("name", FILES)
def test_each_task_has_a_right_skill_and_grades_of_one_to_three(name: str) -> None:
    listed = tasks(name)
    assert len({task["id"] for task in listed}) == len(listed)
    for task in listed:
        assert set(task["relevant"].values()) <= {1, 2, 3}
        assert max(task["relevant"].values()) == 3
        assert len(task["query"].split()) > 150


def test_what_was_judged_later_stands_in_the_tasks_with_its_grade() -> None:
    relevant = {task["id"]: task["relevant"] for name in FILES for task in tasks(name)}
    lines = (DATA / "task_pool.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert rows == sorted(rows)
    assert len({(task, skill) for task, skill, _ in rows}) == len(rows)
    for task, skill, grade in rows:
        assert relevant[task].get(skill, 0) == int(grade)


def test_the_prompts_for_choosing_are_not_those_for_measuring() -> None:
    measured, chosen = (tasks(name) for name in FILES)
    assert not {t["query"] for t in measured} & {t["query"] for t in chosen}
    right = {key for task in measured for key, grade in task["relevant"].items() if grade == 3}
    for task in chosen:
        assert any(grade == 3 and key not in right for key, grade in task["relevant"].items())


def test_prompts_from_public_tasks_have_a_source_and_half_of_them_are_untouched() -> None:
    listed = tasks("public_tasks.jsonl")
    assert len({task["id"] for task in listed}) == len(listed) == 80
    assert [task["kind"] for task in listed].count("untouched") == 40
    for task in listed:
        assert task["source"]
        assert 120 <= len(task["query"].split()) <= 300
        assert {3} <= set(task["relevant"].values()) <= {1, 2, 3}


def test_a_collection_and_what_it_copies_from_stand_in_one_fold() -> None:
    assert fold_of("kscz0000/x") == fold_of("sickn33/x") == fold_of("wshobson/x") == len(FOLDS)
    assert {fold_of(f"{owners[0]}/x") for owners in FOLDS} == set(range(len(FOLDS)))
    assert fold_of("nobody-known/x") == len(FOLDS)
