"""Rank and select the skills of a catalog."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import time_ns
from typing import TYPE_CHECKING, Annotated, NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.operation import Bounds, Operation, Spelling
from skillyard.base.shapes.matches import Policy
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.ranking.match import (
    FallbackTag,
    Match,
    MinScore,
    QueryRequest,
    WrongCost,
    eligible,
    in_order,
    score_query,
)
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.ranking.scorer import level_of
from skillyard.engine.selection import (
    Refusals,
    Selection,
    SelectionPolicy,
    bounds,
    menu_text,
    select,
)
from skillyard.engine.skill import Origin
from skillyard.hosts.decisions import is_enabled

if TYPE_CHECKING:
    from skillyard.base.shapes import rankings, selections
    from skillyard.engine.ranking.protocol import Scorer


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankRequest(QueryRequest):
    """Rank the skills for a request."""

    limit: Annotated[
        int, "How many skills to return.", Bounds(least=1, most=50), Spelling(metavar="K")
    ] = 10
    diagnostics: Annotated[
        bool, "List what did not load, or loaded with a remark.", Spelling(on=("http",))
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SelectRequest(QueryRequest):
    """Choose skills for a request, or abstain."""

    top_k: Annotated[
        int | None, "Choose at most so many.", Bounds(least=0, most=50), Spelling(metavar="K")
    ] = None
    min_score: MinScore = None
    wrong_cost: WrongCost = None
    fallback_tag: FallbackTag = None
    limit: Annotated[
        int | None,
        "How many of the skills that were not chosen to name; ten by default.",
        Bounds(least=0, most=10),
        Spelling(metavar="K", on=("cli", "http")),
    ] = None
    diagnostics: Annotated[
        bool, "List what did not load, or loaded with a remark.", Spelling(on=("http",))
    ] = False

    def as_policy(self) -> SelectionPolicy:
        """Return what may be chosen. Raises InvalidInput."""
        return SelectionPolicy(
            self.top_k,
            self.min_score,
            fallback_tag=self.fallback_tag,
            wrong_cost=self.wrong_cost,
        )


RANK = Operation(
    "rank",
    "Rank the catalog for a request: no floor, no abstention.",
    RankRequest,
    ("GET", "/rank"),
)
SELECT = Operation(
    "select",
    "Choose skills of the catalog for a request, or abstain.",
    SelectRequest,
    ("POST", "/select"),
)


class RankResult(NamedTuple):
    """A ranking as it is: no floor, no abstention."""

    query: Query
    scorer: str
    matches: tuple[Match, ...]
    """Best first, up to the limit."""
    total: int
    """How many skills have a score at all."""
    considered: int
    """How many skills the catalog offers for choice."""
    diagnostics: tuple[Diagnostic, ...]
    """What was noticed while the skills were read."""
    counts: SkillCounts
    """Of the whole catalog."""
    conventions: int = 0
    """How many of ``total`` are convention documents, which some scorers rank."""
    explain: bool = False
    note: str = ""
    """Why the default scorer of a service did not rank; empty where it did."""

    def document(self, diagnostics: Iterable[Diagnostic] | None = None) -> "rankings.Ranked":
        """Return ``skillyard.rank/1``, with the diagnostics where they are given."""
        from skillyard.base.shapes.rankings import Ranked as RankedShape

        explain = self.explain
        return RankedShape(
            query=self.query.document(),
            scorer=self.scorer,
            matches=tuple(match.document(explain=explain) for match in self.matches),
            total=self.total,
            note=self.note or None,
            diagnostics=None
            if diagnostics is None
            else tuple(each.document() for each in diagnostics),
        )


def rank_skills(
    catalog: Catalog,
    query: Query,
    *,
    scorer: "str | Scorer" = DEFAULT_SCORER,
    limit: int | None = 10,
    explain: bool = False,
) -> RankResult:
    """Rank the catalog's skills for a query.

    ``explain`` puts the explanation trees into the JSON. Raises UnknownName for an unknown
    scorer, InvalidInput for a limit below zero.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidInput("limit must be None or an integer of at least 0")
    resolved, scored = score_query(catalog, query, scorer)
    pairs = eligible(catalog, query, zeros=False, scored=scored)
    lacks = Refusals(catalog, query)
    matches = tuple(
        Match(skill, score, level_of(resolved.levels, score), scored, lacks.of(skill))
        for skill, score in in_order(pairs, scored, limit)
    )
    for match in matches:
        if not match.rejected_because:
            lacks.note(match)
    considered = scored.considered
    if considered is None:
        considered = len(catalog.candidates)
    documents = 0
    if not scored.is_preordered:  # a scorer that orders by itself leaves them out
        documents = sum(skill.origin == Origin.CONVENTION for skill, _ in pairs)
    return RankResult(
        query,
        resolved.name,
        matches,
        len(pairs),
        considered,
        catalog.diagnostics,
        catalog.counts,
        documents,
        explain,
    )


