"""Freshness: every constant that decides when a library is refreshed.

A *refresh* scans all files of the library. A *view* is the result of a refresh; answers come from
the newest view. HTTP answers from it at once and starts a refresh when one is due (stale while
revalidate). MCP promises that an edit is visible within a second, so its answers wait for a refresh
when the view is too old.
"""

from __future__ import annotations

LARGE_LIBRARY = 1_000
"""Number of skills above which changed files are shown before the index is rebuilt. Ranking 1,000
skills takes 0.3 s. While more files are indexed for the first time, HTTP requests are refused
instead of delayed."""

STALE_S = 5.0
"""Seconds: a request waits for the refresh of an older view."""
PATIENCE_S = 1.0
"""Maximum seconds that a request waits for a refresh, or for the first view."""

MAX_AGE_S = 0.6
"""Maximum age in seconds of a fresh view, if a refresh takes no longer than
:data:`QUICK_REFRESH_S`."""
QUICK_REFRESH_S = 0.25
"""Duration of a quick refresh. The fresh view of a slower library may be as old as :data:`STALE_S`,
or as :data:`SLOW_REFRESHES` refreshes."""
SLOW_REFRESHES = 4
"""Maximum age of a fresh view of a slow library, in durations of a refresh."""

MAX_REFRESH_SHARE = 0.1
"""Maximum share of the time that requests spend on refreshes without a change."""
INDEX_CHECK_S = 5.0
"""Seconds between two checks of the index of a large library."""

PAUSE_S = 0.4
"""Seconds between two refreshes in the background."""
WATCHED_PAUSE_S = 2.0
"""The same while the operating system reports changes, in case it misses some."""
PAUSE_FACTOR = 3
"""Minimum pause, in durations of a refresh: a quarter of a core at most."""
IDLE_PAUSE_FACTOR = 15
"""The same without requests, a sixteenth: the first request then starts a refresh."""
IDLE_S = 60.0
"""Seconds after the last request from which there are no requests."""

PROGRESS_LOG_S = 5.0
"""Seconds between two log lines about the progress of the index."""
