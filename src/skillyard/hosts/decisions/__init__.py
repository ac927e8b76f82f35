"""The decision log: which skill was selected for a request, from which library, and the runners-up.

It is off by default. With ``file`` in the section ``[log]`` of the user's ``skillyard.toml``, one
line of JSON is appended to it for each selection. A program that has loaded OpenTelemetry's API
gets a span. Requests are logged as digests; ``text = true`` logs their text. While the log is off,
a selection imports this module only.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, NamedTuple

from skillyard.base.configuration import read_section
from skillyard.base.errors import SkillIoError

__all__ = ["LogSection", "is_enabled", "log_section"]


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
    try:
        return "opentelemetry.trace" in sys.modules or bool(log_section().file)
    except SkillIoError:
        return True  # the record says so: a failing log must not fail the selection
