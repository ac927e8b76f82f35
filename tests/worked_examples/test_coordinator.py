"""The context coordinator of the adk-skill document: selection, validation, delivery."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.worked_examples.making import catalog, document, skill


class Tool(NamedTuple):
    name: str


EMERGENCY = skill(
    "emergency",
    "Handle gas leaks.",
    "Dispatch.",
    tags=["urgent"],
    allowed_tools=["knowledge", "transfer_call"],
)
BILLING = skill("billing", "Answer gas bills.", "Be kind.", allowed_tools=["knowledge"])
GENERALIST = skill("generalist", "Anything else.", "Help.", tags=["fallback"])
HIDDEN = skill("wipe-db", "Wipe the database.", "Ask twice.", trigger=True)
SKILLS = catalog(EMERGENCY, BILLING, GENERALIST, HIDDEN)


def resolved(strategies: list[Any], *tools: str, **config: Any) -> sy.types.SkillContext | None:
    coordinator = sy.ContextCoordinator(
        SKILLS,
        {name: Tool(name) for name in tools},
        sy.CoordinatorConfig(**{"scorer": "overlap"} | config),
    )
    return coordinator.resolve(strategies)


@requirement("coordinator:atomic")
def test_a_context_carries_skill_instruction_tools_and_score() -> None:
    context = resolved([sy.ByQuery("gas leaks")], "knowledge", "transfer_call")
    assert context is not None
    assert context.skill == EMERGENCY
    assert context.tools == (Tool("knowledge"), Tool("transfer_call"))
    assert "Dispatch." in context.instruction
    assert context.instruction.count("[/skill]") == 1
    assert context.score == pytest.approx(5.0)


@requirement("coordinator:atomic")
def test_nothing_is_emitted_when_nothing_resolves() -> None:
    strategies = [sy.ByName("nope"), sy.ByQuery("zzz"), sy.ByTag("none")]
    assert resolved(strategies, "knowledge") is None


@requirement("coordinator:by-name")
def test_by_name_loads_a_skill_that_scores_nothing_and_a_hidden_one() -> None:
    policy = sy.SelectionPolicy(min_score=99)
    for name in ("generalist", "wipe-db"):
        context = resolved([sy.ByName(name)], policy=policy)
        assert context is not None
        assert context.skill.name == name


@requirement("coordinator:by-tag")
def test_by_tag_loads_a_skill_with_that_label() -> None:
    context = resolved([sy.ByTag("urgent")], "knowledge", "transfer_call")
    assert context is not None
    assert context.skill == EMERGENCY


@requirement("coordinator:cascade")
def test_the_first_strategy_that_succeeds_decides() -> None:
    first = resolved([sy.ByName("generalist"), sy.ByQuery("gas bills")], "knowledge")
    second = resolved([sy.ByName("nope"), sy.ByQuery("gas bills")], "knowledge")
    third = resolved([sy.ByQuery("tell me a joke"), sy.ByTag("fallback")], "knowledge")
    found = [context.skill.name for context in (first, second, third) if context]
    assert found == ["generalist", "billing", "generalist"]


@requirement("coordinator:strict")
def test_strict_goes_on_to_the_next_match_above_the_floor() -> None:
    # The default top_k is 1: the ruling asks for the next match all the same.
    context = resolved([sy.ByQuery("gas leaks")], "knowledge")
    assert context is not None
    assert context.skill == BILLING


@requirement("coordinator:permissive")
def test_permissive_leaves_the_missing_tool_out_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with warnings.catch_warnings(record=True) as raised, caplog.at_level(logging.WARNING):
        warnings.simplefilter("always")
        context = resolved([sy.ByName("emergency")], "knowledge", validation="permissive")
    assert context is not None
    assert context.tools == (Tool("knowledge"),)
    told = [str(one.message) for one in raised] + [record.getMessage() for record in caplog.records]
    told += [str(one) for one in getattr(context, "warnings", ())]
    assert any("transfer_call" in text for text in told)


@requirement("coordinator:budget")
def test_the_instruction_keeps_at_most_the_configured_characters_of_the_body() -> None:
    long = catalog(skill("long", "Handle gas leaks.", "ø" * 9000))
    default = sy.ContextCoordinator(long, {}).resolve([sy.ByName("long")])
    config = sy.CoordinatorConfig(max_instruction_chars=100)
    short = sy.ContextCoordinator(long, {}, config).resolve([sy.ByName("long")])
    assert default is not None
    assert short is not None
    assert 7000 < default.instruction.count("ø") <= 8000
    assert 0 < short.instruction.count("ø") <= 100
    assert short.instruction.rstrip().endswith("[/skill]")


@requirement("coordinator:references")
def test_declared_references_are_read_inside_the_skill_folder_and_nowhere_else(
    tmp_path: Path,
) -> None:
    listed = "references:\n  - references/technicians.json\n  - ../../secret.json\n  - gone.json\n"
    root = write_tree(
        tmp_path / "project",
        {
            "zenith/SKILL.md": document("zenith", "Voice receptionist.", "You are Zenith.", listed),
            "zenith/references/technicians.json": '["Mario"]',
        },
    )
    write_tree(tmp_path, {"secret.json": '"SECRET"'})
    coordinator = sy.ContextCoordinator(sy.load_catalog(root), {}, sy.CoordinatorConfig())
    context = coordinator.resolve([sy.ByName("zenith")])
    assert context is not None
    assert '["Mario"]' in repr(context.references)
    assert "SECRET" not in repr(context)
