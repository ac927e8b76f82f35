"""The constants of ``hybrid``. ``training/README.md`` describes how they were obtained."""

from math import log
from typing import NamedTuple

RELIABILITY = 0.8
"""The assumed share of judgements that are right."""
FEEDBACK_LOG_ODDS = log(RELIABILITY / (1.0 - RELIABILITY))
"""Log-odds of one judgement about the same request: its likelihood ratio, log(4) = 1.39."""
FEEDBACK_POINTS = 0.198
"""Points of the same judgement. ``Calibration.gap`` makes 1.39 log-odds of them, so a judgement
counts the same for the best skill and for one behind it."""
FORBIDDEN_POINTS = 10.0
"""More points than any evidence adds up to: a skill that the request excludes has no score."""


class Fusion(NamedTuple):
    """The weight of each kind of evidence in the points of a skill.

    Points order the skills of one request. Scores are fused, not ranks. Each score is rescaled to
    0..1 over the best hundred of its list (spec/retrieval.md §4.4).
    """

    depth: int = 100
    """The rank whose score is rescaled to 0."""
    words: float = 0.60
    meaning: float = 0.40
    called: float = 1.0
    """``@name`` or ``/name`` in the request: equal to the best word score and cosine together."""
    phrase: float = 0.10
    """A name or trigger phrase of two or more words that occurs in the request."""
    quoted: float = 3.0
    """A phrase that the description quotes, times the square of its share of the request."""
    files: float = 0.80
    """A file of the request that a skill's pattern matches, times the pattern's weight (0.15 for
    a generic one to 0.35 for an exact name, spec/confidence.md)."""
    feedback: float = 0.50
    """Weight of the best lexical matches in the query vector of a long request
    (:mod:`.retrieval`)."""
    followed: int = 5
    """Number of best matches used for feedback."""
    covered: int = 20
    """Number of best skills whose coverage of a long request is computed (:mod:`.fusion`)."""
    coverage: float = 1.784
    """Weight of the covered share of a long request."""
    nearness: float = 0.562
    """Weight of its cosine with the skill."""
    length: float = 0.198
    """Penalty for the logarithm of the body length."""
    ordered: int = 20
    """Number of best skills of a shorter request that are ordered once more (:mod:`.fusion`)."""
    share: float = 1.039
    """Weight of the share of the request that a skill contains."""
    names: float = 0.807
    """Penalty for the share of it in names that the skill does not contain."""
    cosine: float = 0.766
    """Weight of the cosine of the request and the skill."""
    embedder: float = 0.25
    """Weight of the cosine of an embedder that has no weights of its own; words and meaning share
    the rest."""
    prior: float = 0.01
    """Popularity: small enough to decide only between equal matches."""
    avoid: float = 0.60
    """Penalty for the share of the request that the skill says it is not for."""


FUSION = Fusion()


class QueryFeatures(NamedTuple):
    """Features of the request and the library, independent of the candidates."""

    length: float = 0.0
    """log(1 + number of terms), relative to a request of average length."""
    short: float = 0.0
    """Amount by which that logarithm is below the bound for short requests."""
    long: float = 0.0
    """Amount by which it is above the bound for long requests."""
    foreign: float = 0.0
    """1 for a request in a language of the word list other than English."""
    size: float = 0.0
    """Half of log(1 + number of skills), relative to a library of average size."""
    both: float = 0.0
    """Length times size."""


class Features(NamedTuple):
    """Features of the best skill.

    Shares are fractions of the request's weight, 0..1. The *score* of a term is its weight times
    its impact in the skill. Some features are absolute: log(1 + score).
    """

    plain: float = 0.0
    """log(1 + Σ rarity · impact) of the matched terms, without emphasis."""
    rest: float = 0.0
    """log(1 + score of all matched terms except the highest one)."""
    passage: float = 0.0
    """log(1 + score of the best run of ten terms)."""
    passage_share: float = 0.0
    """Highest matched share of a run of ten terms."""
    beyond: float = 0.0
    """BM25F score above the expected score of a random skill, in standard deviations. Both are
    computed from the document frequencies of the terms."""
    lead: float = 0.0
    """BM25F score above the best other candidate, in the same unit."""
    meaning: float = 0.0
    """Its cosine with the request alone."""
    ahead: float = 0.0
    """Cosine above the best other candidate."""
    unmatched_cosine: float = 0.0
    """Cosine of the skill with the unmatched terms of the request."""
    own_name: float = 0.0
    """Share of the terms that are in its name."""
    in_names: float = 0.0
    """How common the terms are in names of skills: the weighted mean of log(1 + names per
    thousand that contain the term), capped at two names. 0 for small talk."""
    named_missing: float = 0.0
    """Share of unmatched terms that look like names."""
    out_of_vocabulary: float = 0.0
    """Rarity of the rarest unmatched term above that of a term in three skills per thousand. 0 for
    requests that are not in English, where every word may be rare."""
    emphasis: float = 0.0
    """Weighted mean emphasis of the terms; low for vague requests."""


