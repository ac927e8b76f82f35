"""Datasets of inspect_ai: read as prompts, each with its expected answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillyard.evals.cases.layer_cases import (
    CasePlaces,
    read_activation_cases,
    read_answer_cases,
)
from tests.evals.cases.making import library, one, written


def dataset(folder: Path, *samples: dict[str, Any]) -> Path:
    text = "".join(json.dumps(sample) + "\n" for sample in samples)
    return written(folder, "samples.jsonl", text)


def test_samples_are_read_with_their_targets(tmp_path: Path) -> None:
    path = dataset(
        tmp_path,
        {"input": "p", "target": "t", "id": 7, "metadata": {"skill": "letter"}},
        {"input": "q", "target": ["a", "b"], "metadata": {"skill": "letter"}},
        {"input": "r", "choices": ["yes", "no"], "target": "A", "metadata": {"skill": "letter"}},
    )
    result = read_answer_cases(CasePlaces((str(path),)), library())
    assert result.diagnostics == ()
    ((first, second, third),) = (each.prompts for each in result.cases)
    assert first.criteria[0].description == "The answer amounts to this: t"
    assert second.criteria[0].description == "The answer amounts to this: a or b"
    assert third.prompt == "r\nA) yes\nB) no"


def test_messages_and_other_fields_are_named_where_they_are_not_used(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "p"}, {"type": "image"}]},
    ]
    path = dataset(
        tmp_path,
        {"input": messages, "setup": "make", "sandbox": "docker"},
        {"input": [{"role": "assistant", "content": "x"}]},
    )
    result = read_answer_cases(CasePlaces((str(path),), skill="letter"), library())
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["p"]
    one(
        result.diagnostics,
        path,
        1,
        "not read: earlier messages, parts that are no text, setup, sandbox",
    )
    one(result.diagnostics, path, 2, "its request cannot be read")


def test_a_sample_without_a_skill_is_left_out_and_one_can_say_whether_to_fire(
    tmp_path: Path,
) -> None:
    path = dataset(
        tmp_path,
        {"input": "p"},
        {"input": "q", "metadata": {"skill": "letter", "should_trigger": False}},
        {"input": "use the letter skill", "metadata": {"skill": "letter"}},
    )
    result = read_activation_cases(CasePlaces((str(path),)), library())
    assert [(case.user_prompt, case.should_activate) for case in result.cases] == [("q", False)]
    one(result.diagnostics, path, 1, "it names no skill")
    one(result.diagnostics, path, 3, "the prompt names the skill under test")


def test_a_sample_of_an_unknown_skill_is_left_out_under_its_line_and_name(tmp_path: Path) -> None:
    path = dataset(
        tmp_path,
        {"input": "p", "metadata": {"skill": "letter"}},
        {"input": "q", "metadata": {"skill": "lettre"}},
    )
    result = read_answer_cases(CasePlaces((str(path),)), library())
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["p"]
    assert result.errors == ()
    one(result.diagnostics, path, 2, "left out: the skill is not there: lettre")


def test_a_sample_with_half_of_a_character_is_left_out(tmp_path: Path) -> None:
    path = dataset(
        tmp_path,
        {"input": "p"},
        {"input": "how deep\ud800"},
        {"input": "q", "target": "\udc00"},
        {"input": "r", "metadata": {"note": "\ud800"}},
    )
    result = read_answer_cases(CasePlaces((str(path),), skill="letter"), library())
    assert [prompt.prompt for prompt in result.cases[0].prompts] == ["p", "r"]
    one(result.diagnostics, path, 2, "left out: prompt holds half of a character")
    one(result.diagnostics, path, 3, "left out: expected holds half of a character")
