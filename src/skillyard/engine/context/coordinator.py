"""The context coordinator: selection, tool validation and instruction in one step (adk-skill).

``resolve`` tries its strategies in order and returns a complete :class:`SkillContext` or None.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput, SkillError, UnknownName
from skillyard.base.invisible import clean
from skillyard.base.text import clean_line, escape_frame
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.context.activation import (
    check_fence,
    closing_tag,
    frame_name,
    opening_tag,
    safe_body,
    with_body,
)
from skillyard.engine.context.budget import TRUNCATED
from skillyard.engine.ranking.match import in_order, score_query
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, check_scorer
from skillyard.engine.resources import read_declared
from skillyard.engine.selection import SelectionPolicy, candidates_with_tag, survivors
from skillyard.engine.skill import Skill

_log = logging.getLogger(__name__)

MAX_INSTRUCTION_CHARS = 8_000
"""adk-skill's default."""
MAX_REFERENCE_CHARS = 8_000
"""Total characters of declared references in one context. Not in the document: the same limit as
for the instruction."""
STRICT = "strict"
PERMISSIVE = "permissive"


@dataclass(frozen=True, slots=True)
class ByName:
    """Load one skill by name. The policy does not apply, and hidden skills can be loaded."""

    name: str


@dataclass(frozen=True, slots=True)
class ByQuery:
    """Select the best skill for a query."""

    text: str | Query


@dataclass(frozen=True, slots=True)
class ByTag:
    """Select a skill with a tag: the best for ``query``, or the first by name without one."""

    tag: str
    query: str | Query | None = None


Strategy = ByName | ByQuery | ByTag


@dataclass(frozen=True, slots=True)
class CoordinatorConfig:
    """The settings of a coordinator. Raises UnknownName, InvalidInput."""

    policy: SelectionPolicy | None = None
    max_instruction_chars: int = MAX_INSTRUCTION_CHARS
    validation: str = STRICT
    """``strict``: skip a skill with a missing tool. ``permissive``: skip the tool."""
    scorer: str | Scorer | Any = DEFAULT_SCORER
    """``overlap`` is the scorer of adk-skill."""
    max_reference_chars: int = MAX_REFERENCE_CHARS

    def __post_init__(self) -> None:
        check_scorer(self.scorer)
        if self.validation not in (STRICT, PERMISSIVE):
            raise UnknownName("validation mode", self.validation, (STRICT, PERMISSIVE))
        for field in ("max_instruction_chars", "max_reference_chars"):
            value = getattr(self, field)
            if value < 0:
                raise InvalidInput(f"{field} must be an integer of at least 0")


class ResolvedReference(NamedTuple):
    """One declared reference with its content. It is data for the model, not an instruction."""

    path: str
    content: str
    truncated: bool


