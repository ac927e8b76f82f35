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

    schema: shapes.Schema[Literal["skillyard.rank/1"]] = "skillyard.rank/1"
    query: Annotated[QueryDocument, "The request that was understood."]
    scorer: Annotated[str, "The scorer that ranked."]
    matches: Annotated[tuple[MatchDocument, ...], "Best first."]
    total: Annotated[int, "How many skills have a score at all."]
    note: shapes.Note = None
    diagnostics_count: Annotated[
        int | None, "How many remarks there are on the files of the catalog."
    ] = None
    diagnostics: shapes.details.MaybeRemarks = None