class Calibration(NamedTuple):
    """A logistic regression for the probability that the best skill fits (Platt scaling).

    ``training/calibrate.py`` fits the first block on requests of all lengths with and without a
    fitting skill, over libraries of 1 to 10,476 skills, and never on the development queries. The
    weight of a feature is ``counts + by_length · length + by_size · size``.
    """

    bias: float = -5.2769
    situation: QueryFeatures = QueryFeatures(
        length=-0.4394,
        short=-1.2492,
        long=-0.4893,
        foreign=-1.0923,
        size=-1.2504,
        both=-0.3378,
    )
    counts: Features = Features(
        plain=0.8918,
        rest=0.8411,
        passage=0.5403,
        passage_share=1.3413,
        beyond=-0.0487,
        lead=0.2052,
        meaning=5.2757,
        ahead=2.0024,
        unmatched_cosine=1.7219,
        own_name=-1.7221,
        in_names=-1.4384,
        named_missing=-2.7223,
        out_of_vocabulary=-0.3513,
        emphasis=-0.5448,
    )
    by_length: Features = Features(
        plain=0.0651,
        rest=-0.2161,
        passage=0.3002,
        passage_share=-0.4823,
        beyond=-0.0352,
        lead=0.0707,
        meaning=1.7330,
        ahead=0.5373,
        unmatched_cosine=-3.0581,
        own_name=-2.6235,
        in_names=-0.1269,
        named_missing=0.1292,
        out_of_vocabulary=0.1818,
        emphasis=-0.2700,
    )
    by_size: Features = Features(
        plain=0.3677,
        rest=0.3049,
        passage=-0.0635,
        passage_share=0.4659,
        beyond=0.0244,
        lead=-0.0271,
        meaning=-2.3545,
        ahead=0.0456,
        unmatched_cosine=-0.1226,
        own_name=-0.4940,
        in_names=0.4736,
        named_missing=-0.0193,
        out_of_vocabulary=-0.0179,
        emphasis=0.0177,
    )
    gap: float = 6.9907
    """Log-odds lost per point behind a best skill that has an even chance."""

    called: float = 4.0
    """Minimum log-odds of a skill that the request calls by name. A rule, not fitted."""
    talk: float = -2.0
    """Maximum log-odds for small talk, whose words may equal a name. A rule, not fitted."""
    one_word: float = -1.0
    """Added when a skill matches one of several words, and not in its name. A rule, not fitted."""
    work: float = 2.5
    """Added for a skill about skills when the request works on a skill. A rule, not fitted."""
    avoid: float = -4.0
    """Per share of the request that the skill says it is not for. A rule, not fitted."""
    one_name: float = -2.0
    """Added when all that matches is one word of its name, which is written like any other word,
    and the rest of the request is about something else ("spark a discussion"). A rule."""
    phrased: float = 0.8
    """Minimum log-odds when a name or trigger phrase is half of the request. A rule."""
    quoted: float = 3.0
    """Added for a phrase that the description quotes, times the square of its share. A rule."""
    file_alone: float = -1.3
    """Log-odds base for a request without words and with a matching file. With :attr:`file`, an
    exact name (weight 0.35) is sufficient, and a generic pattern (0.15) is not. A rule."""
    file: float = 6.0
    """Log-odds per weight of the matching file pattern. A rule."""


CALIBRATION = Calibration()

SMALL_TALK = 0.9
"""From this probability of an embedder on a request is small talk (``training/README.md``)."""
HALF_OF_QUERY = 0.5
"""A phrase with at least this share of the request's words counts as the whole request."""
