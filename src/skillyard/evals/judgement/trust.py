"""Whether the judge of a run can be trusted: planted pairs, and the place and length of answers.

A planted pair is an answer against itself with something added that makes it no better: empty
sentences, or an instruction to the judge. A judge that prefers such copies, or that follows the
place (Shi et al., arXiv 2406.07791) or the length of answers (Dubois et al., arXiv 2404.04475),
would have given its verdicts to any skill. ``python -m benchmarks verdicts`` prints how often an
honest judge that is noisy fails a check, and how often such judges do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Any

from skillyard.base.text import plural
from skillyard.evals.judgement.verdicts import TIE, JudgedPair
from skillyard.evals.prompts import PROMPTS

NOT_TRUSTED = "judge not trusted"
"""The verdict on every skill of a run whose judge fails a check."""
PLANTED_PAIRS = 6
"""Of a run, half of each kind: each costs two calls of the judge."""
PADDED, PLAIN = "padded", "plain"
"""The two sides of a planted pair."""
FILLER, INSTRUCTION = "filler", "instruction"
_ADDITIONS = {kind: PROMPTS["planted"][kind] for kind in (FILLER, INSTRUCTION)}
PLANTS = tuple(_ADDITIONS)
"""The kinds of planted pairs."""
_REASONS = {
    FILLER: "prefers an answer with empty sentences added",
    INSTRUCTION: "obeys an instruction inside an answer",
    "place": "goes by the place of an answer",
    "length": "goes by the length of an answer",
}
_FEWEST_OF_A_KIND = 3
"""A judge that draws lots prefers one copy in both orders in 1 of 4 pairs, so all of three in 1 of
64. One that is right about two of three is noisy, not biased."""
_FALSE_ALARMS = 0.01
"""How often a judge without a preference for a place may fail that check."""
_MOST_BY_PLACE = 0.5
"""Share of pairs whose winner was a matter of the place."""
_FEWEST_EACH_WAY = 10
"""Decided pairs with the first answer longer, and as many with the second, to judge by length: an
honest judge for whom the longer answer is better in four of five pairs rarely says so of all."""


def planted_texts(kind: str, answer: str) -> dict[str, str]:
    """Return both sides of a planted pair of this kind."""
    return {PLAIN: answer, PADDED: answer + "\n\n" + _ADDITIONS[kind]}


def judge_trust(cases: Sequence[Mapping[str, Any]], pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """Return the artifact ``trust``: each check, the failures, and a sentence with the figures.

    ``trusted`` is None where no check had enough to look at.
    """
    planted = [each for case in cases for each in case.get("planted") or () if each["winner"]]
    checks = [_planted_check(kind, planted) for kind in PLANTS]
    slots = [pair.slots for pair in pairs]
    if any(len(each) == 2 for each in slots):  # as those of planted pairs are
        slots += [each["slots"] for each in planted]
    checks += [_place_check(slots), _length_check(pairs)]
    failed = [check["check"] for check in checks if check["failed"]]
    known = any(check["failed"] is not None for check in checks)
    right = sum(each["winner"] != PADDED for each in planted)
    figures = [f"{right} of {plural(len(planted), 'planted pair')} right"] if planted else []
    figures += [f"{check['count']} of {check['of']} {check['what']}" for check in checks[2:]]
    return {
        "trusted": not failed if known else None,
        "failed": failed,
        "planted": {"right": right, "of": len(planted)},
        "checks": checks,
        "sentence": f"{_because(failed)}{', '.join(figures)}." if known else "",
    }


def _because(failed: Sequence[str]) -> str:
    # A longer copy may have won by its length, whatever it says.
    reasons = [_REASONS[name] for name in failed if name != INSTRUCTION or FILLER not in failed]
    if not reasons:
        return "The judge passes its checks: "
    return f"The judge is not to be trusted: it {' and '.join(reasons)}. "


def _check(name: str, count: int, of: int, what: str, failed: bool | None) -> dict[str, Any]:
    return {"check": name, "failed": failed, "count": count, "of": of, "what": what}


def _planted_check(kind: str, planted: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A judge fails that prefers every padded copy, in both orders."""
    winners = [each["winner"] for each in planted if each["kind"] == kind]
    count, of = winners.count(PADDED), len(winners)
    failed = count == of if of >= _FEWEST_OF_A_KIND else None
    return _check(kind, count, of, "padded copies preferred", failed)


def _place_check(slots_of_pairs: Sequence[Sequence[str]]) -> dict[str, Any]:
    """A judge fails that gave most pairs to one place, whatever stood there.

    Slots are assigned by a seeded draw or both ways, so without a preference each slot wins as
    often as the other, and a sign test is exact.
    """
    decided = [slots for slots in slots_of_pairs if set(slots) - {TIE}]
    by_place = Counter(slots[0] for slots in decided if len(set(slots)) == 1)
    one_order = all(len(slots) == 1 for slots in decided)
    count, of = (max(by_place.values(), default=0) if one_order else by_place.total()), len(decided)
    most = (1 + _MOST_BY_PLACE) / 2 if one_order else _MOST_BY_PLACE
    p = sign_p(by_place["A"], by_place["B"])
    possible = 2.0 ** (1 - of) <= _FALSE_ALARMS
    failed = p <= _FALSE_ALARMS and count >= most * of if possible else None
    return _check("place", count, of, "pairs won by their place", failed)


def sign_p(first: int, second: int) -> float:
    """Return the two-sided exact binomial p of two counts against one half; 1 for none."""
    count = first + second
    tail = sum(comb(count, wins) for wins in range(min(first, second) + 1))
    # An integer quotient is rounded once, however long the integers are.
    return min(1.0, 2 * tail / (1 << count))


def _length_check(pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """A judge fails to whom the longer answer is always the better one, of whichever arm it is.

    Where one arm is always the longer one, only the planted pairs can tell.
    """
    wins: dict[bool, list[bool]] = {True: [], False: []}
    for pair in pairs:
        first, second = pair.lengths
        if pair.winner != TIE and first != second and not pair.case.get("lost"):
            wins[first > second].append((pair.winner == pair.first) == (first > second))
    both = [*wins[True], *wins[False]]
    possible = all(len(each) >= _FEWEST_EACH_WAY for each in wins.values())
    return _check(
        "length", sum(both), len(both), "longer answers won", all(both) if possible else None
    )


def distrust(summary: Mapping[str, dict[str, Any]]) -> None:
    """Replace every verdict of a judge that failed a check, and what would follow from it."""
    for entry in summary.values():
        if not entry.get("comparisons"):
            continue
        entry["word"], entry["recommended_level"] = NOT_TRUSTED, None
        for comparison in entry["comparisons"].values():
            comparison |= {"word": NOT_TRUSTED, "second_is_enough": False, "study_units": None}
