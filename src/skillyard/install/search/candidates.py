"""Merge the records that several sources have of one skill, without losing information."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.install.sources.protocol import Hit


class SearchCandidate(NamedTuple):
    """One skill with the record of each source."""

    hit: Hit
    """The merged metadata of all records."""
    hits: tuple[Hit, ...]
    """The records, the preferred one first. Each is fetched by the source that returned it."""

    @property
    def found_by(self) -> tuple[str, ...]:
        """The names of the sources that list the skill, in order of preference."""
        return tuple(dict.fromkeys(hit.found_by for hit in self.hits))


def merge_hits(hits_by_source: Iterable[Sequence[Hit]]) -> list[SearchCandidate]:
    """Return one candidate for each source and id, in order of first appearance.

    A record with an install count is preferred; the curated mark, the description, the category and
    the registered path come from any record that has them (spec/skyll.md §2.3, row 19).
    """
    by_key: dict[str, list[Hit]] = {}
    for hits in hits_by_source:
        for hit in hits:
            by_key.setdefault(hit.key, []).append(hit)
    return [_one(hits) for hits in by_key.values()]


def _one(hits: list[Hit]) -> SearchCandidate:
    if len(hits) == 1:
        return SearchCandidate(hits[0], (hits[0],))
    ordered = sorted(hits, key=_preference)
    best = ordered[0]
    return SearchCandidate(
        best._replace(
            name=_first(hit.name for hit in ordered),
            description=_first(hit.description for hit in ordered),
            category=_first(hit.category for hit in ordered),
            install_count=max(hit.install_count for hit in ordered),
            curated=any(hit.curated for hit in ordered),
            path=next((hit.path for hit in ordered if hit.path is not None), None),
        ),
        tuple(ordered),
    )


def _preference(hit: Hit) -> tuple[bool, bool]:
    return (hit.skill is None, not hit.install_count)


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")
