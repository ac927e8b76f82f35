"""Choosing: rank, select, evaluate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.catalog import Catalog
from skillyard.catalog.counts import SkillCounts
from skillyard.decisions import is_enabled
from skillyard.diagnostics import LazyDiagnostics
from skillyard.errors import Diagnostic, InvalidInput
from skillyard.ranking.match import Match, eligible, in_order, score_query
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.ranking.scorer import level_of
from skillyard.selection import Selection, SelectionPolicy, bounds, menu_text, select
from skillyard.shapes.encoder import encode, with_diagnostics
from skillyard.shapes.matches import Diagnostic as DiagnosticShape
from skillyard.shapes.matches import Match as MatchShape
from skillyard.shapes.matches import Policy
from skillyard.skill import Origin
from skillyard.text import clean_line, escape_frame

if TYPE_CHECKING:
    from skillyard.shapes import rankings, selections

__all__ = [
    "Evaluated",
    "Ranked",
    "Selected",
    "evaluate_skills",
    "rank_skills",
    "select_skills",
]


class Ranked(NamedTuple):
    """A ranking as it is: no floor, no abstention."""

    query: Query
    scorer: str
    matches: tuple[Match, ...]
    """Best first, up to the limit."""
    total: int
    """How many skills have a score at all."""
    considered: int
    """How many skills the catalog offers for choice."""
    reported: LazyDiagnostics
    """What was noticed while the skills were read, as objects and as JSON."""
    counts: SkillCounts
    """Of the whole catalog."""
    conventions: int = 0
    """How many of ``total`` are convention documents, which some scorers rank."""
    explain: bool = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was noticed while the skills were read."""
        return self.reported.listed

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.rank/1``."""
        found: dict[str, Any] = encode(self.document(self.diagnostics))
        return found

    def to_json(self) -> str:
        """Return the same as one line of JSON."""
        return with_diagnostics(self.document(), self.reported.json)

    def document(self, diagnostics: Iterable[Diagnostic] | None = None) -> rankings.Ranked:
        """Return ``skillyard.rank/1``, with the diagnostics where they are given."""
        from skillyard.shapes import rankings

        return rankings.Ranked(
            query=self.query.document(),
            scorer=self.scorer,
            matches=_documents(self.matches, self.explain),
            total=self.total,
            diagnostics=_listed(diagnostics),
        )


def rank_skills(
    catalog: Catalog,
    query: Query,
    *,
    scorer: str = DEFAULT_SCORER,
    limit: int | None = 10,
    explain: bool = False,
) -> Ranked:
    """Rank the catalog's skills for a query.

    ``explain`` puts the explanation trees into the JSON. Raises UnknownName for an unknown
    scorer, InvalidInput for a limit below zero.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidInput("limit must be None or an integer of at least 0")
    resolved, scored = score_query(catalog, query, scorer)
    pairs = eligible(catalog, query, zeros=False, scored=scored)
    matches = tuple(
        Match(skill, score, level_of(resolved.levels, score), scored)
        for skill, score in in_order(pairs, scored, limit)
    )
    considered = scored.considered
    if considered is None:
        considered = len(catalog.candidates)
    documents = 0
    if not scored.is_preordered:  # a scorer that orders by itself leaves them out
        documents = sum(skill.origin == Origin.CONVENTION for skill, _ in pairs)
    return Ranked(
        query,
        resolved.name,
        matches,
        len(pairs),
        considered,
        catalog.reported,
        catalog.counts,
        documents,
        explain,
    )


class Selected(NamedTuple):
    """A choice, or an abstention."""

    query: Query
    selection: Selection
    min_score: float
    """The floor that was applied."""
    top_k: int
    reported: LazyDiagnostics
    """What was noticed while the skills were read, as objects and as JSON."""
    counts: SkillCounts
    """Of the whole catalog."""
    explain: bool = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was noticed while the skills were read."""
        return self.reported.listed

    @property
    def question(self) -> str:
        """The question for the user when skills are too close to choose between, else empty."""
        return menu_text(self.selection)

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.select/1``."""
        found: dict[str, Any] = encode(self.document(self.diagnostics))
        return found

    def to_json(self) -> str:
        """Return the same as one line of JSON."""
        return with_diagnostics(self.document(), self.reported.json)

    def document(self, diagnostics: Iterable[Diagnostic] | None = None) -> selections.Selected:
        """Return ``skillyard.select/1``, with the diagnostics where they are given."""
        from skillyard.shapes import selections

        chosen = self.selection
        return selections.Selected(
            query=self.query.document(),
            scorer=chosen.scorer,
            policy=Policy(min_score=self.min_score, top_k=self.top_k),
            selected=_documents(chosen.selected, self.explain),
            maybe=_documents(chosen.maybe, self.explain),
            rejected=_documents(chosen.rejected, self.explain),
            considered=chosen.considered,
            abstained=chosen.abstained,
            fallback=chosen.fallback,
            menu=tuple(match.skill.id for match in chosen.menu),
            question=self.question,
            diagnostics=_listed(diagnostics),
        )


