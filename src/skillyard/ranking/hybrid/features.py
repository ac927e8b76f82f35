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
from skillyard.ranking.hybrid.constants import Features, QueryFeatures
from skillyard.ranking.hybrid.evidence import UNIT_DOT, CandidateSet, Evidence
from skillyard.ranking.hybrid.query_analysis import BACKGROUND, AnalysedQuery, Term

__all__ = ["Features", "QueryFeatures", "query_features", "skill_features"]


RARE_TERM_RARITY = 5.8
"""The rarity of a term that three skills in a thousand hold: a skill that lacks what is rarer than
that may be about something else."""
MAX_NAMES_PER_THOUSAND = 2.0
"""Names in a thousand: a term that stands in more is usual, and no more is learned from them."""
PASSAGE_TERMS = 10
"""Terms of a passage: as many as a sentence or two have."""
MEAN_IMPACT = 0.45
"""The impact of a term in a skill that holds it, as a rule."""
MEAN_SQUARED_IMPACT = 0.20
"""The mean square of that impact."""
MIN_VARIANCE = 0.05
"""What is added to the variance of the score by chance, so that it is never zero."""
MIN_SHARE = 0.0001
"""The least share of skills that a term is taken to stand in."""

MEAN_LOG_LENGTH = 2.7
"""The logarithm of fourteen terms and one: a request of middling length."""
MEAN_LOG_SIZE = 5.7
"""The logarithm of three hundred skills: a library of middling size."""
LOG_SIZE_RANGE = (0.69, 9.26)
"""The logarithms of the smallest and the largest library that was learned from. What is smaller or
larger counts as these."""
SHORT_LOG_LENGTH = 1.7
"""The logarithm of four and a half terms and one: what is shorter says little by its figures."""
LONG_LOG_LENGTH = 3.0
"""The logarithm of nineteen terms and one: what is longer mentions more than it is about."""


def query_features(analysed: AnalysedQuery, searcher: Searcher) -> QueryFeatures:
    """Return what is known of the request and the library, whatever was found."""
    length = log(1.0 + len(analysed.terms))
    least, most = LOG_SIZE_RANGE
    size = (min(max(log(1.0 + searcher.size), least), most) - MEAN_LOG_SIZE) / 2.0
    return QueryFeatures(
        length=length - MEAN_LOG_LENGTH,
        short=max(0.0, SHORT_LOG_LENGTH - length),
        long=max(0.0, length - LONG_LOG_LENGTH),
        foreign=0.0 if analysed.is_english else 1.0,
        size=size,
        both=(length - MEAN_LOG_LENGTH) * size,
    )


def skill_features(
    best: int,
    evidence: Evidence,
    candidates: CandidateSet,
    analysed: AnalysedQuery,
    searcher: Searcher,
    table: TokenTable,
) -> Features:
    """Return the facts about the best skill."""
    terms = analysed.terms
    texts = [term.text for term in terms]
    impacts = searcher.impacts(best, [*texts, *(NAME_TERM + text for text in texts)])
    number = len(terms)
    given: dict[str, tuple[float, float]] = {}  # by term: what it gives, what it could give
    missing = []
    total = named = plain = heaviest = every = emphasised = own = expected = usual = 0.0
    variance = MIN_VARIANCE
    whole = float(searcher.size + BACKGROUND)
    for term, impact, name in zip(terms, impacts, impacts[number:], strict=False):
        text, weight, rarity, frequency, _, emphasis, public, names, _ = term
        total += weight
        emphasised += weight * emphasis
        held = (frequency + BACKGROUND * public) / whole
        held = MIN_SHARE if held < MIN_SHARE else min(held, 1.0)
        expected += weight * held
        variance += MEAN_SQUARED_IMPACT * weight * weight * held * (1.0 - held)
        if names:
            usual += weight * log(1.0 + min(MAX_NAMES_PER_THOUSAND, 1_000.0 * names / whole))
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
            if text in analysed.named:
                named += weight
    share = 1.0 / total if total else 0.0
    spread = sqrt(variance)
    plainly = missing if analysed.is_english else ()
    passage, passage_share = _best_passage(analysed, given)
    near = candidates.query_cosines.get(best, 0.0)
    return Features(
        plain=log(1.0 + plain),
        rest=log(1.0 + max(0.0, every - heaviest)),
        passage=log(1.0 + passage),
        passage_share=passage_share,
        beyond=(evidence.words - MEAN_IMPACT * expected) / spread,
        lead=(evidence.words - _best_other(candidates.word_scores, best)) / spread,
        meaning=near,
        ahead=near - _best_other(candidates.query_cosines, best),
        unmatched_cosine=_unmatched_cosine(best, missing, analysed, searcher, table),
        own_name=own * share,
        in_names=0.0 if analysed.is_small_talk else usual * share,
        named_missing=named * share,
        out_of_vocabulary=max([0.0, *(term.rarity - RARE_TERM_RARITY for term in plainly)]),
        emphasis=emphasised * share,
    )


def _best_other(scores: Mapping[int, float], best: int) -> float:
    """Return the best score that any other has; 0 where there is no other."""
    return max([score for ordinal, score in scores.items() if ordinal != best], default=0.0)


def _best_passage(
    analysed: AnalysedQuery, given: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return the most that a run of terms gives, and the most of one's weight that is held.

    Terms run in the order in which they first stand in the request.
    """
    run = [pair for text, _ in analysed.vector_terms if (pair := given.get(text)) is not None]
    if not run:
        return 0.0, 0.0
    long = min(PASSAGE_TERMS, len(run))
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


def _unmatched_cosine(
    best: int,
    missing: Sequence[Term],
    analysed: AnalysedQuery,
    searcher: Searcher,
    table: TokenTable,
) -> float:
    """Return the cosine of the skill and what the request says beside it; 0 for nothing."""
    texts = {term.text for term in missing}
    vector_terms = [pair for pair in analysed.vector_terms if pair[0] in texts]
    vector = table.vector([(1.0, vector_terms)], query=True) if vector_terms else b""
    return searcher.dots(vector, [best])[0] / UNIT_DOT if vector else 0.0
