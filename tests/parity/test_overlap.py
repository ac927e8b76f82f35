"""Every case of ``overlap_selection.json``: selection, injection and resolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

import skillyard as sy
from tests.parity.rows import EXPECTED, FIRST_ALTERNATIVE, Case, Ruling, load, readings, rows, stale
from tests.requirements import requirement
from tests.tables import for_each

SUITE = "overlap_selection"
SCORE_TOLERANCE = 0.001
"""``conventions.score_tolerance`` of the file."""
Register = Callable[[str, str, bool], None]

RULINGS = {
    "adk-047": Ruling(EXPECTED, "adk 2.4: names in byte order"),
    "adk-048": Ruling(FIRST_ALTERNATIVE, "adk 2.8 row 22: path string with / normalised"),
    "adk-053": Ruling(EXPECTED, "adk 2.8 row 8: include tags are any-of"),
    "adk-055": Ruling(EXPECTED, "adk 2.8 row 8: tags ignore ASCII case"),
    "adk-066": Ruling(EXPECTED, "overlap tokens: each query token occurrence counts"),
    "adk-072": Ruling(EXPECTED, "trigger: true hides a skill from automatic choice"),
    "adk-077": Ruling(EXPECTED, "overlap tokens: ASCII alphanumeric runs"),
    "adk-080": Ruling(EXPECTED, "overlap tokens: ASCII alphanumeric runs"),
}


def catalog_of(case: Case) -> sy.Catalog:
    return sy.Catalog.from_skills([sy.Skill(**skill) for skill in case["skills"]])


def answer(expected: Sequence[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [
        (match["name"], match["path"], pytest.approx(match["score"], abs=SCORE_TOLERANCE))
        for match in expected
    ]


def accepted_answers(case: Case) -> list[list[tuple[str, str, Any]]]:
    """Alternatives of this file are objects with their own ``expected``."""
    return [
        answer(reading["expected"] if isinstance(reading, dict) else reading)
        for reading in readings(case, RULINGS)
    ]


@requirement("overlap:parity", "overlap:tokens", "overlap:occurrences", "overlap:normalisation")
@for_each("case", rows(SUITE))
def test_the_documented_skills_are_selected_in_order_with_their_scores(
    case: Case, parity: Register
) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    policy = sy.SelectionPolicy(**case["policy"])
    selection = sy.select(catalog_of(case), case["query"], policy, scorer="overlap")
    found = [(match.skill.name, match.skill.path, match.score) for match in selection.selected]
    assert found in accepted_answers(case)
    assert selection.abstained is (not found)


@requirement("overlap:permutation")
@for_each("case", rows(SUITE))
def test_the_order_in_which_skills_arrive_changes_nothing(case: Case) -> None:
    policy = sy.SelectionPolicy(**case["policy"])
    turned = case | {"skills": list(reversed(case["skills"]))}
    first, second = (
        sy.select(catalog_of(one), case["query"], policy, scorer="overlap").selected
        for one in (case, turned)
    )
    assert [(m.skill.path, m.score) for m in first] == [(m.skill.path, m.score) for m in second]


@requirement("explain:score-is-value")
@for_each("case", rows(SUITE))
def test_every_overlap_score_is_the_value_of_its_explanation(case: Case) -> None:
    for match in sy.rank(catalog_of(case), case["query"], scorer="overlap", limit=None):
        assert match.explanation.value == match.score


def parts_of(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


@requirement("inject:parity")
@for_each("case", rows(SUITE, "injection_cases"))
def test_the_block_reaches_the_message_as_documented(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    prompt = [{"role": case["role"], "content": parts_of(case["text_parts"])}]
    injection = sy.inject(
        prompt,
        catalog_of(case),
        sy.SelectionPolicy(**case["policy"]),
        max_chars=case["max_injected_chars"],
        scorer="overlap",
    )
    expected = case["expected"]
    assert (injection.match.skill.name if injection.match else None) == expected["matched"]
    assert injection.prompt == [{"role": case["role"], "content": parts_of(expected["text_parts"])}]


class Tool(NamedTuple):
    """A host's tool, as far as these cases need one."""

    name: str


class Registry:
    """The tool registry protocol over a list of names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def resolve(self, name: str) -> Tool | None:
        return Tool(name) if name in self.names else None

    def available_tools(self) -> Sequence[str]:
        return self.names


STRATEGIES: dict[str, Callable[[str], Any]] = {
    "name": lambda text: sy.ByName(text),
    "query": lambda text: sy.ByQuery(text),
    "tag": lambda text: sy.ByTag(text),
}


@requirement("coordinator:parity")
@for_each("case", rows(SUITE, "resolution_cases"))
def test_strategies_cascade_to_the_documented_context(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    config = sy.CoordinatorConfig(
        policy=sy.SelectionPolicy(**case["policy"]),
        max_instruction_chars=case["max_instruction_chars"],
        validation=case["validation_mode"],
        scorer="overlap",
    )
    coordinator = sy.ContextCoordinator(catalog_of(case), Registry(case["registry"]), config)
    context = coordinator.resolve([STRATEGIES[kind](text) for kind, text in case["strategies"]])
    if case["expected"] is None:
        assert context is None
        return
    assert context is not None
    assert context.skill.name == case["expected"]["name"]
    assert list(context.tools) == [Tool(name) for name in case["expected"]["tools"]]


def test_every_open_case_is_ruled_on() -> None:
    assert stale(RULINGS, [load(SUITE)]) == []
    assert {case["id"] for case in load(SUITE) if case.get("ambiguous")} == set(RULINGS)
