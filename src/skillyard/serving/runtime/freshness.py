"""How new answers are: every constant that decides when a library is looked at again.

A *refresh* looks at all files of the library. A *view* is what a refresh found; answers come from
the newest view. HTTP answers from it at once and starts a refresh when one is due (stale while
revalidate). MCP promises an edit within a second, so its answers wait for a refresh of a view
that is too old.
"""

from __future__ import annotations

LARGE_LIBRARY = 1_000
"""Skills beyond which the files are shown before the index has been made anew. To rank 1,000
skills takes 0.3 s. While more files are indexed for the first time, HTTP requests are refused
instead of kept waiting."""

STALE_S = 5.0
"""A request waits for the refresh of a view that is older than this."""
PATIENCE_S = 1.0
"""How long a request waits for a refresh, or for the first view."""

MAX_AGE_S = 0.6
"""An answer that has to be fresh comes from a view of this age at most …"""
QUICK_REFRESH_S = 0.25
"""… where a refresh takes no longer than this. A view of a slower library may be as old as
:data:`STALE_S`, or as …"""
SLOW_REFRESHES = 4
"""… so many refreshes."""

MAX_REFRESH_SHARE = 0.1
"""The share of the time that requests spend on refreshes that find nothing."""
INDEX_CHECK_S = 5.0
"""Seconds between two looks at the index of a large library."""

PAUSE_S = 0.4
"""Seconds between two refreshes in the background …"""
WATCHED_PAUSE_S = 2.0
"""… and while the operating system reports changes: for those that it may have missed."""
PAUSE_FACTOR = 3
"""A pause takes at least so many times what a refresh does: a quarter of a core at most …"""
IDLE_PAUSE_FACTOR = 15
"""… and a sixteenth while there are no requests: the first one then refreshes by itself."""
IDLE_S = 60.0
"""Seconds without a request after which there are none."""

PROGRESS_LOG_S = 5.0
"""Seconds between two log lines that say how far the index is."""
