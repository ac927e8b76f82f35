"""The numbers of ``hybrid``, in one place. Where they come from: ``training/README.md``."""

from __future__ import annotations

from skillyard.value import NamedTuple

__all__ = ["CALIBRATION", "FEW_TERMS", "FUSION", "HALF", "Calibration", "Fusion"]


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


class Calibration(NamedTuple):
    """A logistic regression from what was seen to the probability that a skill fits.

    The first block is fitted by ``training/calibrate.py`` on requests with and without a fitting
    skill, over libraries of several sizes; never on the development queries.
    """

    bias: float = -8.4955
    covered: float = 1.3743
    best_meaning: float = 1.3696
    named_missing: float = -3.1092
    terms: float = 1.1976
    strength: float = 1.4577
    plain: float = 1.0294
    heaviest: float = -0.2127
    strange: float = -0.3082
    strangers: float = -1.0324
    in_names: float = 2.8095
    lacking: float = 3.3563
    lead: float = 1.0813
    agreed: float = 0.9752
    gap: float = 9.0373
    """What one point behind the best skill costs, in logits."""

    called: float = 4.0
    """Log-odds at least, of a skill that the request calls by name. A rule, not fitted."""
    named: float = 0.4
    """Log-odds at least, when a request of a few words holds nothing but words of the skill's name:
    too short to be judged by how much it says. A rule, not fitted."""
    phrased: float = 0.8
    """Log-odds at least, when a name or trigger phrase makes up half of the request. A rule."""
    file_alone: float = -1.5
    """With :attr:`file`, the log-odds where a file matches and the request says nothing else: an
    exact name (weight 0.35) is enough by itself, a generic pattern (0.15) is not. A rule."""
    file: float = 6.0
    """What the weight of the matching pattern adds, in words or alone. A rule."""


CALIBRATION = Calibration()

FEW_TERMS = 3
"""Terms of a request that may be nothing but words of a name."""
HALF = 0.5
"""Share of a request's words from which a phrase in it is the request."""
