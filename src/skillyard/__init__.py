"""skillyard: find the right agent skill, say when none fits, and say why.

The door: public names only. Nothing is computed at import; each name loads its room when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

_ROOMS = {
    "__version__": "version",
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
    "load_catalog": "policy.library",
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
    "SourceFailed": "errors",
    "Selection": "selection",
    "SelectionPolicy": "selection",
    "SkillFeedback": "ranking.feedback",
    "menu_text": "selection",
    "select": "selection",
    "summary": "context.catalogue",
    "Injection": "context.injection",
    "InjectorConfig": "adapters.injector",
    "SkillInjector": "adapters.injector",
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

__all__ = [*sorted(_ROOMS)]  # noqa: PLE0604


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

    from skillyard.adapters.injector import (
        InjectorConfig as InjectorConfig,
        SkillInjector as SkillInjector,
    )
    from skillyard.catalog import Catalog as Catalog, CatalogDiff as CatalogDiff
    from skillyard.catalog.counts import SkillCounts as SkillCounts
    from skillyard.context.activation import (
        Activation as Activation,
        activate as activate,
        prompt_block as prompt_block,
    )
    from skillyard.context.budget import estimate_tokens as estimate_tokens
    from skillyard.context.catalogue import summary as summary
    from skillyard.context.coordinator import (
        ByName as ByName,
        ByQuery as ByQuery,
        ByTag as ByTag,
        ContextCoordinator as ContextCoordinator,
        CoordinatorConfig as CoordinatorConfig,
        SkillContext as SkillContext,
    )
    from skillyard.context.fence import random_fence as random_fence
    from skillyard.context.injection import (
        Injection as Injection,
        inject as inject,
        select_prompt_block as select_prompt_block,
    )
    from skillyard.context.scripts import list_scripts as list_scripts, run_script as run_script
    from skillyard.context.tools import ToolRegistry as ToolRegistry
    from skillyard.discovery import (
        discover_instruction_files as discover_instruction_files,
        discover_skill_files as discover_skill_files,
    )
    from skillyard.errors import (
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
    from skillyard.formats.agentskills import parse_skill as parse_skill
    from skillyard.formats.conventions import parse_instructions as parse_instructions
    from skillyard.limits import DEFAULT_LIMITS as DEFAULT_LIMITS, Limits as Limits
    from skillyard.policy.library import load_catalog as load_catalog
    from skillyard.ranking.confidence import (
        Confidence as Confidence,
        ConfidenceScorer as ConfidenceScorer,
        KeywordDetector as KeywordDetector,
        PatternMatcher as PatternMatcher,
        evaluate as evaluate,
    )
    from skillyard.ranking.feedback import SkillFeedback as SkillFeedback
    from skillyard.ranking.match import Match as Match, rank as rank
    from skillyard.ranking.protocol import BoundScorer as BoundScorer, Scorer as Scorer
    from skillyard.ranking.query import Query as Query
    from skillyard.ranking.registry import scorer_names as scorer_names
    from skillyard.ranking.saved_index import Index as Index
    from skillyard.ranking.scorer import (
        DefaultPolicy as DefaultPolicy,
        Explanation as Explanation,
        Level as Level,
        Scored as Scored,
    )
    from skillyard.ranking.scorer_ranker import ScorerRanker as ScorerRanker
    from skillyard.remote.search import SearchResult as SearchResult, SearchService as SearchService
    from skillyard.errors import SourceFailed as SourceFailed
    from skillyard.resources import list_resources as list_resources, read_resource as read_resource
    from skillyard.selection import (
        Selection as Selection,
        SelectionPolicy as SelectionPolicy,
        menu_text as menu_text,
        select as select,
    )
    from skillyard.skill import (
        Origin as Origin,
        Reference as Reference,
        Skill as Skill,
        Triggers as Triggers,
    )
    from skillyard.validation import validate as validate
    from skillyard.validation.config import (
        CheckConfig as CheckConfig,
        find_check_config as find_check_config,
        read_check_config as read_check_config,
    )
    from skillyard.version import __version__ as __version__
