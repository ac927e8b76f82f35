"""skillyard: find the right agent skill, say when none fits, and say why.

The door: public names only. Nothing is computed at import; each name loads its room when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

_ROOMS = {
    "AmbiguousName": "errors",
    "Diagnostic": "errors",
    "EmbedderFailed": "errors",
    "IndexDamaged": "errors",
    "InvalidFrontmatter": "errors",
    "InvalidInput": "errors",
    "InvalidSkillsRoot": "errors",
    "MissingField": "errors",
    "ResourceRefused": "errors",
    "ScriptRefused": "errors",
    "SkillError": "errors",
    "SkillIoError": "errors",
    "SkillNotFound": "errors",
    "SkillYamlError": "errors",
    "SkillyardError": "errors",
    "UnknownName": "errors",
    "ValidationFailed": "errors",
    "DEFAULT_LIMITS": "limits",
    "Limits": "limits",
    "Origin": "skill",
    "Reference": "skill",
    "Skill": "skill",
    "Triggers": "skill",
    "parse_skill": "formats.agentskills",
    "parse_instructions": "formats.conventions",
    "validate": "validation",
    "CheckConfig": "validation.config",
    "find_check_config": "validation.config",
    "read_check_config": "validation.config",
    "discover_instruction_files": "discovery",
    "discover_skill_files": "discovery",
    "list_resources": "resources",
    "read_resource": "resources",
    "Catalog": "catalog",
    "CatalogDiff": "catalog",
    "SkillCounts": "catalog.counts",
    "load_catalog": "index.indexed_catalog",
    "Query": "ranking.query",
    "Explanation": "ranking.scorer",
    "BoundScorer": "ranking.protocol",
    "DefaultPolicy": "ranking.scorer",
    "Level": "ranking.scorer",
    "Scored": "ranking.scorer",
    "Scorer": "ranking.protocol",
    "scorer_names": "ranking.registry",
    "Match": "ranking.match",
    "rank": "ranking.match",
    "Index": "ranking.saved_index",
    "Confidence": "ranking.confidence",
    "ConfidenceScorer": "ranking.confidence",
    "KeywordDetector": "ranking.confidence",
    "PatternMatcher": "ranking.confidence",
    "evaluate": "ranking.confidence",
    "ScorerRanker": "ranking.scorer_ranker",
    "SearchResult": "remote.search",
    "SearchService": "remote.search",
    "SourceFailed": "remote.sources.protocol",
    "Selection": "selection",
    "SelectionPolicy": "selection",
    "SkillFeedback": "ranking.feedback",
    "menu_text": "selection",
    "select": "selection",
    "summary": "context.catalogue",
    "Injection": "context.injection",
    "InjectorConfig": "context.injection",
    "SkillInjector": "context.injection",
    "inject": "context.injection",
    "prompt_block": "context.activation",
    "select_prompt_block": "context.injection",
    "random_fence": "context.fence",
    "Activation": "context.activation",
    "activate": "context.activation",
    "estimate_tokens": "context.budget",
    "ToolRegistry": "context.tools",
    "ByName": "context.coordinator",
    "ByQuery": "context.coordinator",
    "ByTag": "context.coordinator",
    "ContextCoordinator": "context.coordinator",
    "CoordinatorConfig": "context.coordinator",
    "SkillContext": "context.coordinator",
    "list_scripts": "context.scripts",
    "run_script": "context.scripts",
}

_DOORS = frozenset({"evals"})
"""Rooms with names of their own, as in ``sy.evals.remap``: modules, so not among the names."""

__all__ = ["__version__", *sorted(_ROOMS)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None and name not in _DOORS:
        raise AttributeError(f"module 'skillyard' has no attribute {name!r}")
    from importlib import import_module

    if room is None:
        return import_module(f"skillyard.{name}")
    value = getattr(import_module(f"skillyard.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)


if TYPE_CHECKING:  # the same names, for type checkers and editors
    from typing import Any

    from skillyard.catalog import (
        Catalog as Catalog,
    )
    from skillyard.catalog import (
        CatalogDiff as CatalogDiff,
    )
    from skillyard.catalog.counts import (
        SkillCounts as SkillCounts,
    )
    from skillyard.context.activation import (
        Activation as Activation,
    )
    from skillyard.context.activation import (
        activate as activate,
    )
    from skillyard.context.activation import (
        prompt_block as prompt_block,
    )
    from skillyard.context.budget import (
        estimate_tokens as estimate_tokens,
    )
    from skillyard.context.catalogue import (
        summary as summary,
    )
    from skillyard.context.coordinator import (
        ByName as ByName,
    )
    from skillyard.context.coordinator import (
        ByQuery as ByQuery,
    )
    from skillyard.context.coordinator import (
        ByTag as ByTag,
    )
    from skillyard.context.coordinator import (
        ContextCoordinator as ContextCoordinator,
    )
    from skillyard.context.coordinator import (
        CoordinatorConfig as CoordinatorConfig,
    )
    from skillyard.context.coordinator import (
        SkillContext as SkillContext,
    )
    from skillyard.context.fence import (
        random_fence as random_fence,
    )
    from skillyard.context.injection import (
        Injection as Injection,
    )
    from skillyard.context.injection import (
        InjectorConfig as InjectorConfig,
    )
    from skillyard.context.injection import (
        SkillInjector as SkillInjector,
    )
    from skillyard.context.injection import (
        inject as inject,
    )
    from skillyard.context.injection import (
        select_prompt_block as select_prompt_block,
    )
    from skillyard.context.scripts import (
        list_scripts as list_scripts,
    )
    from skillyard.context.scripts import (
        run_script as run_script,
    )
    from skillyard.context.tools import (
        ToolRegistry as ToolRegistry,
    )
    from skillyard.discovery import (
        discover_instruction_files as discover_instruction_files,
    )
    from skillyard.discovery import (
        discover_skill_files as discover_skill_files,
    )
    from skillyard.errors import (
        AmbiguousName as AmbiguousName,
    )
    from skillyard.errors import (
        Diagnostic as Diagnostic,
    )
    from skillyard.errors import (
        EmbedderFailed as EmbedderFailed,
    )
    from skillyard.errors import (
        IndexDamaged as IndexDamaged,
    )
    from skillyard.errors import (
        InvalidFrontmatter as InvalidFrontmatter,
    )
    from skillyard.errors import (
        InvalidInput as InvalidInput,
    )
    from skillyard.errors import (
        InvalidSkillsRoot as InvalidSkillsRoot,
    )
    from skillyard.errors import (
        MissingField as MissingField,
    )
    from skillyard.errors import (
        ResourceRefused as ResourceRefused,
    )
    from skillyard.errors import (
        ScriptRefused as ScriptRefused,
    )
    from skillyard.errors import (
        SkillError as SkillError,
    )
    from skillyard.errors import (
        SkillIoError as SkillIoError,
    )
    from skillyard.errors import (
        SkillNotFound as SkillNotFound,
    )
    from skillyard.errors import (
        SkillYamlError as SkillYamlError,
    )
    from skillyard.errors import (
        SkillyardError as SkillyardError,
    )
    from skillyard.errors import (
        UnknownName as UnknownName,
    )
    from skillyard.errors import (
        ValidationFailed as ValidationFailed,
    )
    from skillyard.formats.agentskills import (
        parse_skill as parse_skill,
    )
    from skillyard.formats.conventions import (
        parse_instructions as parse_instructions,
    )
    from skillyard.index.indexed_catalog import (
        load_catalog as load_catalog,
    )
    from skillyard.limits import (
        DEFAULT_LIMITS as DEFAULT_LIMITS,
    )
    from skillyard.limits import (
        Limits as Limits,
    )
    from skillyard.ranking.confidence import (
        Confidence as Confidence,
    )
    from skillyard.ranking.confidence import (
        ConfidenceScorer as ConfidenceScorer,
    )
    from skillyard.ranking.confidence import (
        KeywordDetector as KeywordDetector,
    )
    from skillyard.ranking.confidence import (
        PatternMatcher as PatternMatcher,
    )
    from skillyard.ranking.confidence import (
        evaluate as evaluate,
    )
    from skillyard.ranking.feedback import SkillFeedback as SkillFeedback
    from skillyard.ranking.match import (
        Match as Match,
    )
    from skillyard.ranking.match import (
        rank as rank,
    )
    from skillyard.ranking.protocol import (
        BoundScorer as BoundScorer,
    )
    from skillyard.ranking.protocol import (
        Scorer as Scorer,
    )
    from skillyard.ranking.query import (
        Query as Query,
    )
    from skillyard.ranking.registry import (
        scorer_names as scorer_names,
    )
    from skillyard.ranking.saved_index import (
        Index as Index,
    )
    from skillyard.ranking.scorer import (
        DefaultPolicy as DefaultPolicy,
    )
    from skillyard.ranking.scorer import (
        Explanation as Explanation,
    )
    from skillyard.ranking.scorer import (
        Level as Level,
    )
    from skillyard.ranking.scorer import (
        Scored as Scored,
    )
    from skillyard.ranking.scorer_ranker import (
        ScorerRanker as ScorerRanker,
    )
    from skillyard.remote.search import SearchResult as SearchResult
    from skillyard.remote.search import SearchService as SearchService
    from skillyard.remote.sources.protocol import SourceFailed as SourceFailed
    from skillyard.resources import (
        list_resources as list_resources,
    )
    from skillyard.resources import (
        read_resource as read_resource,
    )
    from skillyard.selection import (
        Selection as Selection,
    )
    from skillyard.selection import (
        SelectionPolicy as SelectionPolicy,
    )
    from skillyard.selection import (
        menu_text as menu_text,
    )
    from skillyard.selection import (
        select as select,
    )
    from skillyard.skill import (
        Origin as Origin,
    )
    from skillyard.skill import (
        Reference as Reference,
    )
    from skillyard.skill import (
        Skill as Skill,
    )
    from skillyard.skill import (
        Triggers as Triggers,
    )
    from skillyard.validation import (
        validate as validate,
    )
    from skillyard.validation.config import CheckConfig as CheckConfig
    from skillyard.validation.config import find_check_config as find_check_config
    from skillyard.validation.config import read_check_config as read_check_config
