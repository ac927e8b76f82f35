"""Settings of the fake servers that a test may change while they run."""

from __future__ import annotations

from dataclasses import dataclass, field

from skillyard_testkit.rate_limits import RateLimit

__all__ = ["Switches"]


def _documented_limits() -> dict[str, RateLimit]:
    """Return the limits that the real hosts documented when this was written."""
    return {
        "github_api": RateLimit(anonymous=60, authorised=5_000, window_s=3600.0, status=403),
        "github_raw": RateLimit(status=429),
        "skills_sh": RateLimit(status=429, window_s=60.0),
        "skills_sh_v1": RateLimit(anonymous=60, authorised=600, window_s=60.0, status=429),
        "well_known": RateLimit(status=429, window_s=60.0),
    }


@dataclass
class Switches:
    """Plain fields; each is read anew for every request."""

    latency_s: float = 0.0
    """Waited before every answer of every server."""
    server_latency_s: dict[str, float] = field(default_factory=dict)
    """The same for one server, by its name, in place of ``latency_s``."""
    rate_limits: dict[str, RateLimit] = field(default_factory=_documented_limits)
    """By server name; the documented routes of skills.sh count as ``skills_sh_v1``."""
    github_token: str = "testkit-github-token"
    """The one token that GitHub knows; another is 401 there."""
    skills_sh_token: str = "testkit-skills-sh-token"
    """The one token that ``/api/v1`` knows."""
    v1_open: bool = False
    """``/api/v1`` answers without a token too, as it once did, at the anonymous limit."""
    search_shape: str = "current"
    """Items of ``/api/search``: ``current``, or ``old`` for those of before February 2026."""
    search_version: str | None = None
    """Adds ``searchVersion`` to the answers of ``/api/search``."""
    downloads: bool = True
    """False: ``/api/download`` has no snapshot of anything."""
    well_known_version: str = "0.2.0"
    """``0.1.0`` serves the old index at the old place; any other names an index version that is
    served at the new place."""
    well_known_base: str = ""
    """A path before ``/.well-known``, such as ``/docs``, under which alone the site answers."""
    tree_entries: int = 100_000
    """Entries above which a recursive tree is cut and called truncated."""
    tree_bytes: int = 7_000_000
    """The same in bytes, each entry counted as git stores it: mode, path, 20 bytes of SHA-1."""
    inline_bytes: int = 1_048_576
    """Size above which the contents route gives a file without its content."""
