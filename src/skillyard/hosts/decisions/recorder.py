"""Records a decision as a line of the log, and as a span for programs with OpenTelemetry's API."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from json import dumps
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import sha256
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.shapes.logs import Decision, LoggedMatch, LoggedPolicy, LoggedQuery
from skillyard.hosts.decisions import log_section
from skillyard.hosts.decisions.files import append_line, moment

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


def record(
    use: str,
    catalog: Catalog,
    query: Query,
    policy: SelectionPolicy,
    bounds: tuple[float, int],
    selection: Selection,
    *,
    started_ns: int | None = None,
    note: str = "",
    caller: str = "",
) -> None:
    """Record one selection. Never raises: a failing log must not fail the selection.

    ``use`` names the operation (``select``, ``inject``, ``hook``). ``bounds`` are the score floor
    and the number of skills that applied. ``started_ns`` is the start of the span, in nanoseconds
    since 1970. ``note`` is why another scorer ranked than the default one. ``caller`` is the caller
    whose view of a store a service answers from.
    """
    try:
        path, with_text = log_section()
        # With an index, which does not read the files, the paths, sizes and times of the files.
        summary = getattr(catalog, "summary", None)
        decision = from_attributes(
            Decision,
            selection,
            time=moment(time.time()),
            use=use,
            caller=caller,
            query=_query(query, with_text),
            policy=from_attributes(LoggedPolicy, policy, min_score=bounds[0], top_k=bounds[1]),
            selected=tuple(map(_match, selection.selected)),
            runners_up=tuple(map(_match, selection.rejected[:RUNNERS_UP])),
            catalog=f"walk:{summary.fingerprint}" if summary else f"sha256:{catalog.digest}",
            note=note or None,
        )
        if "opentelemetry.trace" in sys.modules:
            tracer = import_module("opentelemetry.trace").get_tracer("skillyard")
            values = _attributes(decision)
            tracer.start_span(f"skillyard.{use}", attributes=values, start_time=started_ns).end()
        if path:
            append_line(path, dumps(encode(decision), separators=(",", ":")))
    except Exception as error:  # noqa: BLE001 - a failing log must not fail the selection
        import logging

        what = error.strerror if isinstance(error, OSError) else type(error).__name__
        if isinstance(error, SkillIoError):  # of the configuration: the text is the user's own
            what = f"{error.path}: {error.message}"
        logging.getLogger("skillyard.hosts.decisions").warning(
            "a decision was not logged: %s", what
        )


def _query(query: Query, with_text: bool) -> LoggedQuery:
    """Return the request; without its text only a digest, and no text of the user."""
    digest = sha256(query.text.encode("utf-8", "surrogatepass")).hex()
    return from_attributes(
        LoggedQuery,
        query,
        digest=f"sha256:{digest}",
        text=query.text[:MAX_TEXT_CHARS] if with_text else None,
        files=query.files if with_text else None,
        recent_activity=query.recent_activity if with_text else None,
        cut=with_text and len(query.text) > MAX_TEXT_CHARS,
    )


def _match(match: Match) -> LoggedMatch:
    return from_attributes(
        LoggedMatch,
        match.skill,
        score=round(match.score, _DIGITS),
        level=match.level,
        signals={label: round(value, _DIGITS) for label, value in match.signals.items()},
        rejected_because=match.rejected_because,
    )


def _attributes(decision: Decision) -> dict[str, Any]:
    values: dict[str, Any] = {
        "query.digest": decision.query.digest,
        "query.text": decision.query.text,
        "caller": decision.caller or None,
        "scorer": decision.scorer,
        "considered": decision.considered,
        "abstained": decision.abstained,
        "fallback": decision.fallback,
        "catalog": decision.catalog,
        "min_score": decision.policy.min_score,
        "selected": [match.id for match in decision.selected],
        "runners_up": [match.id for match in decision.runners_up],
    }
    for best in decision.selected[:1]:
        values |= {"skill.id": best.id, "skill.hash": best.hash, "skill.score": best.score}
        values |= {f"signal.{label}": value for label, value in best.signals.items()}
    return {f"skillyard.{name}": value for name, value in values.items() if value is not None}
