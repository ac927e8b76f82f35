"""The reason of a score in one line."""

from __future__ import annotations

from collections.abc import Mapping

from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.ranking.hybrid.fusion import Evidence
from skillyard.engine.ranking.hybrid.query_analysis import AnalysedQuery

MAX_NAMED_TERMS = 6
"""Terms listed in a reason."""
MIN_NAMED_COSINE = 0.2
"""Smallest cosine that a reason mentions."""


def reason(
    analysed: AnalysedQuery,
    evidence: Evidence,
    searcher: SegmentSearcher,
    ordinal: int,
    spelled: Mapping[str, str],
    lifted_by: str = "",
) -> str:
    """Return the reason in one line: matched words, phrases, meaning, embedder, files.

    ``spelled`` maps terms to their written forms in the request. ``lifted_by`` is the name of the
    embedder without which the skill would rank lower; empty when it would not.
    """
    if ordinal < 0:
        return ""
    impacts = searcher.impacts(ordinal, [term.text for term in analysed.terms])
    hits = [
        (term.weight * impact, term.text)
        for term, impact in zip(analysed.terms, impacts, strict=True)
        if impact
    ]
    hits.sort(key=lambda hit: (-hit[0], hit[1]))
    parts = []
    if hits:
        more = f" and {len(hits) - MAX_NAMED_TERMS} more" if len(hits) > MAX_NAMED_TERMS else ""
        words = ", ".join(spelled.get(text, text) for _, text in hits[:MAX_NAMED_TERMS])
        parts.append(f"words: {words}{more}")
    if evidence.forbidden:
        parts.append("excluded by the request")
    if evidence.called:
        parts.append("called by name")
    if evidence.phrases:
        parts.append("phrase: " + ", ".join(evidence.phrases))
    if evidence.meaning >= MIN_NAMED_COSINE:
        parts.append(f"meaning: {evidence.meaning:.2f}")
    if lifted_by and evidence.embedded >= MIN_NAMED_COSINE:
        parts.append(f"meaning by {lifted_by}: {evidence.embedded:.2f}")
    if evidence.files:
        parts.append("files: a pattern matches")
    if evidence.feedback:
        word = "right" if evidence.feedback > 0 else "wrong"
        parts.append(f"feedback: {word} for a similar request")
    return " | ".join(parts)
