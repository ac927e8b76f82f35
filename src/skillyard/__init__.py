"""skillyard: find the right agent skill, say when none fits, and say why.

The door: public names only. Nothing is computed at import; each name loads its module when used.
More names are in the modules ``skillyard.context``, ``errors``, ``evals``, ``files``, ``scorers``
and ``types``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

_NAMES = {
    "base.version": "__version__",
    "base.errors": (
        "AmbiguousName Diagnostic IndexDamaged InvalidFrontmatter InvalidSkillsRoot MissingField "
        "SkillError SkillIoError SkillNotFound SkillYamlError ValidationFailed"
    ),
    "engine.skill": "Skill Triggers",
    "engine.formats.agentskills": "parse_skill",
    "engine.formats.conventions": "parse_instructions",
    "check.validation": "validate",
    "engine.discovery.walk": "discover_instruction_files discover_skill_files",
    "engine.catalog": "Catalog",
    "install.policy.library": "load_catalog",
    "engine.ranking.query": "Query",
    "engine.ranking.match": "Match rank",
    "engine.ranking.saved_index": "Index",
    "engine.ranking.confidence.tool": "ConfidenceScorer evaluate",
    "engine.ranking.confidence.keywords": "KeywordDetector",
    "engine.ranking.confidence.patterns": "PatternMatcher",
    "install.search": "SearchService",
    "engine.selection": "Selection SelectionPolicy select",
    "engine.context.catalogue": "summary",
    "hosts.injector": "InjectorConfig SkillInjector",
    "engine.context.injection": "inject select_prompt_block",
    "engine.context.activation": "prompt_block",
    "engine.context.coordinator": (
        "ToolRegistry ByName ByQuery ByTag ContextCoordinator CoordinatorConfig"
    ),
}
"""Module -> its public names."""

_ROOMS = {name: room for room, names in _NAMES.items() for name in names.split()}
_MODULES = ("context", "errors", "files", "scorers", "types", "evals")
"""Public modules, as in ``sy.errors.InvalidInput``."""

__all__ = [*sorted(_ROOMS)]  # noqa: PLE0604


def __dir__() -> list[str]:
    return list(__all__)


if TYPE_CHECKING:  # the same names, for type checkers and editors
    from skillyard.base.version import __version__ as __version__
    from skillyard.base.errors import (
        AmbiguousName as AmbiguousName,
        Diagnostic as Diagnostic,
        IndexDamaged as IndexDamaged,
        InvalidFrontmatter as InvalidFrontmatter,
        InvalidSkillsRoot as InvalidSkillsRoot,
        MissingField as MissingField,
        SkillError as SkillError,
        SkillIoError as SkillIoError,
        SkillNotFound as SkillNotFound,
        SkillYamlError as SkillYamlError,
        ValidationFailed as ValidationFailed,
    )
    from skillyard.engine.skill import Skill as Skill, Triggers as Triggers
    from skillyard.engine.formats.agentskills import parse_skill as parse_skill
    from skillyard.engine.formats.conventions import parse_instructions as parse_instructions
    from skillyard.check.validation import validate as validate
    from skillyard.engine.discovery.walk import (
        discover_instruction_files as discover_instruction_files,
        discover_skill_files as discover_skill_files,
    )
    from skillyard.engine.catalog import Catalog as Catalog
    from skillyard.install.policy.library import load_catalog as load_catalog
    from skillyard.engine.ranking.query import Query as Query
    from skillyard.engine.ranking.match import Match as Match, rank as rank
    from skillyard.engine.ranking.saved_index import Index as Index
    from skillyard.engine.ranking.confidence.tool import (
        ConfidenceScorer as ConfidenceScorer,
        evaluate as evaluate,
    )
    from skillyard.engine.ranking.confidence.keywords import KeywordDetector as KeywordDetector
    from skillyard.engine.ranking.confidence.patterns import PatternMatcher as PatternMatcher
    from skillyard.install.search import SearchService as SearchService
    from skillyard.engine.selection import (
        Selection as Selection,
        SelectionPolicy as SelectionPolicy,
        select as select,
    )
    from skillyard.engine.context.catalogue import summary as summary
    from skillyard.hosts.injector import (
        InjectorConfig as InjectorConfig,
        SkillInjector as SkillInjector,
    )
    from skillyard.engine.context.injection import (
        inject as inject,
        select_prompt_block as select_prompt_block,
    )
    from skillyard.engine.context.activation import prompt_block as prompt_block
    from skillyard.engine.context.coordinator import (
        ByName as ByName,
        ByQuery as ByQuery,
        ByTag as ByTag,
        ContextCoordinator as ContextCoordinator,
        CoordinatorConfig as CoordinatorConfig,
        ToolRegistry as ToolRegistry,
    )
    from skillyard import context as context, errors as errors, evals as evals
    from skillyard import files as files, scorers as scorers, types as types

else:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"skillyard.{name}")
        if name not in _ROOMS:
            message = f"module 'skillyard' has no attribute {name!r}"
            for each in _MODULES:
                if name[0] != "_" and hasattr(import_module(f"skillyard.{each}"), name):
                    message += f"; it is skillyard.{each}.{name}"
            raise AttributeError(message)
        from skillyard.base.arguments import check_public

        value = getattr(import_module(f"skillyard.{_ROOMS[name]}"), name)
        if name != "Skill":  # it converts its fields
            value = check_public(value)
        globals()[name] = value
        return value