class SelectResult(NamedTuple):
    """A choice, or an abstention."""

    query: Query
    selection: Selection
    min_score: float
    """The floor that was applied."""
    top_k: int
    diagnostics: tuple[Diagnostic, ...]
    """What was noticed while the skills were read."""
    counts: SkillCounts
    """Of the whole catalog."""
    explain: bool = False
    note: str = ""
    """Why the default scorer of a service did not select; empty where it did."""

    @property
    def question(self) -> str:
        """The question for the user when skills are too close to choose between, else empty."""
        return menu_text(self.selection)

    def document(self, diagnostics: Iterable[Diagnostic] | None = None) -> "selections.Selected":
        """Return ``skillyard.select/1``, with the diagnostics where they are given."""
        from skillyard.base.shapes.selections import Selected as SelectedShape

        chosen, explain = self.selection, self.explain
        selected, maybe, rejected = (
            tuple(match.document(explain=explain) for match in matches)
            for matches in (chosen.selected, chosen.maybe, chosen.rejected)
        )
        return SelectedShape(
            query=self.query.document(),
            scorer=chosen.scorer,
            policy=Policy(min_score=self.min_score, top_k=self.top_k),
            selected=selected,
            maybe=maybe,
            rejected=rejected,
            considered=chosen.considered,
            abstained=chosen.abstained,
            fallback=chosen.fallback,
            menu=tuple(match.skill.id for match in chosen.menu),
            question=menu_text(chosen) if chosen.menu else "",
            note=self.note or None,
            diagnostics=None
            if diagnostics is None
            else tuple(each.document() for each in diagnostics),
        )


def select_skills(
    catalog: Catalog,
    query: Query,
    policy: SelectionPolicy | None = None,
    *,
    scorer: "str | Scorer" = DEFAULT_SCORER,
    limit: int | None = None,
    explain: bool = False,
    caller: str = "",
    use: str = "select",
    is_logged: Callable[[Selection], bool] = lambda _: True,
) -> SelectResult:
    """Choose skills for a query, or abstain.

    ``limit`` bounds how many of the skills that were not chosen are named (the selection itself
    names ten). The choice is logged where that is wanted (:mod:`skillyard.hosts.decisions`) and
    ``is_logged`` says so, with the ``caller`` of a service and the ``use`` of it. Raises
    UnknownName, InvalidInput.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidInput("limit must be None or an integer of at least 0")
    policy = policy or SelectionPolicy()
    started_ns = time_ns()
    selection = select(catalog, query, policy, scorer=scorer)
    min_score, top_k = bounds(policy, scorer)
    if is_enabled() and is_logged(selection):
        from skillyard.hosts.decisions.recorder import record

        applied = (min_score, top_k)
        record(
            *(use, catalog, query, policy, applied, selection), started_ns=started_ns, caller=caller
        )
    if limit is not None:
        selection = selection._replace(rejected=selection.rejected[:limit])
    return SelectResult(
        query, selection, min_score, top_k, catalog.diagnostics, catalog.counts, explain
    )
