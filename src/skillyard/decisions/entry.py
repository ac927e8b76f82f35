"""One decision as a JSON-compatible value: the content of a log line and of a span."""

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

__all__ = ["MAX_TEXT_CHARS", "RUNNERS_UP", "catalog_digest", "entry", "moment", "text_digest"]

RUNNERS_UP = 5
"""The number of rejected skills that an entry lists."""
MAX_TEXT_CHARS = 32_768
"""Characters of a request that are logged. A longer request is cut and marked."""
_DIGITS = 6


def text_digest(text: str) -> str:
    """Return ``sha256:…`` of a text's UTF-8."""
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hex()}"


def catalog_digest(catalog: Catalog) -> str:
    """Return an identifier of the state of a library.

    ``sha256:…`` is a digest of the skills. With an index, which does not read the files, it is
    ``walk:…``, a digest of the paths, sizes and times of the files.
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
    """Return one decision. ``bounds`` are the score floor and the number of skills that applied.

    With ``text`` the entry contains the request. Without it the entry contains only a digest, and
    no text of the user.
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
    """Return Unix seconds as an RFC 3339 time in UTC, with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{whole}.{int(now % 1 * 1000):03d}Z"


def _query(query: Query, text: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"digest": text_digest(query.text)}
    if text:
        fields["text"] = query.text[:MAX_TEXT_CHARS]
        fields["files"] = list(query.files)
        fields["recent_activity"] = list(query.recent_activity)
        if len(query.text) > MAX_TEXT_CHARS:
            fields["cut"] = True
    fields["include_tags"] = list(query.include_tags)
    fields["exclude_tags"] = list(query.exclude_tags)
    fields["include_references"] = query.include_references
    return fields


def _matches(matches: Iterable[Match]) -> list[dict[str, Any]]:
    """Return the logged fields of each match. The reason is left out: it repeats the request."""
    entries = []
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
        entries.append(shape)
    return entries
