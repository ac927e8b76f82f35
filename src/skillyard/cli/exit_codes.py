"""The exit codes of the command line. 0 is success."""

from __future__ import annotations

NEGATIVE = 1
"""The command's own negative answer, such as an abstention."""
WRONG_USE = 2
"""Wrong use, or input that cannot be read."""
STOPPED = 3
"""Stopped by a budget or an interrupt. Finished work is written."""
UNREACHED = 4
"""No remote answered, or no case has a result."""
INTERRUPTED = 130
"""Stopped by an interrupt."""
