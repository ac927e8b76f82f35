"""The catalogue summary, a host's listing, and a prompt with the block of the best skill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.operation import Spelling
from skillyard.base.shapes import prompts as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.prompts import Injected, Summarised
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.activation import prompt_block, with_body
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.context.catalogue import FORMATS, summary
from skillyard.engine.context.hosts import rule_of
from skillyard.engine.context.injection import MAX_INJECTED_CHARS, _own_words
from skillyard.engine.context.listing import (
    CUT,
    LEFT_OUT,
    NAME_ONLY,
    NOT_READ,
    WHOLE,
    HostListing,
    host_listing,
)
from skillyard.engine.ranking.match import (
    ExcludeTags,
    FallbackTag,
    IncludeTags,
    Match,
    MinScore,
    ScorerName,
    Tools,
    WrongCost,
)
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.selection import SelectionPolicy
from skillyard.hosts.operations.skill_selection import select_skills


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SummaryRequest:
    """Print the catalogue of skills for a system prompt."""

    format: Annotated[
        Literal["lines", "xml", "markdown"] | None,
        "Lines, xml or markdown (default: lines; with --host, a table).",
        Spelling(metavar="NAME"),
    ] = None
    budget_tokens: Annotated[int | None, "Fit into N estimated tokens.", Spelling(metavar="N")] = (
        None
    )
    query: Annotated[
        str | None,
        "When not all fit, keep those that rank highest for Q.",
        Spelling(flag="--query", metavar="Q"),
    ] = None
    scorer: ScorerName = None
    host: Annotated[
        Literal["claude-code", "codex", "copilot-cli", "vscode"] | None,
        "Show what this host lists, and which descriptions it cuts or drops.",
        Spelling(metavar="NAME"),
    ] = None
    window: Annotated[
        int | None,
        "With --host: the model's context in tokens (default: its usual models').",
        Spelling(metavar="N"),
    ] = None
    budget: Annotated[
        int | None,
        "With --host: use this budget instead of the host's, in its unit.",
        Spelling(metavar="N"),
    ] = None


def summary_of(
    catalog: Catalog,
    *,
    format: str = "lines",
    budget_tokens: int | None = None,
    query: Query | None = None,
    scorer: str = DEFAULT_SCORER,
) -> Summarised:
    """Return the catalogue in one of its formats, within a budget of estimated tokens.

    ``query`` decides which skills keep their place when not all fit. Raises UnknownName,
    InvalidInput.
    """
    text = summary(catalog, format, budget_tokens, query, scorer=scorer)
    return Summarised(
        format=format,
        text=text,
        budget_tokens=budget_tokens,
        tokens=estimate_tokens(text),
        diagnostics=tuple(each.document() for each in catalog.diagnostics),
    )


class HostSummary(NamedTuple):
    """The listing that one host makes of a catalog."""

    listing: HostListing
    diagnostics: tuple[Diagnostic, ...]
    format: str | None = None
    """A format of the summary, in place of the host's own form."""

    @property
    def text(self) -> str:
        """The listing as the model reads it, or what it tells the model in another format."""
        if self.format is None:
            return self.listing.text
        entries = [
            entry for entry in self.listing.entries if entry.state in (WHOLE, CUT, NAME_ONLY)
        ]
        skills = [entry.skill.replace(description=entry.text) for entry in entries]
        return FORMATS[self.format](skills, None, self.listing.count(LEFT_OUT))

    def document(self) -> shapes.Summarised:
        """Return ``skillyard.summary/1`` with the listing."""
        rule, listing = self.listing.rule, self.listing
        return shapes.Summarised(
            format=self.format or rule.form,
            text=self.text,
            budget_tokens=None,
            tokens=estimate_tokens(self.text),
            listing=from_attributes(
                shapes.HostListingDocument,
                listing,
                host=rule.name,
                unit=rule.unit,
                whole=listing.count(WHOLE),
                cut=listing.count(CUT),
                name_only=listing.count(NAME_ONLY),
                left_out=listing.count(LEFT_OUT),
                not_read=listing.count(NOT_READ),
                skills=tuple(entry.document() for entry in listing.entries),
                remedy=rule.remedy,
                source=rule.source,
            ),
            diagnostics=tuple(each.document() for each in self.diagnostics),
        )


def host_summary_of(
    catalog: Catalog,
    host: str,
    *,
    window: int | None = None,
    budget: int | None = None,
    format: str | None = None,
) -> HostSummary:
    """Return the listing that a host makes of a catalog.

    Raises UnknownName for an unknown host, InvalidInput.
    """
    listing = host_listing(catalog, rule_of(host), window=window, budget=budget)
    return HostSummary(listing, catalog.diagnostics, format)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InjectRequest:
    """Put the instructions of the best skill before a prompt."""

    query: Annotated[
        str | None,
        "The prompt; with --file, what to choose the skill by (default: the prompt).",
        Spelling(metavar="QUERY", by_place=True),
    ] = None
    max_chars: Annotated[int, "At most N characters of instructions.", Spelling(metavar="N")] = (
        MAX_INJECTED_CHARS
    )
    file: Annotated[
        str | None,
        "Read the prompt from this file; - is standard input.",
        Spelling(metavar="PROMPT"),
    ] = None
    fence: Annotated[
        bool, "Put a new random word into both lines of the frame, so that no skill can imitate it."
    ] = False
    scorer: ScorerName = None
    min_score: MinScore = None
    wrong_cost: WrongCost = None
    fallback_tag: FallbackTag = None
    include_tags: IncludeTags = ()
    exclude_tags: ExcludeTags = ()
    tools: Tools = ()

    def as_policy(self) -> SelectionPolicy:
        """Return what may be chosen. Raises InvalidInput."""
        return from_attributes(SelectionPolicy, self, top_k=None)


def inject_prompt(
    catalog: Catalog,
    prompt: str,
    query: Query | None = None,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str = DEFAULT_SCORER,
    max_chars: int | None = MAX_INJECTED_CHARS,
    fence: str | None = None,
    tools: tuple[str, ...] = (),
) -> Injected:
    """Put the block of the best skill before a prompt.

    The prompt itself is the query unless another one is given. ``max_chars`` bounds the skill's
    text in the block; ``fence`` is that of :func:`skillyard.prompt_block`; ``tools`` are those that
    the reader has, for skills that require some. The decision is logged when logging is enabled
    (:mod:`skillyard.hosts.decisions`). Raises UnknownName, InvalidInput.
    """
    own = _own_words(prompt)
    is_framed = query is None and own != prompt
    query = Query(own) if query is None else query
    query = query.replace(tools=tools) if tools else query
    match: Match | None = None
    if not query.empty:
        choice = select_skills(catalog, query, policy, scorer=scorer, use="inject").selection
        for match in choice.selected[:1]:
            block = prompt_block(with_body(match.skill), max_chars, fence=fence)
            if not is_framed:
                prompt = f"{block}\n\n{prompt}"
            elif not prompt.startswith(block):
                match = None  # another injector has already added a block
    return Injected(
        scorer=scorer,
        injected=match is not None,
        match=None if match is None else match.document(),
        prompt=prompt,
        diagnostics=tuple(each.document() for each in catalog.diagnostics),
    )
