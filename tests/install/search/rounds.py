"""How many requests have to wait for one another, whatever the machine's speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition

from skillyard_testkit import FakeServers, Request, Response
from skillyard_testkit.site import Site

QUIET_S = (0.25, 1.0, 4.0)
"""How long nothing more must be asked before a round is answered, in each run."""


def rounds_of(up: FakeServers, most: int, search: Callable[[], object]) -> list[list[str]]:
    """Return the targets of each round of a search that keeps nothing for the next one.

    A machine that is busy for longer than the quiet time splits a round, and nothing joins two of
    which one needs the other, so a search with more than ``most`` rounds is run again, with more
    patience.
    """
    for quiet_s in QUIET_S:
        rounds = _Rounds(up, quiet_s)
        search()
        up.faults.clear()
        if len(rounds.asked) <= most:
            break
    return rounds.asked


class _Rounds:
    """Holds back every answer until nothing more is asked: what is asked then is one round.

    A client that needs an answer before it asks for the next thing takes one round for each; the
    number of rounds is the number of round trips in sequence.
    """

    def __init__(self, up: FakeServers, quiet_s: float) -> None:
        self.asked: list[list[str]] = []
        """Targets of each round."""
        self._quiet_s = quiet_s
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
                left = self._last + self._quiet_s - time.monotonic()
                if left <= 0:
                    self._open = False
                    self._changed.notify_all()
                else:
                    self._changed.wait(left)
        return site.respond(asked)