def _documents(matches: Iterable[Match], explain: bool) -> tuple[MatchShape, ...]:
    return tuple(match.document(explain=explain) for match in matches)


def _listed(diagnostics: Iterable[Diagnostic] | None) -> tuple[DiagnosticShape, ...] | None:
    return None if diagnostics is None else tuple(each.document() for each in diagnostics)


def select_skills(
    catalog: Catalog,
    query: Query,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str = DEFAULT_SCORER,
    limit: int | None = None,
    explain: bool = False,
) -> Selected:
    """Choose skills for a query, or abstain.

    ``limit`` bounds how many of the skills that were not chosen are named (the selection itself
    names ten). The choice is logged where that is wanted (:mod:`skillyard.decisions`). Raises
    UnknownName, InvalidInput.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidInput("limit must be None or an integer of at least 0")
    policy = policy or SelectionPolicy()
    started_ns = time_ns()
    selection = select(catalog, query, policy, scorer=scorer)
    min_score, top_k = bounds(policy, scorer)
    if is_enabled():
        from skillyard.decisions.recorder import record

        applied = (min_score, top_k)
        record("select", catalog, query, policy, applied, selection, started_ns=started_ns)
    if limit is not None:
        selection = selection._replace(rejected=selection.rejected[:limit])
    return Selected(query, selection, min_score, top_k, catalog.reported, catalog.counts, explain)


class Evaluated(NamedTuple):
    """The documented answer of ``skill_evaluate``."""

    results: tuple[dict[str, Any], ...]
    message: str
    """Markdown, safe to print."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.evaluate/1``: the documented shape and the schema."""
        from skillyard.shapes.recommendations import Evaluated, Recommendation

        results = tuple(Recommendation(**result) for result in self.results)
        found: dict[str, Any] = encode(Evaluated(results=results, message=self.message))
        return found


def evaluate_skills(
    catalog: Catalog,
    text: str | None = None,
    files: Iterable[str] | None = None,
    recent_activity: Iterable[str] | None = None,
    *,
    threshold: float = 0.3,
    limit: int = 10,
    show_details: bool = False,
    chooser: Catalog | None = None,
) -> Evaluated:
    """Return the skills whose confidence reaches the threshold.

    None means that the field was not given. With ``text`` and ``files`` both absent InvalidInput
    names them, unless there is recent activity, which alone gives an empty answer. ``chooser`` is
    the same catalog as the default scorer ranks it: where that chooses otherwise, the message ends
    with a line that says so.
    """
    if text is None and not files and not recent_activity:
        raise InvalidInput("evaluate needs files or text: give at least one of them")
    from skillyard.ranking.confidence import evaluate

    answer = evaluate(
        catalog,
        text or "",
        tuple(files or ()),
        tuple(recent_activity or ()),
        threshold=threshold,
        limit=limit,
        show_details=show_details,
    )
    message, results = answer["message"], tuple(answer["results"])
    if chooser is not None:
        remark = _otherwise(results, chooser, Query(text or "", tuple(files or ())))
        message += f"\n\n{remark}" if remark else ""
    return Evaluated(results, message)


def _otherwise(results: Sequence[dict[str, Any]], chooser: Catalog, query: Query) -> str:
    """Return a line that says what is chosen by default, where it is not the first result."""
    if query.empty:
        return ""
    selection = select(chooser, query)
    first = results[0]["skillName"] if results else None
    near = selection.selected or selection.maybe
    chosen = near[0].skill.name if near else None
    if first == chosen or (first is None and not selection.selected):
        return ""
    if chosen is None:
        return "`select_skill`, which weighs the whole request, finds that no skill fits."
    shown = escape_frame(clean_line(chosen)).replace("`", "'")
    surely = "chooses" if selection.selected else "says: perhaps"
    return f"`select_skill`, which weighs the whole request, {surely} `{shown}`."