class SkillContext(NamedTuple):
    """A skill, its instruction, and those of its tools that exist."""

    skill: Skill
    instruction: str
    tools: tuple[object, ...]
    references: tuple[ResolvedReference, ...]
    score: float
    """The score of the match; infinite for a skill loaded by name."""
    tool_names: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Missing tools that were left out, and references that could not be read."""


class Unresolved(NamedTuple):
    """No context: false where it is tested."""

    reasons: tuple[str, ...]
    """Why each skill was passed over, and each strategy offered none."""

    def __bool__(self) -> bool:
        return False


class ContextCoordinator:
    """Selects a skill, validates its tools and builds the context."""

    def __init__(
        self,
        catalog: Catalog | Iterable[Skill],
        tools: ToolRegistry | Mapping[str, object],
        config: CoordinatorConfig | None = None,
    ) -> None:
        self._catalog = catalog if isinstance(catalog, Catalog) else Catalog.from_skills(catalog)
        self._tool = tools.get if isinstance(tools, Mapping) else tools.resolve
        self._config = config or CoordinatorConfig()

    @check_arguments
    def resolve(
        self, strategies: Sequence[Strategy] | Strategy, *, fence: str | None = None
    ) -> SkillContext | None:
        """Return the first context that a strategy yields, or None.

        Each strategy offers its skills best first; the first one whose tools resolve is used.
        ``fence`` is that of :func:`skillyard.prompt_block`. Raises InvalidInput for an unknown
        strategy.
        """
        context = self.try_resolve(strategies, fence=fence)
        return None if isinstance(context, Unresolved) else context

    @check_arguments
    def try_resolve(
        self, strategies: Sequence[Strategy] | Strategy, *, fence: str | None = None
    ) -> SkillContext | Unresolved:
        """Return what :meth:`resolve` returns, and the reasons where that is None."""
        check_fence(fence)
        cascade = [strategies] if isinstance(strategies, Strategy) else list(strategies)
        request: str | Query | None = None
        reasons: list[str] = []
        for strategy in cascade:
            if isinstance(strategy, ByQuery):
                request = strategy.text
            before = len(reasons)
            for skill, score in self._offers(strategy, request, reasons):
                context = self._context(skill, score, fence)
                if isinstance(context, SkillContext):
                    return context
                reasons.append(context)
            if len(reasons) == before:
                reasons.append(f"{type(strategy).__name__}: no skill fits")
        for reason in reasons:
            _log.info("not resolved: %s", reason)
        return Unresolved(tuple(reasons))

    def _offers(
        self, strategy: Strategy, request: str | Query | None, reasons: list[str]
    ) -> Iterator[tuple[Skill, float]]:
        if isinstance(strategy, ByName):
            try:
                yield self._catalog.get(strategy.name.removeprefix("@")), math.inf
            except SkillError as error:  # none or several skills have that name
                reasons.append(f"ByName: {error.message}")
        elif isinstance(strategy, ByQuery):
            yield from self._by_query(strategy.text)
        elif isinstance(strategy, ByTag):
            yield from self._by_tag(strategy.tag, strategy.query or request)
        else:
            raise InvalidInput("a strategy is ByName, ByQuery or ByTag")

    def _by_query(self, query: str | Query) -> Iterator[tuple[Skill, float]]:
        policy = self._config.policy or SelectionPolicy()
        text = query.text if isinstance(query, Query) else query
        if not text.strip() and not (isinstance(query, Query) and query.files):
            return
        if policy.top_k == 0:
            return
        scorer = self._config.scorer
        for match in survivors(self._catalog, query, policy, scorer=scorer, with_fallback=True):
            yield match.skill, match.score

    def _by_tag(self, tag: str, query: str | Query | None) -> Iterator[tuple[Skill, float]]:
        policy = self._config.policy or SelectionPolicy()
        request = query if isinstance(query, Query) else Query(query or "")
        _, scored = score_query(self._catalog, request, self._config.scorer)
        pairs = candidates_with_tag(self._catalog, request.replace(include_tags=(tag,)), scored)
        pairs = [pair for pair in pairs if not has_tag(pair[0], policy.exclude_tags)]
        yield from in_order(pairs, scored)

    def _context(self, skill: Skill, score: float, fence: str | None) -> SkillContext | str:
        """Return the context of a skill, or why it has none."""
        try:
            skill = with_body(skill)
        except SkillError as error:
            return f"{skill.name} did not load again: {error.message}"
        tools = {name: self._tool(name) for name in skill.allowed_tools}
        names = tuple(name for name, tool in tools.items() if tool is not None)
        warnings = [
            f"{skill.name}: the host has no tool {name!r}"
            for name, tool in tools.items()
            if tool is None
        ]
        if warnings and self._config.validation == STRICT:
            return "; ".join(warnings)
        for warning in warnings:
            _log.warning(warning)
        references = self._references(skill, warnings)
        return SkillContext(
            skill,
            self._instruction(skill, names, fence),
            tuple(tools[name] for name in names),
            references,
            score,
            names,
            tuple(warnings),
        )

    def _instruction(self, skill: Skill, tools: Iterable[str], fence: str | None) -> str:
        name = frame_name(skill.name)
        body = safe_body(skill)
        limit = self._config.max_instruction_chars
        if len(body) > limit:
            body = f"{body[:limit]}\n{TRUNCATED}"
        description = escape_frame(clean_line(skill.description))
        sections = [opening_tag(name, fence), f"# {name}\n\n{description}"]
        if names := ", ".join(escape_frame(clean_line(tool)) for tool in tools):
            sections.append(f"You have access to the following tools: {names}.")
        sections += [f"## Instructions\n\n{body}", closing_tag(fence)]
        return "\n\n".join(sections)

    def _references(self, skill: Skill, warnings: list[str]) -> tuple[ResolvedReference, ...]:
        room = self._config.max_reference_chars
        references = []
        for path in skill.declared_references:
            try:
                text = clean(read_declared(skill, path).decode("utf-8"))
            except (SkillError, UnicodeDecodeError) as error:
                reason = error.message if isinstance(error, SkillError) else "it is not UTF-8 text"
                warnings.append(f"{skill.name}: reference {path!r} not read: {reason}")
                continue
            if room <= 0:
                warnings.append(f"{skill.name}: reference {path!r} left out: budget used up")
                continue
            references.append(ResolvedReference(path, text[:room], len(text) > room))
            room -= len(text)
        return tuple(references)


@runtime_checkable
class ToolRegistry(Protocol):
    """The host's tools by name."""

    def resolve(self, name: str) -> object | None:
        """Return the tool with that name, or None.

        Patterns such as ``Bash(git:*)`` are passed verbatim.
        """
        ...

    def available_tools(self) -> Sequence[str]:
        """Return the names of all tools."""
        ...
