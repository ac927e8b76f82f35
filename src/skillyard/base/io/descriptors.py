"""How many files and connections this process may have open."""

from __future__ import annotations

import sys

DESCRIPTORS = 65_536
"""As many as a service needs at the most. The hard limit may be in the millions, and whatever goes
through all descriptors of a process takes that long then."""


if sys.platform == "win32":

    def raise_descriptor_limit(most: int = DESCRIPTORS) -> int:
        """Return ``most``: on Windows neither files nor sockets are numbered within a limit."""
        return most

else:

    def raise_descriptor_limit(most: int = DESCRIPTORS) -> int:
        """Raise the soft limit to the hard one, up to ``most``; return what it is then.

        Where the system refuses, as a filter of system calls does, it stays as it is.
        """
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        target = most if hard == resource.RLIM_INFINITY else min(hard, most)
        if soft == resource.RLIM_INFINITY or soft >= target:
            return most if soft == resource.RLIM_INFINITY else soft
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        except (OSError, ValueError):  # macOS has a limit of its own below an infinite one
            return soft
        return target
