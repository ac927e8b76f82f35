"""Freshness: every constant that decides when a library is refreshed.

A *refresh* scans all files of the library. A *view* is the result of a refresh; answers come from
the newest view. HTTP answers from it at once and starts a refresh when one is due (stale while
revalidate). MCP promises that an edit is visible within a second, so its answers wait for a refresh
when the view is too old.
"""

from __future__ import annotations

LARGE_LIBRARY = 1_000
"""Number of skills above which nothing waits for a whole refresh: it takes some seconds at 10,000.
While more files are indexed for the first time, HTTP requests are refused instead of delayed."""

STALE_S = 5.0
"""Seconds: a request waits for the refresh of an older view."""
PATIENCE_S = 1.0
"""Maximum seconds that a request waits for a refresh, or for the first view."""

MAX_AGE_S = 0.6
"""Maximum age in seconds of a fresh view, or :data:`SLOW_REFRESHES` refreshes where these take
long."""
SLOW_REFRESHES = 4
"""Maximum age of a fresh view of a slow library, in durations of a refresh."""

MAX_REFRESH_SHARE = 0.1
"""Maximum share of the time that is spent on refreshes without a change."""
PAUSE_S = 0.4
"""Seconds between two refreshes in the background."""
WATCHED_PAUSE_S = 2.0
"""The same while the operating system reports changes, in case it misses some."""

PROGRESS_LOG_S = 5.0
"""Seconds between two log lines about the progress of the index."""
