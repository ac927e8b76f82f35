"""Prompting: the catalogue summary, and a prompt with the block of the best skill before it."""

from __future__ import annotations

from typing import Any, NamedTuple

from skillyard.catalog import Catalog
from skillyard.context.budget import estimate_tokens
from skillyard.context.catalogue import summary
from skillyard.context.injection import (
    INJECTION_SCORER,
    MAX_INJECTED_CHARS,
    inject,
    select_prompt_block,
)
from skillyard.errors import Diagnostic
from skillyard.ranking.match import Match
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.selection import SelectionPolicy

__all__ = ["MAX_INJECTED_CHARS", "Injected", "Summarised", "inject_prompt", "summary_of"]


class Summarised(NamedTuple):
    """The tier-1 catalogue as text."""

    format: str
    text: str
    budget_tokens: int | None
    tokens: int
    """Estimated tokens of the text."""
    diagnostics: tuple[Diagnostic, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.summary/1``."""
        return {
            "schema": "skillyard.summary/1",
            "format": self.format,
            "text": self.text,
            "budget_tokens": self.budget_tokens,
            "tokens": self.tokens,
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


def summary_of(
    catalog: Catalog,
    *,
    format: str = "lines",
    budget_tokens: int | None = None,
    query: Query | None = None,
    scorer: str = DEFAULT_SCORER,
) -> Summarised:
    """Return the catalogue in one of its formats, within a budget of estimated tokens.

    ``query`` says which skills keep their place when not all fit. Raises UnknownName, InvalidInput.
    """
    text = summary(catalog, format, budget_tokens, query, scorer=scorer)
    return Summarised(format, text, budget_tokens, estimate_tokens(text), catalog.diagnostics)


class Injected(NamedTuple):
    """A prompt with the block of the best skill before it, or as it was."""

    prompt: str
    match: Match | None
    """The skill whose block it is; None when none fits and the prompt is unchanged."""
    scorer: str
    diagnostics: tuple[Diagnostic, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.inject/1``."""
        return {
            "schema": "skillyard.inject/1",
            "scorer": self.scorer,
            "injected": self.match is not None,
            "match": None if self.match is None else self.match.to_dict(),
            "prompt": self.prompt,
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


def inject_prompt(
    catalog: Catalog,
    prompt: str,
    query: Query | None = None,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str = INJECTION_SCORER,
    max_chars: int | None = MAX_INJECTED_CHARS,
) -> Injected:
    """Put the block of the best skill before a prompt.

    The prompt itself is the query unless another one is given. ``max_chars`` bounds the skill's
    text in the block. Raises UnknownName, InvalidInput.
    """
    if query is None:
        done = inject(prompt, catalog, policy, max_chars=max_chars, scorer=scorer)
        return Injected(done.prompt, done.match, scorer, catalog.diagnostics)
    found = select_prompt_block(catalog, query, policy, scorer=scorer, max_chars=max_chars)
    if found is None:
        return Injected(prompt, None, scorer, catalog.diagnostics)
    block, match = found
    return Injected(f"{block}\n\n{prompt}", match, scorer, catalog.diagnostics)
