"""Fake servers for tests, on the loopback address: skills.sh, GitHub and a well-known site.

``FakeServers`` starts the servers and holds the content they serve. ``faults`` are the ways in
which a server can fail, ``RateLimit`` limits its requests. ``python -m skillyard_testkit`` runs the
servers as a process of their own. The fake model API is in ``skillyard_testkit.fake_llm``.
"""

from skillyard_testkit import faults
from skillyard_testkit.configuration import toml
from skillyard_testkit.fake_servers import FakeServers
from skillyard_testkit.library import add_library
from skillyard_testkit.messages import Request, Response
from skillyard_testkit.rate_limits import RateLimit
from skillyard_testkit.request_log import RecordedRequest
from skillyard_testkit.switches import Switches

__all__ = [
    "FakeServers",
    "RateLimit",
    "RecordedRequest",
    "Request",
    "Response",
    "Switches",
    "add_library",
    "faults",
    "toml",
]
