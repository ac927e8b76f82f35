"""Agreement of judges with each other and with people (evals.md §1.15).

- Alpha: Krippendorff, Content Analysis, ch. 11, and "Computing Krippendorff's
  Alpha-Reliability" (2011), with the ordinal difference.
- Kappa: Cohen, Educational and Psychological Measurement 20 (1960) 37-46.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput
from skillyard.evals.statistics.pairs import TIE

if TYPE_CHECKING:
    from skillyard.evals.cases.labels import Label


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
    winners = _labelled(decided, labels)
    kappa = cohen_kappa(winners)
    return {
        "alpha": None if alpha is None else round(alpha, 6),
        "judges": max((len(ratings) for ratings in ratings_by_case), default=1),
        "judged_by_all": len(ratings_by_case),
        "kappa": None if kappa is None else round(kappa, 6),
        "labelled": len(winners),
    }


def _ratings(case: Mapping[str, Any]) -> list[float]:
    winners = [case["winner"]]
    winners += [other["winner"] for other in case["more_judges"].values() if "winner" in other]
    places = {case["condition_a"]: -1.0, TIE: 0.0, case["condition_b"]: 1.0}
    return [places[winner] for winner in winners]


def _labelled(cases: Sequence[Mapping[str, Any]], labels: Sequence[Label]) -> list[tuple[str, str]]:
    """Return the winner of the judge and of a person for each labelled case."""
    by_id = {case["id"]: case for case in cases}
    winners = []
    for label in labels:
        case = by_id.get(label.id)
        if case is None:  # of another run, or not judged
            continue
        choices = (case["condition_a"], case["condition_b"], TIE)
        if label.winner not in choices:
            raise InvalidInput(
                f"the label of {label.id} names {label.winner!r}; write {', '.join(choices)}"
            )
        winners.append((case["winner"], label.winner))
    return winners


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Return alpha over items, each with one ordered value a judge.

    1 is full agreement, 0 is chance, below 0 is worse than chance. Items with fewer than two values
    are ignored. The result is None if no items are left or all values are equal, because then
    chance agrees too.
    """
    items = [item for item in ratings if len(item) > 1]
    totals = Counter(value for item in items for value in item)
    if len(totals) < 2:
        return None
    far = _distances(totals)
    # Each pair of values in an item counts twice, and an item as often as it has values.
    observed = fsum(
        2 * far[min(one, other), max(one, other)] / (len(item) - 1)
        for item in items
        for one, other in combinations(item, 2)
    )
    expected = fsum(
        2 * totals[one] * totals[other] * far[one, other]
        for one, other in combinations(sorted(totals), 2)
    )
    return 1 - (sum(totals.values()) - 1) * observed / expected


def _distances(totals: Mapping[float, int]) -> dict[tuple[float, float], float]:
    """Return the squared ordinal difference of each pair of values, the smaller first."""
    values = sorted(totals)
    far = {(value, value): 0.0 for value in values}
    for (i, one), (j, other) in combinations(enumerate(values), 2):
        ranks = sum(totals[value] for value in values[i : j + 1])
        far[one, other] = (ranks - (totals[one] + totals[other]) / 2) ** 2
    return far


def cohen_kappa(labels: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return kappa of two raters, each item with both of their labels.

    1 is full agreement, 0 is chance, given the label frequencies. The result is None without items,
    or if both raters used only one and the same label.
    """
    count = len(labels)
    agree = sum(ours == theirs for ours, theirs in labels)
    first, second = Counter(ours for ours, _ in labels), Counter(theirs for _, theirs in labels)
    by_chance = sum(first[label] * second[label] for label in first)
    if by_chance == count * count:
        return None
    return (agree * count - by_chance) / (count * count - by_chance)
