"""What was decided and judged: the decision log, and the user's feedback.

The log says which skill was selected for a request, from which library, and the runners-up. It is
off by default. With ``file`` in the section ``[log]`` of the user's ``skillyard.toml``, one
line of JSON is appended to it for each selection. A program with a tracer provider of OpenTelemetry
gets a span. Requests are logged as digests; ``text = true`` logs their text. While the log is off a
selection imports this module only.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

from skillyard.base.configuration import FEEDBACK_FILE, read_section, state_folder
from skillyard.base.errors import SkillIoError

if TYPE_CHECKING:
    from skillyard.engine.ranking.query import Query


__all__ = ["LogSection", "is_enabled", "log_section", "with_feedback"]


class LogSection(NamedTuple):
    """The decision log."""

    file: Annotated[str, os.path.expanduser] = ""
    """The file to which each selection is appended as a line of JSON; empty: none."""
    text: bool = False
    """Whether the text of requests is logged, and not only its digest."""


def log_section() -> LogSection:
    """Return the settings of the log. Raises SkillIoError."""
    return read_section("log", LogSection)


def is_enabled() -> bool:
    """Return True when a selection is to be logged or traced."""
    trace = sys.modules.get("opentelemetry.trace")
    # Other packages load the API too; without a provider nobody gets the span.
    if trace and not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return True
    try:
        return bool(read_section("log", LogSection).file)
    except SkillIoError:
        return True  # the record says so: a failing log must not fail the selection


def with_feedback(query: Query) -> Query:
    """Return the query with the stored feedback; the query itself where there is none.

    A file that cannot be read is reported as a warning of the logger ``skillyard.hosts.decisions``,
    and not used: feedback is no reason to fail a request.
    """
    path = os.path.join(state_folder(), FEEDBACK_FILE)
    if not os.path.lexists(path):
        return query
    from skillyard.hosts.decisions.feedback_file import read_as_evidence

    try:
        feedback = read_as_evidence(path)
    except SkillIoError as error:
        import logging  # only where there is something to log

        logging.getLogger(__name__).warning("feedback is not used: %s", error)
        return query
    return query.replace(feedback=feedback) if feedback else query
