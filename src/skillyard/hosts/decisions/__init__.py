"""The decision log: which skill was selected for a request, from which library, and the runners-up.

It is off by default. ``SKILLYARD_LOG=FILE`` appends one line of JSON for each selection. A program
that has loaded OpenTelemetry's API gets a span. Requests are logged as digests;
``SKILLYARD_LOG_TEXT=1`` logs their text. While the log is off, a selection imports this module
only.
"""

from __future__ import annotations

import os
import sys

__all__ = ["LOG", "LOG_TEXT", "is_enabled"]

LOG = "SKILLYARD_LOG"
LOG_TEXT = "SKILLYARD_LOG_TEXT"


def is_enabled() -> bool:
    """Return True when a selection is to be logged or traced."""
    return bool(os.environ.get(LOG)) or "opentelemetry.trace" in sys.modules
