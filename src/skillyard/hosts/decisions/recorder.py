"""Records a decision as a line of the log and as a span."""

from __future__ import annotations

import sys
from json import dumps
from typing import TYPE_CHECKING

from skillyard.base.errors import SkillIoError
from skillyard.base.shapes.encoder import encode
from skillyard.hosts.decisions import log_section
from skillyard.hosts.decisions.entry import entry
from skillyard.hosts.decisions.files import append_line

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.engine.ranking.query import Query
    from skillyard.engine.selection import Selection, SelectionPolicy


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
            from skillyard.hosts.decisions.spans import emit

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
