"""The door: every name of the contract is there, loads its room when used, and keeps its shape."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest

import skillyard as sy
from tests.shared_data import PACKAGES, REPOSITORY
from tests.tables import for_each

# design.md §4, and the values that its calls take and return.
CONTRACT = [
    "load_catalog", "discover_skill_files", "discover_instruction_files", "parse_skill",
    "parse_instructions", "validate", "Skill", "Triggers", "Catalog", "Match", "Query", "rank",
    "SelectionPolicy", "Selection", "select", "evaluate", "PatternMatcher", "KeywordDetector",
    "ConfidenceScorer", "summary", "prompt_block", "select_prompt_block", "inject",
    "SkillInjector", "InjectorConfig", "ToolRegistry", "ContextCoordinator", "CoordinatorConfig",
    "ByName", "ByQuery", "ByTag", "Diagnostic", "SkillError", "SkillIoError", "SkillYamlError",
    "InvalidFrontmatter", "MissingField", "InvalidSkillsRoot", "ValidationFailed", "IndexDamaged",
    "SkillNotFound", "AmbiguousName", "Index", "SearchService",
]  # fmt: skip

# Parameters in order; those behind the star may be given by name only, here or in the design.
SHAPES = {
    "parse_skill": "path content",
    "parse_instructions": "path content",
    "validate": "path profile",
    "rank": (
        "catalog text files recent_activity include_tags exclude_tags include_references "
        "scorer limit"
    ),
    "select": "catalog query policy scorer min_score top_k",
    "evaluate": "catalog text files recent_activity threshold limit show_details activity_boost",
    "summary": "catalog format budget_tokens query",
    "prompt_block": "skill max_chars",
    "select_prompt_block": "catalog query policy scorer max_chars min_score top_k",
    "inject": "prompt catalog policy max_chars scorer min_score top_k",
    "Query": "text files recent_activity include_tags exclude_tags include_references",
    "Skill": (
        "name description body path id slug title version license compatibility hint tags keywords "
        "triggers trigger priority inputs outputs safety_notes allowed_tools declared_references "
        "references metadata source origin install_count curated hash last_modified"
    ),
    "SelectionPolicy": "top_k min_score include_tags exclude_tags fallback_tag wrong_cost",
    "InjectorConfig": "policy max_injected_chars scorer",
    "CoordinatorConfig": "policy max_instruction_chars validation scorer",
    "ContextCoordinator": "catalog tools config",
    "SkillInjector": "catalog config",
}

DEFAULTS: dict[str, dict[str, Any]] = {
    "rank": {"limit": 10, "text": "", "include_references": False},
    "select": {"policy": None},
    "evaluate": {"threshold": 0.3, "limit": 10, "show_details": False, "activity_boost": 1.2},
    "validate": {"profile": "lenient"},
    "summary": {"format": "lines", "budget_tokens": None, "query": None},
    "prompt_block": {"max_chars": None},
    "select_prompt_block": {"scorer": "hybrid", "max_chars": 2000},
    "inject": {"scorer": "hybrid", "max_chars": 2000},
    "InjectorConfig": {"max_injected_chars": 2000, "scorer": "hybrid", "policy": None},
    "CoordinatorConfig": {
        "max_instruction_chars": 8000, "validation": "strict", "scorer": "hybrid", "policy": None,
    },
    "SelectionPolicy": {
        "top_k": None, "min_score": None, "include_tags": (), "exclude_tags": (),
        "fallback_tag": None,
    },
}  # fmt: skip

MEMBERS = {
    "Catalog": "skills diagnostics digest get find reload from_skills",
    "CatalogDiff": "added changed removed catalog",
    "Match": "skill score level signals reason explanation",
    "Selection": "selected rejected considered abstained fallback",
    "Injection": "prompt match",
    "SkillContext": "skill instruction tools references score",
    "Diagnostic": "code severity path line message hint",
    "PatternMatcher": "match_file_pattern classify match",
    "KeywordDetector": "build_index match",
    "ConfidenceScorer": "set_skills evaluate has_match get_best_match combine",
    "SkillInjector": "apply from_root",
    "ContextCoordinator": "resolve",
    "ToolRegistry": "resolve available_tools",
    "SkillError": "kind",
}


NAMES = {name: getattr(sy, name) for name in sy.__all__}
for module in (sy.context, sy.errors, sy.files, sy.scorers, sy.types):
    NAMES |= {name: vars(module)[name] for name in vars(module)["__all__"]}


def members(owner: Any) -> Iterable[str]:
    return {*dir(owner), *getattr(owner, "__annotations__", ())}


@for_each("name", CONTRACT)
def test_every_name_of_the_contract_is_there(name: str) -> None:
    assert getattr(sy, name) is not None
    assert name in sy.__all__


def test_there_are_at_most_45_names_at_the_top() -> None:
    assert len(sy.__all__) <= 45


@for_each("name", sorted(set(NAMES) - {"__version__", "DEFAULT_LIMITS"}))
def test_every_public_name_says_what_it_is(name: str) -> None:
    value = NAMES[name]
    assert value.__doc__
    assert value.__module__.startswith("skillyard.")
    assert value.__name__ == name
    assert pickle.loads(pickle.dumps(value)) is value


@for_each("name", sorted(SHAPES))
def test_parameters_keep_their_names_and_their_order(name: str) -> None:
    wanted = SHAPES[name].split()
    parameters = inspect.signature(getattr(sy, name)).parameters
    assert [parameter for parameter in parameters if parameter in wanted] == wanted
    added = [parameters[other] for other in parameters if other not in wanted]
    assert all(parameter.default is not inspect.Parameter.empty for parameter in added)


@for_each("name", sorted(DEFAULTS))
def test_defaults_are_the_documented_ones(name: str) -> None:
    parameters = inspect.signature(getattr(sy, name)).parameters
    found = {parameter: parameters[parameter].default for parameter in DEFAULTS[name]}
    assert found == DEFAULTS[name]


@for_each("name", sorted(MEMBERS))
def test_values_keep_their_members(name: str) -> None:
    assert set(MEMBERS[name].split()) - set(members(NAMES[name])) == set()


def test_completion_shows_the_public_names_and_no_more() -> None:
    assert dir(sy) == sorted(sy.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sy.nothing  # type: ignore[attr-defined]  # noqa: B018 - looking it up is the test
    with pytest.raises(AttributeError, match=r"it is skillyard\.files\.Limits"):
        sy.Limits  # type: ignore[attr-defined]  # noqa: B018 - it was here


def test_a_star_import_gives_the_public_names() -> None:
    space: dict[str, Any] = {}
    exec("from skillyard import *", space)
    assert set(space) - {"__builtins__"} == set(sy.__all__)


def test_type_checkers_see_the_names_that_are_there() -> None:
    source = (REPOSITORY / "src/skillyard/__init__.py").read_text(encoding="utf-8")
    seen = source.split("if TYPE_CHECKING:")[1]
    declared = set(re.findall(r"(\w+) as \1\b", seen))
    assert declared == {*sy.__all__, *sy._MODULES}


def test_no_module_hides_a_public_function() -> None:
    folder = REPOSITORY / "src/skillyard"
    rooms = {path.stem for path in folder.iterdir()} - {"__init__", "__main__", "__pycache__", "py"}
    assert rooms & set(sy.__all__) == set()


@for_each("first", ["select", "Catalog", "SkillInjector", "evaluate", "validate"])
def test_any_name_may_be_the_first_that_is_used(first: str) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import skillyard;"
        "print(getattr(skillyard, sys.argv[2]).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(PACKAGES), first],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == (first, "")
