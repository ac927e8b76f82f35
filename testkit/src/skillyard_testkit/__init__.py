"""A stand-in for skills.sh, GitHub and a well-known site, on this machine: a tool for tests.

``Upstreams`` starts the servers and holds what they serve; ``faults`` are the ways to fail,
``Budget`` the limits. ``python -m skillyard.standin`` runs it as a process of its own.
"""

from skillyard.standin import faults
from skillyard.standin.answers import Answer, Asked
from skillyard.standin.budgets import Budget
from skillyard.standin.library import add_library
from skillyard.standin.record import Request
from skillyard.standin.switches import Switches
from skillyard.standin.upstreams import Upstreams

__all__ = ["Answer", "Asked", "Budget", "Request", "Switches", "Upstreams", "add_library", "faults"]
