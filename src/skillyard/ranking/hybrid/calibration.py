"""From points to a probability: whether any skill fits, and how far behind this one is.

Fused points order skills but say nothing of whether the best one is any good: they are stretched
for each request. So the level comes from facts that are not stretched: how much of the request
the best skill covers, how near it lies, which named and which strange things it lacks, and whether
words and meaning agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log

from skillyard.index.marks import IN_NAME
from skillyard.index.searcher import Searcher
from skillyard.index.table import Table
from skillyard.ranking.hybrid.constants import FEW_TERMS, HALF, Calibration
from skillyard.ranking.hybrid.evidence import WHOLE, Evidence, Found
from skillyard.ranking.hybrid.question import BACKGROUND, Question, Term
from skillyard.value import NamedTuple

__all__ = ["Facts", "facts", "in_name", "logit", "probabilities", "probability"]


RARE = 5.8
"""The rarity of a term that three skills in a thousand hold: a skill that lacks what is rarer than
that may be about something else."""
HARDLY = 0.00075
"""The share of public skills below which a term is unheard of among them."""
MANY = 8
"""Terms that are unheard of: a long request may have that many, and more say no more."""
USUAL = 2.0
"""Names in a thousand: a term that stands in more is usual, and no more is learned from them."""
LEAD = 1.8
"""The logarithm of the lead by words that requests without a fitting skill have now and then."""


class Facts(NamedTuple):
    """What is looked at, of the best skill unless said otherwise.

    The names are those of :class:`Calibration`. Shares are of the request's weight, 0..1. That a
    request says *much* that the skill holds tells more than that it holds all of it: so some are
    absolute, as logarithms of one plus the figure.
    """

    covered: float
    """Share of the terms that the skill holds."""
    best_meaning: float
    """The best cosine with the request alone."""
    named_missing: float
    """Share of named things that the skill lacks."""
    terms: float
    """Logarithm of the number of terms."""
    strength: float
    """Logarithm of its score by words."""
    plain: float
    """The same by rarity alone, whatever the terms say in requests."""
    heaviest: float
    """What its best single term gives."""
    strange: float
    """By how much the rarest missing term is rarer than :data:`RARE`. Here and in the next, in
    English requests only: in others every word may be rare."""
    strangers: float
    """Logarithm of the number of missing terms that hardly any public skill holds: the first one
    counts nothing, more than :data:`MANY` no more."""
    in_names: float
    """How usual the terms are in names of skills, of any skill: the mean, by weight, of the
    logarithm of one plus how many names in a thousand hold the term, :data:`USUAL` at most. 0 for
    mere talk."""
    lacking: float
    """The cosine of the missing terms alone: words that it lacks but that are near to it."""
    lead: float
    """How far the logarithm of the best score's lead by words goes beyond :data:`LEAD`."""
    agreed: float
    """Share of the best by words that are among the best by meaning too (:attr:`Found.agreed`)."""


def facts(
    best: int, evidence: Evidence, found: Found, asked: Question, lib: Searcher, table: Table
) -> Facts:
    """Return the facts about the best skill."""
    terms = asked.terms
    impacts = lib.impacts(best, [term.text for term in terms])
    missing = []
    total = lacking = named = plain = heaviest = 0.0  # sums in the order of the terms
    for term, impact in zip(terms, impacts, strict=True):
        weight = term.weight
        total += weight
        if impact:
            plain += term.rarity * impact
            heaviest = max(heaviest, weight * impact)
        else:
            missing.append(term)
            lacking += weight
            if term.text in asked.named:
                named += weight
    share = 1.0 / total if total else 0.0
    plainly = missing if asked.english else ()
    unheard = sum([term.share < HARDLY for term in plainly])
    return Facts(
        covered=1.0 - lacking * share if terms else 0.0,
        best_meaning=found.nearest,
        named_missing=named * share,
        terms=log(1.0 + len(terms)),
        strength=log(1.0 + evidence.words),
        plain=log(1.0 + plain),
        heaviest=heaviest,
        strange=max([0.0, *(term.rarity - RARE for term in plainly)]),
        strangers=log(min(unheard, MANY)) if unheard else 0.0,
        in_names=0.0 if asked.talk else _in_names(terms, lib) * share,
        lacking=_lacking(best, missing, asked, lib, table),
        lead=max(0.0, log(1.0 + found.lead) - LEAD),
        agreed=found.agreed,
    )


def _in_names(terms: Sequence[Term], lib: Searcher) -> float:
    """Return Σ weight · log(1 + names in a thousand that hold the term, USUAL at most)."""
    scale = 1_000.0 / (lib.size + BACKGROUND)
    total = 0.0
    for term in terms:
        if term.names:
            total += term.weight * log(1.0 + min(USUAL, scale * term.names))
    return total


def _lacking(
    best: int, missing: Sequence[Term], asked: Question, lib: Searcher, table: Table
) -> float:
    """Return the cosine of the skill and what the request says beside it; 0 for nothing."""
    texts = {term.text for term in missing}
    heard = [pair for pair in asked.heard if pair[0] in texts]
    vector = table.vector([(1.0, heard)], query=True) if heard else b""
    return lib.dots(vector, [best])[0] / WHOLE if vector else 0.0


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


def probabilities(
    totals: Iterable[tuple[int, float]], best: float, log_odds: float, gap: float
) -> list[tuple[int, float]]:
    """Return (ordinal, probability) for the (ordinal, points) above 0, in their order.

    ``best`` are the points of the best skill, ``log_odds`` its own, and ``gap`` is what one point
    behind it costs.
    """
    most = probability(log_odds)
    return [
        (ordinal, most)
        if total >= best
        else (ordinal, 1.0 / (1.0 + exp(-odds if odds > LEAST else -LEAST)))
        for ordinal, total in totals
        if total > 0.0
        for odds in (log_odds - gap * (best - total),)
    ]
