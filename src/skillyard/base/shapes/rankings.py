"""A ranking as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base import shapes
from skillyard.base.shapes.encoder import ClientDocument
from skillyard.base.shapes.matches import MatchDocument, QueryDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(ClientDocument):
    """A ranking as it is."""

    schema: Annotated[Literal["skillyard.rank/1"], "Name and version of this shape."] = (
        "skillyard.rank/1"
    )
    query: Annotated[QueryDocument, "The request that was understood."]
    scorer: Annotated[str, "The scorer that ranked."]
    matches: Annotated[tuple[MatchDocument, ...], "Best first."]
    total: Annotated[int, "How many skills have a score at all."]
    note: Annotated[
        str | None,
        "Why another scorer answered than the default one of the service; left out where none did.",
    ] = None
    diagnostics_count: Annotated[
        int | None, "How many remarks there are on the files of the catalog."
    ] = None
    diagnostics: Annotated[
        tuple[shapes.details.DiagnosticDocument, ...] | None,
        "What did not load, or loaded with a remark.",
    ] = None
    profile: Annotated[str, "The profile of the policy in force; left out without one."] = ""
