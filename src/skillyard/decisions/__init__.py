"""The decision log: what was chosen for which request, from which skills, and what came close.

Off unless it is wanted: ``SKILLYARD_LOG=FILE`` appends one line of JSON for each selection, and a
program that has loaded OpenTelemetry's API gets a span. Requests are logged as digests;
``SKILLYARD_LOG_TEXT=1`` keeps their text. This module is all that a selection costs when nobody
listens.
"""

from __future__ import annotations

import os
import sys

__all__ = ["LOG", "LOG_TEXT", "wanted"]

LOG = "SKILLYARD_LOG"
LOG_TEXT = "SKILLYARD_LOG_TEXT"


def wanted() -> bool:
    """Return True when a selection is to be logged or traced."""
    return bool(os.environ.get(LOG)) or "opentelemetry.trace" in sys.modules
