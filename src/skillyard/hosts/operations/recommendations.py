"""The documented ``skill_evaluate``: skills by files and keywords, each with a confidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from skillyard.base.errors import InvalidInput
from skillyard.base.operation import Bounds, Operation, Spelling
from skillyard.base.shapes.recommendations import Evaluated, Recommendation
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.confidence.tool import evaluate
from skillyard.engine.ranking.match import REQUEST_CHARS


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluateRequest:
    """Rate skills by file patterns and keywords, as the document of ``skill_evaluate`` says."""

    files: Annotated[
        tuple[str, ...] | None, "File paths to analyze", Bounds(items=200), Spelling(metavar="PATH")
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
        bool, "Include match details", Spelling(("showDetails",), "--details", tool="showDetails")
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
) -> Evaluated:
    """Return the skills whose confidence reaches the threshold.

    None means that the field was not given. With ``text`` and ``files`` both absent InvalidInput
    names them, unless there is recent activity, which alone gives an empty answer.
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
    return Evaluated(results=results, message=answer["message"])
