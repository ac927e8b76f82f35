"""One decision: the content of a log line and of a span."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.logs import Decision, LoggedMatch, LoggedPolicy, LoggedQuery
from skillyard.hosts.decisions.files import moment

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.engine.ranking.match import Match
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.selection import Selection, SelectionPolicy

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
    note: str = "",
    caller: str = "",
) -> Decision:
    """Return one decision. ``bounds`` are the score floor and the number of skills that applied.

    With ``text`` the entry contains the request. Without it the entry contains only a digest, and
    no text of the user.
    """
    return Decision(
        time=moment(time.time() if now is None else now),
        use=use,
        caller=caller,
        query=_query(query, text),
        scorer=selection.scorer,
        policy=LoggedPolicy(
            min_score=bounds[0],
            top_k=bounds[1],
            include_tags=policy.include_tags,
            exclude_tags=policy.exclude_tags,
            fallback_tag=policy.fallback_tag,
        ),
        selected=tuple(map(_match, selection.selected)),
        runners_up=tuple(map(_match, selection.rejected[:RUNNERS_UP])),
        considered=selection.considered,
        abstained=selection.abstained,
        fallback=selection.fallback,
        catalog=catalog_digest(catalog),
        note=note or None,
    )


def _query(query: Query, text: bool) -> LoggedQuery:
    return LoggedQuery(
        digest=text_digest(query.text),
        text=query.text[:MAX_TEXT_CHARS] if text else None,
        files=query.files if text else None,
        recent_activity=query.recent_activity if text else None,
        cut=text and len(query.text) > MAX_TEXT_CHARS,
        include_tags=query.include_tags,
        exclude_tags=query.exclude_tags,
        include_references=query.include_references,
        package_scope=query.package_scope,
        tools=query.tools,
    )


def _match(match: Match) -> LoggedMatch:
    skill = match.skill
    return LoggedMatch(
        id=skill.id,
        slug=skill.slug,
        name=skill.name,
        hash=skill.hash,
        score=round(match.score, _DIGITS),
        level=match.level,
        signals={label: round(value, _DIGITS) for label, value in match.signals.items()},
        rejected_because=match.rejected_because,
    )
