"""Agreement of the judges with each other, and of the judge with people (evals.md §1.15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.evals.cases.labels import Label
from skillyard.evals.judgement.remap import TIE
from skillyard.evals.statistics.agreement import cohen_kappa, krippendorff_alpha

__all__ = ["agreement_of"]


def agreement_of(
    cases: Iterable[Mapping[str, Any]], labels: Sequence[Label] = ()
) -> dict[str, Any]:
    """Return Krippendorff's alpha over judges, and Cohen's kappa with people's labels.

    ``alpha`` is over the winners of judged pairs, as the ordered values first, tie, second.
    ``judges`` and ``judged_by_all`` are the counts behind it. ``kappa`` is over the cases with a
    label and a verdict (``labelled``). Values that are undefined are None. Raises InvalidInput for
    a label whose winner is not a condition of its case.
    """
    decided = [case for case in cases if case.get("winner") is not None]
    ratings_by_case = [ratings for case in decided if len(ratings := _ratings(case)) > 1]
    alpha = krippendorff_alpha(ratings_by_case)
    ours, theirs = _labelled(decided, labels)
    kappa = cohen_kappa(ours, theirs)
    return {
        "alpha": None if alpha is None else round(alpha, 6),
        "judges": max((len(ratings) for ratings in ratings_by_case), default=1),
        "judged_by_all": len(ratings_by_case),
        "kappa": None if kappa is None else round(kappa, 6),
        "labelled": len(ours),
    }


def _ratings(case: Mapping[str, Any]) -> list[float]:
    winners = [case["winner"]]
    winners += [other["winner"] for other in case["more_judges"].values() if "winner" in other]
    places = {case["condition_a"]: -1.0, TIE: 0.0, case["condition_b"]: 1.0}
    return [places[winner] for winner in winners]


def _labelled(
    cases: Sequence[Mapping[str, Any]], labels: Sequence[Label]
) -> tuple[list[str], list[str]]:
    by_id = {case["id"]: case for case in cases}
    ours, theirs = [], []
    for label in labels:
        case = by_id.get(label.id)
        if case is None:  # of another run, or not judged
            continue
        choices = (case["condition_a"], case["condition_b"], TIE)
        if label.winner not in choices:
            raise InvalidInput(
                f"the label of {label.id} names {label.winner!r}; write {', '.join(choices)}"
            )
        ours.append(case["winner"])
        theirs.append(label.winner)
    return ours, theirs
