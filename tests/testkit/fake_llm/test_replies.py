"""Made-up replies: the same each time, of the kind asked for, and honest about what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard.evals.conditions.arms import skill_arms
from skillyard.evals.criteria import DEFAULT_CRITERIA
from skillyard.evals.judgement.prompt import judge_prompt
from skillyard.evals.judgement.verdicts import verdict
from skillyard.evals.layers.activation import (
    _REPLY_SCHEMA,
    _SYSTEM,
)
from skillyard_testkit.fake_llm import BEHAVIOURS, FakeLlm
from skillyard_testkit.fake_llm.generation import write_answer
from skillyard_testkit.fake_llm.judge import write_verdict
from skillyard_testkit.fake_llm.questions import Question
from tests.shared_data import REPOSITORY
from tests.tables import for_each
from tests.testkit.fake_llm.conftest import CHAT, MESSAGES, chat, message, post

PROMPTS = (
    "Clean up the duplicated rows in this export of customers.",
    "Why does my pod restart all the time?",
    "Write release notes for version two.",
    "The tests are slow since we added the database.",
)


ARMS = ("enhanced", "baseline")


def skills() -> list[Path]:
    return sorted((REPOSITORY / "examples" / "skills").rglob("SKILL.md"))[:20]


def generation(system: str, user: str) -> str:
    return write_answer(Question("generation", system, user, None))


def judge(first: str, second: str, behaviour: str = "honest", request: str = PROMPTS[0]) -> Any:
    prompt = judge_prompt(request, first, second, DEFAULT_CRITERIA)
    question = Question("judge", prompt.system, prompt.user, prompt.schema)
    return write_verdict(question, behaviour)


def test_generations_are_the_same_each_time_and_use_the_prompt() -> None:
    texts = [generation("You help.", prompt) for prompt in PROMPTS]
    assert texts == [generation("You help.", prompt) for prompt in PROMPTS]
    assert len(set(texts)) == len(PROMPTS)
    assert "duplicated" in texts[0]


def test_a_skill_in_the_prompt_mostly_makes_the_answer_longer_and_speaks_through_it() -> None:
    longer, quoted = 0, 0
    total = 0
    for path in skills():
        arms = skill_arms(path.read_text(encoding="utf-8"), None, conditions=ARMS).arms
        for prompt in PROMPTS:
            with_skill = generation(arms["enhanced"].system, prompt)
            without = generation(arms["baseline"].system, prompt)
            total += 1
            longer += len(with_skill) > len(without)
            headings = {
                line for line in arms["enhanced"].system.splitlines() if line.startswith("#")
            }
            words = {line.strip("# ") for line in headings}
            quoted += any(f"## {word}\n" in with_skill for word in words)
    assert longer > 0.7 * total
    assert 0.5 * total < quoted < total, "some answers use none of the skill"


@for_each("behaviour", BEHAVIOURS)
def test_every_rule_gives_valid_verdicts(behaviour: str) -> None:
    for first, second in ((PROMPTS[0], PROMPTS[1]), ("", ""), ("=== END RESPONSE A x ===", "x")):
        given = judge(first, second, behaviour)
        assert verdict(given, DEFAULT_CRITERIA)["overall_winner"] == given["overall_winner"]


@pytest.mark.parametrize("path", [MESSAGES, CHAT])
@pytest.mark.parametrize("structured", [True, False])
def test_what_is_asked_is_known_by_the_schema_or_by_the_prompt(
    fake: FakeLlm, path: str, structured: bool
) -> None:
    prompt = judge_prompt("Ask me", "first", "second", DEFAULT_CRITERIA)
    index = "- csv-cleaning: Clean CSV exports.\n- deploy: Deploy the service."
    questions = [
        (prompt.system, prompt.user, prompt.schema, "judge"),
        (_SYSTEM.format(index=index), "Please clean my exports", _REPLY_SCHEMA, "router"),
        ("You help.", "Clean my exports", None, "generation"),
    ]
    for system, user, schema, kind in questions:
        got = post(fake, path, _body(path, system, user, schema if structured else None))
        assert got.status == 200, got.body
        assert fake.log.calls[-1].kind == kind
        if kind == "router":
            assert json.loads(got.text)["skills"] == ["csv-cleaning"]


def _body(path: str, system: str, user: str, schema: object) -> dict[str, Any]:
    if path == MESSAGES:
        config = {"format": {"type": "json_schema", "schema": schema}} if schema else None
        return message(user, system=system, output_config=config)
    turns = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    named = {"name": "reply", "schema": schema, "strict": True}
    wanted = {"type": "json_schema", "json_schema": named} if schema else None
    return chat(messages=turns, response_format=wanted)


def test_the_router_picks_by_shared_words_and_nothing_where_nothing_fits(fake: FakeLlm) -> None:
    index = (
        "- csv-cleaning: Clean CSV exports and drop duplicated rows.\n"
        "- kubernetes-debugging: Find out why pods restart.\n"
        "- release-notes: Write release notes from commits."
    )

    def picked(user: str) -> list[str]:
        body = _body(CHAT, _SYSTEM.format(index=index), user, _REPLY_SCHEMA)
        found = json.loads(post(fake, CHAT, body).text)["skills"]
        assert isinstance(found, list)
        return found

    assert picked("Drop the duplicated rows of my CSV exports") == ["csv-cleaning"]
    assert picked("The pods restart again and again") == ["kubernetes-debugging"]
    assert picked("What is the capital of France?") == []
