"""What the probability is worked out from: facts about the best skill, the request, the library.

Fused points order skills but say nothing of whether the best one is any good: they are stretched
for each request. So the level comes from facts that are not stretched: how much of the request
the best skill holds, in one place and in all; how far that goes beyond what any skill would hold
by chance, and beyond what the others hold; how near it lies; what it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import log, sqrt

from skillyard.index.facet_terms import NAME_TERM
from skillyard.index.searcher import Searcher
from skillyard.index.token_table import TokenTable
from skillyard.ranking.hybrid.constants import Facts, Situation
from skillyard.ranking.hybrid.evidence import WHOLE, Evidence, Found
from skillyard.ranking.hybrid.question import BACKGROUND, Question, Term

__all__ = ["Facts", "Situation", "facts", "situation"]


RARE = 5.8
"""The rarity of a term that three skills in a thousand hold: a skill that lacks what is rarer than
that may be about something else."""
USUAL = 2.0
"""Names in a thousand: a term that stands in more is usual, and no more is learned from them."""
PASSAGE = 10
"""Terms of a passage: as many as a sentence or two have."""
USUALLY = 0.45
"""The impact of a term in a skill that holds it, as a rule."""
VARIES = 0.20
"""The mean square of that impact."""
LEAST = 0.05
"""What is added to the variance of the score by chance, so that it is never zero."""
SELDOM = 0.0001
"""The least share of skills that a term is taken to stand in."""

MIDDLE_LENGTH = 2.7
"""The logarithm of fourteen terms and one: a request of middling length."""
MIDDLE_SIZE = 5.7
"""The logarithm of three hundred skills: a library of middling size."""
SIZES = (0.69, 9.26)
"""The logarithms of the smallest and the largest library that was learned from. What is smaller or
larger counts as these."""
SHORT = 1.7
"""The logarithm of four and a half terms and one: what is shorter says little by its figures."""
LONG = 3.0
"""The logarithm of nineteen terms and one: what is longer mentions more than it is about."""


def situation(asked: Question, lib: Searcher) -> Situation:
    """Return what is known of the request and the library, whatever was found."""
    length = log(1.0 + len(asked.terms))
    least, most = SIZES
    size = (min(max(log(1.0 + lib.size), least), most) - MIDDLE_SIZE) / 2.0
    return Situation(
        length=length - MIDDLE_LENGTH,
        short=max(0.0, SHORT - length),
        long=max(0.0, length - LONG),
        foreign=0.0 if asked.english else 1.0,
        size=size,
        both=(length - MIDDLE_LENGTH) * size,
    )


def facts(
    best: int, evidence: Evidence, found: Found, asked: Question, lib: Searcher, table: TokenTable
) -> Facts:
    """Return the facts about the best skill."""
    terms = asked.terms
    texts = [term.text for term in terms]
    impacts = lib.impacts(best, [*texts, *(NAME_TERM + text for text in texts)])
    number = len(terms)
    given: dict[str, tuple[float, float]] = {}  # by term: what it gives, what it could give
    missing = []
    total = named = plain = heaviest = every = said = own = expected = usual = 0.0
    variance = LEAST
    whole = float(lib.size + BACKGROUND)
    for term, impact, name in zip(terms, impacts, impacts[number:], strict=False):
        text, weight, rarity, frequency, _, emphasis, public, names, _ = term
        total += weight
        said += weight * emphasis
        held = (frequency + BACKGROUND * public) / whole
        held = SELDOM if held < SELDOM else min(held, 1.0)
        expected += weight * held
        variance += VARIES * weight * weight * held * (1.0 - held)
        if names:
            usual += weight * log(1.0 + min(USUAL, 1_000.0 * names / whole))
            if name:
                own += weight
        if impact:
            gives = weight * impact
            plain += rarity * impact
            every += gives
            if gives > heaviest:
                heaviest = gives
            given[text] = (gives, weight)
        else:
            missing.append(term)
            given[text] = (0.0, weight)
            if text in asked.named:
                named += weight
    share = 1.0 / total if total else 0.0
    spread = sqrt(variance)
    plainly = missing if asked.english else ()
    passage, passage_share = _passage(asked, given)
    near = found.alone.get(best, 0.0)
    return Facts(
        plain=log(1.0 + plain),
        rest=log(1.0 + max(0.0, every - heaviest)),
        passage=log(1.0 + passage),
        passage_share=passage_share,
        beyond=(evidence.words - USUALLY * expected) / spread,
        lead=(evidence.words - _others(found.by_words, best)) / spread,
        meaning=near,
        ahead=near - _others(found.alone, best),
        lacking=_lacking(best, missing, asked, lib, table),
        own_name=own * share,
        in_names=0.0 if asked.talk else usual * share,
        named_missing=named * share,
        strange=max([0.0, *(term.rarity - RARE for term in plainly)]),
        said=said * share,
    )


def _others(scores: Mapping[int, float], best: int) -> float:
    """Return the best score that any other has; 0 where there is no other."""
    return max([score for ordinal, score in scores.items() if ordinal != best], default=0.0)


def _passage(asked: Question, given: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the most that a run of terms gives, and the most of one's weight that is held.

    Terms run in the order in which they first stand in the request.
    """
    run = [pair for text, _ in asked.heard if (pair := given.get(text)) is not None]
    if not run:
        return 0.0, 0.0
    long = min(PASSAGE, len(run))
    gives = [0.0, *accumulate([value for value, _ in run])]
    could = [0.0, *accumulate([weight for _, weight in run])]
    held = [0.0, *accumulate([weight if value else 0.0 for value, weight in run])]
    most = max([last - first for first, last in zip(gives, gives[long:], strict=False)])
    share = max(
        [
            (held[at + long] - held[at]) / (could[at + long] - could[at])
            for at in range(len(run) - long + 1)
        ]
    )
    return max(0.0, most), min(1.0, share)


def _lacking(
    best: int, missing: Sequence[Term], asked: Question, lib: Searcher, table: TokenTable
) -> float:
    """Return the cosine of the skill and what the request says beside it; 0 for nothing."""
    texts = {term.text for term in missing}
    heard = [pair for pair in asked.heard if pair[0] in texts]
    vector = table.vector([(1.0, heard)], query=True) if heard else b""
    return lib.dots(vector, [best])[0] / WHOLE if vector else 0.0
