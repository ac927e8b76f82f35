"""skillyard: find the right agent skill, say when none fits, and say why.

The door: public names only. Nothing is computed at import; each name loads its module when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

_ROOMS = {
    "__version__": "base.version",
    "AmbiguousName": "base.errors",
    "Diagnostic": "base.errors",
    "EmbedderFailed": "base.errors",
    "IndexDamaged": "base.errors",
    "InvalidFrontmatter": "base.errors",
    "InvalidInput": "base.errors",
    "InvalidSkillsRoot": "base.errors",
    "MissingField": "base.errors",
    "ResourceRefused": "base.errors",
    "ScriptRefused": "base.errors",
    "SkillError": "base.errors",
    "SkillIoError": "base.errors",
    "SkillNotFound": "base.errors",
    "SkillYamlError": "base.errors",
    "SkillyardError": "base.errors",
    "UnknownName": "base.errors",
    "ValidationFailed": "base.errors",
    "DEFAULT_LIMITS": "base.limits",
    "Limits": "base.limits",
    "Origin": "engine.skill",
    "Reference": "engine.skill",
    "Skill": "engine.skill",
    "Triggers": "engine.skill",
    "parse_skill": "engine.formats.agentskills",
    "parse_instructions": "engine.formats.conventions",
    "validate": "check.validation",
    "CheckConfig": "check.validation.config",
    "find_check_config": "check.validation.config",
    "read_check_config": "check.validation.config",
    "discover_instruction_files": "engine.discovery.walk",
    "discover_skill_files": "engine.discovery.walk",
    "list_resources": "engine.resources",
    "read_resource": "engine.resources",
    "Catalog": "engine.catalog",
    "CatalogDiff": "engine.catalog",
    "SkillCounts": "engine.catalog.counts",
    "load_catalog": "install.policy.library",
    "Query": "engine.ranking.query",
    "Explanation": "engine.ranking.scorer",
    "BoundScorer": "engine.ranking.protocol",
    "DefaultPolicy": "engine.ranking.scorer",
    "Level": "engine.ranking.scorer",
    "Scored": "engine.ranking.scorer",
    "Scorer": "engine.ranking.protocol",
    "scorer_names": "engine.ranking.registry",
    "Match": "engine.ranking.match",
    "rank": "engine.ranking.match",
    "Index": "engine.ranking.saved_index",
    "Confidence": "engine.ranking.confidence.scorer",
    "ConfidenceScorer": "engine.ranking.confidence.tool",
    "KeywordDetector": "engine.ranking.confidence.keywords",
    "PatternMatcher": "engine.ranking.confidence.patterns",
    "evaluate": "engine.ranking.confidence.tool",
    "ScorerRanker": "engine.ranking.scorer_ranker",
    "SearchResult": "install.search",
    "SearchService": "install.search",
    "SourceFailed": "base.errors",
    "Selection": "engine.selection",
    "SelectionPolicy": "engine.selection",
    "SkillFeedback": "engine.ranking.query",
    "menu_text": "engine.selection",
    "select": "engine.selection",
    "summary": "engine.context.catalogue",
    "Injection": "engine.context.injection",
    "InjectorConfig": "hosts.adapters.injector",
    "SkillInjector": "hosts.adapters.injector",
    "inject": "engine.context.injection",
    "prompt_block": "engine.context.activation",
    "select_prompt_block": "engine.context.injection",
    "random_fence": "engine.context.activation",
    "Activation": "engine.context.activation",
    "activate": "engine.context.activation",
    "estimate_tokens": "engine.context.budget",
    "ToolRegistry": "engine.context.coordinator",
    "ByName": "engine.context.coordinator",
    "ByQuery": "engine.context.coordinator",
    "ByTag": "engine.context.coordinator",
    "ContextCoordinator": "engine.context.coordinator",
    "CoordinatorConfig": "engine.context.coordinator",
    "SkillContext": "engine.context.coordinator",
    "list_scripts": "engine.context.scripts",
    "run_script": "engine.context.scripts",
}

_DOORS = frozenset({"evals"})
"""Wings with names of their own, as in ``sy.evals.remap``: modules, so not among the names."""

_SELF_CHECKING = frozenset({"Skill", "Scored", "Scorer", "BoundScorer"})
"""Names whose arguments are not checked here: a skill converts its fields, the others are bases."""

__all__ = [*sorted(_ROOMS)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None and name not in _DOORS:
        raise AttributeError(f"module 'skillyard' has no attribute {name!r}")
    from importlib import import_module

    if room is None:
        return import_module(f"skillyard.{name}")
    module = import_module(f"skillyard.{room}")
    value = getattr(module, name)
    if room != "base.errors" and name not in _SELF_CHECKING and callable(value):
        from skillyard.base.arguments import check_arguments

        value = check_arguments(value)
        setattr(module, name, value)  # pickle looks there
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)


if TYPE_CHECKING:  # the same names, for type checkers and editors
    from typing import Any

    from skillyard.hosts.adapters.injector import (
        InjectorConfig as InjectorConfig,
        SkillInjector as SkillInjector,
    )
    from skillyard.engine.catalog import Catalog as Catalog, CatalogDiff as CatalogDiff
    from skillyard.engine.catalog.counts import SkillCounts as SkillCounts
    from skillyard.engine.context.activation import (
        Activation as Activation,
        activate as activate,
        prompt_block as prompt_block,
    )
    from skillyard.engine.context.budget import estimate_tokens as estimate_tokens
    from skillyard.engine.context.catalogue import summary as summary
    from skillyard.engine.context.coordinator import (
        ByName as ByName,
        ByQuery as ByQuery,
        ByTag as ByTag,
        ContextCoordinator as ContextCoordinator,
        CoordinatorConfig as CoordinatorConfig,
        SkillContext as SkillContext,
    )
    from skillyard.engine.context.activation import random_fence as random_fence
    from skillyard.engine.context.injection import (
        Injection as Injection,
        inject as inject,
        select_prompt_block as select_prompt_block,
    )
    from skillyard.engine.context.scripts import (
        list_scripts as list_scripts,
        run_script as run_script,
    )
    from skillyard.engine.context.coordinator import ToolRegistry as ToolRegistry
    from skillyard.engine.discovery.walk import (
        discover_instruction_files as discover_instruction_files,
        discover_skill_files as discover_skill_files,
    )
    from skillyard.base.errors import (
        AmbiguousName as AmbiguousName,
        Diagnostic as Diagnostic,
        EmbedderFailed as EmbedderFailed,
        IndexDamaged as IndexDamaged,
        InvalidFrontmatter as InvalidFrontmatter,
        InvalidInput as InvalidInput,
        InvalidSkillsRoot as InvalidSkillsRoot,
        MissingField as MissingField,
        ResourceRefused as ResourceRefused,
        ScriptRefused as ScriptRefused,
        SkillError as SkillError,
        SkillIoError as SkillIoError,
        SkillNotFound as SkillNotFound,
        SkillYamlError as SkillYamlError,
        SkillyardError as SkillyardError,
        UnknownName as UnknownName,
        ValidationFailed as ValidationFailed,
    )
    from skillyard.engine.formats.agentskills import parse_skill as parse_skill
    from skillyard.engine.formats.conventions import parse_instructions as parse_instructions
    from skillyard.base.limits import DEFAULT_LIMITS as DEFAULT_LIMITS, Limits as Limits
    from skillyard.install.policy.library import load_catalog as load_catalog
    from skillyard.engine.ranking.confidence.keywords import KeywordDetector as KeywordDetector
    from skillyard.engine.ranking.confidence.patterns import PatternMatcher as PatternMatcher
    from skillyard.engine.ranking.confidence.scorer import Confidence as Confidence
    from skillyard.engine.ranking.confidence.tool import (
        ConfidenceScorer as ConfidenceScorer,
        evaluate as evaluate,
    )
    from skillyard.engine.ranking.query import SkillFeedback as SkillFeedback
    from skillyard.engine.ranking.match import Match as Match, rank as rank
    from skillyard.engine.ranking.protocol import BoundScorer as BoundScorer, Scorer as Scorer
    from skillyard.engine.ranking.query import Query as Query
    from skillyard.engine.ranking.registry import scorer_names as scorer_names
    from skillyard.engine.ranking.saved_index import Index as Index
    from skillyard.engine.ranking.scorer import (
        DefaultPolicy as DefaultPolicy,
        Explanation as Explanation,
        Level as Level,
        Scored as Scored,
    )
    from skillyard.engine.ranking.scorer_ranker import ScorerRanker as ScorerRanker
    from skillyard.install.search import (
        SearchResult as SearchResult,
        SearchService as SearchService,
    )
    from skillyard.base.errors import SourceFailed as SourceFailed
    from skillyard.engine.resources import (
        list_resources as list_resources,
        read_resource as read_resource,
    )
    from skillyard.engine.selection import (
        Selection as Selection,
        SelectionPolicy as SelectionPolicy,
        menu_text as menu_text,
        select as select,
    )
    from skillyard.engine.skill import (
        Origin as Origin,
        Reference as Reference,
        Skill as Skill,
        Triggers as Triggers,
    )
    from skillyard.check.validation import validate as validate
    from skillyard.check.validation.config import (
        CheckConfig as CheckConfig,
        find_check_config as find_check_config,
        read_check_config as read_check_config,
    )
    from skillyard.base.version import __version__ as __version__
