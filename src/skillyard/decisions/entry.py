"""One decision as a value that JSON can hold: the shape of a line and the attributes of a span."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from skillyard.io.sha256 import sha256

if TYPE_CHECKING:
    from skillyard.catalog import Catalog
    from skillyard.ranking.match import Match
    from skillyard.ranking.query import Query
    from skillyard.selection import Selection, SelectionPolicy

__all__ = ["RUNNERS_UP", "TEXT_KEPT", "catalog_digest", "entry", "moment", "text_digest"]

RUNNERS_UP = 5
"""How many of the skills that were not chosen an entry names."""
TEXT_KEPT = 32_768
"""Characters of a request that are kept; a longer one is marked as cut."""
_DIGITS = 6


def text_digest(text: str) -> str:
    """Return ``sha256:…`` of a text's UTF-8."""
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hex()}"


def catalog_digest(catalog: Catalog) -> str:
    """Return what tells one state of a library from another.

    ``sha256:…`` over the skills themselves; where an index answered, which has not read them,
    ``walk:…`` over the paths, sizes and times of their files.
    """
    summary = getattr(catalog, "summary", None)
    if summary is not None:
        return f"walk:{summary.fingerprint}"
    return f"sha256:{catalog.digest}"


def entry(
    use: str,
    catalog: Catalog,
    query: Query,
    policy: SelectionPolicy,
    bounds: tuple[float, int],
    selection: Selection,
    *,
    text: bool = False,
    now: float | None = None,
) -> dict[str, Any]:
    """Return one decision; ``bounds`` are the floor and the number that were applied.

    With ``text`` it holds the request itself, without it only a digest: then nothing in it is the
    user's words.
    """
    return {
        "schema": "skillyard.decision/1",
        "time": moment(time.time() if now is None else now),
        "use": use,
        "query": _query(query, text),
        "scorer": selection.scorer,
        "policy": {
            "min_score": bounds[0],
            "top_k": bounds[1],
            "include_tags": list(policy.include_tags),
            "exclude_tags": list(policy.exclude_tags),
            "fallback_tag": policy.fallback_tag,
        },
        "selected": _matches(selection.selected),
        "runners_up": _matches(selection.rejected[:RUNNERS_UP]),
        "considered": selection.considered,
        "abstained": selection.abstained,
        "fallback": selection.fallback,
        "catalog": catalog_digest(catalog),
    }


def moment(now: float) -> str:
    """Return a time in UTC as RFC 3339 writes it, with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{whole}.{int(now % 1 * 1000):03d}Z"


def _query(query: Query, text: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"digest": text_digest(query.text)}
    if text:
        found["text"] = query.text[:TEXT_KEPT]
        found["files"] = list(query.files)
        found["recent_activity"] = list(query.recent_activity)
        if len(query.text) > TEXT_KEPT:
            found["cut"] = True
    found["include_tags"] = list(query.include_tags)
    found["exclude_tags"] = list(query.exclude_tags)
    found["include_references"] = query.include_references
    return found


def _matches(matches: Iterable[Match]) -> list[dict[str, Any]]:
    """Return what is logged of each match: no reason, which repeats words of the request."""
    listed = []
    for match in matches:
        skill = match.skill
        shape = {
            "id": skill.id,
            "slug": skill.slug,
            "name": skill.name,
            "hash": skill.hash,
            "score": round(match.score, _DIGITS),
            "level": match.level,
            "signals": {label: round(value, _DIGITS) for label, value in match.signals.items()},
        }
        if match.rejected_because:
            shape["rejected_because"] = match.rejected_because
        listed.append(shape)
    return listed
