"""How many requests have to wait for one another, whatever the machine's speed."""

from __future__ import annotations

import time
from threading import Condition

from skillyard_testkit import FakeServers, Request, Response
from skillyard_testkit.site import Site

QUIET_S = 0.25


class Rounds:
    """Holds back every answer until nothing more is asked: what is asked then is one round.

    A client that needs an answer before it asks for the next thing takes one round for each; the
    number of rounds is the number of round trips in sequence.
    """

    def __init__(self, up: FakeServers) -> None:
        self.asked: list[list[str]] = []
        """Targets of each round."""
        self._open = False
        self._last = 0.0
        self._changed = Condition()
        up.faults.add("*", "*", self._hold, times=None)

    def _hold(self, site: Site, asked: Request) -> Response:
        with self._changed:
            if not self._open:
                self.asked.append([])
                self._open = True
            mine = len(self.asked)
            self.asked[-1].append(f"{site.name} {asked.target}")
            self._last = time.monotonic()
            while self._open and mine == len(self.asked):
                left = self._last + QUIET_S - time.monotonic()
                if left <= 0:
                    self._open = False
                    self._changed.notify_all()
                else:
                    self._changed.wait(left)
        return site.respond(asked)
