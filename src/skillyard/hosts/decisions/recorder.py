"""Records a decision as a line of the log, and as a span for programs with OpenTelemetry's API."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from json import dumps
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import SkillIoError
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.encoder import encode
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


def emit(decision: Decision, started_ns: int | None = None) -> None:
    """Emit one span for a decision. Does nothing without a tracer provider."""
    trace = import_module("opentelemetry.trace")
    tracer = trace.get_tracer("skillyard")
    span = tracer.start_span(
        f"skillyard.{decision.use}", attributes=attributes(decision), start_time=started_ns
    )
    span.end()


def attributes(decision: Decision) -> dict[str, Any]:
    """Return the attributes of a decision's span. None of the values is None."""
    values: dict[str, Any] = {
        "skillyard.query.digest": decision.query.digest,
        "skillyard.scorer": decision.scorer,
        "skillyard.considered": decision.considered,
        "skillyard.abstained": decision.abstained,
        "skillyard.fallback": decision.fallback,
        "skillyard.catalog": decision.catalog,
        "skillyard.min_score": decision.policy.min_score,
        "skillyard.selected": [match.id for match in decision.selected],
        "skillyard.runners_up": [match.id for match in decision.runners_up],
    }
    if decision.caller:
        values["skillyard.caller"] = decision.caller
    if decision.query.text is not None:
        values["skillyard.query.text"] = decision.query.text
    if decision.selected:
        best = decision.selected[0]
        values["skillyard.skill.id"] = best.id
        values["skillyard.skill.hash"] = best.hash
        values["skillyard.skill.score"] = best.score
        for label, value in best.signals.items():
            values[f"skillyard.signal.{label}"] = value
    return values


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
        path, text = log_section()
        decision = entry(
            *(use, catalog, query, policy, bounds, selection), text=text, note=note, caller=caller
        )
        if "opentelemetry.trace" in sys.modules:
            emit(decision, started_ns)
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
