"""The documented ``skill_evaluate``: skills by files and keywords, each with a confidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds, Operation, Spelling
from skillyard.base.shapes.recommendations import Evaluated, Recommendation
from skillyard.base.text import clean_line, escape_frame
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.confidence import evaluate
from skillyard.engine.ranking.match import REQUEST_CHARS
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.selection import select


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluateRequest:
    """Rate skills by file patterns and keywords, as the document of ``skill_evaluate`` says."""

    files: Annotated[
        tuple[str, ...] | None,
        "File paths to analyze",
        Bounds(items=200),
        Spelling(metavar="PATH"),
    ] = None
    text: Annotated[
        str | None,
        "Text content to analyze",
        Bounds(longest=REQUEST_CHARS),
        Spelling(("query", "q"), metavar="T"),
    ] = None
    recent_activity: Annotated[
        tuple[str, ...] | None,
        "Recent activity keywords",
        Bounds(items=200),
        Spelling(("recentActivity",), "--recent", "WHAT", "recentActivity"),
    ] = None
    threshold: Annotated[
        float, "Minimum confidence (default: 0.3)", Bounds(least=0, most=1), Spelling(metavar="X")
    ] = 0.3
    limit: Annotated[
        int, "Max results (default: 10)", Bounds(least=0, most=100), Spelling(metavar="K")
    ] = 10
    show_details: Annotated[
        bool,
        "Include match details",
        Spelling(("showDetails",), "--details", tool="showDetails"),
    ] = False


EVALUATE = Operation(
    "evaluate",
    "The documented skill_evaluate over the catalog.",
    EvaluateRequest,
    ("POST", "/evaluate"),
)


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
    scorer: str | Scorer = DEFAULT_SCORER,
) -> Evaluated:
    """Return the skills whose confidence reaches the threshold.

    None means that the field was not given. With ``text`` and ``files`` both absent InvalidInput
    names them, unless there is recent activity, which alone gives an empty answer. ``chooser`` is
    the same catalog, as ``scorer`` ranks it: where that chooses otherwise, the message ends
    with a line that says so.
    """
    if text is None and not files and not recent_activity:
        raise InvalidInput("evaluate needs files or text: give at least one of them")
    answer = evaluate(
        catalog,
        text or "",
        tuple(files or ()),
        tuple(recent_activity or ()),
        threshold=threshold,
        limit=limit,
        show_details=show_details,
    )
    results = tuple(Recommendation(**result) for result in answer["results"])
    message = answer["message"]
    if chooser is not None:
        remark = _otherwise(results, chooser, scorer, Query(text or "", tuple(files or ())))
        message += f"\n\n{remark}" if remark else ""
    return Evaluated(results=results, message=message)


def _otherwise(
    results: Sequence[Recommendation], chooser: Catalog, scorer: str | Scorer, query: Query
) -> str:
    """Return a line that says what is chosen by default, where it is not the first result."""
    if query.empty:
        return ""
    selection = select(chooser, query, scorer=scorer)
    first = results[0].skillName if results else None
    near = selection.selected or selection.maybe
    chosen = near[0].skill.name if near else None
    if first == chosen or (first is None and not selection.selected):
        return ""
    if chosen is None:
        return "`select_skill`, which weighs the whole request, finds that no skill fits."
    shown = escape_frame(clean_line(chosen)).replace("`", "'")
    surely = "chooses" if selection.selected else "says: perhaps"
    return f"`select_skill`, which weighs the whole request, {surely} `{shown}`."
