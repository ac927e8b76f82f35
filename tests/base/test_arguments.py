"""Wrong use of the Python API is InvalidInput that names the parameter, for every public name."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import skillyard as sy
from skillyard.base.arguments import check_arguments
from skillyard.evals.models.calls import ModelFailed
from tests.requirements import requirement
from tests.test_public_names import NAMES

SKILL = sy.Skill("csv-cleaning", "Repairs messy CSV files.", "Fix the delimiter.", tags=["data"])
CATALOG = sy.Catalog.from_skills([SKILL])
MATCH = sy.rank(CATALOG, "csv")[0]
SELECTION = sy.select(CATALOG, "csv")
TEXT = "---\nname: a\ndescription: b\n---\nBody.\n"


class SilentModel:
    """A ChatModel that never answers."""

    provider = host = "none"

    def parameters(self, request: object) -> dict[str, object]:
        return {}

    def complete(self, request: object, timeout_s: float) -> object:
        raise ModelFailed("timeout", "no answer")


class Use(NamedTuple):
    """A public function or constructor, and arguments of the right types for it."""

    name: str
    function: Callable[..., Any]
    given: Mapping[str, Any]


def uses(folder: Path) -> Iterator[Use]:
    """Yield every public function, constructor and method with arguments that it takes."""
    names: dict[str, dict[str, Any]] = {
        "rank": {"catalog": CATALOG},
        "select": {"catalog": CATALOG, "query": "csv"},
        "menu_text": {"selection": SELECTION},
        "evaluate": {"catalog": CATALOG},
        "summary": {"catalog": CATALOG},
        "prompt_block": {"skill": SKILL},
        "select_prompt_block": {"catalog": CATALOG, "query": "csv"},
        "inject": {"prompt": "csv", "catalog": CATALOG},
        "activate": {"catalog": CATALOG, "query": "csv"},
        "estimate_tokens": {"text": "x"},
        "load_catalog": {},
        "validate": {"path": folder},
        "CheckConfig": {},
        "CheckConfig.find": {"path": folder},
        "CheckConfig.read": {"path": folder / "check.toml"},
        "discover_skill_files": {"root": folder},
        "discover_instruction_files": {"root": folder},
        "parse_skill": {"path": "a/SKILL.md", "content": TEXT},
        "parse_instructions": {"path": "a/SKILL.md", "content": TEXT},
        "list_resources": {"skill": SKILL},
        "read_resource": {"skill": SKILL, "path": "a.md"},
        "list_scripts": {"skill": SKILL},
        "run_script": {"skill": SKILL, "path": "scripts/a.sh", "allow": []},
        "random_fence": {},
        "scorer_names": {},
        "Skill": {"name": "a", "description": "b", "body": None},
        "Triggers": {},
        "Reference": {"name": "a", "path": "a"},
        "Catalog": {"skills": [SKILL]},
        "CatalogDiff": {"added": (), "changed": (), "removed": (), "catalog": CATALOG},
        "Query": {},
        "SelectionPolicy": {},
        "SkillFeedback": {"slug": "a", "request": "b", "right": True},
        "Selection": SELECTION._asdict(),
        "Explanation": {"label": "a", "value": 1.0},
        "Level": {"floor": 0.5, "name": "high"},
        "DefaultPolicy": {"min_score": 0, "top_k": 1, "menu_margin": 0, "tie_break": "name"},
        "Limits": {},
        "Confidence": {},
        "ConfidenceScorer": {},
        "KeywordDetector": {},
        "PatternMatcher": {},
        "ScorerRanker": {"scorer": "overlap"},
        "Injection": {"prompt": "x", "match": None},
        "InjectorConfig": {},
        "SkillInjector": {"catalog": CATALOG},
        "ByName": {"name": "a"},
        "ByQuery": {"text": "a"},
        "ByTag": {"tag": "a"},
        "CoordinatorConfig": {},
        "ContextCoordinator": {"catalog": CATALOG, "tools": {}},
        "SkillContext": {
            "skill": SKILL,
            "instruction": "x",
            "tools": (),
            "references": (),
            "score": 1.0,
        },
        "Activation": {"skill": SKILL, "block": "x", "scripts": (), "match": MATCH},
        "SearchService": {"sources": [], "cache": False},
        "SearchResult": {"query": "x", "skills": (), "sources": (), "ranker": "relevance"},
        "Index": {"library": sy.Index.build(CATALOG, folder / "index").library},
    }
    for name, given in names.items():
        owner, *member = name.split(".")
        yield Use(name, getattr(NAMES[owner], *member) if member else NAMES[owner], given)
    yield from methods(folder)


def methods(folder: Path) -> Iterator[Use]:
    """Yield the public methods of design §4, and ``sy.evals``."""
    scorer, detector, matcher = sy.ConfidenceScorer(), sy.KeywordDetector(), sy.PatternMatcher()
    search = sy.SearchService([], cache=False)
    several: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (CATALOG.get, {"name_or_id": "csv-cleaning"}),
        (CATALOG.find, {}),
        (CATALOG.reload, {}),
        (CATALOG.difference, {"after": CATALOG}),
        (sy.Catalog.from_skills, {"skills": [SKILL]}),
        (MATCH.to_dict, {}),
        (matcher.match_file_pattern, {"path": "a.py", "pattern": "*.py"}),
        (matcher.classify, {"pattern": "*.py"}),
        (matcher.match, {"files": ["a.py"], "catalog": CATALOG}),
        (detector.build_index, {"catalog": CATALOG}),
        (detector.match, {"text": "csv", "catalog": CATALOG}),
        (scorer.set_skills, {"catalog": CATALOG}),
        (scorer.evaluate, {"context": {"text": "csv"}}),
        (scorer.has_match, {"context": {"text": "csv"}}),
        (scorer.get_best_match, {"context": {"text": "csv"}}),
        (scorer.combine, {"pattern_score": 0.5, "keyword_score": 0.5}),
        (scorer.level, {"confidence": 0.5}),
        (sy.scorers.Confidence().bind, {"skills": [SKILL]}),
        (sy.scorers.ScorerRanker("overlap").rank, {"skills": [SKILL]}),
        (sy.SkillInjector(CATALOG).apply, {"prompt": "csv"}),
        (sy.SkillInjector.from_root, {"path": folder}),
        (sy.ContextCoordinator(CATALOG, {}).resolve, {"strategies": [sy.ByName("a")]}),
        (sy.Index.build, {"catalog": CATALOG, "path": folder / "index"}),
        (sy.Index.open, {"path": folder / "index"}),
        (sy.Index.open(folder / "index").search, {"query": "csv"}),
        (search.search, {"query": "csv"}),
        (search.find, {"name": "csv"}),
        (search.get, {"source": "a/b", "skill_id": "c"}),
        (search.per_source, {"limit": 1}),
        (sy.evals.extract_summary, {"text": TEXT}),
        (sy.evals.extract_json, {"text": "{}"}),
        (sy.evals.remap, {"case": {}}),
        (
            sy.evals.invoke_judge,
            {
                "client": SilentModel(),
                "user_prompt": "a",
                "response_a": "b",
                "response_b": "c",
                "criteria": [{"name": "a", "weight": 1}],
                "judge_model": "m",
            },
        ),
    ]
    for function, given in several:
        yield Use(function.__qualname__, function, given)


ANYTHING = {("Injection", "prompt")}
"""A parameter that holds a value of whatever type was given."""

WRONG: tuple[Any, ...] = (object(), 7, 0.5, b"x", True, "x", [object()], {"min_score": 1}, None)


def outcome(use: Use, parameter: inspect.Parameter, value: object) -> Exception | None:
    """Call with one wrong argument and return what that raises."""
    given: tuple[Any, ...] = ()
    named = {**use.given, parameter.name: value}
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        given, named = (value,), dict(use.given)
    try:
        result = use.function(*given, **named)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except Exception as error:  # noqa: BLE001 - what it is, is the question
        return error
    return None


@requirement("api:wrong-types")
def test_a_wrong_type_of_any_public_parameter_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    faults = []
    for use in uses(tmp_path):
        for parameter in inspect.signature(use.function).parameters.values():
            place = (use.name, parameter.name)
            for value in WRONG:
                error = outcome(use, parameter, value)
                fault = f"{use.name}({parameter.name}={value!r}): {error!r}"
                if isinstance(error, sy.errors.InvalidInput) and parameter.name not in str(error):
                    faults.append(fault)
                if not isinstance(error, sy.errors.SkillyardError | None):
                    faults.append(fault)
                refused = isinstance(error, sy.errors.InvalidInput)
                if value is WRONG[0] and not refused and place not in ANYTHING:
                    faults.append(fault)
    assert faults == []


def test_every_public_function_and_value_is_among_them(tmp_path: Path) -> None:
    known = {use.name for use in uses(tmp_path)}
    public = {name for name, value in NAMES.items() if callable(value)}
    errors = {name for name in public if is_a(NAMES[name], BaseException)}
    # Protocols, a base class and a list of words; what the library makes and nobody else.
    others = {"BoundScorer", "Origin", "Scored", "Scorer", "ToolRegistry", "Diagnostic", "Match"}
    others |= {"SkillCounts"}
    assert public - errors - others - known == set()


def is_a(value: object, base: type) -> bool:
    return isinstance(value, type) and issubclass(value, base)


@check_arguments
def example(
    text: str, *paths: str | Path, limit: int | None = 1, tags: Iterable[str] = (), odd: Any = None
) -> str:
    return text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": 1}, "text must be a string, not int"),
        ({"text": "x", "limit": True}, "limit must be an integer or None, not bool"),
        ({"text": "x", "tags": "y"}, "tags must be a list of strings, not str"),
        ({"text": "x", "tags": ["y", 1]}, "tags must hold strings, not int"),
    ],
)
def test_the_message_says_what_is_expected_and_what_came(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(sy.errors.InvalidInput) as caught:
        example(**given)
    assert str(caught.value) == message
    assert caught.value.field == message.partition(" ")[0]
