"""A choice, or an abstention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base import shapes
from skillyard.base.shapes.encoder import ClientDocument
from skillyard.base.shapes.matches import MatchDocument, Policy, QueryDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected(ClientDocument):
    """A choice, or an abstention."""

    schema: shapes.Schema[Literal["skillyard.select/1"]] = "skillyard.select/1"
    query: Annotated[QueryDocument, "The request that was understood."]
    scorer: Annotated[str, "The scorer that ranked."]
    policy: Annotated[Policy, "The bounds that were applied."]
    selected: Annotated[tuple[MatchDocument, ...], "The skills that were chosen."]
    maybe: Annotated[tuple[MatchDocument, ...], "Where nothing was chosen, skills that come near."]
    rejected: Annotated[tuple[MatchDocument, ...], "The best of the others, each with its reason."]
    considered: Annotated[int, "How many skills were looked at."]
    abstained: Annotated[bool, "True when nothing passed."]
    fallback: Annotated[bool, "True when the generalist was taken."]
    menu: Annotated[tuple[str, ...], "Ids of skills too close to choose between."]
    question: Annotated[str, "What to ask the user then."]
    note: shapes.Note = None
    diagnostics_count: Annotated[
        int | None, "How many remarks there are on the files of the catalog."
    ] = None
    diagnostics: shapes.details.MaybeRemarks = None
