"""From points to a probability: whether any skill fits, and how far behind this one is.

Fused points order skills but say nothing of whether the best one is any good: they are stretched
for each request. So the level comes from facts that are not stretched: how much of the request
the best skill covers, how near it lies, and which named things it lacks.
"""

from __future__ import annotations

from math import exp, log

from skillyard.index.marks import IN_NAME
from skillyard.index.searcher import Searcher
from skillyard.ranking.hybrid.constants import FEW_TERMS, HALF, Calibration
from skillyard.ranking.hybrid.evidence import Evidence, Found
from skillyard.ranking.hybrid.question import Question
from skillyard.summing import added
from skillyard.value import NamedTuple

__all__ = ["Facts", "facts", "in_name", "logit", "probability"]


class Facts(NamedTuple):
    """What is looked at, of the best skill unless said otherwise.

    The names are those of :class:`Calibration`. Shares are of the request's weight, 0..1. That a
    request says *much* that the skill holds tells more than that it holds all of it: so some are
    absolute, as logarithms of one plus the figure.
    """

    covered: float
    """Share of the terms that the skill holds."""
    best_words: float
    """The best score by words, of the most that the request could give."""
    best_meaning: float
    """The best cosine."""
    named_missing: float
    """Share of named things that the skill lacks."""
    rarest_missing: float
    """Weight of the heaviest missing term, of the heaviest of all."""
    terms: float
    """Logarithm of the number of terms."""
    asked: float
    """Logarithm of the weight of the request."""
    held: float
    """Logarithm of the weight of the terms that the skill holds."""
    strength: float
    """Logarithm of its score by words."""
    heaviest: float
    """What its best single term gives."""
    phrase: float
    """1 when a name or trigger phrase of it stands in the request."""


def facts(best: int, evidence: Evidence, found: Found, asked: Question, lib: Searcher) -> Facts:
    """Return the facts about the best skill."""
    terms = asked.terms
    total = added([term.weight for term in terms])
    share = 1.0 / total if total else 0.0
    impacts = lib.impacts(best, [term.text for term in terms])
    missing = [term for term, impact in zip(terms, impacts, strict=True) if not impact]
    lacking = added([term.weight for term in missing])
    named = added([term.weight for term in missing if term.text in asked.named])
    most = terms[0].weight if terms else 1.0
    return Facts(
        covered=1.0 - lacking * share if terms else 0.0,
        best_words=found.words[0] * share,
        best_meaning=found.meaning[0],
        named_missing=named * share,
        rarest_missing=missing[0].weight / most if missing else 0.0,
        terms=log(1.0 + len(terms)),
        asked=log(1.0 + total),
        held=log(1.0 + max(0.0, total - lacking)),
        strength=log(1.0 + evidence.words),
        heaviest=max(
            [term.weight * impact for term, impact in zip(terms, impacts, strict=True)],
            default=0.0,
        ),
        phrase=1.0 if evidence.phrases else 0.0,
    )


def in_name(best: int, asked: Question, searcher: Searcher) -> bool:
    """True when the request is a few words, all of the skill's name, and not mere talk."""
    terms = [term.text for term in asked.terms]
    if not 0 < len(terms) <= FEW_TERMS or asked.talk:
        return False
    return all(searcher.impacts(best, [IN_NAME + term for term in terms]))


def logit(found: Facts, evidence: Evidence, calibration: Calibration, *, named: bool) -> float:
    """Return the log-odds that the best skill fits.

    A matching file adds to them; a skill that is called by name, and the like, has at least what
    the rule says. ``named`` is :func:`in_name`.
    """
    total = calibration.bias
    for name, value in zip(Facts._fields, found, strict=True):
        total += getattr(calibration, name) * value
    if evidence.files:
        said = total if found.terms else calibration.file_alone
        total = said + calibration.file * evidence.files
    if named:
        total = max(total, calibration.named)
    if evidence.share >= HALF:
        total = max(total, calibration.phrased)
    if evidence.called:
        total = max(total, calibration.called)
    return total


LEAST = -700.0
"""Log-odds below which no exponential can be taken."""


def probability(log_odds: float) -> float:
    """Return the probability of log-odds; never quite 0, so that order is kept to the end."""
    return 1.0 / (1.0 + exp(-log_odds if log_odds > LEAST else -LEAST))
