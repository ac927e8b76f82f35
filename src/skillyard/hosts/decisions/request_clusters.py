"""Groups requests that ask for the same, by their rare terms and token vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from skillyard.engine.ranking.hybrid.query_analysis import written_forms
from skillyard.engine.ranking.hybrid.user_feedback import RequestVector, request_vector, similarity

MAX_REQUESTS = 5_000
"""The most frequent texts, which are grouped. That many take a few seconds."""
MIN_SIMILARITY = 0.40
"""Cosine from which two requests are in one group. Of 7,118 pairs of development requests for
different skills, 5 reach it; of the pairs of requests by other hands for one skill, a third."""
KEY_TERMS = 8
"""The heaviest terms of a request, of which a group must contain one. They keep the comparisons
few: a group is not compared with every request."""
LABEL_TERMS = 4
"""Terms that describe a group."""


class RequestCluster:
    """Requests that ask for the same."""

    def __init__(self, leader: RequestVector) -> None:
        self.leader = leader
        """The first request, which the others resemble."""
        self.requests: list[str] = []
        """Most frequent first."""
        self.count = 0
        """How often the requests were made."""
        self._shared: Counter[str] = Counter()

    def add(self, text: str, vector: RequestVector, count: int) -> None:
        """Add a request that was made so often."""
        if self.requests:
            self._shared.update(term for term in vector.terms if term in self.leader.terms)
        self.requests.append(text)
        self.count += count

    def label(self) -> tuple[str, ...]:
        """Return the words of most weight that the first request shares, as it writes them."""
        weights = self.leader.terms
        terms = sorted(
            weights, key=lambda term: (-self._shared[term] * weights[term], -weights[term])
        )
        written = written_forms(self.requests[0])
        return tuple(written.get(term, term) for term in terms[:LABEL_TERMS])


def cluster_requests(counts: Mapping[str, int]) -> tuple[list[RequestCluster], int]:
    """Return the groups, most frequent first, and the number of requests that ask for nothing.

    ``counts`` is how often each text was requested. Each request joins the most similar group, or
    starts one (leader clustering), the most frequent requests first; so the result depends on the
    counts alone. A request of small talk alone is in no group.
    """
    clusters: list[RequestCluster] = []
    by_term: dict[str, list[int]] = {}
    small_talk = 0
    frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for text, count in frequent[:MAX_REQUESTS]:
        vector = request_vector(text)
        if not vector.terms:
            small_talk += count
            continue
        keys = list(vector.terms)[:KEY_TERMS]
        near = sorted({place for term in keys for place in by_term.get(term, ())})
        scored = [(similarity(vector, clusters[place].leader), -place) for place in near]
        best, place = max(scored, default=(0.0, 0))
        if best >= MIN_SIMILARITY:
            cluster = clusters[-place]
        else:
            cluster = RequestCluster(vector)
            for term in keys:
                by_term.setdefault(term, []).append(len(clusters))
            clusters.append(cluster)
        cluster.add(text, vector, count)
    clusters.sort(key=lambda cluster: (-cluster.count, cluster.requests[0]))
    return clusters, small_talk
