"""The numbers of ``hybrid``, in one place. Where they come from: ``training/README.md``."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "CALIBRATION",
    "FUSION",
    "HALF_OF_QUERY",
    "Calibration",
    "Features",
    "Fusion",
    "QueryFeatures",
]


class Fusion(NamedTuple):
    """What each kind of evidence counts in the points of a skill.

    Points order the skills of one request. Scores are mixed, not ranks, each stretched over the
    best hundred of its list (spec/retrieval.md §4.4).
    """

    depth: int = 100
    """The place in a list whose score counts as nothing."""
    words: float = 0.60
    meaning: float = 0.40
    called: float = 1.0
    """``@name`` or ``/name`` in the request: as much as being the best in everything else."""
    phrase: float = 0.10
    """A name or trigger phrase of two words and more that stands in the request."""
    files: float = 0.80
    """A file of the request that a skill's pattern matches, times the pattern's weight (0.15 for
    a generic one to 0.35 for an exact name, spec/confidence.md)."""
    feedback: float = 0.50
    """In a long request, what the directions of the best skills by words count in the direction
    that is looked in, beside its own (:mod:`.feedback`)."""
    followed: int = 5
    """How many of the best skills that are."""
    covered: int = 20
    """In a long request, how many of the best skills are asked how much of it they cover
    (:mod:`.coverage`)."""
    coverage: float = 0.9898
    """What the share of the request that a skill covers counts there."""
    length: float = 0.1412
    """What the logarithm of the skill's length counts against it there."""
    embedder: float = 0.25
    """What an embedder's cosine counts where there is one; words and meaning share the rest."""
    rerank: float = 0.20
    """What a reranker may add or take away."""
    prior: float = 0.01
    """Installs and curation: decides between equals, never against a better match."""
    avoid: float = 0.10
    """The share of the request that the skill says it is not for."""


FUSION = Fusion()


class QueryFeatures(NamedTuple):
    """What is known of the request and the library, whatever was found."""

    length: float = 0.0
    """Logarithm of the number of terms, less that of a request of middling length."""
    short: float = 0.0
    """By how much that logarithm stays below that of few terms."""
    long: float = 0.0
    """By how much it goes beyond that of many."""
    foreign: float = 0.0
    """1 where the request is in a language that the word list covers."""
    size: float = 0.0
    """Half the logarithm of the number of skills, less that of a library of middling size."""
    both: float = 0.0
    """Length times size."""


class Features(NamedTuple):
    """What is looked at, of the best skill unless said otherwise.

    Shares are of the request's weight, 0..1. What a term *gives* is its weight times its impact in
    the skill. That a request says *much* that the skill holds tells more than that it holds all of
    it: so some are absolute, as logarithms of one plus the figure.
    """

    plain: float = 0.0
    """Logarithm of what its terms give by rarity alone, whatever they say in requests."""
    rest: float = 0.0
    """Logarithm of what its terms give together, the heaviest one left out."""
    passage: float = 0.0
    """Logarithm of what the best run of ten terms gives: a long request may mention much, and what
    it is about stands in some place of it."""
    passage_share: float = 0.0
    """The most of a run of ten terms that the skill holds."""
    beyond: float = 0.0
    """How far its score by words goes beyond what a skill holds by chance, in standard deviations
    of that: worked out from how many skills, of the library and public ones, hold each term."""
    lead: float = 0.0
    """How far it goes beyond the best score that any other skill has, in the same unit."""
    meaning: float = 0.0
    """Its cosine with the request alone."""
    ahead: float = 0.0
    """How far that goes beyond the best cosine that any other candidate has."""
    unmatched_cosine: float = 0.0
    """The cosine of the missing terms alone: words that it lacks but that are near to it."""
    own_name: float = 0.0
    """Share of the terms that stand in its name."""
    in_names: float = 0.0
    """How usual the terms are in names of skills, of any skill: the mean, by weight, of the
    logarithm of one plus how many names in a thousand hold the term, two at most. 0 for mere
    talk."""
    named_missing: float = 0.0
    """Share of named things that the skill lacks."""
    out_of_vocabulary: float = 0.0
    """By how much the rarest missing term is rarer than one that three skills in a thousand hold.
    In English requests only: in others every word may be rare."""
    emphasis: float = 0.0
    """How much the terms say in requests, the mean by weight: little in vague ones."""


class Calibration(NamedTuple):
    """A logistic regression from what was seen to the probability that a skill fits.

    The first block is fitted by ``training/calibrate.py`` on requests with and without a fitting
    skill, of all lengths, over libraries of 1 to 10,476 skills; never on the development queries.
    What a fact counts depends on how long the request is and how large the library: ``counts``,
    and beside it ``by_length`` times the length and ``by_size`` times the size.
    """

    bias: float = -5.4640
    situation: QueryFeatures = QueryFeatures(
        length=-0.2926,
        short=-1.1728,
        long=-0.3444,
        foreign=-1.0795,
        size=-1.4681,
        both=-0.2802,
    )
    counts: Features = Features(
        plain=1.0280,
        rest=0.7988,
        passage=0.5337,
        passage_share=1.4209,
        beyond=-0.0641,
        lead=0.2038,
        meaning=5.3366,
        ahead=2.3331,
        unmatched_cosine=1.6125,
        own_name=-1.6403,
        in_names=-1.4094,
        named_missing=-2.7410,
        out_of_vocabulary=-0.3675,
        emphasis=-0.5465,
    )
    by_length: Features = Features(
        plain=0.0931,
        rest=-0.2606,
        passage=0.2916,
        passage_share=-0.5562,
        beyond=-0.0358,
        lead=0.0614,
        meaning=1.7376,
        ahead=0.6281,
        unmatched_cosine=-3.4146,
        own_name=-2.5912,
        in_names=-0.0824,
        named_missing=0.0492,
        out_of_vocabulary=0.1672,
        emphasis=-0.2865,
    )
    by_size: Features = Features(
        plain=0.4197,
        rest=0.2743,
        passage=-0.0976,
        passage_share=0.5916,
        beyond=0.0296,
        lead=-0.0325,
        meaning=-2.0380,
        ahead=-0.4745,
        unmatched_cosine=0.0100,
        own_name=-0.4840,
        in_names=0.4263,
        named_missing=-0.1578,
        out_of_vocabulary=-0.0160,
        emphasis=0.0302,
    )
    gap: float = 9.8670
    """What one point behind the best skill costs, in logits, where that has an even chance."""

    called: float = 4.0
    """Log-odds at least, of a skill that the request calls by name. A rule, not fitted."""
    talk: float = -2.0
    """Log-odds at most, when a request holds nothing but words that a conversation is kept going
    with: one of them may well be all of a name. A rule, not fitted."""
    one_word: float = -1.0
    """Added where a skill holds one word of several, and not in its name: as a rule enough for a
    question, not for a choice. A rule, not fitted."""
    phrased: float = 0.8
    """Log-odds at least, when a name or trigger phrase makes up half of the request. A rule."""
    file_alone: float = -1.3
    """With :attr:`file`, the log-odds where a file matches and the request says nothing else: an
    exact name (weight 0.35) is enough by itself, a generic pattern (0.15) is not. A rule."""
    file: float = 6.0
    """What the weight of the matching pattern adds, in words or alone. A rule."""


CALIBRATION = Calibration()

HALF_OF_QUERY = 0.5
"""Share of a request's words from which a phrase in it is the request."""
