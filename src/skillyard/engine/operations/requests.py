"""What the operations on one request have in common: the request itself, and how it is ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from skillyard.base.operation import Bounds, Spelling
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import BUILT_IN

REQUEST_CHARS = 20_000
"""A request in words: prompts that carry a page of text pass."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class QueryRequest:
    """A request in words and files, and how skills are ranked for it."""

    query: Annotated[
        str,
        "The request, as the user put it.",
        Bounds(longest=REQUEST_CHARS),
        Spelling(("text", "q"), metavar="QUERY"),
    ] = ""
    files: Annotated[
        tuple[str, ...],
        "File paths in play; never opened.",
        Bounds(items=200),
        Spelling(metavar="PATH"),
    ] = ()
    recent_activity: Annotated[
        tuple[str, ...],
        "What was done lately.",
        Bounds(items=200),
        Spelling(("recentActivity",), "--recent", "WHAT"),
    ] = ()
    include_tags: Annotated[
        tuple[str, ...],
        "Only skills with one of these tags.",
        Bounds(),
        Spelling(flag="--tag", metavar="TAG"),
    ] = ()
    exclude_tags: Annotated[
        tuple[str, ...],
        "No skills with one of these tags.",
        Bounds(),
        Spelling(flag="--not-tag", metavar="TAG"),
    ] = ()
    include_references: Annotated[
        bool,
        "Count the Markdown files beside each skill; only relevance does.",
        Spelling(flag="--references", on=("cli", "http")),
    ] = False
    package_scope: Annotated[
        bool, "With files: skills below packages/a count only for files there."
    ] = False
    tools: Annotated[
        tuple[str, ...],
        "Tools that you have; skills that need others drop out.",
        Bounds(items=1_000),
        Spelling(flag="--tool", metavar="NAME"),
    ] = ()
    scorer: Annotated[
        str | None,
        f"{', '.join(BUILT_IN)}, or a plugin's.",
        Bounds(shortest=1, longest=100),
        Spelling(metavar="NAME"),
    ] = None
    explain: Annotated[bool, "Add the tree behind each score.", Spelling(on=("cli", "http"))] = (
        False
    )

    def as_query(self) -> Query:
        """Return what a scorer may look at."""
        return Query(
            self.query,
            self.files,
            self.recent_activity,
            self.include_tags,
            self.exclude_tags,
            self.include_references,
            self.package_scope,
            tools=self.tools,
        )
